package fit

import "slices"

// vocabulary is what a place declares.
type vocabulary struct {
	reach []*shape          // all that may apply to the value there
	names []form            // that these declare
	uses  map[string]bool   // words of the names
	below map[string][]form // names that the objects of properties declare, as far as asked
}

// vocabulary returns that of the place; it is kept for the next object of the same place.
func (m *repairer) vocabulary(place []*shape) *vocabulary {
	if len(place) != 1 {
		return &vocabulary{reach: reach(place)}
	}
	v := m.places[place[0]]
	if v == nil {
		v = &vocabulary{reach: reach(place)}
		if m.places == nil {
			m.places = map[*shape]*vocabulary{}
		}
		m.places[place[0]] = v
	}
	return v
}

// learn fills in the names.
func (v *vocabulary) learn(m *repairer) {
	v.names = declaredNames(v.reach)
	v.uses = map[string]bool{}
	v.below = map[string][]form{}
	m.spend(32 * len(v.names))
	for _, f := range v.names {
		for _, w := range f.words {
			v.uses[w] = true
		}
	}
}

// reach lists all shapes that apply, or may apply, to the same value as the place.
func reach(place []*shape) []*shape {
	var out []*shape
	seen := map[*shape]bool{}
	var add func(list ...*shape)
	add = func(list ...*shape) {
		for _, s := range list {
			if s == nil || seen[s] {
				continue
			}
			seen[s] = true
			out = append(out, s)
			add(s.ref, s.when, s.then, s.or)
			add(s.all...)
			add(s.any...)
			add(s.one...)
			for k := range s.dependents {
				add(s.dependents[k].shape)
			}
			if s.dynamic != nil {
				add(s.dynamic.target)
			}
		}
	}
	add(place...)
	return out
}

// declaredNames returns the names of all properties that the shapes have or require, once each.
func declaredNames(reach []*shape) []form {
	var out []form
	seen := map[string]bool{}
	add := func(name string) {
		if !seen[name] {
			seen[name] = true
			out = append(out, formOf(name))
		}
	}
	for _, s := range reach {
		for k := range s.props {
			if !s.props[k].shape.never {
				add(s.props[k].name)
			}
		}
		for _, name := range s.required {
			add(name)
		}
	}
	return out
}

// isMeant reports whether some shape speaks of member i by its name, or of all others and accepts its value.
func (m *repairer) isMeant(reach []*shape, t *tape, i int32) bool {
	for _, s := range reach {
		if s.prop(t, i) != nil || slices.ContainsFunc(s.required, func(name string) bool { return t.is(i, name) }) {
			return true
		}
		for k := range s.patterns {
			if s.patterns[k].pattern.match(t.innerName(i), &m.budget) {
				return true
			}
		}
		if !s.additional.isOpen() && !s.additional.never && m.fits([]*shape{s.additional}, t, i, true) {
			return true
		}
	}
	return false
}

// speaks reports whether a name is declared at all.
func (v *vocabulary) speaks() bool {
	return slices.ContainsFunc(v.reach, func(s *shape) bool { return len(s.props) > 0 })
}
