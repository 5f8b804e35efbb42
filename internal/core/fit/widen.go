package fit

import "slices"

// maxWidened limits the shapes that widen visits below others.
const maxWidened = 10_000

// widen lets a closed object (additionalProperties: false) have the properties of the shapes that
// apply with it: strictly read, the parts of allOf would forbid each other's. Branches of one union
// stay apart.
func (c *compiler) widen() {
	if !slices.ContainsFunc(c.order, func(s *shape) bool { return s.closed() }) {
		return
	}
	w := &widener{left: maxWidened, holds: map[*shape]bool{}}
	for _, s := range c.order {
		if s.ref != nil || len(s.all) > 0 || len(s.any) > 0 || len(s.one) > 0 {
			*s = *w.with(s, nil)
		}
	}
}

func (s *shape) closed() bool { return s.additional != nil && s.additional.never }

type widener struct {
	left  int             // visits
	holds map[*shape]bool // whether a shape, or one that applies with it, is closed
}

// parts returns the shapes that always apply with s.
func (s *shape) parts() []*shape {
	if s.ref == nil {
		return s.all
	}
	return append(slices.Clone(s.all), s.ref)
}

// closes reports whether s, or a shape that applies with it, is closed.
func (w *widener) closes(s *shape) bool {
	closed, known := w.holds[s]
	if !known {
		closed = s.closed()
		for _, list := range [][]*shape{s.parts(), s.any, s.one} {
			closed = closed || slices.ContainsFunc(list, w.closes)
		}
		w.holds[s] = closed
	}
	return closed
}

// with returns the shape beside others that declare these names: itself, or a copy that allows
// them.
func (w *widener) with(s *shape, names []string) *shape {
	w.left--
	if w.left < 0 || !w.closes(s) {
		return s
	}
	parts := slices.Clone(s.parts())
	var inParts [][]string
	var inUnions, inAll []string
	for _, part := range parts {
		list := w.declared(part, nil)
		inParts = append(inParts, list)
		inAll = append(inAll, list...)
	}
	for _, union := range [][]*shape{s.any, s.one} {
		for _, branch := range union {
			inUnions = w.declared(branch, inUnions)
		}
	}
	out := *s
	rare := *s.rare
	out.rare = &rare
	own := slices.Clone(names)
	for _, p := range s.props {
		own = append(own, p.name)
	}
	for k := range parts {
		others := slices.Concat(own, inUnions)
		for j := range parts {
			if j != k {
				others = append(others, inParts[j]...)
			}
		}
		parts[k] = w.with(parts[k], others)
	}
	if s.ref != nil {
		out.ref = parts[len(parts)-1]
	}
	out.all = parts[:len(s.all)]
	out.any = w.each(s.any, slices.Concat(own, inAll))
	out.one = w.each(s.one, slices.Concat(own, inAll))
	if s.closed() {
		out.allow(slices.Concat(names, inAll, inUnions))
	}
	return &out
}

func (w *widener) each(list []*shape, names []string) []*shape {
	out := slices.Clone(list)
	for k := range out {
		out[k] = w.with(out[k], names)
	}
	return out
}

// declared adds the properties that s, and what applies with it, declare.
func (w *widener) declared(s *shape, to []string) []string {
	w.left--
	if w.left < 0 {
		return to
	}
	for _, p := range s.props {
		to = append(to, p.name)
	}
	for _, list := range [][]*shape{s.parts(), s.any, s.one} {
		for _, part := range list {
			to = w.declared(part, to)
		}
	}
	return to
}

// allow adds properties of any kind.
func (s *shape) allow(names []string) {
	known := make(map[string]bool, len(s.props))
	for _, p := range s.props {
		known[p.name] = true
	}
	s.props = slices.Clone(s.props)
	for _, name := range names {
		if !known[name] {
			known[name] = true
			s.props = append(s.props, prop{name, anyShape})
		}
	}
	s.index()
}

// anyShape accepts everything.
var anyShape = (&compiler{}).blank()
