package jsonschema

import (
	"cmp"
	"net/url"
	"strings"
)

// Index resolves the references of one document.
type Index struct {
	root      *Node
	draft     Draft
	addresses map[*Node]string // of resources, that is, nodes with an $id
	nested    bool             // there is a resource below the root
	resources map[string]*Node // by address, absolute and as written
	anchors   map[anchor]*Node
	dynamic   map[anchor]*Node // targets of $dynamicRef
	wide      map[*Node]map[string]*Node
	known     map[string]Found // resolved references, if the document is a single resource
	tries     int              // number of names tried by walkNames
}

// anchor is the name of a place within a resource.
type anchor struct {
	resource *Node
	name     string
}

// NewIndex indexes the schema root.
func NewIndex(root *Node, draft Draft) *Index { return NewIndexAt(root, draft, "") }

// NewIndexAt is NewIndex for a document with a known address.
func NewIndexAt(root *Node, draft Draft, address string) *Index {
	x := &Index{root: root, draft: draft}
	if address != "" {
		x.addresses = map[*Node]string{root: address}
		x.resources = map[string]*Node{address: root}
	}
	x.walk(root, root)
	return x
}

// Add indexes a schema outside of JSON Schema keywords.
func (x *Index) Add(n *Node) { x.walk(n, x.Resource(n)) }

// At returns the node at a pointer, or nil.
func (x *Index) At(pointer string) *Node { return x.walkPointer(x.root, Names(pointer)) }

// walk indexes the schema n and its subschemas.
func (x *Index) walk(n, resource *Node) {
	if n.Kind != Object {
		return
	}
	resource = x.open(n, resource)
	if name := n.Str("$anchor"); name != "" {
		addFirst(&x.anchors, anchor{resource, name}, n)
	}
	if name := n.Str("$dynamicAnchor"); name != "" {
		addFirst(&x.anchors, anchor{resource, name}, n)
		addFirst(&x.dynamic, anchor{resource, name}, n)
	}
	for _, kid := range n.Kids {
		kid.Schemas(func(inner *Node) { x.walk(inner, resource) })
	}
}

// addFirst adds an entry to a map, which may be nil, unless the key exists.
func addFirst[K comparable, V any](to *map[K]V, key K, value V) {
	if *to == nil {
		*to = map[K]V{}
	}
	if _, taken := (*to)[key]; !taken {
		(*to)[key] = value
	}
}

// open indexes the $id of schema n and returns the resource that n belongs to.
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
		address := join(x.addresses[resource], id)
		resource = n
		x.nested = x.nested || n != x.root
		delete(x.addresses, n)
		addFirst(&x.addresses, n, address)
		addFirst(&x.resources, id, n)
		addFirst(&x.resources, address, n)
	}
	if name != "" { // an anchor in older drafts
		addFirst(&x.anchors, anchor{resource, name}, n)
	}
	return resource
}

// join makes id absolute. An id that is not a URL is returned as it is.
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

// Resource returns the resource that n belongs to.
func (x *Index) Resource(n *Node) *Node {
	if !x.nested {
		return x.root
	}
	for ; n != nil; n = n.Parent {
		if _, ok := x.addresses[n]; ok {
			return n
		}
	}
	return x.root
}

// Dynamic visits the dynamic anchors with that name, one per resource.
func (x *Index) Dynamic(name string, visit func(resource, at *Node)) {
	for a, at := range x.dynamic {
		if a.name == name {
			visit(a.resource, at)
		}
	}
}

// Outermost returns the target of a dynamic reference to n when the whole document is in
// scope: the document's own anchor with that name comes first.
func (x *Index) Outermost(n *Node) *Node {
	if name := n.Str("$dynamicAnchor"); name != "" {
		if outer := x.dynamic[anchor{x.root, name}]; outer != nil {
			return outer
		}
	}
	return n
}

// Found is a resolved reference.
type Found struct {
	Node     *Node // nil: not found
	External bool  // it points to another document
	Repaired bool  // invalid, but the meaning is clear
}

// Lookup resolves a reference in the schema from.
func (x *Index) Lookup(from *Node, ref string) Found {
	if x.nested {
		return x.find(from, ref)
	}
	at, ok := x.known[ref]
	if !ok {
		at = x.find(from, ref)
		addFirst(&x.known, ref, at)
	}
	return at
}

func (x *Index) find(from *Node, ref string) Found {
	base, fragment, _ := strings.Cut(ref, "#")
	resource := x.Resource(from)
	if base != "" {
		resource = cmp.Or(x.resources[join(x.addresses[resource], base)], x.resources[base])
		if resource == nil {
			return Found{External: true}
		}
	}
	switch {
	case fragment == "":
		return Found{Node: resource}
	case fragment[0] != '/':
		return Found{Node: x.anchors[anchor{resource, Unescape(fragment)}]}
	}
	for _, root := range []*Node{resource, x.root} { // a wrong pointer in a nested resource is often relative to the document
		for i, path := range Readings(fragment) {
			if n := x.walkPointer(root, path); n != nil {
				return Found{Node: n, Repaired: root != resource || i > 0}
			}
		}
		if n := x.walkNames(root, strings.Split(Unescape(fragment)[1:], "/")); n != nil {
			return Found{Node: n, Repaired: true} // an unescaped slash in a name
		}
	}
	return Found{}
}

func (x *Index) walkPointer(n *Node, path []string) *Node {
	for _, name := range path {
		if n != nil {
			n = x.inside(n, name)
		}
	}
	return n
}

// inside returns the member or element of n that a pointer token names, or nil.
func (x *Index) inside(n *Node, name string) *Node {
	const wide = 32 // number of members from which a map is faster
	switch {
	case n.Kind == Array:
		if i, ok := Position(name); ok && i < len(n.Kids) {
			return n.Kids[i]
		}
		return nil
	case len(n.Kids) < wide:
		return n.Get(name)
	}
	members := x.wide[n]
	if members == nil {
		members = make(map[string]*Node, len(n.Kids))
		for _, kid := range n.Kids {
			members[kid.Key] = kid
		}
		addFirst(&x.wide, n, members)
	}
	return members[name]
}

const (
	maxTokens = 32     // longest pointer that is read in more than one way
	maxTries  = 20_000 // limit of lookups per document, against hostile input
)

// walkNames follows a pointer in which some slashes are part of names.
func (x *Index) walkNames(n *Node, tokens []string) *Node {
	if len(tokens) == 0 {
		return n
	}
	if n.Kind == Array || len(tokens) > maxTokens {
		n = x.inside(n, UnescapeToken(tokens[0]))
		if n == nil {
			return nil
		}
		return x.walkNames(n, tokens[1:])
	}
	for i := range tokens {
		x.tries++
		if x.tries > maxTries {
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
