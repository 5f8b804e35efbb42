package fit

import "slices"

// cutLoops removes references that lead straight back to themselves.
func (c *compiler) cutLoops() {
	const open, done = 1, 2
	state := make(map[*shape]int, len(c.order))
	var visit func(s *shape) bool // false: s is being visited
	visit = func(s *shape) bool {
		switch state[s] {
		case open:
			return false
		case done:
			return true
		}
		state[s] = open
		for _, slot := range s.inPlace() {
			if *slot != nil && !visit(*slot) {
				*slot = nil
				c.looped()
			}
		}
		if s.dynamic != nil && !s.dynamic.every(visit) {
			s.dynamic = nil
			c.looped()
		}
		state[s] = done
		return true
	}
	for _, s := range c.order {
		visit(s)
	}
	for _, s := range c.order {
		s.all = present(s.all)
		s.any = present(s.any)
		if len(s.one) > 0 {
			s.one = present(s.one)
		}
	}
}

func (c *compiler) looped() {
	if len(c.notes) < maxNotes {
		c.notes = append(c.notes, "a reference leads back to itself, anything is accepted there")
	}
}

// every reports whether all possible targets meet the condition.
func (d *dynamicRef) every(holds func(*shape) bool) bool {
	ok := holds(d.target)
	for _, s := range d.at {
		ok = holds(s) && ok
	}
	return ok
}

func present(list []*shape) []*shape {
	return slices.DeleteFunc(list, func(s *shape) bool { return s == nil })
}

// inPlace lists the shapes that apply to the same value as s.
func (s *shape) inPlace() []**shape {
	slots := []**shape{&s.ref}
	if s.rare != nothingRare {
		slots = append(slots, &s.not, &s.when, &s.then, &s.or)
	}
	for _, list := range [][]*shape{s.all, s.any, s.one} {
		for k := range list {
			slots = append(slots, &list[k])
		}
	}
	for k := range s.dependents {
		slots = append(slots, &s.dependents[k].shape)
	}
	return slots
}

// accepted is the widest set of types that s can accept. known caches results.
func accepted(s *shape, known map[*shape]types) types {
	if out, ok := known[s]; ok {
		return out
	}
	out := tAny
	if s.types != 0 {
		out = s.types
	}
	if s.never {
		out = 0
	}
	if s.listed {
		var kinds types
		for k := range s.enum {
			kinds |= typesOf(s.enum[k].kind)
		}
		out = out.and(kinds)
	}
	if s.ref != nil {
		out = out.and(accepted(s.ref, known))
	}
	for _, part := range s.all {
		out = out.and(accepted(part, known))
	}
	for _, union := range [][]*shape{s.any, s.one} {
		var some types
		for _, branch := range union {
			some |= accepted(branch, known)
		}
		if len(union) > 0 {
			out = out.and(some)
		}
	}
	known[s] = out
	return out
}
