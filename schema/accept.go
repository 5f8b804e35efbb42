package schema

// accepts tells whether a value looks like one of a schema that we wrote. It knows enough
// to tell branches apart, no more.
func accepts(s, v *node) bool {
	if s == nil || s.kind != objectKind || s.get("$ref") != nil {
		return s == nil || !s.isFalse()
	}
	if v.kind == nullKind && s.get("nullable").isTrue() {
		return true
	}
	if t := s.get("type"); t != nil && !acceptsType(t, v) {
		return false
	}
	if c := s.get("const"); c != nil && !equal(c, v) {
		return false
	}
	if e := s.get("enum"); e != nil && !containsValue(e.kids, v) {
		return false
	}
	for _, name := range [...]string{"anyOf", "oneOf"} {
		if list := s.get(name); list != nil {
			found := false
			for _, b := range list.kids {
				found = found || accepts(b, v)
			}
			if !found {
				return false
			}
		}
	}
	switch v.kind {
	case objectKind:
		return acceptsObject(s, v)
	case arrayKind:
		if items := s.get("items"); items != nil {
			for _, kid := range v.kids {
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
	if t.kind == stringKind {
		want, _ := typeOf(t.text)
		return want.holds(have)
	}
	for _, k := range t.kids {
		if want, _ := typeOf(k.text); want.holds(have) {
			return true
		}
	}
	return false
}

func acceptsObject(s, v *node) bool {
	if req := s.get("required"); req != nil {
		for _, k := range req.kids {
			if v.get(k.text) == nil {
				return false
			}
		}
	}
	props := s.get("properties")
	more := s.get("additionalProperties")
	for _, kid := range v.kids {
		if p := props.get(kid.key); p != nil {
			if !accepts(p, kid) {
				return false
			}
		} else if more != nil && !accepts(more, kid) {
			return false
		}
	}
	return true
}
