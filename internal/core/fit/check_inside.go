package fit

// object checks the members of object i.
func (c *checker) object(s *shape, i int32) bool {
	ok := c.required(s.required, s, i)
	if len(s.props) > 0 || s.additional != nil || len(s.patterns) > 0 {
		for m := c.t.first(i); m >= 0 && !c.stop(ok); m = c.t.after(m) {
			ok = c.member(s, m) && ok
		}
	}
	if c.light || c.stop(ok) {
		return ok
	}
	ok = (within(c.t.tokens[i].size, s.minProps, s.maxProps) || c.bad(WrongSize, s, i)) && ok
	if s.names != nil && !c.stop(ok) {
		ok = c.names(s, i) && ok
	}
	for k := range s.dependents {
		d := &s.dependents[k]
		c.spend(int(c.t.tokens[i].size) / 4)
		if c.stop(ok) {
			return false
		}
		if c.t.get(i, d.name) >= 0 {
			ok = c.required(d.needs, s, i) && (d.shape == nil || c.ok(d.shape, i)) && ok
		}
	}
	return ok
}

// required reports whether object i has all the names.
func (c *checker) required(names []string, s *shape, i int32) bool {
	ok := true
	for _, name := range names {
		c.spend(int(c.t.tokens[i].size) / 4)
		if c.t.get(i, name) >= 0 {
			continue
		}
		ok = false
		if c.stop(ok) {
			return false
		}
		if !c.report.full() {
			c.report.include(missingProblem(name, s, c.t, i))
		}
	}
	return ok
}

// member checks member m against the rules for its name.
func (c *checker) member(s *shape, m int32) bool {
	if tok := &c.t.tokens[m]; !c.spendBytes(int(tok.keyEnd - tok.key)) {
		return false
	}
	p := s.prop(c.t, m)
	declared := p != nil
	ok := !declared || c.ok(p, m)
	for k := range s.patterns {
		if !c.stop(ok) && s.patterns[k].pattern.match(c.t.innerName(m), &c.budget) {
			declared = true
			ok = c.ok(s.patterns[k].shape, m) && ok
		}
	}
	if declared {
		return ok
	}
	if s.additional.isOpen() {
		c.odd = true
		return ok
	}
	if s.additional.never {
		return c.bad(Unknown, s, m)
	}
	return c.ok(s.additional, m) && ok
}

// names checks the names of object i's members as strings.
func (c *checker) names(s *shape, i int32) bool {
	ok := true
	for m := c.t.first(i); m >= 0 && !c.stop(ok); m = c.t.after(m) {
		tok := &c.t.tokens[m]
		if !c.spendBytes(int(tok.keyEnd - tok.key)) {
			return false
		}
		name := &tape{}
		if err := name.read(c.t.data[tok.key:tok.keyEnd]); err != nil {
			continue // already read
		}
		inner := checker{budget: c.budget, t: name, depth: c.depth, scope: c.scope}
		fits := inner.ok(s.names, 0)
		c.budget = inner.budget
		ok = (fits || c.bad(WrongName, s, m)) && ok
	}
	return ok
}

// array checks the elements of array i.
func (c *checker) array(s *shape, i int32) bool {
	ok := true
	if len(s.prefix) > 0 || s.items != nil {
		n := 0
		for e := c.t.first(i); e >= 0 && !c.stop(ok); e = c.t.after(e) {
			if item := s.item(n); item != nil {
				ok = c.ok(item, e) && ok
			}
			n++
		}
	}
	if c.light || c.stop(ok) {
		return ok
	}
	ok = (within(c.t.tokens[i].size, s.minItems, s.maxItems) || c.bad(WrongSize, s, i)) && ok
	if s.unique && !c.stop(ok) {
		ok = (c.isUnique(i) || c.bad(NotUnique, s, i)) && ok
	}
	if s.contains != nil && !c.stop(ok) {
		ok = (c.holds(s, i) || c.bad(NotContained, s, i)) && ok
	}
	return ok
}

// item returns the shape of the nth element, or nil.
func (s *shape) item(n int) *shape {
	if n < len(s.prefix) {
		return s.prefix[n]
	}
	return s.items
}

// itemsOf returns the shapes of the nth element.
func itemsOf(flat []*shape, n int) (place []*shape) {
	for _, s := range flat {
		if item := s.item(n); item != nil {
			place = append(place, item)
		}
	}
	return place
}

func (c *checker) isUnique(i int32) bool {
	if c.t.tokens[i].size < 2 {
		return true
	}
	if !c.spendPlain(i) {
		return false
	}
	seen := make(map[string]bool, c.t.tokens[i].size)
	var buf []byte
	for e := c.t.first(i); e >= 0; e = c.t.after(e) {
		buf = appendPlain(buf[:0], c.t, e)
		if seen[string(buf)] {
			return false
		}
		seen[string(buf)] = true
	}
	return true
}

// holds reports whether the array contains the required number of matching elements.
func (c *checker) holds(s *shape, i int32) bool {
	n := int32(0)
	for e := c.t.first(i); e >= 0; e = c.t.after(e) {
		if c.quietly(s.contains, e) {
			n++
		}
	}
	least := int32(1)
	if s.minContains >= 0 {
		least = s.minContains
	}
	return within(n, least, s.maxContains)
}
