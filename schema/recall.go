package schema

import "slices"

// visit is the way of references that led to a node.
type visit struct {
	target *node
	up     *visit
}

func (v *visit) has(n *node) bool {
	for ; v != nil; v = v.up {
		if v.target == n {
			return true
		}
	}
	return false
}

// recall writes a schema as the older design did: every reference replaced by its target,
// Options.Hops deep; a target that is on its own way, or a hop further, keeps type and
// description alone. Unlike it, references are followed wherever a schema may stand, and
// what stands beside one is kept.
func (w *writer) recall(root *node) *node {
	r := w.r
	if r.refs {
		r.index = newIndex(root)
	}
	if root.kind == boolKind {
		root = w.object()
	}
	if whole := root.get("properties"); wrapped(whole) != nil {
		r.change(whole, Wrapped, "lifted by one level")
		root = whole
	}
	out := w.expand(root, nil, 0)
	if out.kind != objectKind {
		out = w.object()
	}
	out.kids = slices.DeleteFunc(out.kids, func(n *node) bool {
		return n.key == "$defs" || n.key == "definitions" || n.key == "components"
	})
	switch t := out.get("type"); {
	case t == nil:
		n := w.text("object")
		n.key = "type"
		out.kids = slices.Insert(out.kids, 0, n)
	case !hasType(t, "object"):
		r.fault = &Error{NotSchema, "/type", "the arguments are no object"}
	case t.kind == arrayKind:
		*t = node{kind: stringKind, key: "type", text: "object"}
	}
	return out
}

// expand copies a schema with its references replaced.
func (w *writer) expand(n *node, way *visit, hops int) *node {
	switch {
	case n.kind == boolKind, n.kind == arrayKind && n.parent != nil && n.parent.key == "dependencies":
		return w.given(n)
	case n.kind != objectKind:
		w.changeAt(n, NotASchema, "accepts anything")
		return w.object()
	}
	if len(n.kids) == 1 && isRef(n.kids[0]) {
		return w.hop(nil, n.kids[0], way, hops)
	}
	var refs []*node
	out := w.object()
	for _, kid := range n.kids {
		switch pos := applicators[kid.key]; {
		case isRef(kid):
			refs = append(refs, kid)
		case kid.key == "$defs", kid.key == "definitions", kid.key == "components", kid.key == "$id", kid.key == "$anchor", kid.key == "$dynamicAnchor":
			// nothing refers to them any more
		case pos == isSchema && kid.kind == objectKind:
			w.put(out, kid.key, w.expand(kid, way, hops))
		case pos == isList && len(kid.kids) == 0, pos == isSchema && kid.kind == arrayKind && (kid.key != "items" || len(kid.kids) == 0 || n.get("prefixItems") != nil):
			// it would say nothing, or nothing that compiles
		case kid.key == "items" && kid.kind == arrayKind:
			list := w.array(len(kid.kids))
			for _, k := range kid.kids {
				list.kids = append(list.kids, w.expand(k, way, hops))
			}
			w.put(out, "prefixItems", list)
		case pos == isSchema && kid.kind != boolKind, pos == isMap && kid.kind != objectKind:
			w.changeAt(kid, NotASchema, "dropped")
		case pos == isMap, pos == isList && kid.kind == arrayKind:
			list := w.new(kid.kind)
			list.kids = make([]*node, 0, len(kid.kids))
			for _, k := range kid.kids {
				w.put(list, k.key, w.expand(k, way, hops))
			}
			w.put(out, kid.key, list)
		default:
			if v := w.mended(n, kid); v != nil {
				w.put(out, kid.key, v)
			}
		}
	}
	for _, ref := range refs {
		out = w.hop(out, ref, way, hops)
	}
	return out
}

// mended is a keyword without what would keep the whole schema from compiling, nil to drop it.
func (w *writer) mended(n, kid *node) *node {
	out := w.given(kid)
	switch kid.key {
	case "type":
		var f form
		if w.r.readType(&f, kid); f.types == 0 {
			return nil
		}
	case "enum", "required":
		if kid.kind != arrayKind || kid.key == "enum" && len(kid.kids) == 0 {
			w.changeAt(kid, BadKeyword, "dropped")
			return nil
		}
		if out.kids = dedupe(kid.kids); kid.key == "required" {
			out.kids = slices.DeleteFunc(slices.Clone(out.kids), func(v *node) bool { return v.kind != stringKind })
		}
		if len(out.kids) < len(kid.kids) {
			w.changeAt(kid, DoubleValue, "deduplicated")
		}
	case "title", "description", "$comment", "$schema":
		if kid.kind != stringKind {
			return nil
		}
	case "properties", "patternProperties", "anyOf", "oneOf", "allOf", "prefixItems":
		return nil // neither list nor object, else it would not be here
	case "default", "example", "examples":
		if w.r.refs && hasRef(kid) {
			w.changeAt(kid, BadKeyword, "dropped: it holds a reference")
			return nil
		}
	default:
		f := form{src: n}
		fixed := kid
		switch {
		case known[kid.key] || kid.key == "nullable":
			fixed = w.r.repair(&f, kid)
		case w.r.refs && hasRef(kid): // nobody follows it, and nothing may be left to follow
			w.changeAt(kid, BadKeyword, "dropped: it holds a reference")
			return nil
		}
		if fixed == nil {
			return nil
		}
		out = w.given(fixed)
	}
	return out
}

func isRef(n *node) bool { return refKeys[n.key] && n.kind == stringKind }

// hop adds what a reference leads to to what stands beside it, nil for nothing.
func (w *writer) hop(beside, ref *node, way *visit, hops int) *node {
	n := ref.parent
	at := w.r.index.lookup(n, ref.text)
	if at.node == nil {
		w.changeAt(ref, MissingRef, "accepts anything: MCP schema definition not found: "+lastToken(ref.text))
		if beside == nil {
			beside = w.object()
		}
		text := beside.get("description")
		if text == nil {
			text = w.put(beside, "description", w.text(""))
		}
		text.text = describe(text.text, []string{"(schema missing)"})
		return beside
	}
	if way.has(at.node) || hops >= w.opts.Hops || w.count > w.opts.MaxNodes*4 || w.spent > w.opts.MaxBytes {
		w.changeAt(n, Cut, "keeps type and description")
		return w.both(beside, w.prune(at.node))
	}
	return w.both(beside, w.expand(at.node, &visit{at.node, way}, hops+1))
}

// prune keeps what the older design kept.
func (w *writer) prune(n *node) *node {
	out := w.object()
	name := n.str("type")
	if _, ok := typeOf(name); !ok {
		name = "object"
	}
	w.put(out, "type", w.text(name))
	if d := n.str("description"); d != "" {
		w.put(out, "description", w.text(d))
	}
	if items := n.get("items"); name == "array" && items != nil && items.kind == objectKind {
		w.put(out, "items", w.prune(items))
	}
	return out
}
