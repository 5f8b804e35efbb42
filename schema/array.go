package schema

import "strings"

// arrayPart writes what an array holds. It tells false when the array had better be left out.
func (w *writer) arrayPart(out *node, f *form, p place, back *step, notes *[]string) bool {
	switch {
	case len(f.prefix) > 0 && w.d.prefixItems:
		return w.prefixPart(out, f, p, back)
	case len(f.prefix) > 0:
		return w.tuplePart(out, f, p, back, notes)
	case f.items == nil:
		return w.noItems(out, f, notes)
	}
	item := w.r.open(f.items)
	if item.never {
		return w.emptyArray(out, f, notes)
	}
	n, at := w.schema(f.items, p.below(f, p.optional))
	if n == nil {
		if w.d.strict {
			w.lose(item, Cut, "too deep or too large")
		}
		if p.optional {
			return false
		}
		w.change(item, Cut, "only the empty array is left")
		return w.emptyArray(out, f, notes)
	}
	w.put(out, "items", n)
	if at != 0 {
		back.Kind, back.Item = stepArray, at
	}
	return true
}

// noItems writes an array of which nothing is known.
func (w *writer) noItems(out *node, f *form, notes *[]string) bool {
	switch w.d.items {
	case itemsEmpty:
		n, _ := w.anything(w.r.made(f.src))
		w.put(out, "items", n)
	case itemsString:
		item := w.object()
		w.put(item, "type", w.text("string"))
		w.put(out, "items", item)
		*notes = append(*notes, "Items may be of any type")
		w.change(f, Constraint, "items shown as strings")
	case itemsRefused:
		w.lose(f, NotASchema, "any item is accepted")
		w.put(out, "items", w.object())
	}
	return true
}

func (w *writer) emptyArray(out *node, f *form, notes *[]string) bool {
	item := w.object()
	if w.d.needType {
		w.put(item, "type", w.text("string"))
	}
	if w.d.items != itemsOptional || w.d.needType {
		w.put(out, "items", item)
	}
	w.countItems(out, "maxItems", 0, notes)
	return true
}

// countItems says how many items there may be, in the schema or in words.
func (w *writer) countItems(out *node, key string, n int, notes *[]string) {
	v := w.literal(numberKind, itoa(n))
	if w.d.keep[key] && (!w.d.smallMin || n < 2) {
		w.put(out, key, v)
		return
	}
	v.key = key
	*notes = append(*notes, noteOf(v))
}

// prefixPart writes a tuple as the newest drafts do.
func (w *writer) prefixPart(out *node, f *form, p place, back *step) bool {
	list := w.array(len(f.prefix))
	var steps []int
	changed := false
	for _, pf := range f.prefix {
		n, at := w.schema(pf, p.below(f, p.optional))
		if n == nil {
			return false
		}
		list.kids = append(list.kids, n)
		steps = append(steps, at)
		changed = changed || at != 0
	}
	w.put(out, "prefixItems", list)
	if changed {
		back.Kind, back.Prefix = stepArray, steps
	}
	if f.items == nil {
		if w.d.items != itemsOptional {
			return w.noItems(out, f, new([]string))
		}
		return true
	}
	if w.r.open(f.items).never {
		n := len(f.prefix)
		if w.d.items != itemsOptional {
			w.noItems(out, f, new([]string))
		}
		w.put(out, "maxItems", w.literal(numberKind, itoa(n)))
		return true
	}
	n, at := w.schema(f.items, p.below(f, p.optional))
	if n == nil {
		return false
	}
	w.put(out, "items", n)
	if at != 0 {
		back.Kind, back.Item = stepArray, at
	}
	return true
}

// tuplePart writes a tuple as an array of the union of its positions.
func (w *writer) tuplePart(out *node, f *form, p place, back *step, notes *[]string) bool {
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
	n, step := w.schema(union, p.below(f, p.optional))
	if n == nil {
		return false
	}
	w.put(out, "items", n)
	if f.keyword("minItems") == nil {
		w.countItems(out, "minItems", len(f.prefix), notes)
	}
	if closed {
		w.countItems(out, "maxItems", len(f.prefix), notes)
	}
	if len(at) <= 20 {
		*notes = append(*notes, strings.Join(at, ", "))
	}
	w.change(f, Constraint, "positions described")
	if step != 0 {
		back.Kind, back.Item = stepArray, step
	}
	return true
}

// brief is a form in a word or two.
func (w *writer) brief(f *form) string {
	f = w.r.open(f)
	s := strings.Join(f.types.names(), " or ")
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
