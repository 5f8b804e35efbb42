package schema

import (
	"cmp"
	"slices"

	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// accepts reports whether v matches s, a schema that the writer wrote; a nil schema accepts
// anything. It checks only what is needed to tell the branches of a union apart.
func accepts(s, v *node) bool {
	if s == nil || s.Kind != jsonschema.Object || s.Get("$ref") != nil {
		return s == nil || !s.IsFalse()
	}
	if v.Kind == jsonschema.Null && s.Get("nullable").IsTrue() {
		return true
	}
	if !s.Get("type").Types().Accepts(v.Type()) {
		return false
	}
	if c := s.Get("const"); c != nil && !jsonschema.Equal(c, v) {
		return false
	}
	if e := s.Get("enum"); e != nil && !slices.ContainsFunc(e.Kids, func(o *node) bool { return jsonschema.Equal(o, v) }) {
		return false
	}
	for _, name := range [...]string{"anyOf", "oneOf"} {
		list := s.Get(name)
		if list != nil && !slices.ContainsFunc(list.Kids, func(b *node) bool { return accepts(b, v) }) {
			return false
		}
	}
	switch v.Kind {
	case jsonschema.Object:
		return acceptsObject(s, v)
	case jsonschema.Array:
		items := s.Get("items")
		return !slices.ContainsFunc(v.Kids, func(kid *node) bool { return !accepts(items, kid) })
	}
	return true
}

func acceptsObject(s, v *node) bool {
	for _, k := range s.Get("required").Elements() {
		if v.Get(k.Text) == nil {
			return false
		}
	}
	props := s.Get("properties")
	more := s.Get("additionalProperties")
	return !slices.ContainsFunc(v.Kids, func(kid *node) bool { return !accepts(cmp.Or(props.Get(kid.Key), more), kid) })
}
