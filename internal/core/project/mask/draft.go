package mask

import (
	"cmp"
	"slices"
)

// draft is a step while the mask is read: the same name may come again and add to it.
type draft struct {
	key   key
	id    int
	rows  slice
	limit int
	whole bool
	level *draftLevel
}

type draftLevel struct {
	allow bool
	order []*draft
	byKey map[key]*draft
	root  *exclusion // of paths that start here
	below *exclusion // of names at any depth from here
}

func (d *draft) inside() *draftLevel {
	if d.level == nil {
		d.level = &draftLevel{byKey: map[key]*draft{}}
	}
	return d.level
}

// step is the draft of the key, which gets the given number when it is new.
func (l *draftLevel) step(k key, id int) *draft {
	d := l.byKey[k]
	if d == nil {
		d = &draft{key: k, id: id, limit: noCap}
		l.byKey[k] = d
		l.order = append(l.order, d)
	}
	return d
}

func (l *draftLevel) exclude() *exclusion {
	if l.root == nil {
		l.root = &exclusion{}
	}
	return l.root
}

func (l *draftLevel) deep() *exclusion {
	if l.below == nil {
		l.below = &exclusion{deep: true}
	}
	return l.below
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

func (d *draft) build() *step {
	s := &step{key: d.key, id: d.id, rows: d.rows, limit: d.limit, whole: d.whole}
	if d.level == nil {
		return s
	}
	sub := d.level.build()
	if d.whole { // "a,a(b)" is "a", but what is excluded inside stays excluded
		sub.allow, sub.exact, sub.globs = false, nil, nil
	}
	if sub.allow || len(sub.exclude) > 0 {
		s.sub = sub
	}
	return s
}

func (l *draftLevel) build() *level {
	out := &level{allow: l.allow}
	for _, d := range l.order {
		s := d.build()
		if s.key.glob {
			out.globs = append(out.globs, s)
			continue
		}
		if out.exact == nil {
			out.exact = map[string]*step{}
		}
		out.exact[s.key.text] = s
		if len(out.exact) <= few {
			out.short = append(out.short, s)
		}
	}
	slices.SortStableFunc(out.globs, func(a, b *step) int { return cmp.Compare(b.key.weight(), a.key.weight()) })
	for _, e := range []*exclusion{l.root, l.below} {
		if e != nil && len(e.next) > 0 {
			out.exclude = append(out.exclude, e)
		}
	}
	return out
}
