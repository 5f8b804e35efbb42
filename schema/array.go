package schema

import (
	"strings"

	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// arrayPart writes the items of an array. It returns false when the array should be omitted.
func (w *writer) arrayPart(t *part) bool {
	f := t.f
	switch {
	case len(f.prefix) > 0 && w.d.keep["prefixItems"]:
		return w.prefixPart(t)
	case len(f.prefix) > 0:
		return w.tuplePart(t)
	case f.items == nil:
		w.noItems(t)
		return true
	}
	item := w.r.open(f.items)
	if item.never {
		return w.emptyArray(t)
	}
	n, at := w.schema(f.items, t.p.below(f, t.p.optional))
	if n == nil {
		w.loseCut(item)
		if t.p.optional {
			return false
		}
		w.change(item, Cut, "only the empty array is left")
		return w.emptyArray(t)
	}
	w.put(t.out, "items", n)
	t.eachItem(at)
	return true
}

// noItems writes the items of an array that does not describe them.
func (w *writer) noItems(t *part) {
	switch w.d.items {
	case itemsEmpty:
		n, _ := w.anything(w.r.made(t.f.src))
		w.put(t.out, "items", n)
	case itemsString:
		w.put(t.out, "items", w.typed("string"))
		t.notes = append(t.notes, "Items are JSON text of any type")
		w.change(t.f, AsJSON, "items are sent as JSON text")
		t.eachItem(w.step(step{Kind: stepJSON}))
	case itemsRefused:
		w.lose(t.f, NotASchema, "any item is accepted")
		w.put(t.out, "items", w.object())
	}
}

func (w *writer) emptyArray(t *part) bool {
	if w.d.needType {
		w.put(t.out, "items", w.typed("string"))
	} else if w.d.items != itemsOptional {
		w.put(t.out, "items", w.object())
	}
	w.countItems(t, "maxItems", 0)
	return true
}

// countItems writes minItems or maxItems, as a keyword or in the description.
func (w *writer) countItems(t *part, key string, n int) {
	v := w.literal(jsonschema.Number, itoa(n))
	if w.d.keep[key] && (!w.d.smallMin || n < 2) {
		w.put(t.out, key, v)
		return
	}
	v.Key = key
	t.notes = append(t.notes, noteOf(v))
}

// prefixPart writes a tuple with prefixItems.
func (w *writer) prefixPart(t *part) bool {
	f := t.f
	list := w.array(len(f.prefix))
	var steps []int
	changed := false
	for _, pf := range f.prefix {
		n, at := w.schema(pf, t.p.below(f, t.p.optional))
		if n == nil {
			return false
		}
		list.Kids = append(list.Kids, n)
		steps = append(steps, at)
		changed = changed || at != 0
	}
	w.put(t.out, "prefixItems", list)
	if changed {
		t.back.Kind = stepArray
		t.back.Prefix = steps
	}
	closed := f.items != nil && w.r.open(f.items).never
	if f.items == nil || closed {
		w.noItems(t)
		if closed {
			w.put(t.out, "maxItems", w.literal(jsonschema.Number, itoa(len(f.prefix))))
		}
		return true
	}
	n, at := w.schema(f.items, t.p.below(f, t.p.optional))
	if n == nil {
		return false
	}
	w.put(t.out, "items", n)
	t.eachItem(at)
	return true
}

// tuplePart writes a tuple as an array of the union of its positions.
func (w *writer) tuplePart(t *part) bool {
	f := t.f
	union := w.r.made(f.src)
	var at []string
	for i, pf := range f.prefix {
		union.union = append(union.union, pf)
		at = append(at, "["+itoa(i)+"] "+w.brief(pf))
	}
	closed := f.items != nil && w.r.open(f.items).never
	if f.items != nil && !closed {
		union.union = append(union.union, f.items)
	}
	n, step := w.schema(union, t.p.below(f, t.p.optional))
	if n == nil {
		return false
	}
	w.put(t.out, "items", n)
	if f.keyword("minItems") == nil {
		w.countItems(t, "minItems", len(f.prefix))
	}
	if closed {
		w.countItems(t, "maxItems", len(f.prefix))
	}
	if len(at) <= 20 {
		t.notes = append(t.notes, strings.Join(at, ", "))
	}
	w.change(f, Constraint, "positions described")
	t.eachItem(step)
	return true
}

// brief describes a form in a word or two.
func (w *writer) brief(f *form) string {
	f = w.r.open(f)
	s := strings.Join(f.types.Names(), " or ")
	if s == "" {
		s = "any"
		if f.listed {
			s = words(f.enum)
		}
	}
	if f.title != "" && len(f.title) < 40 {
		s += " " + f.title
	}
	return s
}
