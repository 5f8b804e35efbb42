package schema

import (
	"slices"

	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// split writes one branch per type, each with the keywords that apply to it.
func (w *writer) split(f *form, p place) (*node, int) {
	whole := w.r.made(f.src)
	whole.base = f.id()
	whole.title = f.title
	whole.desc = f.desc
	whole.notes = f.notes
	whole.null = f.null
	for _, n := range f.rest {
		if isNote(n) {
			whole.rest = append(whole.rest, n)
		}
	}
	for _, name := range f.types.Names() {
		t := jsonschema.TypeNamed(name)
		if t == tNull {
			whole.null = true
			continue
		}
		b := f.copy()
		b.types = t
		b.null = false
		b.title = ""
		b.desc = ""
		b.notes = nil
		b.rest = slices.DeleteFunc(b.rest, func(n *node) bool { return isNote(n) || !constrains(n.Key, t) })
		if t != tObject {
			b.props = nil
			b.required = nil
			b.more = nil
			b.patterns = nil
			b.names = nil
		}
		if t != tArray {
			b.items = nil
			b.prefix = nil
		}
		whole.union = append(whole.union, b)
	}
	whole.flat = whole
	return w.union(whole, p)
}

// union writes the branches of a union.
func (w *writer) union(f *form, p place) (*node, int) {
	name := "anyOf"
	if f.one && w.d.keep["oneOf"] {
		name = "oneOf"
	}
	if f.one && !w.d.keep["oneOf"] && !w.exclusive(f.union) {
		f = w.noteExclusive(f)
	}
	own := *f
	own.union = nil
	own.null = false
	own.title = ""
	own.desc = ""
	own.notes = nil
	own.base = nil
	own.rest = slices.DeleteFunc(slices.Clone(f.rest), isNote)
	own.flat = nil
	own.ref = nil
	own.all = nil
	own.read = true
	if w.d.alone { // applies to all branches together, so it cannot be copied into each
		own.rest = slices.DeleteFunc(own.rest, isUnevaluated)
	}
	push := w.d.alone && !own.bare()
	beside := w.besides[f] // reused, so that its pairs are created once
	if beside == nil && push {
		if w.besides == nil {
			w.besides = map[*form]*form{}
		}
		beside = &own
		w.besides[f] = beside
	}
	list := w.array(len(f.union) + 1)
	var branches []branch
	var last *form
	changed := false
	for _, b := range f.union {
		if push {
			b = w.r.pair(b, beside)
		}
		last = w.r.open(b)
		n, at := w.schema(last, p.below(f, true))
		if n == nil {
			if !last.never {
				w.loseCut(last)
				w.change(last, Cut, "left out")
			}
			continue
		}
		list.Kids = append(list.Kids, n)
		branches = append(branches, branch{test: n, Step: at})
		changed = changed || at != 0
	}
	if len(list.Kids) == 0 {
		return nil, 0
	}
	back := 0
	if changed {
		back = w.step(step{Kind: stepUnion, Branches: branches})
	}
	if w.d.alone || own.bare() {
		return w.aloneUnion(f, name, list, branches), back
	}
	return w.unionBeside(f, &own, name, list, p), back
}

// noteExclusive describes that exactly one branch may match.
func (w *writer) noteExclusive(f *form) *form {
	c := *f
	c.notes = append(slices.Clip(f.notes), "Exactly one alternative may fit.")
	w.changeAt(f.place("oneOf"), Constraint, "described")
	return &c
}

// exclusive reports whether no value can match two branches: their types differ, or a property
// required in all of them has different values in each.
func (w *writer) exclusive(branches []*form) bool {
	var seen types
	for _, b := range branches {
		o := w.r.open(b)
		t := o.types
		if o.listed {
			t = 0
			for _, v := range o.enum {
				t |= v.Type()
			}
		}
		if t&tNumber != 0 {
			t |= tInteger
		}
		if t == 0 || seen&t != 0 {
			return w.tagged(branches)
		}
		seen |= t
	}
	return true
}

func (w *writer) tagged(branches []*form) bool {
	for _, key := range w.r.open(branches[0]).required {
		values := map[string]bool{}
		apart := true
		for _, b := range branches {
			o := w.r.open(b)
			p := o.prop(key)
			if p == nil || !o.isRequired(key) || !w.r.open(p).listed || w.r.open(p).null {
				apart = false
				break
			}
			for _, v := range w.r.open(p).enum {
				apart = apart && !values[v.String()]
				values[v.String()] = true
			}
		}
		if apart {
			return true
		}
	}
	return false
}

// unionBeside writes a union beside other keywords.
func (w *writer) unionBeside(f, own *form, name string, list *node, p place) *node {
	out, _, ok := w.plain(own, p)
	if !ok {
		return nil
	}
	w.describe(out, min(1, len(out.Kids)), f, f.notes)
	for _, n := range f.rest {
		if isNote(n) && w.keeps(f, n) {
			w.put(out, n.Key, w.copied(n))
		}
	}
	if f.null {
		if t := out.Get("type"); t != nil && t.Kind == jsonschema.String {
			both := w.texts([]string{t.Text, "null"})
			both.Key = "type"
			out.Kids[slices.Index(out.Kids, t)] = both
		}
		list.Kids = append(list.Kids, w.typed("null"))
	}
	w.put(out, name, list)
	return out
}

// aloneUnion writes a union with at most a description beside it.
func (w *writer) aloneUnion(f *form, name string, list *node, branches []branch) *node {
	notes := slices.Clip(f.notes)
	out := w.object()
	for _, n := range f.rest {
		if !isNote(n) && !isUnevaluated(n) {
			continue
		}
		if isNote(n) && w.d.raw && w.keeps(f, n) {
			w.put(out, n.Key, w.copied(n))
		} else {
			w.note(f, n, &notes)
		}
	}
	if f.null {
		if w.d.null == nullableFlag {
			if first := list.Kids[0]; first.Get("nullable") == nil && first.Get("anyOf") == nil {
				w.put(first, "nullable", w.flag(true))
			}
		} else {
			list.Kids = append(list.Kids, w.typed("null"))
		}
	}
	if len(list.Kids) == 1 {
		out = list.Kids[0]
		list = nil
		w.addWords(out, describe(f.desc, notes))
		return out
	}
	w.put(out, name, list)
	if !w.d.aloneWords {
		w.describe(out, 0, f, notes)
		return out
	}
	w.addWords(list.Kids[0], describe(f.desc, notes))
	return out
}

// addWords prepends words to the description of a written schema.
func (w *writer) addWords(n *node, words string) {
	words = shorten(words, w.rung.words)
	if words == "" {
		return
	}
	if inner := n.Get("anyOf"); inner != nil && w.d.aloneWords && len(inner.Kids) > 0 {
		w.addWords(inner.Kids[0], words)
		return
	}
	if d := n.Get("description"); d != nil {
		d.Text = describe(words, []string{d.Text})
		return
	}
	if n.Get("$ref") != nil && !w.d.refWords {
		return
	}
	w.put(n, "description", w.text(words))
}
