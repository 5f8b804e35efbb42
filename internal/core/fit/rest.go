package fit

// rest checks the values inside i that no other keyword of s has evaluated.
func (c *checker) rest(s, rest *shape, i int32) bool {
	seen := map[int32]bool{}
	c.looked(s, i, seen, true)
	ok := true
	for e := c.t.first(i); e >= 0 && !c.stop(ok); e = c.t.after(e) {
		switch {
		case seen[e]:
		case rest.never && c.t.tokens[e].keyEnd > 0:
			ok = c.bad(Unknown, s, e)
		default:
			ok = c.ok(rest, e) && ok
		}
	}
	return ok
}

// looked adds the values inside i that s, and the shapes that apply with it, have evaluated. At the
// top, unevaluated* itself does not count.
func (c *checker) looked(s *shape, i int32, seen map[int32]bool, top bool) {
	if !c.spend(1 + int(c.t.tokens[i].size)) {
		return
	}
	if c.depth > maxNested {
		c.end()
		return
	}
	c.depth++
	defer func() { c.depth-- }()
	if c.t.tokens[i].kind == isObject {
		c.lookedMembers(s, i, seen, top)
	} else {
		c.lookedElements(s, i, seen, top)
	}
	if s.ref != nil {
		c.looked(s.ref, i, seen, false)
	}
	if s.dynamic != nil {
		c.looked(c.resolve(s.dynamic), i, seen, false)
	}
	for _, part := range s.all {
		c.looked(part, i, seen, false)
	}
	for _, union := range [][]*shape{s.any, s.one} {
		for _, branch := range union {
			if c.quietly(branch, i) {
				c.looked(branch, i, seen, false)
			}
		}
	}
	if s.when != nil {
		branch := s.or
		if c.quietly(s.when, i) {
			c.looked(s.when, i, seen, false)
			branch = s.then
		}
		if branch != nil {
			c.looked(branch, i, seen, false)
		}
	}
	for k := range s.dependents {
		if d := &s.dependents[k]; d.shape != nil && c.t.get(i, d.name) >= 0 {
			c.looked(d.shape, i, seen, false)
		}
	}
}

func (c *checker) lookedMembers(s *shape, i int32, seen map[int32]bool, top bool) {
	for m := c.t.first(i); m >= 0; m = c.t.after(m) {
		matched := s.additional != nil || s.unevaluatedProps != nil && !top || s.prop(c.t, m) != nil
		for k := 0; k < len(s.patterns) && !matched; k++ {
			matched = s.patterns[k].pattern.match(c.t.innerName(m), &c.budget)
		}
		if matched {
			seen[m] = true
		}
	}
}

func (c *checker) lookedElements(s *shape, i int32, seen map[int32]bool, top bool) {
	n := 0
	for e := c.t.first(i); e >= 0; e = c.t.after(e) {
		if s.item(n) != nil || s.unevaluatedItems != nil && !top || s.contains != nil && c.quietly(s.contains, e) {
			seen[e] = true
		}
		n++
	}
}
