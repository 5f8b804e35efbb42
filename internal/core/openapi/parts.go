package openapi

import (
	"slices"

	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// maxParts bounds the schemas that one is composed of. Real ones have a dozen at most.
const maxParts = 200

// parts calls visit for the schema n and for all that it is composed of by allOf, each
// reference once: with the place where it stands and with the schema that is meant. A
// reference that leads nowhere is visited as it stands. It tells whether visit saw all.
func (d *Document) parts(n *node, visit func(site, part *node) bool) bool {
	seen, left := map[string]bool{}, maxParts
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
		if left--; left < 0 || !visit(site, part) {
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

// types are the types that a value of the schema may have; nil when it may have any, or
// when it cannot be told within so many steps.
func (d *Document) types(n *node, steps *int) []string {
	if *steps--; *steps < 0 {
		return nil
	}
	n, err := d.follow(n)
	if err != nil {
		return nil
	}
	if list := n.Strings("type"); len(list) > 0 {
		return list
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		if list := n.Get(key).Elements(); len(list) > 0 {
			return d.unionTypes(list, steps)
		}
	}
	all := n.Get("allOf").Elements()
	for _, inner := range all {
		if list := d.types(inner, steps); list != nil {
			return list
		}
	}
	switch {
	case n.Get("properties") != nil || n.Get("additionalProperties") != nil:
		return []string{"object"}
	case n.Get("items") != nil:
		return []string{"array"}
	}
	return nil
}

func (d *Document) unionTypes(branches []*node, steps *int) (out []string) {
	for _, branch := range branches {
		list := d.types(branch, steps)
		if list == nil {
			return nil
		}
		out = append(out, list...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
