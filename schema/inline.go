package schema

import (
	"slices"

	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// visit is the chain of references that led to a node.
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

// isDefs are the keywords that only hold definitions.
var isDefs = set("$defs definitions components")

// inline writes a schema with references replaced by their targets, up to Options.Hops in a
// row. Beyond that, and in a cycle, only type and description are kept. Keywords beside a
// reference are kept.
func (w *writer) inline(root *node) *node {
	r := w.r
	if r.Named {
		r.index = jsonschema.NewIndex(root, r.flavor.draft(root))
	}
	if root.Kind == jsonschema.Bool {
		root = w.object()
	}
	if whole := root.Get("properties"); wrapped(whole) != nil {
		r.change(whole, Wrapped, "lifted by one level")
		root = whole
	}
	out := w.expand(root, nil, 0)
	if out.Kind != jsonschema.Object {
		out = w.object()
	}
	out.Kids = slices.DeleteFunc(out.Kids, func(n *node) bool { return isDefs[n.Key] })
	switch t := out.Get("type"); {
	case t == nil:
		w.insert(out, 0, "type", "object")
	case t.Types()&tObject == 0:
		r.err = &Error{NotSchema, "/type", "the arguments are no object"}
	case t.Kind == jsonschema.Array:
		*t = node{Kind: jsonschema.String, Key: "type", Text: "object"}
	}
	return out
}

// expand copies a schema with its references replaced.
func (w *writer) expand(n *node, way *visit, hops int) *node {
	switch {
	case n.Kind == jsonschema.Bool, n.Kind == jsonschema.Array && n.Parent != nil && n.Parent.Key == "dependencies":
		return w.copied(n)
	case n.Kind != jsonschema.Object:
		w.changeAt(n, NotASchema, "accepts anything")
		return w.object()
	}
	if len(n.Kids) == 1 && isRef(n.Kids[0]) {
		return w.hop(nil, n.Kids[0], way, hops)
	}
	var refs []*node
	out := w.object()
	for _, kid := range n.Kids {
		switch pos := jsonschema.Keywords[kid.Key].Holds; {
		case isRef(kid):
			refs = append(refs, kid)
		case isDefs[kid.Key], kid.Key == "$id", kid.Key == "$anchor", kid.Key == "$dynamicAnchor":
			// no longer referenced
		case pos == jsonschema.OneSchema && kid.Kind == jsonschema.Object:
			w.put(out, kid.Key, w.expand(kid, way, hops))
		case pos == jsonschema.SchemaList && len(kid.Kids) == 0:
			// an empty list does not compile
		case pos == jsonschema.OneSchema && kid.Kind == jsonschema.Array: // items of older drafts
			if kid.Key == "items" && len(kid.Kids) > 0 && n.Get("prefixItems") == nil {
				w.put(out, "prefixItems", w.expandEach(kid, way, hops))
			}
		case pos == jsonschema.OneSchema && kid.Kind != jsonschema.Bool, pos == jsonschema.SchemaMap && kid.Kind != jsonschema.Object:
			w.changeAt(kid, NotASchema, "dropped")
		case pos == jsonschema.SchemaMap, pos == jsonschema.SchemaList && kid.Kind == jsonschema.Array:
			w.put(out, kid.Key, w.expandEach(kid, way, hops))
		default:
			if v := w.repaired(n, kid); v != nil {
				w.put(out, kid.Key, v)
			}
		}
	}
	for _, ref := range refs {
		out = w.hop(out, ref, way, hops)
	}
	return out
}

// expandEach copies a list or map of schemas.
func (w *writer) expandEach(kid *node, way *visit, hops int) *node {
	list := w.New(kid.Kind)
	list.Kids = make([]*node, 0, len(kid.Kids))
	for _, k := range kid.Kids {
		w.put(list, k.Key, w.expand(k, way, hops))
	}
	return list
}

// repaired returns a keyword that compiles, or nil to drop it.
func (w *writer) repaired(n, kid *node) *node {
	out := w.copied(kid)
	switch kid.Key {
	case "type":
		var f form
		w.r.readType(&f, kid)
		if f.types == 0 {
			return nil
		}
	case "enum", "required":
		if kid.Kind != jsonschema.Array || kid.Key == "enum" && len(kid.Kids) == 0 {
			w.changeAt(kid, BadKeyword, "dropped")
			return nil
		}
		out.Kids = jsonschema.Distinct(kid.Kids)
		if kid.Key == "required" {
			out.Kids = slices.DeleteFunc(slices.Clone(out.Kids), func(v *node) bool { return v.Kind != jsonschema.String })
		}
		if len(out.Kids) < len(kid.Kids) {
			w.changeAt(kid, DoubleValue, "deduplicated")
		}
	case "title", "description", "$comment", "$schema":
		if kid.Kind != jsonschema.String {
			return nil
		}
	case "properties", "patternProperties", "anyOf", "oneOf", "allOf", "prefixItems":
		return nil // neither list nor object
	case "default", "example", "examples":
		if w.r.Named && hasRef(kid) {
			w.changeAt(kid, BadKeyword, "dropped: it holds a reference")
			return nil
		}
	default:
		fixed := kid
		switch {
		case isKnown(kid.Key) || kid.Key == "nullable":
			fixed = w.r.repair(n, kid)
		case w.r.Named && hasRef(kid): // unknown keyword: its references cannot be resolved
			w.changeAt(kid, BadKeyword, "dropped: it holds a reference")
			return nil
		}
		if fixed == nil {
			return nil
		}
		out = w.copied(fixed)
	}
	return out
}

func isRef(n *node) bool { return jsonschema.IsRef(n.Key) && n.Kind == jsonschema.String }

// hop merges the target of a reference with the keywords beside it, which may be nil.
func (w *writer) hop(beside, ref *node, way *visit, hops int) *node {
	n := ref.Parent
	at := w.r.index.Lookup(n, ref.Text)
	if at.Node == nil {
		w.changeAt(ref, MissingRef, "accepts anything: "+jsonschema.LastToken(ref.Text)+" is not there")
		if beside == nil {
			beside = w.object()
		}
		text := beside.Get("description")
		if text == nil {
			text = w.put(beside, "description", w.text(""))
		}
		text.Text = describe(text.Text, []string{"(schema missing)"})
		return beside
	}
	if way.has(at.Node) || hops >= w.opts.Hops || w.Count > w.opts.MaxNodes*4 || w.spent > w.opts.MaxBytes {
		w.changeAt(n, Cut, "keeps type and description")
		return w.mergeBeside(beside, w.prune(at.Node))
	}
	return w.mergeBeside(beside, w.expand(at.Node, &visit{at.Node, way}, hops+1))
}

// prune keeps type and description of a schema that is not expanded.
func (w *writer) prune(n *node) *node {
	name := n.Str("type")
	if jsonschema.TypeNamed(name) == 0 {
		name = "object"
	}
	out := w.typed(name)
	if d := n.Str("description"); d != "" {
		w.put(out, "description", w.text(d))
	}
	if items := n.Get("items"); name == "array" && items != nil && items.Kind == jsonschema.Object {
		w.put(out, "items", w.prune(items))
	}
	return out
}
