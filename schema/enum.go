package schema

import (
	"slices"

	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// enum writes an enum.
func (w *writer) enum(f *form, p place) (*node, int) {
	var held types
	size := 0
	for _, v := range f.enum {
		held |= v.Type()
		size += len(v.Text)
	}
	if held&tNumber != 0 {
		held &^= tInteger
	}
	if most := w.d.limits.enums; len(f.enum) > w.rung.values || size > 15000 || most > 0 && !w.d.strict && w.enums+len(f.enum) > most {
		return w.describedEnum(f, held, p)
	}
	w.enums += len(f.enum)
	switch w.d.enums {
	case enumScalars, enumOfOneType:
		if held&(tObject|tArray) != 0 {
			return w.describedEnum(f, held, p)
		}
	case enumPlain:
		if held&(tObject|tArray|tBoolean) != 0 {
			return w.describedEnum(f, held, p)
		}
	case enumStrings:
		return w.textEnum(f, held)
	}
	compound := held&(tObject|tArray) != 0
	if compound && w.d.needType {
		return w.describedEnum(f, held, p)
	}
	if !held.IsSingle() && (w.d.enums == enumOfOneType || w.d.enums == enumPlain || w.d.needType) {
		return w.splitEnum(f, held, p)
	}
	return w.plainEnum(f, held, compound), 0
}

// plainEnum writes the values unchanged.
func (w *writer) plainEnum(f *form, held types, compound bool) *node {
	if both := f.types.And(held); both != 0 {
		held = both
	}
	if f.types == tNumber && held == tInteger {
		held = tNumber
	}
	out := w.object()
	if !compound && (f.types != 0 || w.d.needType || held.IsSingle()) { // a type object or array would require properties or items
		w.putType(out, &form{types: held})
	}
	at := len(out.Kids)
	if f.constant && w.d.keep["const"] && len(f.enum) == 1 {
		w.put(out, "const", w.copied(f.enum[0]))
	} else {
		w.put(out, "enum", w.values(f.enum))
	}
	notes := slices.Clip(f.notes)
	typed := *f
	typed.types = held
	w.keywords(out, &typed, &notes)
	w.describe(out, at, f, notes)
	if f.null {
		out = w.orNull(out)
	}
	return out
}

// describedEnum lists the first values in words and keeps the type.
func (w *writer) describedEnum(f *form, held types, p place) (*node, int) {
	c := f.copy()
	c.base = f.id()
	c.enum = nil
	c.listed = false
	c.constant = false
	c.types = c.types.And(held)
	if c.types == 0 {
		c.types = held
	}
	note := "One of: " + words(f.enum)
	if len(note) > 600 {
		note = clip(note, 600) + "…"
	}
	c.notes = append(c.notes, note)
	c.flat = c
	at := f.src
	if list := f.enum[0].Parent; list != nil && list.Kind == jsonschema.Array {
		at = list // of the part that has the list
	}
	w.changeAt(at, Constraint, "values described")
	if w.d.strict && held&(tObject|tArray) != 0 {
		w.lose(f, Constraint, "values are objects or arrays")
	}
	return w.body(c, p)
}

// textEnum writes every value as a string, with a table for Back.
func (w *writer) textEnum(f *form, held types) (*node, int) {
	out := w.typed("string")
	var texts []string
	var table []entry
	seen := map[string]bool{}
	for _, v := range f.enum {
		s := v.Text
		if v.Kind == jsonschema.Object || v.Kind == jsonschema.Array {
			s = v.String()
		}
		if seen[s] {
			w.change(f, AsText, "a second value with the text "+quote(s)+" is left out")
			continue
		}
		seen[s] = true
		texts = append(texts, s)
		if v.Kind != jsonschema.String {
			table = append(table, entry{s, v.Append(nil)})
		}
	}
	w.put(out, "enum", w.texts(texts))
	notes := slices.Clip(f.notes)
	typed := *f
	typed.types = tString
	w.keywords(out, &typed, &notes)
	w.describe(out, 1, f, notes)
	w.nullFlag(out, f)
	if table == nil {
		return out, 0
	}
	w.change(f, AsText, "values are sent as text")
	return out, w.step(step{Kind: stepEnum, Table: table})
}

// splitEnum writes one enum for each type.
func (w *writer) splitEnum(f *form, held types, p place) (*node, int) {
	c := f.copy()
	c.base = f.id()
	c.enum = nil
	c.listed = false
	c.constant = false
	c.types = 0
	for _, e := range jsonschema.AllTypes {
		var values []*node
		for _, v := range f.enum {
			t := v.Type()
			if t == e.Type || t == tInteger && e.Type == tNumber && held&tNumber != 0 {
				values = append(values, v)
			}
		}
		if len(values) == 0 || held&e.Type == 0 {
			continue
		}
		b := w.r.made(f.src)
		b.types = e.Type
		b.enum = values
		b.listed = true
		c.union = append(c.union, b)
	}
	c.flat = c
	return w.union(c, p)
}
