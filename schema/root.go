package schema

import (
	"slices"
	"strings"
)

// root writes the whole schema, always as an object.
func (w *writer) root(at *form) (*node, int, *Error) {
	f := w.r.open(at)
	if w.r.err != nil {
		return nil, 0, w.r.err
	}
	if f.never {
		return nil, 0, &Error{Unsatisfiable, f.src.Pointer(), "no arguments could be valid"}
	}
	f, wrap := w.rootForm(f)
	w.prepare(f)
	if most := w.d.limits.levels; most > 0 && !w.d.strict && most < w.stop.level {
		w.stop = cut{most, w.bytes, w.opts.MaxNodes}
	}
	if w.r.err != nil {
		return nil, 0, w.r.err
	}
	out, back := w.rootBody(f)
	if out == nil {
		return nil, 0, &Error{Unsatisfiable, f.src.Pointer(), "a required part cannot be expressed"}
	}
	if wrap {
		w.change(f, RootChanged, "put under the property "+quote(wrapKey))
		inner := 0
		if back != 0 {
			inner = w.steps[back-1].Props[0].Step
		}
		back = w.step(step{Kind: stepUnwrap, Item: inner})
	}
	if len(w.bodies) > 0 {
		defs := w.object()
		defs.Kids = append(defs.Kids, w.bodies...)
		w.put(out, "$defs", defs)
	}
	return out, back, nil
}

// rootForm turns the root into an object, or wraps it in one.
func (w *writer) rootForm(f *form) (*form, bool) {
	c := f.copy()
	c.null = false
	if f.union != nil && !w.d.rootUnion {
		if merged := w.mergeRoot(c); merged != nil {
			c = merged
		}
	}
	object := c.types&tObject != 0
	if c.types == 0 {
		object = w.d.rootUnion || c.objectLike() || c.bare() || !c.listed && c.union == nil
	}
	if c.listed || c.union != nil && !w.d.rootUnion || !object {
		wrapped := w.r.made(f.src)
		wrapped.types = tObject
		wrapped.props = []prop{{wrapKey, f}}
		wrapped.required = []string{wrapKey}
		wrapped.more = w.r.made(nil)
		wrapped.more.never = true
		wrapped.flat = wrapped
		return wrapped, true
	}
	c.types = tObject
	if w.d.closed && c.props == nil && w.freeObject(c) {
		w.lose(c, Closed, "any object is accepted")
	}
	if !w.d.rootUnion {
		for _, key := range []string{"not", "if"} {
			if n := c.keyword(key); n != nil {
				c.notes = append(c.notes, noteOf(n))
				w.changeAt(n, Constraint, "described")
			}
		}
		if c.keyword("if") != nil { // its evaluated properties are no longer known
			c.rest = slices.DeleteFunc(c.rest, isUnevaluated)
		}
		c.rest = slices.DeleteFunc(c.rest, func(n *node) bool { return n.Key == "not" || isCondition(n) })
	}
	c.flat = c
	return c, false
}

// rootBody writes the root. If a required part must be cut, only its name and type are
// written, because nothing above it could be omitted instead.
func (w *writer) rootBody(f *form) (*node, int) {
	out, back, ok := w.plainOrUnion(f)
	if ok {
		return out, back
	}
	c := f.copy()
	for i, p := range c.props {
		pf := w.r.open(p.form)
		if pf.never && f.isRequired(p.key) {
			return nil, 0
		}
		if !f.isRequired(p.key) {
			continue
		}
		open := w.r.made(pf.src)
		open.types = pf.types
		open.desc = pf.desc
		open.null = pf.null
		if len(pf.props) > 0 {
			var names []string
			for _, q := range pf.props[:min(20, len(pf.props))] {
				names = append(names, q.key)
			}
			open.notes = []string{"Object with " + strings.Join(names, ", ")}
		}
		open.flat = open
		c.props[i].form = open
		w.change(pf, Cut, "its shape is described")
		w.loseCut(pf)
	}
	c.flat = c
	w.stop = cut{2, w.opts.MaxBytes, w.opts.MaxNodes}
	out, back, ok = w.plainOrUnion(c)
	if !ok {
		return nil, 0
	}
	return out, back
}

func (w *writer) plainOrUnion(f *form) (*node, int, bool) {
	if f.union != nil { // only in dialects that allow a union at the root
		out, at := w.union(f, place{})
		if out != nil && out.Get("type") == nil {
			w.insert(out, 0, "type", "object")
		}
		return out, at, out != nil
	}
	return w.plain(f, place{})
}

// mergeRoot merges the branches of a root union into one object; nil if they are not objects.
func (w *writer) mergeRoot(f *form) *form {
	var branches []*form
	for _, b := range f.union {
		o := w.r.open(b)
		if o.union != nil || o.listed || !o.objectLike() {
			return nil
		}
		branches = append(branches, o)
	}
	c := f.copy()
	c.union = nil
	c.one = false
	c.types = tObject
	onlyRequired := true
	closed := true
	var keys []string
	seen := map[string]bool{}
	for _, b := range branches {
		onlyRequired = onlyRequired && len(b.props) == 0
		closed = closed && b.more != nil && w.r.open(b.more).never
		for _, p := range b.props {
			if !seen[p.key] {
				seen[p.key] = true
				keys = append(keys, p.key)
			}
		}
	}
	for _, key := range keys {
		w.mergeRootKey(c, f, branches, key)
	}
	for _, key := range branches[0].required {
		if !c.isRequired(key) && !slices.ContainsFunc(branches, func(b *form) bool { return !b.isRequired(key) }) {
			c.required = append(c.required, key)
			c.needed = nil
		}
	}
	if closed && c.more == nil {
		c.more = branches[0].more
	}
	if note := rootNote(f, branches, onlyRequired); note != "" {
		c.notes = append(c.notes, note)
	}
	key := "anyOf"
	if f.one {
		key = "oneOf"
	}
	w.changeAt(f.place(key), RootChanged, "alternatives merged into one object")
	return c
}

// mergeRootKey merges the schemas of one property of the branches.
func (w *writer) mergeRootKey(c, base *form, branches []*form, key string) {
	own := base.prop(key)
	var forms []*form
	everywhere := true
	for _, b := range branches {
		bf := b.prop(key)
		if bf == nil {
			everywhere = false
			continue
		}
		if own != nil {
			bf = w.r.pair(bf, own)
		}
		if !slices.ContainsFunc(forms, func(o *form) bool { return same(w.r.open(o), w.r.open(bf)) }) {
			forms = append(forms, bf)
		}
	}
	if own != nil && !everywhere {
		return
	}
	form := forms[0]
	if len(forms) > 1 {
		form = w.r.made(forms[0].src)
		form.union = forms
	}
	if own == nil {
		c.props = append(c.props, prop{key, form})
		return
	}
	c.props[c.propAt(key)].form = form
}

// rootNote describes which properties go together.
func rootNote(f *form, branches []*form, onlyRequired bool) string {
	var groups []string
	for _, b := range branches {
		if len(b.required) > 0 {
			groups = append(groups, strings.Join(b.required[:min(8, len(b.required))], " + "))
		}
	}
	if len(groups) < 2 || len(groups) > 12 {
		return ""
	}
	switch {
	case f.one:
		return "Give exactly one of: " + strings.Join(groups, ", ") + "."
	case onlyRequired && len(groups) < len(branches):
		return ""
	}
	return "Give at least one of: " + strings.Join(groups, ", ") + "."
}

// prepare decides which definitions are kept and where writing stops, if references or size
// require it.
func (w *writer) prepare(f *form) {
	if w.r.Named {
		s := newSurvey(w.r, f)
		if w.r.err != nil {
			return
		}
		if w.d.refs && !(w.d.optionalRec && s.tight) {
			w.keepDefs(f, s)
		}
	} else if w.r.Count <= w.opts.MaxNodes && 2*w.r.size <= w.bytes {
		return
	}
	w.measure(f)
	if w.rung.words < huge {
		w.change(f, TooMuch, "descriptions are cut to "+itoa(w.rung.words)+" bytes")
	}
}

// keepDefs names the definitions that are part of a cycle, and the shared ones if repeating
// them would more than double the size.
func (w *writer) keepDefs(root *form, s *survey) {
	written := s.of(root.id()).size
	shared := written > 2*s.count && written > 64
	w.defs = map[*form]string{}
	taken := map[string]bool{}
	next := map[string]int{}
	var visit func(f *form)
	seen := map[*form]bool{}
	visit = func(f *form) {
		f = w.r.open(f)
		id := f.id()
		m := s.of(id)
		if seen[id] || m.state == 0 { // below where writing stops
			return
		}
		seen[id] = true
		if m.onCycle || shared && id != root && m.uses > 1 && m.size > 3 {
			name := cleanKey(id.name)
			if id.name == "" {
				name = "Part"
			}
			base := name
			for n := max(2, next[base]); taken[name]; n++ {
				name = base + "_" + itoa(n)
				next[base] = n + 1
			}
			taken[name] = true
			w.defs[id] = name
		}
		children(f, func(c *form, _ bool) { visit(c) })
	}
	visit(root)
}
