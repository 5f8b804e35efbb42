package openapi

import (
	"strings"

	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// maxParts limits the schemas that a schema is composed of. Real ones have a dozen at most.
const maxParts = 200

// parts calls visit for n and for all schemas it is composed of by allOf, each reference once:
// with the site and the schema it resolves to. An unresolved reference is its own target. It
// reports whether all were visited.
func (d *Document) parts(n *node, visit func(site, part *node) bool) bool {
	seen := map[string]bool{}
	left := maxParts
	var walk func(site *node) bool
	walk = func(site *node) bool {
		if ref := refOf(site); ref != nil && ref.Kind == jsonschema.String {
			if target, err := d.target(ref); err == nil {
				if seen[target.pointer] {
					return true
				}
				seen[target.pointer] = true
			}
		}
		part, err := d.follow(site)
		if err != nil {
			part = site
		}
		left--
		if left < 0 || !visit(site, part) {
			return false
		}
		all := part.Get("allOf").Elements()
		for _, inner := range all {
			if !walk(inner) {
				return false
			}
		}
		return true
	}
	return walk(n)
}

// types returns the possible types of a value; none if it may have any, or if that cannot be
// determined within the given steps.
func (d *Document) types(n *node, steps *int) jsonschema.Types {
	*steps--
	n, err := d.follow(n)
	if *steps < 0 || err != nil {
		return 0
	}
	if n.Get("type") != nil {
		return typesOf(n)
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		var all jsonschema.Types
		for _, branch := range n.Get(key).Elements() {
			own := d.types(branch, steps)
			if own == 0 {
				return 0
			}
			all |= own
		}
		if all != 0 {
			return all
		}
	}
	for _, inner := range n.Get("allOf").Elements() {
		if own := d.types(inner, steps); own != 0 {
			return own
		}
	}
	switch {
	case n.Get("properties") != nil || n.Get("additionalProperties") != nil:
		return jsonschema.TObject
	case n.Get("items") != nil:
		return jsonschema.TArray
	}
	return 0
}

// typesOf returns the types that a schema names, in any case; a file is a string.
func typesOf(n *node) (set jsonschema.Types) {
	for _, t := range n.Strings("type") {
		if t == "file" {
			t = "string"
		}
		set |= jsonschema.TypeNamed(strings.ToLower(t))
	}
	return set
}
