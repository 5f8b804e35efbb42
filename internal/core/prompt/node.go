package prompt

import (
	"slices"

	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

type node = jsonschema.Node

// reference returns the reference keyword of a schema, or nil.
func reference(n *node) *node {
	for _, kid := range n.Members() {
		if jsonschema.IsRef(kid.Key) && kid.Kind == jsonschema.String {
			return kid
		}
	}
	return nil
}

// resolve returns the target of a reference; nil if it is not in the document.
func (p *printer) resolve(ref *node) *node {
	if p.index == nil {
		p.index = jsonschema.NewIndex(p.root, jsonschema.DraftOf(p.root))
	}
	at := p.index.Lookup(ref, ref.Text).Node
	if at != nil && ref.Key == "$dynamicRef" {
		at = p.index.Outermost(at)
	}
	return at
}

// says reports whether a schema constrains its type.
func says(n *node) bool {
	for _, kid := range n.Members() {
		switch kid.Key {
		case "enum", "const", "properties", "items", "prefixItems", "anyOf", "oneOf", "allOf":
			return true
		case "type":
			if kid.Kind == jsonschema.String || kid.Kind == jsonschema.Array {
				return true
			}
		case "additionalProperties":
			if says(kid) {
				return true
			}
		}
	}
	return reference(n) != nil
}

// more returns the schema of additional properties; nil if it says nothing.
func more(n *node) *node {
	if m := n.Get("additionalProperties"); says(m) {
		return m
	}
	return nil
}

// combines reports whether a schema has alternatives or parts that say more than what is
// required.
func combines(n *node) bool {
	return slices.ContainsFunc(n.Members(), func(kid *node) bool {
		union := kid.Key == "anyOf" || kid.Key == "oneOf" || kid.Key == "allOf"
		return union && slices.ContainsFunc(kid.Elements(), says)
	})
}

// kind returns the one type that a schema names or implies; "" if it is open.
func kind(n *node) string {
	typ := n.Get("type")
	switch {
	case typ != nil && typ.Kind == jsonschema.String:
		return typ.Text
	case typ != nil && typ.Kind == jsonschema.Array:
		return ""
	case n.Get("properties") != nil || more(n) != nil:
		return "object"
	case n.Get("items") != nil || n.Get("prefixItems") != nil:
		return "array"
	}
	return ""
}

// without returns a schema without one of its keywords.
func without(n *node, key string) *node {
	out := *n
	out.Kids = slices.DeleteFunc(slices.Clone(n.Kids), func(kid *node) bool { return kid.Key == key })
	return &out
}

// requires reports whether an object must have the property.
func requires(n *node, name string) bool {
	is := func(kid *node) bool { return kid.Kind == jsonschema.String && kid.Text == name }
	return slices.ContainsFunc(n.Get("required").Elements(), is)
}

// isObject and isArray report what the value of a keyword is, which may be missing.
func isObject(n *node) bool { return n != nil && n.Kind == jsonschema.Object }
func isArray(n *node) bool  { return n != nil && n.Kind == jsonschema.Array }
