package schema

import "github.com/toolfit/toolfit/internal/core/jsonschema"

// accepts tells whether a value looks like one of a schema that we wrote. It knows enough
// to tell branches apart, no more.
func accepts(s, v *node) bool {
	if s == nil || s.Kind != jsonschema.Object || s.Get("$ref") != nil {
		return s == nil || !s.IsFalse()
	}
	if v.Kind == jsonschema.Null && s.Get("nullable").IsTrue() {
		return true
	}
	if t := s.Get("type"); t != nil && !acceptsType(t, v) {
		return false
	}
	if c := s.Get("const"); c != nil && !equal(c, v) {
		return false
	}
	if e := s.Get("enum"); e != nil && !containsValue(e.Kids, v) {
		return false
	}
	for _, name := range [...]string{"anyOf", "oneOf"} {
		if list := s.Get(name); list != nil {
			found := false
			for _, b := range list.Kids {
				found = found || accepts(b, v)
			}
			if !found {
				return false
			}
		}
	}
	switch v.Kind {
	case jsonschema.Object:
		return acceptsObject(s, v)
	case jsonschema.Array:
		if items := s.Get("items"); items != nil {
			for _, kid := range v.Kids {
				if !accepts(items, kid) {
					return false
				}
			}
		}
	}
	return true
}

func containsValue(list []*node, v *node) bool {
	for _, e := range list {
		if equal(e, v) {
			return true
		}
	}
	return false
}

func acceptsType(t, v *node) bool {
	have := valueType(v)
	if t.Kind == jsonschema.String {
		want, _ := typeOf(t.Text)
		return want.holds(have)
	}
	for _, k := range t.Kids {
		if want, _ := typeOf(k.Text); want.holds(have) {
			return true
		}
	}
	return false
}

func acceptsObject(s, v *node) bool {
	if req := s.Get("required"); req != nil {
		for _, k := range req.Kids {
			if v.Get(k.Text) == nil {
				return false
			}
		}
	}
	props := s.Get("properties")
	more := s.Get("additionalProperties")
	for _, kid := range v.Kids {
		if p := props.Get(kid.Key); p != nil {
			if !accepts(p, kid) {
				return false
			}
		} else if more != nil && !accepts(more, kid) {
			return false
		}
	}
	return true
}
