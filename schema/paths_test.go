package schema

import (
	"slices"
	"testing"

	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// pathWalk collects the places of properties that a schema names, and whether each one
// must be given: /a/b[]/c, /* for a map; branches of a union share their place.
type pathWalk struct {
	r     *reader
	given bool // the schema is an original: what it requires is required
	out   map[string]bool
}

func (w *pathWalk) add(at string, must bool) {
	if old, there := w.out[at]; there {
		must = must && old
	}
	w.out[at] = must
}

// paths are those of a schema; each reference is entered twice at most on one way, eight
// levels deep.
func paths(t testing.TB, raw []byte, given bool) map[string]bool {
	r := &reader{degrade: true}
	root, err := r.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	r.root = root
	r.flavor = flavorOf(root, Auto)
	w := &pathWalk{r: r, given: given, out: map[string]bool{}}
	w.form(r.at(root), "", 0, nil)
	return w.out
}

func (w *pathWalk) form(f *form, at string, level int, up *frame) {
	f = w.r.open(f)
	if level > 8 || len(w.out) > 5000 || up.count(f.id()) > 1 {
		return
	}
	up = &frame{f.id(), up}
	if f.types.Accepts(tObject) { // beside another type properties and items mean nothing
		for _, p := range f.props {
			if pf := w.r.open(p.form); !pf.never {
				w.add(at+"/"+p.key, f.isRequired(p.key) && (w.given || !pf.null))
				w.form(p.form, at+"/"+p.key, level+1, up)
			}
		}
		if f.more != nil {
			w.form(f.more, at+"/*", level+1, up)
		}
	}
	if f.types.Accepts(tArray) {
		if f.items != nil {
			w.form(f.items, at+"[]", level+1, up)
		}
		for _, c := range f.prefix {
			w.form(c, at, level, up)
		}
	}
	for _, c := range f.union {
		w.form(c, at, level, up)
	}
}

// shownPaths are the places of the original that a plan can still reach, found by walking
// the written schema and the steps back together.
func shownPaths(t testing.TB, res *Result) map[string]bool {
	if len(res.steps) == 0 {
		return paths(t, res.Parameters, false)
	}
	w := &stepWalk{pathWalk: pathWalk{out: map[string]bool{}}, steps: res.steps}
	root, err := w.Parse(res.Parameters)
	if err != nil {
		t.Fatal(err)
	}
	w.root = root
	w.schema(root, res.root, "", 0)
	return w.out
}

type stepWalk struct {
	pathWalk
	tree
	steps []step
	root  *node
}

func (w *stepWalk) step(at int) *step {
	for at > 0 && w.steps[at-1].Kind == stepGoto {
		at = w.steps[at-1].Item
	}
	if at == 0 {
		return &step{}
	}
	return &w.steps[at-1]
}

func (w *stepWalk) schema(n *node, at int, place string, level int) {
	if level > 12 || len(w.out) > 20000 {
		return
	}
	if ref := n.Get("$ref"); ref != nil {
		n = w.root.Get("$defs").Get(ref.Text[len("#/$defs/"):])
	}
	s := w.step(at)
	for _, key := range []string{"anyOf", "oneOf"} {
		for i, b := range listOf(n.Get(key)) {
			inner := at
			if s.Kind == stepUnion {
				inner = 0
				if i < len(s.Branches) {
					inner = s.Branches[i].Step
				}
			}
			w.schema(b, inner, place, level+1)
		}
	}
	switch s.Kind {
	case stepUnion:
		if len(s.Branches) == 1 {
			w.schema(n, s.Branches[0].Step, place, level+1)
		}
	case stepUnwrap:
		w.schema(n.Get("properties").Get(wrapKey), s.Item, place, level+1)
	case stepPairs:
		w.schema(n.Get("items").Get("properties").Get("value"), s.Item, place+"/*", level+1)
	default:
		w.inside(n, s, place, level)
	}
}

func (w *stepWalk) inside(n *node, s *step, place string, level int) {
	for _, kid := range listOf(n.Get("properties")) {
		name := kid.Key
		inner := 0
		drop := false
		for _, p := range s.Props {
			if p.Shown == kid.Key {
				name = p.Name
				inner = p.Step
				drop = p.DropNull
			}
		}
		must := !drop
		if !slices.Contains(n.Strings("required"), kid.Key) {
			must = false
		}
		w.add(place+"/"+name, must && !accepts(kid, &node{}))
		w.schema(kid, inner, place+"/"+name, level+1)
	}
	if items := n.Get("items"); items != nil && items.Kind == jsonschema.Object {
		w.schema(items, s.Item, place+"[]", level+1)
	}
	for i, kid := range listOf(n.Get("prefixItems")) {
		inner := 0
		if i < len(s.Prefix) {
			inner = s.Prefix[i]
		}
		w.schema(kid, inner, place, level+1)
	}
	if more := n.Get("additionalProperties"); more != nil && more.Kind == jsonschema.Object {
		w.schema(more, s.Rest, place+"/*", level+1)
	}
}

func listOf(n *node) []*node {
	if n == nil {
		return nil
	}
	return n.Kids
}

// dangling counts references that lead nowhere.
func dangling(t testing.TB, raw []byte) int {
	var tr tree
	root, err := tr.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	x := jsonschema.NewIndex(root, jsonschema.DraftOf(root))
	count := 0
	var visit func(n *node)
	visit = func(n *node) {
		for _, kid := range n.Kids {
			switch pos := jsonschema.Keywords[kid.Key].Holds; {
			case kid.Key == "$ref" && kid.Kind == jsonschema.String:
				if x.Lookup(n, kid.Text).Node == nil {
					count++
				}
			case pos == jsonschema.OneSchema && kid.Kind == jsonschema.Object:
				visit(kid)
			case pos != 0:
				for _, k := range kid.Kids {
					visit(k)
				}
			}
		}
	}
	visit(root)
	return count
}
