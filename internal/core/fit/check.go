package fit

// checker checks the values of one tape. Without a report it stops at the first thing that
// is wrong and allocates nothing; with one it goes on and tells of everything.
type checker struct {
	budget
	t      *tape
	light  bool    // required keys and types only
	report *report // nil: only the verdict counts
	depth  int
	scope  []int32 // the parts of the schema that led here, for references that depend on it
}

// maxNested bounds how deep shapes may apply to each other. Values are at most 512 deep.
const maxNested = 10_000

// quietly gives the verdict alone.
func (c *checker) quietly(s *shape, i int32) bool {
	r := c.report
	c.report = nil
	ok := c.ok(s, i)
	c.report = r
	return ok
}

// bad tells of one thing that is wrong; true when the check can stop. A check that could not
// be finished has found nothing.
func (c *checker) bad(code Code, s *shape, i int32) bool {
	if c.report == nil || c.spent() {
		return true
	}
	if !c.report.full() {
		c.report.add(problemOf(code, s, c.t, i))
	}
	return false
}

// all tells whether value i has every shape of the place.
func (c *checker) all(place []*shape, i int32) bool {
	for _, s := range place {
		if !c.ok(s, i) {
			return false
		}
	}
	return true
}

// ok tells whether value i has the shape.
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
		c.bad(Never, s, i)
		return false
	}
	if s.types != 0 && !c.typeFits(s.types, i) {
		c.bad(WrongType, s, i)
		return false
	}
	ok := true
	if s.listed && !c.light && !c.isListed(s, i) {
		if ok = false; c.bad(NotListed, s, i) {
			return false
		}
	}
	inside := true
	switch tok.kind {
	case isObject:
		inside = c.object(s, i)
	case isArray:
		inside = c.array(s, i)
	case isString:
		inside = c.light || c.text(s, i)
	case isNumber:
		inside = c.light || c.number(s, i)
	}
	if ok = ok && inside; !ok && c.report == nil {
		return false
	}
	return c.together(s, i) && ok
}

func (c *checker) typeFits(want types, i int32) bool {
	k := c.t.tokens[i].kind
	return want&typesOf(k) != 0 || k == isNumber && want&tInteger != 0 && c.isInteger(i)
}

// isInteger looks for a point or an exponent first: nearly no number has one.
func (c *checker) isInteger(i int32) bool {
	raw := c.t.raw(i)
	for _, b := range raw {
		if b == '.' || b == 'e' || b == 'E' {
			return parseDecimal(raw).isInteger()
		}
	}
	return true
}

// isListed compares with each value of the list what is made of value i once.
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

// spendPlain takes the steps of writing value i in its plain form.
func (c *checker) spendPlain(i int32) bool {
	tok := &c.t.tokens[i]
	return c.spend(int(tok.end-tok.start)/8 + 4*int(tok.next-i))
}

func (c *checker) text(s *shape, i int32) bool {
	ok := true
	if s.minLength > 0 || s.maxLen >= 0 {
		if n := int32(c.t.length(i)); n < s.minLength || s.maxLen >= 0 && n > s.maxLen {
			if ok = false; c.bad(WrongLength, s, i) {
				return false
			}
		}
	}
	if s.pattern != nil && !s.pattern.match(c.t.inner(i), &c.budget) {
		ok = false
		c.bad(NoMatch, s, i)
	}
	return ok
}

func (c *checker) number(s *shape, i int32) bool {
	if s.low == nil && s.high == nil && s.multiple == nil {
		return true
	}
	ok, d := true, parseDecimal(c.t.raw(i))
	if !s.low.holds(d, -1) || !s.high.holds(d, 1) {
		if ok = false; c.bad(OutOfRange, s, i) {
			return false
		}
	}
	if s.multiple != nil && !(c.spend(len(d.digits)*len(d.digits)/64) && d.multipleOf(*s.multiple)) {
		ok = false
		c.bad(NotMultiple, s, i)
	}
	return ok
}

// holds tells whether d is on the right side of the bound; side is 1 for an upper one.
func (b *bound) holds(d decimal, side int) bool {
	if b == nil {
		return true
	}
	order := d.cmp(b.value) * side
	return order < 0 || order == 0 && !b.exclusive
}

// together checks what the shape asks of the value by other shapes.
func (c *checker) together(s *shape, i int32) bool {
	ok := true
	if s.ref != nil && !c.ok(s.ref, i) {
		if ok = false; c.report == nil {
			return false
		}
	}
	if s.dynamic != nil && !c.ok(c.resolve(s.dynamic), i) {
		if ok = false; c.report == nil {
			return false
		}
	}
	for _, part := range s.all {
		if !c.ok(part, i) {
			if ok = false; c.report == nil {
				return false
			}
		}
	}
	if len(s.any) > 0 && !c.some(s.any, i) {
		if ok = false; c.badUnion(s.any, i, 0) {
			return false
		}
	}
	if len(s.one) > 0 {
		if n := c.matches(s.one, i); n == 0 || n > 1 && !c.light {
			if ok = false; c.badUnion(s.one, i, n) {
				return false
			}
		}
	}
	if c.light {
		return ok
	}
	return c.conditions(s, i) && ok
}

func (c *checker) conditions(s *shape, i int32) bool {
	ok := true
	if s.not != nil && c.quietly(s.not, i) && !c.spent() {
		if ok = false; c.bad(Excluded, s, i) {
			return false
		}
	}
	if s.when != nil {
		branch := s.or
		if c.quietly(s.when, i) {
			branch = s.then
		}
		if branch != nil && !c.ok(branch, i) {
			if ok = false; c.report == nil {
				return false
			}
		}
	}
	if s.unevaluatedProps != nil && c.t.tokens[i].kind == isObject && (ok || c.report == nil) {
		ok = c.restOfObject(s, i) && ok
	}
	if s.unevaluatedItems != nil && c.t.tokens[i].kind == isArray && (ok || c.report == nil) {
		ok = c.restOfArray(s, i) && ok
	}
	return ok
}

// resolve finds what a dynamic reference means on the way that led here.
func (c *checker) resolve(d *dynamicRef) *shape {
	if s := d.at[0]; s != nil { // the document itself comes before all its parts
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
	for _, b := range branches {
		if c.quietly(b, i) {
			return true
		}
	}
	return false
}

// matches counts the branches that fit, up to two.
func (c *checker) matches(branches []*shape, i int32) int {
	n := 0
	for _, b := range branches {
		if c.quietly(b, i) {
			if n++; n > 1 {
				break
			}
		}
	}
	return n
}
