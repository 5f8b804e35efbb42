package fit

import (
	"maps"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// apply takes the model's arguments to the tool's own names and adds what is bound here.
func (v *Overridden) apply(m *repairer, raw []byte) ([]byte, *Error) {
	if no := v.once(raw); no != nil {
		return nil, no
	}
	if v.o.touches() {
		shown, err := v.shown.With(&Options{Validation: m.tool.opts.Validation, Without: m.tool.opts.Without, Known: m.tool.opts.Known})
		if err != nil {
			return nil, refuse(Problem{Code: Never, Expected: err.Error()})
		}
		inner := newRepairer(m.ctx, shown, len(raw))
		shown.schema.read()
		fixed, no := v.fit(inner, raw)
		if no != nil {
			return nil, no
		}
		raw, m.repairs = fixed, append(m.repairs, inner.repairs...)
	}
	t := &tape{}
	if err := t.read(raw); err != nil || t.tokens[0].kind != isObject {
		return raw, nil
	}
	members := membersOf(t, 0)
	if no := v.hidden(members, t); no != nil {
		return nil, no
	}
	var added []member
	for k := range members {
		if own, ok := v.own[members[k].name]; ok {
			members[k].to = own
		}
	}
	for _, name := range slices.Sorted(maps.Keys(v.o.Fix)) {
		added = append(added, v.bind(m, members, t, name)...)
	}
	for _, name := range slices.Sorted(maps.Keys(v.o.Default)) {
		if _, fixed := v.o.Fix[name]; !fixed && find(members, name) == nil {
			added = append(added, member{name: name, raw: v.o.Default[name]})
		}
	}
	return splice(t, 0, rewrite(t, 0, members, added)), nil
}

// fit fits arguments to what was shown. A value that is bound here may be sent all the same.
func (v *Overridden) fit(m *repairer, raw []byte) ([]byte, *Error) {
	t := &tape{}
	if t.read(raw) == nil && t.tokens[0].kind == isObject {
		members := membersOf(t, 0)
		for k := range members {
			if _, fixed := v.o.Fix[members[k].name]; fixed {
				members[k].drop = true
			}
		}
		if cuts := rewrite(t, 0, members, nil); len(cuts) > 0 {
			raw = splice(t, 0, cuts)
		}
	}
	var rules *ruleReport
	if known := m.tool.opts.Known; known != nil {
		raw, rules = known.apply(m, raw)
	}
	return m.fit(raw, rules)
}

// hidden refuses properties that are not shown. The name of a hidden property may be the
// shown name of another.
func (v *Overridden) hidden(members []member, t *tape) *Error {
	no := refuse()
	for _, c := range members {
		_, renamed := v.own[c.name]
		_, gone := v.o.Rename[c.name]
		if !c.drop && !renamed && (gone || slices.Contains(v.o.Hide, c.name)) {
			no.Problems = append(no.Problems, Problem{Code: Unknown, Field: t.pointer(c.token), Expected: "an argument that the tool has", Got: got(t, c.token)})
		}
	}
	return no.orNil()
}

// bind puts the fixed value in the place of whatever was sent.
func (v *Overridden) bind(m *repairer, members []member, t *tape, name string) []member {
	if c := find(members, name); c != nil {
		if !samePlain(t.raw(c.token), v.o.Fix[name]) {
			m.record("/"+jsonschema.EscapeToken(name), Fixed, t.raw(c.token), nil)
		}
		c.raw = v.o.Fix[name]
		return nil
	}
	return []member{{name: name, raw: v.o.Fix[name]}}
}

// rename says the problems of a refusal in the names that the model knows.
func (v *Overridden) rename(no *Error) {
	for shown, own := range v.own {
		from, to := "/"+jsonschema.EscapeToken(own), "/"+jsonschema.EscapeToken(shown)
		for k := range no.Problems {
			if rest, ok := strings.CutPrefix(no.Problems[k].Field, from); ok && (rest == "" || rest[0] == '/') {
				no.Problems[k].Field = to + rest
			}
		}
	}
}
