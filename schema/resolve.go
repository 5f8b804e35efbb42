package schema

import (
	"net/url"
	"strconv"
	"strings"
)

// position says what the value of a keyword is.
type position uint8

const (
	isSchema position = 1 + iota
	isList            // of schemas
	isMap             // from names to schemas
)

// applicators are the keywords under which schemas stand. Everything else is data, in
// which a $ref or an $id means nothing.
var applicators = map[string]position{
	"additionalItems": isSchema, "additionalProperties": isSchema, "contains": isSchema, "contentSchema": isSchema,
	"else": isSchema, "if": isSchema, "items": isSchema, "not": isSchema, "propertyNames": isSchema, "then": isSchema,
	"unevaluatedItems": isSchema, "unevaluatedProperties": isSchema,
	"allOf": isList, "anyOf": isList, "oneOf": isList, "prefixItems": isList,
	"$defs": isMap, "definitions": isMap, "dependencies": isMap, "dependentSchemas": isMap, "patternProperties": isMap,
	"properties": isMap, "schemas": isMap,
}

// index knows the named places of one document.
type index struct {
	root    *node
	places  map[string]*node // by absolute or as written $id
	anchors map[anchor]*node
	bases   map[*node]string // nodes that open a resource, with their $id
	wide    map[*node]map[string]*node
	known   map[string]found // references looked up so far, while the document is one resource
	tries   int              // names that walkNames has looked up
}

// member is get for objects that may have thousands of members and as many look-ups.
func (x *index) member(n *node, key string) *node {
	if len(n.kids) < 32 {
		return n.get(key)
	}
	names := x.wide[n]
	if names == nil {
		names = make(map[string]*node, len(n.kids))
		for _, kid := range n.kids {
			names[kid.key] = kid
		}
		if x.wide == nil {
			x.wide = map[*node]map[string]*node{}
		}
		x.wide[n] = names
	}
	return names[key]
}

type anchor struct {
	resource *node
	name     string
}

func newIndex(root *node) *index {
	x := &index{root: root, places: map[string]*node{}, anchors: map[anchor]*node{}, bases: map[*node]string{root: ""}}
	x.walk(root, root)
	return x
}

// walk visits n, which is a schema, and the schemas in it.
func (x *index) walk(n, resource *node) {
	if n.kind != objectKind {
		return
	}
	if id := n.str("$id"); strings.HasPrefix(id, "#") {
		x.anchors[anchor{resource, id[1:]}] = n // how draft-07 writes an anchor
	} else if id != "" {
		id = strings.TrimSuffix(id, "#")
		abs := join(x.bases[resource], id)
		resource = n
		x.bases[n] = abs
		for _, name := range []string{id, abs} {
			if x.places[name] == nil {
				x.places[name] = n
			}
		}
	}
	for _, key := range []string{"$anchor", "$dynamicAnchor"} {
		if name := n.str(key); name != "" {
			if at := (anchor{resource, name}); x.anchors[at] == nil {
				x.anchors[at] = n
			}
		}
	}
	for _, kid := range n.kids {
		switch pos := applicators[kid.key]; {
		case kid.key == "components" && kid.kind == objectKind:
			x.walk(kid, resource) // its only applicator is schemas
		case pos == isSchema && kid.kind == objectKind:
			x.walk(kid, resource)
		case pos == isMap && kid.kind == objectKind, pos == isList || pos == isSchema && kid.kind == arrayKind:
			for _, k := range kid.kids {
				x.walk(k, resource)
			}
		}
	}
}

// outermost is what a dynamic reference to n means where the whole document is in scope:
// the place of the same dynamic anchor that the document itself has.
func (x *index) outermost(n *node) *node {
	if n == nil {
		return nil
	}
	if name := n.str("$dynamicAnchor"); name != "" {
		if outer := x.anchors[anchor{x.root, name}]; outer.str("$dynamicAnchor") == name {
			return outer
		}
	}
	return n
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

// resource is the nearest node above n that opens one.
func (x *index) resource(n *node) *node {
	for ; n != nil; n = n.parent {
		if _, ok := x.bases[n]; ok {
			return n
		}
	}
	return x.root
}

// found is the answer to a look-up.
type found struct {
	node     *node
	external bool // the reference leaves the document
	repaired bool // it had to be read in a way that the standard does not allow
}

// lookup finds what the reference means that stands in from. Each way to name a place is
// one strategy; all of them end in the same node.
func (x *index) lookup(from *node, ref string) found {
	if len(x.bases) > 1 {
		return x.find(from, ref)
	}
	at, ok := x.known[ref]
	if !ok {
		at = x.find(from, ref)
		if x.known == nil {
			x.known = map[string]found{}
		}
		x.known[ref] = at
	}
	return at
}

func (x *index) find(from *node, ref string) found {
	base, fragment, _ := strings.Cut(ref, "#")
	resource := x.resource(from)
	if base != "" {
		place := x.places[join(x.bases[resource], base)]
		if place == nil {
			place = x.places[base]
		}
		if place == nil {
			return found{external: true}
		}
		resource = place
	}
	switch {
	case fragment == "":
		return found{node: resource}
	case fragment[0] != '/':
		return found{node: x.anchors[anchor{resource, unescape(fragment)}]}
	}
	for _, root := range []*node{resource, x.root} { // a pointer that is wrong for a nested resource is often meant for the document
		if n := x.walkPointer(root, strings.Split(unescape(fragment)[1:], "/"), false); n != nil {
			return found{node: n, repaired: root != resource}
		}
		if n := x.walkPointer(root, strings.Split(fragment[1:], "/"), true); n != nil {
			return found{node: n, repaired: true} // %2F written for a slash in a name
		}
		if n := x.walkNames(root, strings.Split(unescape(fragment)[1:], "/")); n != nil {
			return found{node: n, repaired: true} // the slash itself
		}
	}
	return found{}
}

func unescape(s string) string {
	if strings.IndexByte(s, '%') < 0 {
		return s
	}
	out, err := url.PathUnescape(s)
	if err != nil {
		return s
	}
	return out
}

var tokenText = strings.NewReplacer("~1", "/", "~0", "~")

func (x *index) walkPointer(n *node, tokens []string, percent bool) *node {
	for _, token := range tokens {
		if percent {
			token = unescape(token)
		}
		if strings.IndexByte(token, '~') >= 0 {
			token = tokenText.Replace(token)
		}
		switch n.kind {
		case objectKind:
			if n = x.member(n, token); n == nil {
				return nil
			}
		case arrayKind:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(n.kids) {
				return nil
			}
			n = n.kids[i]
		default:
			return nil
		}
	}
	return n
}

const (
	// maxTokens is how long a pointer may be to be read in more than one way.
	maxTokens = 32
	// maxTries is how many names are looked up so for all references of a schema: one that
	// needs more was written to be looked through for ever.
	maxTries = 20_000
)

// walkNames follows a pointer in which some slashes belong to names.
func (x *index) walkNames(n *node, tokens []string) *node {
	if len(tokens) == 0 {
		return n
	}
	if n.kind != objectKind || len(tokens) > maxTokens {
		return x.walkPointer(n, tokens, false)
	}
	for i := range tokens {
		if x.tries++; x.tries > maxTries {
			return nil
		}
		kid := x.member(n, tokenText.Replace(strings.Join(tokens[:i+1], "/")))
		if kid == nil {
			continue
		}
		if at := x.walkNames(kid, tokens[i+1:]); at != nil {
			return at
		}
	}
	return nil
}

// lastToken is the name by which people know a reference's target.
func lastToken(ref string) string {
	ref = unescape(ref)
	return tokenText.Replace(ref[strings.LastIndexAny(ref, "/#")+1:])
}
