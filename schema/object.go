package schema

import (
	"cmp"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// part is a schema while it is written.
type part struct {
	out   *node
	f     *form
	p     place
	back  step
	notes []string

	cut     []string // names of omitted properties
	cutSize int      // bytes of those names
}

// eachItem makes Back apply step number at to every item of the array.
func (t *part) eachItem(at int) {
	if at != 0 {
		t.back.Kind = stepArray
		t.back.Item = at
	}
}

// objectPart writes properties and the other keywords of an object. It returns false when a
// required part cannot be written.
func (w *writer) objectPart(t *part) bool {
	f := t.f
	props, more, closedNames := w.properties(t)
	shown := w.shownKeys(f, props)
	list := w.object()
	var required []string
	left := 0
	for i, pr := range props {
		need := f.isRequired(pr.key)
		if !need && w.full(t.p.level+1) {
			w.leaveOut(t, pr, left)
			left++
			continue
		}
		if w.r.flavor.request() && w.r.open(pr.form).keyword("readOnly").IsTrue() {
			w.changeAt(pr.form.src, ReadOnly, "left out")
			continue
		}
		n, sp := w.property(t, pr, need)
		if n == nil {
			if need {
				return false
			}
			continue
		}
		sp.Shown = shown[i]
		if sp.Shown != sp.Name {
			w.change(pr.form, Rename, "shown as "+quote(sp.Shown))
		}
		w.put(list, shown[i], n)
		if need || w.d.allRequired {
			required = append(required, shown[i])
		}
		if sp.Shown != sp.Name || sp.Step != 0 || sp.DropNull || sp.Const != nil {
			t.back.Kind = stepObject
			t.back.Props = append(t.back.Props, sp)
		}
	}
	if len(t.cut) > 0 {
		t.notes = append(t.notes, "More fields: "+strings.Join(t.cut, ", "))
	}
	if left > maxReported {
		w.change(f, Cut, itoa(left-maxReported)+" further properties left out")
	}
	if len(list.Kids) > 0 || len(props) > 0 || t.p.level == 0 || w.d.closed {
		w.put(t.out, "properties", list)
	}
	if len(required) > 0 {
		w.put(t.out, "required", w.texts(required))
	}
	w.morePart(t, more, closedNames)
	return true
}

// maxReported limits how many omitted properties of one object are reported by name.
const maxReported = 50

// property writes one property, or returns nil when it is omitted.
func (w *writer) property(t *part, pr prop, need bool) (*node, stepProp) {
	pf := w.r.open(pr.form)
	sp := stepProp{Name: pr.key}
	if pf.never {
		w.change(pf, Impossible, "dropped")
		return nil, sp
	}
	target := pf
	if w.d.allRequired && !need {
		target = pf.withNull()
		sp.DropNull = true
		def := pf.keyword("default")
		nullIsDefault := def != nil && def.Kind == jsonschema.Null // then null and absent mean the same
		if pf.acceptsNull() && !pf.bare() && !nullIsDefault {
			w.lose(pf, AmbiguousNull, "absent and null could not be told apart")
			w.change(pf, AmbiguousNull, "null means absent")
			sp.DropNull = !w.opts.KeepNull
		}
	}
	n, at := w.schema(target, t.p.below(t.f, !need))
	if n == nil {
		w.loseCut(pf)
		if !need {
			w.leaveOut(t, pr, 0)
		}
		return nil, sp
	}
	sp.Step = at
	if need && pf.constant && len(pf.enum) == 1 && !w.d.keep["const"] {
		sp.Const = pf.enum[0].Append(nil)
	}
	return n, sp
}

// leaveOut reports an omitted property.
func (w *writer) leaveOut(t *part, pr prop, before int) {
	w.loseCut(pr.form)
	if before < maxReported {
		w.changeAt(pr.form.src, Cut, "left out")
	}
	if len(t.f.props) >= 40 && t.cutSize < 400 {
		t.cut = append(t.cut, pr.key)
		t.cutSize = t.cutSize + len(pr.key) + 2
	}
}

// properties returns the properties of f, those that are only listed in required, and those
// listed in propertyNames if the dialect lacks that keyword.
func (w *writer) properties(t *part) (props []prop, more *form, closed bool) {
	f := t.f
	props = f.props
	more = f.more
	open := more == nil || !w.r.open(more).never
	any := more
	for _, key := range f.required {
		if f.prop(key) != nil {
			continue
		}
		if !open && len(f.patterns) == 0 {
			w.change(f, Conflict, "property "+quote(key)+" is required and not allowed")
			continue
		}
		if any == nil {
			any = w.r.made(f.src)
		}
		if len(props) == len(f.props) {
			props = slices.Clip(props)
		}
		props = append(props, prop{key, any})
		if len(props)-len(f.props) <= maxReported {
			w.change(f, Unknown, "property "+quote(key)+" is required and has no schema")
		}
	}
	if f.names == nil || w.d.keep["patternProperties"] {
		return props, more, false
	}
	names := w.r.open(f.names)
	if !names.listed || len(names.enum) > 100 {
		note := "Keys have their own rules"
		if pattern := names.keyword("pattern"); pattern != nil {
			note = "Keys match " + pattern.Text
		}
		t.notes = append(t.notes, note)
		w.change(f, Constraint, "described")
		return props, more, false
	}
	for _, v := range names.enum {
		if v.Kind == jsonschema.String && f.prop(v.Text) == nil && open {
			props = append(slices.Clip(props), prop{v.Text, cmp.Or(more, w.r.made(f.src))})
		}
	}
	return props, nil, true
}

// patternPart writes patternProperties where the dialect has it.
func (w *writer) patternPart(t *part) {
	if len(t.f.patterns) > 0 {
		list := w.object()
		for _, pr := range t.f.patterns {
			if n, _ := w.schema(pr.form, t.p.below(t.f, true)); n != nil {
				w.put(list, pr.key, n)
			}
		}
		w.put(t.out, "patternProperties", list)
	}
	if t.f.names != nil {
		if n, _ := w.schema(t.f.names, t.p.below(t.f, true)); n != nil {
			w.put(t.out, "propertyNames", n)
		}
	}
}

// morePart writes additionalProperties.
func (w *writer) morePart(t *part, more *form, closedNames bool) {
	f := t.f
	if w.d.keep["patternProperties"] {
		w.patternPart(t)
	} else if len(f.patterns) > 0 {
		more = w.fold(f, &t.notes)
	}
	var m *form
	if more != nil {
		m = w.r.open(more)
	}
	switch {
	case w.d.closed:
		w.put(t.out, "additionalProperties", w.flag(false))
		if u := f.keyword("unevaluatedProperties"); m == nil && u != nil && !u.IsFalse() {
			w.lose(f, Closed, "further properties are allowed")
		} else if m == nil {
			w.change(f, Closed, "further properties cannot be sent")
		} else if !m.never {
			w.lose(f, Closed, "further properties are allowed")
		}
	case closedNames, m != nil && m.never:
		if w.d.closable {
			w.put(t.out, "additionalProperties", w.flag(false))
		}
	case m == nil || m.bare():
		if m != nil && w.d.maps && w.d.raw {
			w.put(t.out, "additionalProperties", w.flag(true))
		}
	case !w.d.maps:
		t.notes = append(t.notes, "Further properties are allowed")
		w.change(f, Constraint, "described")
	default:
		n, at := w.schema(more, t.p.below(f, true))
		if n == nil {
			w.change(m, Cut, "closed")
			n = w.flag(false)
		}
		w.put(t.out, "additionalProperties", n)
		if at != 0 {
			t.back.Kind = stepObject
			t.back.Rest = at
		}
	}
}

// fold merges all patterns into one value schema and describes the keys.
func (w *writer) fold(f *form, notes *[]string) *form {
	union := w.r.made(f.src)
	var keys []string
	for _, pr := range f.patterns {
		union.union = append(union.union, pr.form)
		keys = append(keys, pr.key)
	}
	if f.more != nil && !w.r.open(f.more).never {
		union.union = append(union.union, f.more)
	}
	note := "Keys match " + strings.Join(keys, " or ")
	if len(note) > 400 {
		note = "Keys match certain patterns"
	}
	*notes = append(*notes, note)
	w.change(f, Constraint, "described")
	return union
}
