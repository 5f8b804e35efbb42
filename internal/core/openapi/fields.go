package openapi

import (
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// spread lists the properties of a body that is a plain object. Anything else (a union, map,
// list or text) stays whole.
func (d *Document) spread(b *body) {
	if b.schema == nil || b.kind == textMedia || b.kind == binaryMedia {
		return
	}
	c := collector{at: map[string]*field{}}
	if !d.parts(b.schema, c.add) || len(c.fields) == 0 || c.closed && c.parts > 1 {
		return // what a closed part forbids depends on the other parts
	}
	for _, name := range c.required {
		if c.at[name] == nil {
			c.property(name, nil)
		}
		c.at[name].required = true
	}
	// Properties that only the server sets are not sent.
	w := schemaWriter{d: d, way: request}
	b.fields = slices.DeleteFunc(c.fields, func(f *field) bool { return slices.ContainsFunc(f.schemas, w.isHidden) })
	b.open = !c.closed
}

// collector collects the properties of an object from all schemas it is composed of.
type collector struct {
	fields   []*field
	at       map[string]*field
	required []string
	closed   bool
	parts    int
}

// plainKeywords are the keywords that a plain object may have.
var plainKeywords = map[string]bool{
	"type": true, "properties": true, "required": true, "allOf": true, "additionalProperties": true,
	"title": true, "description": true, "default": true, "examples": true, "deprecated": true, "readOnly": true, "writeOnly": true,
}

// add collects the properties of n; false if n is not a plain object.
func (c *collector) add(site, n *node) bool {
	if n.Kind != jsonschema.Object || isNullable(n) || refOf(n) != nil || site != n && hasConstraint(site) {
		return false
	}
	if types := n.Strings("type"); len(types) > 1 || len(types) == 1 && types[0] != "object" {
		return false
	}
	for _, kid := range n.Kids {
		_, limits := carried[kid.Key]
		if limits && !plainKeywords[kid.Key] || slices.Contains([]string{"anyOf", "oneOf", "enum", "const"}, kid.Key) {
			return false
		}
	}
	if more := n.Get("additionalProperties"); more != nil {
		if more.Kind != jsonschema.Bool || more.Text == "true" {
			return false
		}
		c.closed = true
	}
	c.parts++
	c.required = append(c.required, n.Strings("required")...)
	for _, p := range n.Get("properties").Members() {
		c.property(p.Key, p)
	}
	return true
}

func (c *collector) property(name string, schema *node) {
	f := c.at[name]
	if f == nil {
		f = &field{name: name}
		c.at[name] = f
		c.fields = append(c.fields, f)
	}
	if schema != nil {
		f.schemas = append(f.schemas, schema)
	}
}

// hasConstraint reports whether a reference has keywords beside it that may matter.
func hasConstraint(n *node) bool {
	return slices.ContainsFunc(n.Kids, func(kid *node) bool {
		return !strings.HasPrefix(kid.Key, "$") && kid.Key != "description" && kid.Key != "title" && kid.Key != "summary"
	})
}
