package schema

import (
	"slices"
	"strconv"
)

func quote(s string) string { return strconv.Quote(s) }

// maxPairs bounds how many merged forms one document may give rise to.
const maxPairs = 4000

// pair is the form that holds where both hold. It is made once for each two, so that a
// cycle through merged forms is still a cycle.
func (r *reader) pair(a, b *form) *form {
	if a == b || a == nil {
		return b
	}
	if b == nil {
		return a
	}
	key := [2]*form{a, b}
	if f := r.pairs[key]; f != nil {
		return f
	}
	if len(r.pairs) >= maxPairs {
		r.change(a.src, TooMuch, "one of two schemas kept")
		return a
	}
	f := r.made(a.src)
	f.all = []*form{a, b}
	if r.pairs == nil {
		r.pairs = map[[2]*form]*form{}
	}
	r.pairs[key] = f
	return f
}

// merge is what holds where both opened forms hold.
func (r *reader) merge(a, b *form) *form {
	if a.never {
		return a
	}
	if b.never {
		return b
	}
	out := a.copy()
	out.base, out.read = nil, true
	null := a.acceptsNull() && b.acceptsNull()
	out.types = a.types.meet(b.types)
	if out.types == 0 && a.types|b.types != 0 {
		if !null {
			out.never = true
			r.change(a.src, Conflict, "no type fits")
			return out
		}
		out.types = tNull
	}
	out.null = null && (a.null || b.null) && out.types != tNull
	if out.title == "" {
		out.title = b.title
	}
	if out.desc == "" {
		out.desc = b.desc
	}
	out.notes = append(out.notes, b.notes...)
	r.mergeProps(out, a, b)
	out.items = r.pair(a.items, b.items)
	r.mergePrefix(out, a, b)
	if a.names != nil || b.names != nil {
		out.names = r.pair(a.names, b.names)
	}
	if b.listed {
		r.mergeEnum(out, b)
	}
	r.mergeUnion(out, a, b)
	rest := b.rest
	if a.keyword("if") != nil && b.keyword("if") != nil { // two conditions would read as one: neither is shown
		out.rest, rest = slices.DeleteFunc(out.rest, isCondition), slices.DeleteFunc(slices.Clone(rest), isCondition)
		out.notes = append(out.notes, "Conditions are checked when called.")
		r.change(b.keyword("if"), Conflict, "conditions dropped")
	}
	for _, n := range rest {
		r.mergeKeyword(out, n)
	}
	return out
}

func (r *reader) mergeProps(out, a, b *form) {
	if len(a.props)+len(b.props)+len(a.required)+len(b.required) == 0 && b.more == nil && len(b.patterns) == 0 {
		return
	}
	out.props = make([]prop, 0, len(a.props)+len(b.props))
	add := func(p prop, other *form) {
		if q := other.prop(p.key); q != nil {
			p.form = r.pair(p.form, q)
		} else if other.more != nil && len(other.patterns) == 0 {
			more := r.open(other.more)
			if more.never {
				r.change(p.form.src, Conflict, "dropped: another part allows no such property")
				return
			}
			if !more.bare() {
				p.form = r.pair(p.form, other.more)
			}
		}
		out.props = append(out.props, p)
	}
	for _, p := range a.props {
		add(p, b)
	}
	for _, p := range b.props {
		if a.prop(p.key) == nil {
			add(p, a)
		}
	}
	for _, key := range b.required {
		if !slices.Contains(out.required, key) {
			out.required = append(out.required, key)
		}
	}
	out.more = r.pair(a.more, b.more)
	for _, p := range b.patterns {
		if i := slices.IndexFunc(out.patterns, func(q prop) bool { return q.key == p.key }); i >= 0 {
			out.patterns[i].form = r.pair(out.patterns[i].form, p.form)
		} else {
			out.patterns = append(out.patterns, p)
		}
	}
}

func (r *reader) mergePrefix(out, a, b *form) {
	long, short := a, b
	if len(b.prefix) > len(a.prefix) {
		long, short = b, a
	}
	if len(long.prefix) == 0 {
		return
	}
	out.prefix = slices.Clone(long.prefix)
	for i := range out.prefix {
		if i < len(short.prefix) {
			out.prefix[i] = r.pair(long.prefix[i], short.prefix[i])
		} else if short.items != nil {
			out.prefix[i] = r.pair(long.prefix[i], short.items)
		}
	}
}

func (r *reader) mergeEnum(out, b *form) {
	if !out.listed {
		out.enum, out.listed, out.constant = b.enum, true, b.constant
		return
	}
	in := make(map[string]bool, len(b.enum))
	for _, v := range b.enum {
		in[v.String()] = true
	}
	var both []*node
	for _, v := range out.enum {
		if in[v.String()] {
			both = append(both, v)
		}
	}
	if out.enum = both; len(both) == 0 && !out.null {
		out.never = true
		r.change(out.src, Conflict, "no value fits")
	}
}

// maxProduct is how many branches two unions may make together.
const maxProduct = 8

func (r *reader) mergeUnion(out, a, b *form) {
	switch {
	case b.union == nil:
	case a.union == nil:
		out.union, out.one = b.union, b.one
	case len(a.union)*len(b.union) > maxProduct:
		out.notes = append(out.notes, "Further alternatives are checked when called.")
		r.change(a.src, TooMuch, "one of two unions kept")
	default:
		out.union, out.one = nil, false
		for _, x := range a.union {
			for _, y := range b.union {
				out.union = append(out.union, r.pair(x, y))
			}
		}
	}
}

// mergeKeyword adds one keyword of another form: the tighter bound counts.
func (r *reader) mergeKeyword(out *form, n *node) {
	i := slices.IndexFunc(out.rest, func(o *node) bool { return o.key == n.key })
	if i < 0 {
		out.rest = append(out.rest, n)
		return
	}
	old := out.rest[i]
	if annotations[n.key] || equal(old, n) {
		return
	}
	switch n.key {
	case "minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains":
		if less(old, n) {
			out.rest[i] = n
		}
	case "maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties", "maxContains":
		if less(n, old) {
			out.rest[i] = n
		}
	case "uniqueItems":
		if n.isTrue() {
			out.rest[i] = n
		}
	case "unevaluatedProperties", "unevaluatedItems": // each speaks of its own part: neither holds for the whole
		out.rest = slices.Delete(out.rest, i, i+1)
		out.notes = append(out.notes, noteOf(n))
		r.change(n, Conflict, "described")
	default:
		out.notes = append(out.notes, noteOf(n))
		r.change(n, Conflict, "described")
	}
}

func isCondition(n *node) bool { return n.key == "if" || n.key == "then" || n.key == "else" }

// less compares two numbers by their text.
func less(a, b *node) bool {
	x, ok := number(a.text)
	y, ok2 := number(b.text)
	return ok && ok2 && x.Cmp(y) < 0
}
