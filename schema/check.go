package schema

import (
	"strings"

	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// Violation is a place where a schema breaks a dialect's rules.
type Violation struct {
	Pointer string `json:"pointer"`
	Message string `json:"message"`
}

// Check returns what a dialect's provider would refuse in the parameters of a tool. Where a
// service is stricter than its documentation, so is Check.
func Check(parameters []byte, d Dialect) []Violation {
	rule := dialects[d]
	if rule == nil {
		return []Violation{{"", "there is no dialect " + quote(string(d))}}
	}
	var t tree
	root, err := t.Parse(parameters)
	if err != nil {
		return []Violation{{"", err.Error()}}
	}
	return check(root, rule, false)
}

// checker checks one schema.
type checker struct {
	d     *rules
	root  *node
	first bool // stop at the first violation
	bad   []Violation
	path  []string
	index *jsonschema.Index // for dialects that accept any reference

	count limits // what the schema uses
}

func check(root *node, d *rules, first bool) []Violation { return inspect(root, d, first).bad }

// inspect checks a schema and counts what the dialect limits.
func inspect(root *node, d *rules, first bool) *checker {
	c := &checker{d: d, root: root, first: first, path: make([]string, 0, 16)}
	c.atRoot(root)
	c.schema(root, 1)
	bytes := 0
	if d.limits.bytes > 0 {
		bytes = len(root.Append(nil))
	}
	count := limits{props: c.count.props, enums: c.count.enums, nameChars: c.count.nameChars, bytes: bytes}
	c.exceeded(count, d.limits, func(have, most, what string) {
		c.fail("more than " + most + " " + what)
	})
	return c
}

// advice returns where the schema exceeds documented limits that the service does not enforce.
func (c *checker) advice() (out []seen) {
	c.exceeded(c.count, c.d.advised, func(have, most, what string) {
		out = append(out, seen{c.root, Advised, have + " " + what + ": the provider's documents name " + most})
	})
	return out
}

// exceeded calls report for each limit that is exceeded.
func (c *checker) exceeded(have, most limits, report func(have, most, what string)) {
	for _, e := range []struct {
		have, most int
		what       string
	}{
		{have.props, most.props, "properties"},
		{have.levels, most.levels, "levels"},
		{have.enums, most.enums, "enum values"},
		{have.branches, most.branches, "branches"},
		{have.nameChars, most.nameChars, "characters in names and values"},
		{have.bytes, most.bytes, "bytes"},
	} {
		if e.most > 0 && e.have > e.most {
			report(itoa(e.have), itoa(e.most), e.what)
		}
	}
}

// sound reports whether a keyword that contains schemas can be kept as it is.
func sound(kid *node, d *rules) bool {
	c := &checker{d: d, root: kid, first: true}
	c.keyword(kid.Parent, kid, 1)
	return len(c.bad) == 0
}

func (c *checker) fail(message string) {
	c.bad = append(c.bad, Violation{jsonschema.Pointer(c.path), message})
}

func (c *checker) done() bool { return c.first && len(c.bad) > 0 || len(c.bad) > 100 }

func (c *checker) atRoot(n *node) {
	if n.Kind != jsonschema.Object {
		c.fail("the root is not an object")
		return
	}
	if t := n.Get("type"); n.Str("type") != "object" && !(c.d.rootType && (t == nil || t.Types()&tObject != 0)) {
		c.fail("the root must have type object")
	}
	if c.d.rootUnion {
		return
	}
	if p := n.Get("properties"); p == nil {
		c.fail("the root must have properties")
	}
	for _, key := range []string{"anyOf", "oneOf", "allOf", "enum", "not", "const"} {
		if n.Get(key) != nil {
			c.fail(key + " is not allowed at the root")
		}
	}
}

// schema checks a schema and its subschemas.
func (c *checker) schema(n *node, level int) {
	if c.done() {
		return
	}
	if n.Kind == jsonschema.Bool && c.d.booleans {
		return
	}
	if n.Kind != jsonschema.Object {
		c.fail("a schema must be an object")
		return
	}
	c.count.levels = max(c.count.levels, level)
	if l := c.d.limits.levels; l > 0 && level > l {
		c.fail("more than " + itoa(l) + " levels")
		return
	}
	for _, kid := range n.Kids {
		c.keyword(n, kid, level)
	}
	t := n.Get("type")
	anyValue := t != nil && t.Kind == jsonschema.Array && len(t.Kids) > 5
	if t.Types()&tArray != 0 && !anyValue && c.d.items != itemsOptional && n.Get("items") == nil {
		c.fail("an array must have items")
	}
	if !c.d.raw {
		c.narrowNode(n)
	}
}

func (c *checker) below(token string, n *node, level int) {
	c.path = append(c.path, token)
	c.schema(n, level)
	c.path = c.path[:len(c.path)-1]
}

// keyword checks one keyword and its subschemas.
func (c *checker) keyword(n, kid *node, level int) {
	c.path = append(c.path, kid.Key)
	defer func() { c.path = c.path[:len(c.path)-1] }()
	switch pos := jsonschema.Keywords[kid.Key].Holds; {
	case kid.Key == "schemas" || kid.Key == "definitions" && !c.d.raw:
	case pos == jsonschema.OneSchema && kid.Kind == jsonschema.Bool && (kid.Key == "additionalProperties" || isUnevaluated(kid)):
	case pos == jsonschema.OneSchema:
		c.schema(kid, level+1)
	case pos == jsonschema.SchemaList:
		if kid.Kind != jsonschema.Array || len(kid.Kids) == 0 {
			c.fail("must be a list of schemas")
			return
		}
		c.count.branches = max(c.count.branches, len(kid.Kids))
		if l := c.d.limits.branches; l > 0 && len(kid.Kids) > l {
			c.fail("more than " + itoa(l) + " branches")
		}
		for i, k := range kid.Kids {
			c.below(itoa(i), k, level)
		}
	case pos == jsonschema.SchemaMap:
		c.members(kid, level)
	}
	c.value(n, kid)
	if !c.d.raw {
		c.allowed(n, kid)
	}
}

func (c *checker) members(kid *node, level int) {
	if kid.Kind != jsonschema.Object {
		c.fail("must be an object")
		return
	}
	below := level + 1
	if kid.Key == "$defs" {
		below = 1
	}
	for _, k := range kid.Kids {
		if kid.Key == "dependencies" && k.Kind == jsonschema.Array {
			continue
		}
		c.count.nameChars += len(k.Key)
		if kid.Key == "properties" {
			c.count.props++
			if c.d.key != nil && !c.d.key(k.Key) {
				c.fail("the key " + quote(k.Key) + " is not allowed")
			}
		}
		c.below(k.Key, k, below)
	}
}

// value checks a keyword's value against JSON Schema itself.
func (c *checker) value(n, kid *node) {
	switch kid.Key {
	case "type":
		c.types(kid)
	case "required":
		c.required(n, kid)
	case "enum":
		if kid.Kind != jsonschema.Array || len(kid.Kids) == 0 || !jsonschema.IsDistinct(kid.Kids) {
			c.fail("must be a list of distinct values")
		}
		c.count.enums += len(kid.Kids)
		for _, v := range kid.Kids {
			c.count.nameChars += len(v.Text)
		}
	case "$ref", "$dynamicRef", "$recursiveRef":
		c.reference(kid)
	case "$comment":
		if kid.Kind != jsonschema.String {
			c.fail("must be a string")
		}
	case "$schema":
		if !strings.Contains(kid.Text, "json-schema.org/") || len(c.path) > 1 {
			c.fail("must name a draft, at the root")
		}
	default:
		if isKnown(kid.Key) && !kid.Fits() {
			c.fail("the value has the wrong type")
		}
	}
}

func (c *checker) types(kid *node) {
	list := kid.TypeNames()
	if len(list) == 0 || !jsonschema.IsDistinct(list) {
		c.fail("must be distinct types")
	}
	for _, v := range list {
		if v.Kind != jsonschema.String || jsonschema.TypeNamed(v.Text) == 0 {
			c.fail("no such type")
		}
	}
}

func (c *checker) required(n, kid *node) {
	if kid.Kind != jsonschema.Array || !jsonschema.IsDistinct(kid.Kids) {
		c.fail("must be a list of distinct names")
		return
	}
	have := map[string]bool{}
	for _, k := range n.Get("properties").Members() {
		have[k.Key] = true
	}
	for _, k := range kid.Kids {
		if k.Kind != jsonschema.String {
			c.fail("must be a list of names")
		} else if !c.d.raw && !have[k.Text] {
			c.fail("the name " + quote(k.Text) + " is not a property")
		}
	}
}

func (c *checker) reference(kid *node) {
	if !c.d.refs {
		c.fail("references are not allowed")
		return
	}
	ok := false
	if c.d.raw {
		if c.index == nil {
			c.index = jsonschema.NewIndex(c.root, jsonschema.DraftOf(c.root))
		}
		ok = c.index.Lookup(kid.Parent, kid.Text).Node != nil
	} else if name, local := strings.CutPrefix(kid.Text, "#/$defs/"); local {
		ok = c.root.Get("$defs").Get(name) != nil
	}
	if !ok {
		c.fail("the reference " + quote(kid.Text) + " leads nowhere")
	}
}
