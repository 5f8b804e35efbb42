package jsonschema

import (
	"net/url"
	"strconv"
	"strings"
)

// Index knows the named places of one document.
type Index struct {
	root    *Node
	draft   Draft
	bases   map[*Node]string // nodes that open a resource, with their address
	nested  bool             // some node below the root opens one
	places  map[string]*Node // the same by address, absolute and as written
	anchors map[Anchor]*Node
	dynamic map[Anchor]*Node // those that $dynamicRef looks for
	wide    map[*Node]map[string]*Node
	known   map[string]Found // references looked up so far, while the document is one resource
	tries   int              // names that walkNames has looked up
}

// Anchor is a named place of one resource.
type Anchor struct {
	Resource *Node
	Name     string
}

// NewIndex finds the named places in the schema root.
func NewIndex(root *Node, draft Draft) *Index { return NewIndexAt(root, draft, "") }

// NewIndexAt is NewIndex for a document whose address is known.
func NewIndexAt(root *Node, draft Draft, address string) *Index {
	x := &Index{root: root, draft: draft}
	if address != "" {
		x.bases = map[*Node]string{root: address}
		x.places = map[string]*Node{address: root}
	}
	x.walk(root, root)
	return x
}

// Add finds the named places in a schema that stands where no keyword of JSON Schema leads.
func (x *Index) Add(n *Node) { x.walk(n, x.Resource(n)) }

// At is the node at a pointer of the document, or nil.
func (x *Index) At(pointer string) *Node {
	if pointer == "" {
		return x.root
	}
	return x.walkPointer(x.root, Names(pointer))
}

// walk visits n, which is a schema, and the schemas in it.
func (x *Index) walk(n, resource *Node) {
	if n.Kind != Object {
		return
	}
	resource = x.open(n, resource)
	if name := n.Str("$anchor"); name != "" {
		note(&x.anchors, Anchor{resource, name}, n)
	}
	if name := n.Str("$dynamicAnchor"); name != "" {
		note(&x.anchors, Anchor{resource, name}, n)
		note(&x.dynamic, Anchor{resource, name}, n)
	}
	for _, kid := range n.Kids {
		kid.Schemas(func(inner *Node) { x.walk(inner, resource) })
	}
}

// note keeps the first of two places that claim one name.
func note[K comparable](places *map[K]*Node, name K, n *Node) {
	if *places == nil {
		*places = map[K]*Node{}
	}
	if (*places)[name] == nil {
		(*places)[name] = n
	}
}

// open notes the id of schema n and gives the resource that it belongs to.
func (x *Index) open(n, resource *Node) *Node {
	id := n.Str("$id")
	if x.draft == Draft4 && id == "" {
		id = n.Str("id")
	}
	if id == "" || x.draft.RefAlone() && n.Str("$ref") != "" {
		return resource
	}
	id, name, _ := strings.Cut(id, "#")
	if id != "" {
		address := join(x.bases[resource], id)
		resource = n
		x.nested = x.nested || n != x.root
		if x.bases == nil {
			x.bases = map[*Node]string{}
		}
		x.bases[n] = address
		note(&x.places, id, n)
		note(&x.places, address, n)
	}
	if name != "" { // how older drafts write an anchor
		note(&x.anchors, Anchor{resource, name}, n)
	}
	return resource
}

// join makes id absolute. What is no URL stays as it is written.
func join(base, id string) string {
	b, err := url.Parse(base)
	if err != nil || base == "" {
		return id
	}
	u, err := url.Parse(id)
	if err != nil {
		return id
	}
	return b.ResolveReference(u).String()
}

// Resource is the nearest node, from n upwards, that opens one.
func (x *Index) Resource(n *Node) *Node {
	if !x.nested {
		return x.root
	}
	for ; n != nil; n = n.Parent {
		if _, ok := x.bases[n]; ok {
			return n
		}
	}
	return x.root
}

// Dynamic visits the dynamic anchors of that name, one for each resource that has it.
func (x *Index) Dynamic(name string, visit func(resource, at *Node)) {
	for a, at := range x.dynamic {
		if a.Name == name {
			visit(a.Resource, at)
		}
	}
}

// Outermost is what a dynamic reference to n means where the whole document is in scope:
// the place of the same dynamic anchor that the document itself has.
func (x *Index) Outermost(n *Node) *Node {
	if name := n.Str("$dynamicAnchor"); name != "" {
		if outer := x.dynamic[Anchor{x.root, name}]; outer != nil {
			return outer
		}
	}
	return n
}

// Found is the answer to a look-up.
type Found struct {
	Node     *Node // nil: there is no such place
	External bool  // the reference leaves the document
	Repaired bool  // it had to be read in a way that the standard does not allow
}

// Lookup finds what a reference means that stands in from.
func (x *Index) Lookup(from *Node, ref string) Found {
	if x.nested {
		return x.find(from, ref)
	}
	at, ok := x.known[ref]
	if !ok {
		at = x.find(from, ref)
		if x.known == nil {
			x.known = map[string]Found{}
		}
		x.known[ref] = at
	}
	return at
}

func (x *Index) find(from *Node, ref string) Found {
	base, fragment, _ := strings.Cut(ref, "#")
	resource := x.Resource(from)
	if base != "" {
		place := x.places[join(x.bases[resource], base)]
		if place == nil {
			place = x.places[base]
		}
		if place == nil {
			return Found{External: true}
		}
		resource = place
	}
	switch {
	case fragment == "":
		return Found{Node: resource}
	case fragment[0] != '/':
		return Found{Node: x.anchors[Anchor{resource, Unescape(fragment)}]}
	}
	for _, root := range []*Node{resource, x.root} { // a pointer that is wrong for a nested resource is often meant for the document
		for i, path := range Readings(fragment) {
			if n := x.walkPointer(root, path); n != nil {
				return Found{Node: n, Repaired: root != resource || i > 0}
			}
		}
		if n := x.walkNames(root, strings.Split(Unescape(fragment)[1:], "/")); n != nil {
			return Found{Node: n, Repaired: true} // a slash in a name, as it is
		}
	}
	return Found{}
}

func (x *Index) walkPointer(n *Node, path []string) *Node {
	for _, name := range path {
		if n = x.inside(n, name); n == nil {
			return nil
		}
	}
	return n
}

// wide is from how many members on an index pays.
const wide = 32

// inside is the member or element of n that a pointer names.
func (x *Index) inside(n *Node, name string) *Node {
	switch {
	case n.Kind == Array:
		i, err := strconv.Atoi(name)
		if err != nil || i < 0 || i >= len(n.Kids) {
			return nil
		}
		return n.Kids[i]
	case len(n.Kids) < wide:
		return n.Get(name)
	}
	members := x.wide[n]
	if members == nil {
		members = make(map[string]*Node, len(n.Kids))
		for _, kid := range n.Kids {
			members[kid.Key] = kid
		}
		if x.wide == nil {
			x.wide = map[*Node]map[string]*Node{}
		}
		x.wide[n] = members
	}
	return members[name]
}

const (
	// maxTokens is how long a pointer may be to be read in more than one way.
	maxTokens = 32
	// maxTries is how many names are looked up so for all references of a schema: one that
	// needs more was written to be looked through for ever.
	maxTries = 20_000
)

// walkNames follows a pointer in which some slashes belong to names.
func (x *Index) walkNames(n *Node, tokens []string) *Node {
	if len(tokens) == 0 {
		return n
	}
	if n.Kind == Array || len(tokens) > maxTokens {
		if n = x.inside(n, UnescapeToken(tokens[0])); n == nil {
			return nil
		}
		return x.walkNames(n, tokens[1:])
	}
	for i := range tokens {
		if x.tries++; x.tries > maxTries {
			return nil
		}
		kid := x.inside(n, UnescapeToken(strings.Join(tokens[:i+1], "/")))
		if kid == nil {
			continue
		}
		if at := x.walkNames(kid, tokens[i+1:]); at != nil {
			return at
		}
	}
	return nil
}
