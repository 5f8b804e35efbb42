package recall

import (
	"strings"

	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// maxRefs is how many references in a row may lead to a parameter, a body or a response.
const maxRefs = 8

// resolve follows references to a parameter, a body or a response; nil: there is none.
func (a *apiSpec) resolve(n *node) *node {
	for range maxRefs {
		ref := n.Get("$ref")
		if ref == nil || ref.Kind != jsonschema.String {
			return n
		}
		n = a.index.Lookup(ref, ref.Text).Node
	}
	return nil
}

// reached gives the definitions within so many references. A specification may hold those of a whole
// product.
func (a *apiSpec) reached(schemas []*node, hops int) object {
	out := object{}
	seen := map[*node]bool{}
	anywhere := false
	for hop := 1; hop <= hops; hop++ {
		var next []*node
		for _, n := range schemas {
			references(n, func(ref *node) {
				anywhere = anywhere || !strings.HasPrefix(ref.Text, "#/") // an anchor may be in any definition
				target := a.index.Lookup(ref, ref.Text).Node
				def := definitionOf(target)
				if def == nil || seen[def] {
					return
				}
				seen[def] = true
				if hop == hops && def == target {
					objectAt(out, def.Parent)[def.Key] = outline(def)
					return
				}
				objectAt(out, def.Parent)[def.Key] = raw(def.Raw())
				next = append(next, def)
			})
		}
		schemas = next
	}
	for _, shelf := range []string{"components", "definitions", "$defs"} {
		if all := a.root.Get(shelf); anywhere && all != nil && all.Kind == jsonschema.Object {
			out[shelf] = raw(all.Raw())
		}
	}
	return out
}

// references visits every reference in a value.
func references(n *node, visit func(*node)) {
	for _, kid := range n.Kids {
		if kid.Kind == jsonschema.String && (kid.Key == "$ref" || kid.Key == "$dynamicRef") {
			visit(kid)
		}
		references(kid, visit)
	}
}

// definitionOf is the definition that n is, or is part of; nil: it is in none.
func definitionOf(n *node) *node {
	if n == nil || n.Parent == nil {
		return nil
	}
	switch shelf := n.Parent; shelf.Pointer() {
	case "/definitions", "/$defs":
		return n
	default:
		if shelf.Parent != nil && shelf.Parent.Pointer() == "/components" {
			return n
		}
		return definitionOf(shelf)
	}
}

// objectAt is the object of out that stands where n does.
func objectAt(out object, n *node) object {
	if n.Parent == nil {
		return out
	}
	up := objectAt(out, n.Parent)
	inner, _ := up[n.Key].(object)
	if inner == nil {
		inner = object{}
		up[n.Key] = inner
	}
	return inner
}

// outline is the type and description of a definition that is not followed.
func outline(n *node) any {
	if n.Kind != jsonschema.Object {
		return raw(n.Raw())
	}
	out := object{}
	for _, key := range []string{"type", "description"} {
		if value := n.Get(key); value != nil {
			out[key] = raw(value.Raw())
		}
	}
	if items := n.Get("items"); items != nil {
		out["items"] = outline(items)
	}
	return out
}
