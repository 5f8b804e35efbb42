package schema

import (
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// maxPairs limits how many merged forms one document may create.
const maxPairs = 4000

// pair returns the form that satisfies both a and b. It is created once per pair, so that a
// cycle through merged forms stays a cycle.
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
		r.tooMuch(a.src, "one of two schemas kept")
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

// maxWork limits how many properties are compared when merging the schemas of one document.
const maxWork = 40000

// merge returns the form that satisfies both opened forms.
func (r *reader) merge(a, b *form) *form {
	if a.never {
		return a
	}
	if b.never {
		return b
	}
	out := a.copy()
	r.mergeInto(out, b)
	return out
}

// mergeInto merges an opened form into out, which must not be shared yet.
func (r *reader) mergeInto(out, b *form) {
	if out.never {
		return
	}
	if b.never {
		out.never = true
		return
	}
	r.work += 8 + len(b.props) + len(b.required)
	if r.work > maxWork {
		r.tooMuch(b.src, "one of two schemas kept")
		return
	}
	null := out.acceptsNull() && b.acceptsNull()
	said := out.types|b.types != 0
	beside := out.null || b.null
	out.types = out.types.And(b.types)
	if out.types == 0 && said {
		if !null {
			out.never = true
			r.change(out.src, Conflict, "no type fits")
			return
		}
		out.types = tNull
	}
	out.null = null && beside && out.types != tNull
	if out.title == "" {
		out.title = b.title
	}
	if out.desc == "" {
		out.desc = b.desc
	}
	for _, note := range b.notes {
		if len(out.notes) < 12 && !slices.Contains(out.notes, note) {
			out.notes = append(out.notes, note)
		}
	}
	r.mergeProps(out, b)
	r.mergePrefix(out, b)
	out.items = r.pair(out.items, b.items)
	out.names = r.pair(out.names, b.names)
	if b.listed {
		r.mergeEnum(out, b)
	}
	r.mergeUnion(out, b)
	r.mergeRest(out, b)
}

// tooMuch reports once that merging was given up.
func (r *reader) tooMuch(at *node, action string) {
	if !r.gaveUp {
		r.gaveUp = true
		r.change(at, TooMuch, action)
	}
}

func (r *reader) mergeRest(out, b *form) {
	rest := b.rest
	if out.keyword("if") != nil && b.keyword("if") != nil { // two conditions would read as one, so neither is shown
		out.rest = slices.DeleteFunc(out.rest, isCondition)
		rest = slices.DeleteFunc(slices.Clone(rest), isCondition)
		r.note(out, "Conditions are checked when called.")
		r.change(b.keyword("if"), Conflict, "conditions dropped")
	}
	for _, n := range rest {
		r.mergeKeyword(out, n)
	}
}

// note adds a note unless it is already there.
func (r *reader) note(out *form, note string) {
	if !slices.Contains(out.notes, note) {
		out.notes = append(out.notes, note)
	}
}

func (r *reader) mergeProps(out, b *form) {
	if b.more != nil && len(b.patterns) == 0 {
		r.narrow(out, b)
	}
	more := out.more
	patterns := len(out.patterns)
	for _, p := range b.props {
		if at := out.propAt(p.key); at >= 0 {
			out.props[at].form = r.pair(out.props[at].form, p.form)
			continue
		}
		if more != nil && patterns == 0 {
			p.form = r.allowed(p.form, more)
		}
		out.addProp(p)
	}
	for _, key := range b.required {
		out.require(key)
	}
	out.more = r.pair(out.more, b.more)
	for _, p := range b.patterns {
		if i := slices.IndexFunc(out.patterns, func(q prop) bool { return q.key == p.key }); i >= 0 {
			out.patterns[i].form = r.pair(out.patterns[i].form, p.form)
		} else {
			out.patterns = append(out.patterns, p)
		}
	}
}

// narrow applies b's additionalProperties to the properties that only out has.
func (r *reader) narrow(out, b *form) {
	r.work += len(out.props)
	for i, p := range out.props {
		if b.prop(p.key) == nil {
			out.props[i].form = r.allowed(p.form, b.more)
		}
	}
}

// allowed applies another part's additionalProperties to a property. A part with false is
// taken to close the merged schema: otherwise no value could have the properties of both.
func (r *reader) allowed(f, more *form) *form {
	m := r.open(more)
	switch {
	case m.never:
		r.change(f.src, Conflict, "kept: another part allows no such property")
		return f
	case m.bare():
		return f
	}
	return r.pair(f, more)
}

func (r *reader) mergePrefix(out, b *form) {
	long := out.prefix
	short := b.prefix
	rest := b.items
	if len(short) > len(long) {
		long, short = short, long
		rest = out.items
	}
	if len(long) == 0 {
		return
	}
	out.prefix = slices.Clone(long)
	for i := range out.prefix {
		if i < len(short) {
			out.prefix[i] = r.pair(long[i], short[i])
		} else if rest != nil {
			out.prefix[i] = r.pair(long[i], rest)
		}
	}
}

func (r *reader) mergeEnum(out, b *form) {
	if !out.listed {
		out.enum = b.enum
		out.listed = true
		out.constant = b.constant
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
	out.enum = both
	if len(both) == 0 && !out.null {
		out.never = true
		r.change(out.src, Conflict, "no value fits")
	}
}

// maxProduct limits the branches of two merged unions.
const maxProduct = 8

func (r *reader) mergeUnion(out, b *form) {
	mine := out.union
	switch {
	case b.union == nil:
	case mine == nil:
		out.union = b.union
		out.one = b.one
	case len(mine)*len(b.union) > maxProduct:
		r.note(out, "Further alternatives are checked when called.")
		r.change(b.src, TooMuch, "one of two unions kept")
	default:
		out.union = nil
		out.one = false
		for _, x := range mine {
			for _, y := range b.union {
				out.union = append(out.union, r.pair(x, y))
			}
		}
	}
}

// mergeKeyword merges one keyword; the tighter bound wins.
func (r *reader) mergeKeyword(out *form, n *node) {
	i := slices.IndexFunc(out.rest, func(o *node) bool { return o.Key == n.Key })
	if i < 0 {
		out.rest = append(out.rest, n)
		return
	}
	old := out.rest[i]
	if jsonschema.Keywords[n.Key].Note || jsonschema.Equal(old, n) {
		return
	}
	bound := jsonschema.Keywords[n.Key].Bound
	switch {
	case bound != 0:
		if order, ok := jsonschema.Compare(old, n); ok && order*bound > 0 {
			out.rest[i] = n
		}
	case n.Key == "uniqueItems":
		if n.IsTrue() {
			out.rest[i] = n
		}
	default:
		if isUnevaluated(n) { // applies to its own part only, not to the merged schema
			out.rest = slices.Delete(out.rest, i, i+1)
		}
		r.note(out, noteOf(n))
		r.change(n, Conflict, "described")
	}
}

func isUnevaluated(n *node) bool { return strings.HasPrefix(n.Key, "unevaluated") }

func isCondition(n *node) bool { return n.Key == "if" || n.Key == "then" || n.Key == "else" }
