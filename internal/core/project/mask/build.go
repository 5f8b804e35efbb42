package mask

import (
	"cmp"
	"slices"
)

// inside is the level below the step, made when it is first needed.
func (s *step) inside() *level {
	if s.sub == nil {
		s.sub = &level{exact: map[string]*step{}}
	}
	return s.sub
}

// include is the step of the key, which may come again and add to it. A new one gets the id.
func (l *level) include(k key, id int) *step {
	s := l.exact[k.text]
	if k.glob {
		s = nil
		if i := slices.IndexFunc(l.globs, func(g *step) bool { return g.key == k }); i >= 0 {
			s = l.globs[i]
		}
	}
	if s != nil {
		return s
	}
	s = &step{key: k, id: id, limit: noCap}
	if k.glob {
		l.globs = append(l.globs, s)
		return s
	}
	l.exact[k.text] = s
	if len(l.exact) <= few {
		l.short = append(l.short, s)
	}
	return s
}

// exclusions is where exclusions start: those of paths, or those of names at any depth.
func (l *level) exclusions(deep bool) *exclusion {
	i := slices.IndexFunc(l.exclude, func(e *exclusion) bool { return e.deep == deep })
	if i < 0 {
		i = len(l.exclude)
		l.exclude = append(l.exclude, &exclusion{deep: deep})
	}
	return l.exclude[i]
}

// to is where the key leads from e.
func (e *exclusion) to(k key) *exclusion {
	for _, x := range e.next {
		if x.key == k {
			return x.to
		}
	}
	n := &exclusion{}
	e.next = append(e.next, excluded{k, n})
	return n
}

// finish completes a step once the whole mask is read.
func (s *step) finish() {
	if s.sub == nil {
		return
	}
	s.sub.finish()
	if s.whole { // "a,a(b)" is "a", but what is excluded inside stays excluded
		s.sub = &level{exclude: s.sub.exclude}
	}
	if !s.sub.allow && len(s.sub.exclude) == 0 {
		s.sub = nil
	}
}

func (l *level) finish() {
	for _, s := range l.exact {
		s.finish()
	}
	for _, s := range l.globs {
		s.finish()
	}
	slices.SortStableFunc(l.globs, func(a, b *step) int { return cmp.Compare(b.key.weight(), a.key.weight()) })
}
