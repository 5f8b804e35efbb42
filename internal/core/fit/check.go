package fit

import "slices"

// checker checks the values of one tape. Without a report it stops at the first problem and allocates
// nothing.
type checker struct {
	budget
	t      *tape
	light  bool   // required keys and types only
	odd    bool   // a shape with properties has met a name that it does not declare and allows
	report *Error // nil: only the result matters
	depth  int
	scope  []int32 // resources entered so far, for dynamic references

	taken    *Taken  // values that are accepted without being listed
	learning bool    // all are
	unlisted []int32 // such values, also in branches that do not fit
}

// maxNested limits how deep shapes may apply to each other. Values are at most 512 deep.
const maxNested = 10_000

// quietly checks without reporting problems.
func (c *checker) quietly(s *shape, i int32) bool {
	r := c.report
	c.report = nil
	ok := c.ok(s, i)
	c.report = r
	return ok
}

// bad reports a problem with value i, if there is a report. It returns false.
func (c *checker) bad(code Code, s *shape, i int32) bool {
	if c.report != nil && !c.spent() && !c.report.full() {
		c.report.include(problemOf(code, s, c.t, i))
	}
	return false
}

// stop reports whether checking can stop. With a report it goes on.
func (c *checker) stop(ok bool) bool { return !ok && (c.report == nil || c.spent()) }

// and returns ok combined with whether value i has one more shape; nil accepts anything.
func (c *checker) and(ok bool, s *shape, i int32) bool {
	if s == nil || c.stop(ok) {
		return ok
	}
	return c.ok(s, i) && ok
}

// all reports whether value i has every shape of the place.
func (c *checker) all(place []*shape, i int32) bool {
	for _, s := range place {
		if !c.ok(s, i) {
			return false
		}
	}
	return true
}

// ok reports whether value i has the shape.
func (c *checker) ok(s *shape, i int32) bool {
	if !c.spend(1) {
		return false
	}
	if c.depth > maxNested {
		c.end()
		return false
	}
	c.depth++
	n := len(c.scope)
	if n == 0 && s.resource != 0 || n > 0 && c.scope[n-1] != s.resource {
		c.scope = append(c.scope, s.resource)
	}
	ok := c.value(s, i)
	c.scope = c.scope[:n]
	c.depth--
	return ok && !c.spent()
}

func (c *checker) value(s *shape, i int32) bool {
	tok := &c.t.tokens[i]
	if tok.kind == isString || tok.kind == isNumber {
		c.spendBytes(int(tok.end - tok.start))
	}
	if s.never {
		return c.bad(Never, s, i)
	}
	if s.types != 0 && !c.typeFits(s.types, i) {
		return c.bad(WrongType, s, i)
	}
	ok := !s.listed || c.light || c.isListed(s, i) || c.isTaken(s, i) || c.bad(NotListed, s, i)
	if c.stop(ok) {
		return false
	}
	switch tok.kind {
	case isObject:
		ok = c.object(s, i) && ok
	case isArray:
		ok = c.array(s, i) && ok
	case isString:
		ok = (c.light || c.text(s, i)) && ok
	case isNumber:
		ok = (c.light || c.number(s, i)) && ok
	}
	if c.stop(ok) {
		return false
	}
	return c.together(s, i) && ok
}

func (c *checker) typeFits(want types, i int32) bool {
	k := c.t.tokens[i].kind
	return want&typesOf(k) != 0 || k == isNumber && want&tInteger != 0 && c.isInteger(i)
}

// isInteger looks for a point or exponent first: almost no number has one.
func (c *checker) isInteger(i int32) bool {
	raw := c.t.raw(i)
	for _, b := range raw {
		if b == '.' || b == 'e' || b == 'E' {
			return parseDecimal(raw).isInteger()
		}
	}
	return true
}

// isListed reports whether value i is one of the enum.
func (c *checker) isListed(s *shape, i int32) bool {
	k := c.t.tokens[i].kind
	if k >= isArray && !c.spendPlain(i) {
		return false
	}
	var text []byte
	var number decimal
	switch k {
	case isString:
		text = c.t.inner(i)
	case isNumber:
		number = parseDecimal(c.t.raw(i))
	case isArray, isObject:
		text = appendPlain(nil, c.t, i)
	default:
		text = c.t.raw(i)
	}
	if s.texts != nil && k != isNumber {
		return s.texts[string(text)]&typesOf(k) != 0
	}
	if !c.spend(len(s.enum) / 2) {
		return false
	}
	for n := range s.enum {
		switch l := &s.enum[n]; {
		case l.kind != k:
		case k == isNumber && number.cmp(l.number) == 0, k != isNumber && string(text) == l.text:
			return true
		}
	}
	return false
}

// spendPlain takes the steps for writing value i in its plain form.
func (c *checker) spendPlain(i int32) bool {
	tok := &c.t.tokens[i]
	return c.spend(int(tok.end-tok.start)/8 + 4*int(tok.next-i))
}

func (c *checker) text(s *shape, i int32) bool {
	ok := true
	if s.minLength > 0 || s.maxLen >= 0 {
		ok = within(int32(c.t.length(i)), s.minLength, s.maxLen) || c.bad(WrongLength, s, i)
	}
	if s.pattern == nil || c.stop(ok) {
		return ok
	}
	return (s.pattern.match(c.t.inner(i), &c.budget) || c.bad(NoMatch, s, i)) && ok
}

// within reports whether a size is between two limits; negative means no limit.
func within(n, least, most int32) bool { return n >= least && (most < 0 || n <= most) }

func (c *checker) number(s *shape, i int32) bool {
	if s.low == nil && s.high == nil && s.multiple == nil {
		return true
	}
	d := parseDecimal(c.t.raw(i))
	ok := s.low.holds(d, -1) && s.high.holds(d, 1) || c.bad(OutOfRange, s, i)
	if s.multiple == nil || c.stop(ok) {
		return ok
	}
	return (c.spend(len(d.digits)*len(d.digits)/64) && d.multipleOf(*s.multiple) || c.bad(NotMultiple, s, i)) && ok
}

// holds reports whether d satisfies the bound; side is 1 for an upper bound.
func (b *bound) holds(d decimal, side int) bool {
	if b == nil {
		return true
	}
	order := d.cmp(b.value) * side
	return order < 0 || order == 0 && !b.exclusive
}

// together checks the other shapes that apply to the same value.
func (c *checker) together(s *shape, i int32) bool {
	ok := s.ref == nil || c.ok(s.ref, i)
	if s.dynamic != nil {
		ok = c.and(ok, c.resolve(s.dynamic), i)
	}
	for _, part := range s.all {
		ok = c.and(ok, part, i)
	}
	if len(s.any) > 0 && !c.stop(ok) && !c.some(s.any, i) {
		ok = c.badUnion(s.any, i, 0)
	}
	if len(s.one) > 0 && !c.stop(ok) {
		if n := c.matches(s.one, i); n == 0 || n > 1 && !c.light {
			ok = c.badUnion(s.one, i, n)
		}
	}
	if c.light || c.stop(ok) {
		return ok
	}
	return c.conditions(s, i) && ok
}

func (c *checker) conditions(s *shape, i int32) bool {
	ok := true
	if s.not != nil && c.quietly(s.not, i) && !c.spent() {
		ok = c.bad(Excluded, s, i)
	}
	if s.when != nil && !c.stop(ok) {
		branch := s.or
		if c.quietly(s.when, i) {
			branch = s.then
		}
		ok = c.and(ok, branch, i)
	}
	switch k := c.t.tokens[i].kind; {
	case ok && k == isObject && s.unevaluatedProps != nil:
		return c.rest(s, s.unevaluatedProps, i)
	case ok && k == isArray && s.unevaluatedItems != nil:
		return c.rest(s, s.unevaluatedItems, i)
	}
	return ok
}

// resolve finds the target of a dynamic reference in the current scope.
func (c *checker) resolve(d *dynamicRef) *shape {
	if s := d.at[0]; s != nil { // the document itself takes precedence
		return s
	}
	for _, resource := range c.scope {
		if s := d.at[resource]; s != nil {
			return s
		}
	}
	return d.target
}

func (c *checker) some(branches []*shape, i int32) bool {
	return slices.ContainsFunc(branches, func(b *shape) bool { return c.quietly(b, i) })
}

// matches counts the matching branches, up to two.
func (c *checker) matches(branches []*shape, i int32) int {
	n := 0
	for _, b := range branches {
		if n < 2 && c.quietly(b, i) {
			n++
		}
	}
	return n
}
