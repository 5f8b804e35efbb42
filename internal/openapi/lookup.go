package openapi

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"strconv"
	"strings"
	"sync"

	"github.com/toolfit/toolfit/internal/rawjson"
)

// place is a value of the document and where it stands.
type place struct {
	raw     []byte
	pointer string
}

func (p place) isObject() bool { return len(p.raw) > 0 && p.raw[0] == '{' }

// member is one member of a raw object.
type member struct {
	key string
	raw []byte
}

// members lists those of a raw object. Of equal ones the last counts, at the place of the first.
func members(raw []byte, twice func(key string)) []member {
	var out []member
	at := map[string]int{}
	for w := rawjson.Object(raw); w.Next(); {
		key := string(w.Key)
		if i, ok := at[key]; ok {
			twice(key)
			out[i].raw = w.Value
			continue
		}
		at[key] = len(out)
		out = append(out, member{key, w.Value})
	}
	return out
}

// index remembers what has been looked up.
type index struct {
	mu   sync.Mutex
	wide map[string]map[string][]byte // members of large objects, by pointer
	refs map[reference]place

	naming sync.Once
	names  *identities // see Document.identities

	nodes map[string]*node // what references led to of late, by pointer
	room  int              // bytes of the document that may still be added to nodes
}

// keptBytes is how much of the document is kept as nodes. Most operations lead to the same few.
const keptBytes = 1 << 20

// node reads the place that a reference leads to.
func (d *Document) node(p place) *node {
	x := &d.index
	x.mu.Lock()
	n := x.nodes[p.pointer]
	x.mu.Unlock()
	if n != nil {
		return n
	}
	n = parse(p.raw, p.pointer)
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.room -= len(p.raw); x.room < 0 {
		x.nodes, x.room = map[string]*node{}, keptBytes-len(p.raw)
	}
	x.nodes[p.pointer] = n
	return n
}

// wideBytes is from where on an object's members are remembered instead of searched.
const wideBytes = 4 << 10

// child is the member or element that the token names.
func (d *Document) child(p place, token string) (place, bool) {
	var raw []byte
	switch {
	case len(p.raw) == 0:
	case p.isObject() && len(p.raw) >= wideBytes:
		raw = d.index.members(p)[token]
	case p.isObject():
		for w := rawjson.Object(p.raw); w.Next(); {
			if string(w.Key) == token {
				raw = w.Value
			}
		}
	case p.raw[0] == '[':
		i, err := strconv.Atoi(token)
		w := rawjson.Array(p.raw)
		for n := 0; err == nil && n <= i && w.Next(); n++ {
			if n == i {
				raw = w.Value
			}
		}
	}
	return place{raw, p.pointer + "/" + escapeToken(token)}, raw != nil
}

func (x *index) members(p place) map[string][]byte {
	x.mu.Lock()
	defer x.mu.Unlock()
	if names, ok := x.wide[p.pointer]; ok {
		return names
	}
	names := map[string][]byte{}
	for w := rawjson.Object(p.raw); w.Next(); {
		names[string(w.Key)] = w.Value
	}
	if x.wide == nil {
		x.wide = map[string]map[string][]byte{}
	}
	x.wide[p.pointer] = names
	return names
}

var errLoop = errors.New("the reference leads to itself")

// reference is a reference as it stands in a resource.
type reference struct{ home, text string }

// resolve finds what a reference means that stands in from; nil: in no schema. Nothing is ever
// fetched.
func (d *Document) resolve(text string, from *node) (place, error) {
	ref, names := reference{text: text}, d.identities()
	if names != nil && from != nil {
		ref.home = names.resource(from.pointer())
	}
	d.index.mu.Lock()
	p, ok := d.index.refs[ref]
	d.index.mu.Unlock()
	if ok {
		return p, nil
	}
	p, err := d.lookup(ref, names)
	if err != nil {
		return place{}, err
	}
	d.index.mu.Lock()
	defer d.index.mu.Unlock()
	if d.index.refs == nil {
		d.index.refs = map[reference]place{}
	}
	d.index.refs[ref] = p
	return p, nil
}

func (d *Document) lookup(ref reference, names *identities) (place, error) {
	address, fragment, _ := strings.Cut(ref.text, "#")
	home := ref.home
	if own := path.Base(d.opts.URL); address != "" {
		pointer, ok := names.find(home, address)
		if !ok && address != d.opts.URL && address != own && address != "./"+own {
			return place{}, fmt.Errorf("the reference %q leads to another document, which is not fetched", ref.text)
		}
		home = pointer
	}
	for _, resource := range []string{home, ""} { // what is wrong in a resource is often meant for the whole document
		if p, ok := d.inside(resource, fragment, names); ok {
			return p, nil
		}
	}
	return place{}, fmt.Errorf("the reference %q leads nowhere", ref.text)
}

// inside finds what a fragment means in the resource at the pointer.
func (d *Document) inside(resource, fragment string, names *identities) (place, bool) {
	root := place{raw: d.raw}
	if resource != "" {
		root, _ = d.walk(root, strings.Split(resource[1:], "/"), false)
	}
	switch {
	case fragment == "":
		return root, true
	case fragment[0] != '/':
		if names == nil {
			return place{}, false
		}
		pointer, ok := names.anchors[anchor{resource, unescape(fragment)}]
		if !ok {
			return place{}, false
		}
		return d.walk(place{raw: d.raw}, strings.Split(pointer[1:], "/"), false)
	}
	p, ok := d.walk(root, strings.Split(unescape(fragment)[1:], "/"), false)
	if !ok {
		p, ok = d.walk(root, strings.Split(fragment[1:], "/"), true) // %2F written for a slash in a name
	}
	return p, ok
}

// ref is the reference that a schema is, or has; nil without one.
func (n *node) ref() *node {
	if ref := n.get("$ref"); ref != nil {
		return ref
	}
	return n.get("$dynamicRef")
}

// target finds what the reference of a schema means. A dynamic one means the outermost schema
// of its name on the way by which it is reached. The document is always outermost; beyond it,
// a name can be resolved where it is given only once.
func (d *Document) target(ref *node) (place, error) {
	p, err := d.resolve(ref.text, ref)
	_, anchored, _ := strings.Cut(ref.text, "#")
	names := d.identities()
	if err != nil || ref.key != "$dynamicRef" || names == nil || names.dynamic[anchored] < 2 || d.node(p).str("$dynamicAnchor") != anchored {
		return p, err
	}
	if outer, ok := d.inside("", anchored, names); ok && d.node(outer).str("$dynamicAnchor") == anchored {
		return outer, nil
	}
	return place{}, fmt.Errorf("the dynamic reference %q has %d meanings", ref.text, names.dynamic[anchored])
}

var tokenText = strings.NewReplacer("~1", "/", "~0", "~")

func (d *Document) walk(p place, tokens []string, percent bool) (place, bool) {
	for _, token := range tokens {
		if percent {
			token = unescape(token)
		}
		next, ok := d.child(p, tokenText.Replace(token))
		if !ok {
			return place{}, false
		}
		p = next
	}
	return p, true
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

// maxHops is how many references may follow each other. Real documents have a handful.
const maxHops = 32

// follow goes from a node that is a reference, or not, to the node that is meant.
func (d *Document) follow(n *node) (*node, error) {
	for range maxHops {
		ref := n.ref()
		if ref == nil || ref.kind != stringKind {
			return n, nil
		}
		p, err := d.target(ref)
		if err != nil {
			return nil, err
		}
		n = d.node(p)
	}
	return nil, errLoop
}
