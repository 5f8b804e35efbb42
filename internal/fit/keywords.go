package fit

import (
	"slices"
	"strings"
)

// objectWord reads a keyword about objects; false when key is none.
func (c *compiler) objectWord(s *shape, key string, m int32) bool {
	switch key {
	case "properties":
		c.properties(s, m)
	case "required":
		s.required = append(s.required, c.strings(m)...)
	case "patternProperties":
		for p := c.named(m); p >= 0; p = c.t.after(p) {
			s.own().patterns = append(s.patterns, patternProp{c.pattern(p, c.t.name(p)), c.shape(p)})
		}
	case "additionalProperties":
		s.additional = c.shape(m)
	case "propertyNames":
		s.own().names = c.shape(m)
	case "minProperties":
		s.own().minProps = c.size(m)
	case "maxProperties":
		s.own().maxProps = c.size(m)
	case "unevaluatedProperties":
		s.own().unevaluatedProps = c.shape(m)
	case "dependentRequired", "dependentSchemas", "dependencies":
		for p := c.named(m); p >= 0; p = c.t.after(p) {
			d := dependent{name: c.t.name(p)}
			if c.t.tokens[p].kind == isArray {
				d.needs = c.strings(p)
			} else {
				d.shape = c.shape(p)
			}
			s.own().dependents = append(s.dependents, d)
		}
	default:
		return false
	}
	return true
}

// named is the first member of an object of schemas; -1 when it is none.
func (c *compiler) named(m int32) int32 {
	if c.t.tokens[m].kind != isObject {
		c.note(m, "no object of schemas, left out")
		return -1
	}
	return c.t.first(m)
}

func (c *compiler) properties(s *shape, m int32) {
	// A whole schema written where its properties belong: its type is a word, not a schema.
	inner, kind := c.t.get(m, "properties"), c.t.get(m, "type")
	if inner >= 0 && c.t.tokens[inner].kind == isObject && kind >= 0 && c.t.text(kind) == "object" {
		c.note(m, "a whole schema stands here, lifted by one level")
		if req := c.t.get(m, "required"); req >= 0 {
			s.required = append(s.required, c.strings(req)...)
		}
		m = inner
	}
	for p := c.named(m); p >= 0; p = c.t.after(p) {
		s.props = append(s.props, prop{c.t.name(p), c.shape(p)})
	}
	if len(s.props) > 12 {
		s.own().byName = make(map[string]int, len(s.props))
		for k := range s.props {
			s.byName[s.props[k].name] = k
		}
	}
}

// arrayWord reads a keyword about arrays; false when key is none.
func (c *compiler) arrayWord(s *shape, key string, m int32) bool {
	isList := c.t.tokens[m].kind == isArray
	switch key {
	case "items":
		if isList { // a tuple, as drafts before 2020-12 write it
			s.own().prefix = c.list(m)
		} else {
			s.items = c.shape(m)
		}
	case "prefixItems":
		s.own().prefix = c.list(m)
	case "additionalItems":
		if items := c.t.get(c.t.tokens[m].parent, "items"); items >= 0 && c.t.tokens[items].kind == isArray {
			s.items = c.shape(m)
		}
	case "contains":
		s.own().contains = c.shape(m)
	case "minContains":
		s.own().minContains = c.size(m)
	case "maxContains":
		s.own().maxContains = c.size(m)
	case "minItems":
		s.minItems = c.size(m)
	case "maxItems":
		s.maxItems = c.size(m)
	case "uniqueItems":
		s.own().unique = string(c.t.raw(m)) == "true"
	case "unevaluatedItems":
		s.own().unevaluatedItems = c.shape(m)
	default:
		return false
	}
	return true
}

// scalarWord reads a keyword about the value itself; false when key is none.
func (c *compiler) scalarWord(s *shape, key string, m int32) bool {
	switch key {
	case "type":
		c.readTypes(s, m)
	case "enum":
		if c.t.tokens[m].kind != isArray {
			c.note(m, "no list of values, left out")
			break
		}
		var values []literal
		for e := c.t.first(m); e >= 0; e = c.t.after(e) {
			values = append(values, newLiteral(c.t, e))
		}
		c.narrow(s, values)
	case "const":
		c.narrow(s, []literal{newLiteral(c.t, m)})
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
		c.limit(s, key, m)
	case "multipleOf":
		if d, ok := c.number(m); ok && d.sign() > 0 {
			s.own().multiple = &d
		} else {
			c.note(m, "no number above zero, left out")
		}
	case "minLength":
		s.minLength = c.size(m)
	case "maxLength":
		s.maxLen = c.size(m)
	case "pattern":
		if c.t.tokens[m].kind == isString {
			s.pattern = c.pattern(m, c.t.text(m))
		}
	default:
		return false
	}
	return true
}

func (c *compiler) readTypes(s *shape, m int32) {
	words := []int32{m}
	if c.t.tokens[m].kind == isArray {
		words = nil
		for e := c.t.first(m); e >= 0; e = c.t.after(e) {
			words = append(words, e)
		}
	}
	var all types
	for _, w := range words {
		var one types
		for _, n := range typeNames {
			if c.t.text(w) == n.name {
				one = n.t
			}
		}
		if one == 0 {
			c.note(m, "%.40s is no type, any is accepted", c.t.raw(w))
			return
		}
		all |= one
	}
	s.types = all
}

// narrow keeps the values that enum and const both allow.
func (c *compiler) narrow(s *shape, values []literal) {
	if s.listed {
		before := s.enum
		values = slices.DeleteFunc(values, func(v literal) bool {
			return !slices.ContainsFunc(before, func(b literal) bool { return v.same(b) })
		})
	}
	s.listed, s.enum = true, values
}

func (l literal) same(o literal) bool {
	switch {
	case l.kind != o.kind:
		return false
	case l.kind == isNumber:
		return l.number.cmp(o.number) == 0
	}
	return l.text == o.text
}

func (c *compiler) number(m int32) (decimal, bool) {
	if c.t.tokens[m].kind != isNumber {
		return decimal{}, false
	}
	return parseDecimal(c.t.raw(m)), true
}

// limit reads a bound of numbers, the tighter one when two are given. An exclusive bound
// that is true, as draft-04 writes it, speaks of the plain one beside it.
func (c *compiler) limit(s *shape, key string, m int32) {
	exclusive, low := key[0] == 'e', key == "minimum" || key == "exclusiveMinimum"
	if !exclusive {
		flag := c.t.get(c.t.tokens[m].parent, "exclusiveM"+key[1:])
		exclusive = flag >= 0 && string(c.t.raw(flag)) == "true"
	} else if c.t.tokens[m].kind == isBoolean {
		return
	}
	d, ok := c.number(m)
	if !ok {
		c.note(m, "no number, left out")
		return
	}
	slot, side := &s.high, 1
	if low {
		slot, side = &s.low, -1
	}
	if old := *slot; old != nil {
		if order := d.cmp(old.value) * side; order > 0 || order == 0 && !exclusive {
			return
		}
	}
	*slot = &bound{d, exclusive}
}

// unionWord reads a keyword that applies schemas to the value itself.
func (c *compiler) unionWord(s *shape, key string, m int32) {
	switch key {
	case "$ref":
		c.reference(s, m)
	case "$dynamicRef", "$recursiveRef":
		c.dynamicReference(s, key, m)
	case "allOf":
		s.all = append(s.all, c.list(m)...)
	case "anyOf":
		s.any = c.list(m)
	case "oneOf":
		s.own().one = c.list(m)
	case "not":
		s.own().not = c.shape(m)
	case "if":
		s.own().when = c.shape(m)
	case "then":
		s.own().then = c.shape(m)
	case "else":
		s.own().or = c.shape(m)
	}
}

// dynamicRef is a reference whose target depends on how the value was come to.
type dynamicRef struct {
	at     map[int32]*shape // by resource
	target *shape           // where nothing else is found
}

func (c *compiler) dynamicReference(s *shape, key string, m int32) {
	if key == "$recursiveRef" {
		s.ref = c.shape(c.places.resource(m))
		return
	}
	at, ok := c.places.lookup(m, c.t.text(m))
	if !ok {
		c.missing(s, m)
		return
	}
	d := &dynamicRef{target: c.shape(at), at: map[int32]*shape{}}
	name := c.places.str(at, "$dynamicAnchor")
	if name == "" || !strings.HasSuffix(c.t.text(m), "#"+name) {
		s.ref = d.target // an ordinary reference
		return
	}
	for a, i := range c.places.dynamic {
		if a.name == name {
			d.at[a.resource] = c.shape(i)
		}
	}
	s.own().dynamic = d
}
