package fit

// object checks the members of object i.
func (c *checker) object(s *shape, i int32) bool {
	ok := c.required(s.required, s, i)
	if !ok && c.report == nil {
		return false
	}
	if len(s.props) > 0 || s.additional != nil || len(s.patterns) > 0 {
		for m := c.t.first(i); m >= 0; m = c.t.after(m) {
			if !c.member(s, m) {
				if ok = false; c.report == nil {
					return false
				}
			}
		}
	}
	if c.light {
		return ok
	}
	if n := c.t.tokens[i].size; n < s.minProps || s.maxProps >= 0 && n > s.maxProps {
		if ok = false; c.bad(WrongSize, s, i) {
			return false
		}
	}
	if s.names != nil && !c.names(s, i) {
		if ok = false; c.report == nil {
			return false
		}
	}
	for k := range s.dependents {
		d := &s.dependents[k]
		c.spend(int(c.t.tokens[i].size) / 4)
		if c.t.get(i, d.name) < 0 {
			continue
		}
		if !c.required(d.needs, s, i) || d.shape != nil && !c.ok(d.shape, i) {
			if ok = false; c.report == nil {
				return false
			}
		}
	}
	return ok
}

// required tells whether object i has all the names.
func (c *checker) required(names []string, s *shape, i int32) bool {
	ok := true
	for _, name := range names {
		c.spend(int(c.t.tokens[i].size) / 4)
		if c.t.get(i, name) >= 0 {
			continue
		}
		if ok = false; c.report == nil || c.spent() {
			return false
		}
		if !c.report.full() {
			c.report.add(missingProblem(name, s, c.t, i))
		}
	}
	return ok
}

// member checks member m against what s says of its name.
func (c *checker) member(s *shape, m int32) bool {
	ok, declared := true, false
	if tok := &c.t.tokens[m]; !c.spendBytes(int(tok.keyEnd - tok.key)) {
		return false
	}
	if p := s.prop(c.t, m); p != nil {
		if declared, ok = true, c.ok(p, m); !ok && c.report == nil {
			return false
		}
	}
	for k := range s.patterns {
		if !s.patterns[k].pattern.match(c.t.innerName(m), &c.budget) {
			continue
		}
		declared = true
		if !c.ok(s.patterns[k].shape, m) {
			if ok = false; c.report == nil {
				return false
			}
		}
	}
	if declared || s.additional == nil {
		return ok
	}
	if s.additional.never {
		c.bad(Unknown, s, m)
		return false
	}
	return c.ok(s.additional, m) && ok
}

// names checks the names of object i's members as strings.
func (c *checker) names(s *shape, i int32) bool {
	ok := true
	for m := c.t.first(i); m >= 0; m = c.t.after(m) {
		tok := &c.t.tokens[m]
		if !c.spendBytes(int(tok.keyEnd - tok.key)) {
			return false
		}
		name := &tape{}
		if err := name.read(c.t.data[tok.key:tok.keyEnd]); err != nil {
			continue // it was read before
		}
		inner := checker{budget: c.budget, t: name, depth: c.depth, scope: c.scope}
		fits := inner.ok(s.names, 0)
		if c.budget = inner.budget; !fits {
			if ok = false; c.bad(WrongName, s, m) {
				return false
			}
		}
	}
	return ok
}

// array checks the elements of array i.
func (c *checker) array(s *shape, i int32) bool {
	ok, n := true, 0
	if len(s.prefix) > 0 || s.items != nil {
		for e := c.t.first(i); e >= 0; e = c.t.after(e) {
			if item := s.item(n); item != nil && !c.ok(item, e) {
				if ok = false; c.report == nil {
					return false
				}
			}
			n++
		}
	}
	if c.light {
		return ok
	}
	if n := c.t.tokens[i].size; n < s.minItems || s.maxItems >= 0 && n > s.maxItems {
		if ok = false; c.bad(WrongSize, s, i) {
			return false
		}
	}
	if s.unique && !c.isUnique(i) {
		if ok = false; c.bad(NotUnique, s, i) {
			return false
		}
	}
	if s.contains != nil && !c.holds(s, i) {
		ok = false
		c.bad(NotContained, s, i)
	}
	return ok
}

// item is what s says of the nth element; nil when nothing.
func (s *shape) item(n int) *shape {
	if n < len(s.prefix) {
		return s.prefix[n]
	}
	return s.items
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

// holds tells whether as many elements as asked have the shape that the array must contain.
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
	return n >= least && (s.maxContains < 0 || n <= s.maxContains)
}
