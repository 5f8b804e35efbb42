package schema

import "github.com/toolfit/toolfit/internal/core/jsonschema"

// structure are the keywords that the writer may emit in every dialect.
var structure = set("type description properties required items enum anyOf")

// allowed checks that a narrow dialect accepts the keyword with this value.
func (c *checker) allowed(n, kid *node) {
	d := c.d
	ok := structure[kid.Key] || d.keep[kid.Key] && d.takes(kid)
	switch kid.Key {
	case "nullable":
		ok = d.null == nullableFlag
	case "$ref", "$defs":
		ok = d.refs
	case "additionalProperties":
		ok = d.maps || d.closable && kid.IsFalse()
	case "enum":
		c.enumValues(n, kid)
	case "type":
		ok = kid.Kind == jsonschema.String || d.typeLists || d.any == anyTypeList && n.Get("description") != nil
	}
	if !ok {
		c.fail("not allowed here")
	}
}

func (c *checker) enumValues(n, kid *node) {
	var held types
	for _, v := range kid.Kids {
		held |= v.Type()
	}
	if held&tNumber != 0 {
		held &^= tInteger
	}
	ok := true
	switch c.d.enums {
	case enumScalars:
		ok = held&(tObject|tArray) == 0
	case enumPlain:
		ok = held == tString || held == tInteger || held == tNumber
	case enumStrings:
		ok = held == tString && n.Str("type") == "string"
	case enumOfOneType:
		ok = held.IsSingle() && held&(tObject|tArray) == 0
	}
	if !ok {
		c.fail("values of this type are not allowed")
	}
}

// narrowNode checks the rules of narrow dialects for a schema as a whole.
func (c *checker) narrowNode(n *node) {
	d := c.d
	t := n.Get("type")
	union := n.Get("anyOf")
	ref := n.Get("$ref")
	if d.needType && t == nil && union == nil && ref == nil {
		c.fail("a schema must have a type")
	}
	if union != nil && d.alone {
		for _, kid := range n.Kids {
			if kid.Key != "anyOf" && (d.aloneWords || kid.Key != "description" && kid.Key != "title") {
				c.fail(kid.Key + " is not allowed beside anyOf")
			}
		}
	}
	if ref != nil {
		for _, kid := range n.Kids {
			if kid.Key != "$ref" && (!d.refWords || kid.Key != "description" && kid.Key != "title") {
				c.fail(kid.Key + " is not allowed beside a reference")
			}
		}
	}
	if t.Types()&tObject == 0 || t.Kind == jsonschema.Array && d.any == anyTypeList {
		return
	}
	if d.closed && !n.Get("additionalProperties").IsFalse() {
		c.fail("an object must have additionalProperties: false")
	}
	if p := n.Get("properties"); d.allRequired && p != nil {
		req := n.Get("required")
		if req == nil && len(p.Kids) > 0 || req != nil && len(req.Kids) != len(p.Kids) {
			c.fail("every property must be required")
		}
	}
}
