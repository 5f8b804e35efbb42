package schema

import (
	"slices"
	"strings"
)

// objectPart writes properties and what else belongs to an object. It tells false when a
// required part cannot be written.
func (w *writer) objectPart(out *node, f *form, p place, back *step, notes *[]string) bool {
	props, more, closedNames := w.properties(f, notes)
	shown := w.shownKeys(f, props)
	list := w.object()
	var required []string
	for i, pr := range props {
		need := f.isRequired(pr.key)
		pf, drop := w.r.open(pr.form), false
		if pf.never {
			w.change(pf, Impossible, "dropped")
			if need {
				return false
			}
			continue
		}
		target := pf
		if w.d.allRequired && !need {
			target, drop = pf.withNull(), true
			if def := pf.keyword("default"); pf.acceptsNull() && !pf.bare() && (def == nil || def.kind != nullKind) { // a default of null makes both the same
				w.lose(pf, AmbiguousNull, "absent and null could not be told apart")
				w.change(pf, AmbiguousNull, "null means absent")
				drop = !w.opts.KeepNull
			}
		}
		n, at := w.schema(target, p.below(f, !need))
		if n == nil {
			if w.d.strict {
				w.lose(pf, Cut, "too deep or too large")
			}
			if need {
				return false
			}
			w.change(pf, Cut, "left out")
			w.cutNames(f, pr.key, notes)
			continue
		}
		w.put(list, shown[i], n)
		if need || w.d.allRequired {
			required = append(required, shown[i])
		}
		sp := stepProp{Shown: shown[i], Name: pr.key, Step: at, DropNull: drop}
		if need && pf.constant && len(pf.enum) == 1 && !w.d.consts {
			sp.Const = pf.enum[0].append(nil)
		}
		if sp.Shown != sp.Name || sp.Step != 0 || drop || sp.Const != nil {
			back.Kind = stepObject
			back.Props = append(back.Props, sp)
		}
	}
	if len(list.kids) > 0 || len(props) > 0 || p.level == 0 || w.d.closed {
		w.put(out, "properties", list)
	}
	w.putRequired(out, required)
	return w.morePart(out, f, more, closedNames, p, back, notes)
}

// putRequired keeps the order in which the tool names what it needs.
func (w *writer) putRequired(out *node, required []string) {
	if len(required) == 0 {
		return
	}
	list := w.array(len(required))
	for _, key := range required {
		list.kids = append(list.kids, w.text(key))
	}
	w.put(out, "required", list)
}

// properties are those of f, those it requires without a word, and those that
// propertyNames lists where the dialect does not know that keyword.
func (w *writer) properties(f *form, notes *[]string) (props []prop, more *form, closed bool) {
	props, more = f.props, f.more
	open := more == nil || !w.r.open(more).never
	for _, key := range f.required {
		if f.prop(key) != nil || !open && len(f.patterns) == 0 {
			continue
		}
		any := w.r.made(f.src)
		if more != nil {
			any = more
		}
		if len(props) == len(f.props) {
			props = slices.Clip(props)
		}
		props = append(props, prop{key, any})
		w.change(f, Unknown, "property "+quote(key)+" is required and has no schema")
	}
	if f.names == nil || w.d.patterns {
		return props, more, false
	}
	names := w.r.open(f.names)
	if !names.listed || len(names.enum) > 100 {
		note := "Keys have their own rules"
		if pattern := names.keyword("pattern"); pattern != nil {
			note = "Keys match " + pattern.text
		}
		*notes = append(*notes, note)
		w.change(f, Constraint, "described")
		return props, more, false
	}
	for _, v := range names.enum {
		if v.kind != stringKind || f.prop(v.text) != nil || !open {
			continue
		}
		value := more
		if value == nil {
			value = w.r.made(f.src)
		}
		props = append(slices.Clip(props), prop{v.text, value})
	}
	return props, nil, true
}

// cutNames names what was left out, as far as one reads.
func (w *writer) cutNames(f *form, key string, notes *[]string) {
	if len(f.props) < 40 {
		return // a cut in depth; its parent's name says enough
	}
	const head = "More fields: "
	for i, note := range *notes {
		if strings.HasPrefix(note, head) {
			if len(note) < 400 {
				(*notes)[i] = note + ", " + key
			}
			return
		}
	}
	*notes = append(*notes, head+key)
}

// morePart writes what is said about further properties.
func (w *writer) morePart(out *node, f *form, more *form, closedNames bool, p place, back *step, notes *[]string) bool {
	if w.d.patterns {
		if len(f.patterns) > 0 {
			list := w.object()
			for _, pr := range f.patterns {
				if n, _ := w.schema(pr.form, p.below(f, true)); n != nil {
					w.put(list, pr.key, n)
				}
			}
			w.put(out, "patternProperties", list)
		}
		if f.names != nil {
			if n, _ := w.schema(f.names, p.below(f, true)); n != nil {
				w.put(out, "propertyNames", n)
			}
		}
	} else if len(f.patterns) > 0 {
		more = w.fold(f, notes)
	}
	var m *form
	if more != nil {
		m = w.r.open(more)
	}
	switch {
	case w.d.closed:
		w.put(out, "additionalProperties", w.literal(boolKind, "false"))
		if m == nil {
			w.change(f, Closed, "further properties cannot be sent")
		} else if !m.never {
			w.lose(f, Closed, "further properties are allowed")
		}
	case closedNames, m != nil && m.never:
		if w.d.closable {
			w.put(out, "additionalProperties", w.literal(boolKind, "false"))
		}
	case m == nil || m.bare():
		if m != nil && w.d.maps && w.d.raw {
			w.put(out, "additionalProperties", w.literal(boolKind, "true"))
		}
	case !w.d.maps:
		*notes = append(*notes, "Further properties are allowed")
		w.change(f, Constraint, "described")
	default:
		n, at := w.schema(more, p.below(f, true))
		if n == nil {
			w.change(m, Cut, "closed")
			n = w.literal(boolKind, "false")
		}
		w.put(out, "additionalProperties", n)
		if at != 0 {
			back.Kind, back.Rest = stepObject, at
		}
	}
	return true
}

// fold makes one value schema of all patterns and describes the keys.
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
