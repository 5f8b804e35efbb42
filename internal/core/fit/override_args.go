package fit

import (
	"maps"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// apply maps the model's arguments to the tool's own names and adds fixed and default values.
func (v *Overridden) apply(m *repairer, raw []byte) ([]byte, *Error) {
	if fitErr := v.once(raw); fitErr != nil {
		return nil, fitErr
	}
	if v.o.touches() {
		shown, err := v.shown.With(&Options{Validation: m.tool.opts.Validation, Without: m.tool.opts.Without, Known: m.tool.opts.Known})
		if err != nil {
			return nil, refuse(Problem{Code: Never, Expected: err.Error()})
		}
		inner := newRepairer(m.ctx, shown, len(raw))
		shown.schema.read()
		fixed, fitErr := v.fit(inner, raw)
		if fitErr != nil {
			return nil, fitErr
		}
		raw = fixed
		m.repairs = append(m.repairs, inner.repairs...)
	}
	o, ok := editObject(raw)
	if !ok {
		return raw, nil
	}
	if err := v.hidden(o); err != nil {
		return nil, err
	}
	for k := range o.members {
		if own, ok := v.own[o.members[k].name]; ok {
			o.members[k].to = own
		}
	}
	for _, name := range slices.Sorted(maps.Keys(v.o.Fix)) {
		if c := o.find(name); c != nil && !samePlain(o.t.raw(c.token), v.o.Fix[name]) {
			m.record("/"+jsonschema.EscapeToken(name), Fixed, o.t.raw(c.token), nil)
		}
		o.set(name, v.o.Fix[name])
	}
	for _, name := range slices.Sorted(maps.Keys(v.o.Default)) {
		if !has(v.o.Fix, name) && o.find(name) == nil {
			o.add(name, v.o.Default[name])
		}
	}
	return o.bytes(), nil
}

// fit fits arguments to what was shown. A fixed value may still be sent.
func (v *Overridden) fit(m *repairer, raw []byte) ([]byte, *Error) {
	if o, ok := editObject(raw); ok {
		for k := range o.members {
			c := &o.members[k]
			c.drop = c.drop || has(v.o.Fix, c.name)
		}
		raw = o.bytes()
	}
	var rules *ruleReport
	if known := m.tool.opts.Known; known != nil {
		raw, rules = known.apply(m, raw)
	}
	return m.fit(raw, rules)
}

// hidden refuses properties that are not shown, unless the name is the shown name of another
// one.
func (v *Overridden) hidden(o *objectEdit) *Error {
	err := refuse()
	for _, c := range o.members {
		hidden := has(v.o.Rename, c.name) || slices.Contains(v.o.Hide, c.name)
		if !c.drop && hidden && !has(v.own, c.name) {
			err.add(Unknown, o.t, c.token, "an argument that the tool has")
		}
	}
	return err.orNil()
}

// rename replaces names in problems by the ones the model knows.
func (v *Overridden) rename(fitErr *Error) {
	for shown, own := range v.own {
		from := "/" + jsonschema.EscapeToken(own)
		to := "/" + jsonschema.EscapeToken(shown)
		for k := range fitErr.Problems {
			if rest, ok := strings.CutPrefix(fitErr.Problems[k].Field, from); ok && (rest == "" || rest[0] == '/') {
				fitErr.Problems[k].Field = to + rest
			}
		}
	}
}
