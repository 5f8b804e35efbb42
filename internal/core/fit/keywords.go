package fit

import (
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// objectWord compiles a keyword for objects; false if it is not one.
func (c *compiler) objectWord(s *shape, m *node) bool {
	switch m.Key {
	case "properties":
		c.properties(s, m)
	case "required":
		s.required = append(s.required, c.strings(m)...)
	case "patternProperties":
		for _, p := range c.named(m) {
			s.own().patterns = append(s.patterns, patternProp{c.pattern(p, p.Key), c.shape(p)})
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
		for _, p := range c.named(m) {
			d := dependent{name: p.Key}
			if p.Kind == jsonschema.Array {
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

// named lists the members of an object of schemas.
func (c *compiler) named(m *node) []*node {
	if m.Kind != jsonschema.Object {
		c.note(m, "not an object of schemas, ignored")
	}
	return m.Members()
}

func (c *compiler) properties(s *shape, m *node) {
	// A whole schema in place of its properties: its "type" is a string, not a schema.
	if inner := m.Get("properties"); inner != nil && inner.Kind == jsonschema.Object && m.Str("type") == "object" {
		c.note(m, "a whole schema stands here, lifted by one level")
		if req := m.Get("required"); req != nil {
			s.required = append(s.required, c.strings(req)...)
		}
		m = inner
	}
	for _, p := range c.named(m) {
		s.props = append(s.props, prop{p.Key, c.shape(p)})
	}
	s.index()
}

// arrayWord compiles a keyword for arrays; false if it is not one.
func (c *compiler) arrayWord(s *shape, m *node) bool {
	switch m.Key {
	case "items":
		if m.Kind == jsonschema.Array { // a tuple before draft 2020-12
			s.own().prefix = c.list(m)
		} else {
			s.items = c.shape(m)
		}
	case "prefixItems":
		s.own().prefix = c.list(m)
	case "additionalItems":
		if items := m.Parent.Get("items"); items != nil && items.Kind == jsonschema.Array {
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
		s.own().unique = m.IsTrue()
	case "unevaluatedItems":
		s.own().unevaluatedItems = c.shape(m)
	default:
		return false
	}
	return true
}

// scalarWord compiles a keyword about the value itself; false if it is not one.
func (c *compiler) scalarWord(s *shape, m *node) bool {
	switch m.Key {
	case "type":
		c.readTypes(s, m)
	case "enum":
		if m.Kind != jsonschema.Array {
			c.note(m, "not a list of values, ignored")
			break
		}
		var values []literal
		for _, e := range m.Kids {
			values = append(values, newLiteral(e))
		}
		c.narrow(s, values)
	case "const":
		c.narrow(s, []literal{newLiteral(m)})
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
		c.limit(s, m)
	case "multipleOf":
		if d, ok := c.number(m); ok && d.sign() > 0 {
			s.own().multiple = &d
		} else {
			c.note(m, "not a positive number, ignored")
		}
	case "minLength":
		s.minLength = c.size(m)
	case "maxLength":
		s.maxLen = c.size(m)
	case "pattern":
		if m.Kind == jsonschema.String {
			s.pattern = c.pattern(m, m.Text)
		}
	default:
		return false
	}
	return true
}

func (c *compiler) readTypes(s *shape, m *node) {
	words := []*node{m}
	if m.Kind == jsonschema.Array {
		words = m.Kids
	}
	var all types
	for _, w := range words {
		var one types
		for _, n := range typeNames {
			if w.Kind == jsonschema.String && w.Text == n.name {
				one = n.t
			}
		}
		if one == 0 {
			c.note(m, "%.40s is not a type, so any type is accepted", w.Raw())
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
	s.listed = true
	s.enum = values
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

func (c *compiler) number(m *node) (decimal, bool) {
	if m.Kind != jsonschema.Number {
		return decimal{}, false
	}
	return parseDecimal([]byte(m.Text)), true
}

// limit reads a numeric bound; the tighter of two wins. In draft-04, exclusiveMinimum is a flag for
// minimum.
func (c *compiler) limit(s *shape, m *node) {
	exclusive := m.Key[0] == 'e'
	low := m.Key == "minimum" || m.Key == "exclusiveMinimum"
	if !exclusive {
		exclusive = m.Parent.Get("exclusiveM" + m.Key[1:]).IsTrue()
	} else if m.Kind == jsonschema.Bool {
		return
	}
	d, ok := c.number(m)
	if !ok {
		c.note(m, "not a number, ignored")
		return
	}
	slot := &s.high
	side := 1
	if low {
		slot = &s.low
		side = -1
	}
	if old := *slot; old != nil {
		if order := d.cmp(old.value) * side; order > 0 || order == 0 && !exclusive {
			return
		}
	}
	*slot = &bound{d, exclusive}
}

// unionWord compiles a keyword that applies schemas to the value itself.
func (c *compiler) unionWord(s *shape, m *node) {
	switch m.Key {
	case "$ref":
		c.reference(s, m)
	case "$dynamicRef", "$recursiveRef":
		c.dynamicReference(s, m)
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

// dynamicRef is a reference whose target depends on the scope.
type dynamicRef struct {
	at     map[int32]*shape // by resource
	target *shape           // default target
}

func (c *compiler) dynamicReference(s *shape, m *node) {
	if m.Key == "$recursiveRef" {
		s.ref = c.shape(c.index.Resource(m))
		return
	}
	at := c.index.Lookup(m, m.Text).Node
	if at == nil {
		c.missing(s, m)
		return
	}
	d := &dynamicRef{target: c.shape(at), at: map[int32]*shape{}}
	name := at.Str("$dynamicAnchor")
	if name == "" || !strings.HasSuffix(m.Text, "#"+name) {
		s.ref = d.target // an ordinary reference
		return
	}
	c.index.Dynamic(name, func(resource, at *node) { d.at[resource.ID] = c.shape(at) })
	s.own().dynamic = d
}
