package schema

// structure are the keywords that the writer itself makes, in every dialect.
var structure = set("type description properties required items enum anyOf")

// allowed checks that a narrow dialect knows the keyword with this value.
func (c *checker) allowed(n, kid *node) {
	d := c.d
	ok := structure[kid.key] || d.keep[kid.key]
	switch kid.key {
	case "title":
		ok = d.titles
	case "const":
		ok = d.consts
	case "oneOf":
		ok = d.oneOf
	case "prefixItems":
		ok = d.prefixItems
	case "patternProperties", "propertyNames":
		ok = d.patterns
	case "nullable":
		ok = d.null == nullableFlag
	case "$ref", "$defs":
		ok = d.refs
	case "additionalProperties":
		ok = d.maps || d.closable && kid.isFalse()
	case "format":
		ok = ok && (d.formats == nil || d.formats[kid.text])
	case "pattern":
		ok = ok && (!d.simpleRegex || simple(kid.text))
	case "minItems":
		ok = ok && (!d.smallMin || kid.text == "0" || kid.text == "1")
	case "default":
		ok = ok && kid.kind != objectKind && kid.kind != arrayKind && !(d.safeNumbers && !safeNumber(kid))
	case "minimum", "maximum", "minLength", "maxLength", "maxItems":
		ok = ok && !(d.safeNumbers && !safeNumber(kid))
	case "enum":
		c.enumValues(n, kid)
	case "type":
		ok = kid.kind == stringKind || d.typeLists || d.any == anyTypeList && n.get("description") != nil
	}
	if !ok {
		c.fail("not allowed here")
	}
}

func (c *checker) enumValues(n, kid *node) {
	var held types
	for _, v := range kid.kids {
		held |= valueType(v)
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
		ok = held == tString && n.str("type") == "string"
	case enumOfOneType:
		ok = held.single() && held&(tObject|tArray) == 0
	}
	if !ok {
		c.fail("values of this type are not allowed")
	}
}

// narrowNode checks what the narrow dialects ask of a schema as a whole.
func (c *checker) narrowNode(n *node) {
	d := c.d
	t, union, ref := n.get("type"), n.get("anyOf"), n.get("$ref")
	if d.needType && t == nil && union == nil && ref == nil {
		c.fail("a schema must have a type")
	}
	if union != nil && d.alone {
		for _, kid := range n.kids {
			if kid.key != "anyOf" && (d.aloneWords || kid.key != "description" && kid.key != "title") {
				c.fail(kid.key + " may not stand beside anyOf")
			}
		}
	}
	if ref != nil {
		for _, kid := range n.kids {
			if kid.key != "$ref" && (!d.refWords || kid.key != "description" && kid.key != "title") {
				c.fail(kid.key + " may not stand beside a reference")
			}
		}
	}
	if t == nil || !hasType(t, "object") || t.kind == arrayKind && d.any == anyTypeList {
		return
	}
	if d.closed && !n.get("additionalProperties").isFalse() {
		c.fail("an object must have additionalProperties: false")
	}
	if p := n.get("properties"); d.allRequired && p != nil {
		req := n.get("required")
		if req == nil && len(p.kids) > 0 || req != nil && len(req.kids) != len(p.kids) {
			c.fail("every property must be required")
		}
	}
}
