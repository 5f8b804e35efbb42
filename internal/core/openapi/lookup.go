package openapi

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"sync"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// place is a value of the document with its pointer.
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

// members lists the members of a raw object. Of duplicates the last value counts, in the
// position of the first.
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

// index caches lookups.
type index struct {
	mu   sync.Mutex
	wide map[string]map[string][]byte // members of large objects, by pointer
	refs map[string]place

	naming sync.Once
	names  *names // see Document.names

	nodes map[string]*node // recently used targets of references, by pointer
	room  int              // bytes of the document that may still be cached in nodes
}

// cachedBytes limits the cached nodes. Most operations refer to the same few.
const cachedBytes = 1 << 20

// node parses the target of a reference.
func (d *Document) node(p place) *node {
	x := &d.index
	x.mu.Lock()
	n := x.nodes[p.pointer]
	x.mu.Unlock()
	if n != nil {
		return n
	}
	n = jsonschema.ParseAt(p.raw, p.pointer)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.room -= len(p.raw)
	if x.room < 0 {
		x.nodes = map[string]*node{}
		x.room = cachedBytes - len(p.raw)
	}
	x.nodes[p.pointer] = n
	return n
}

// wideBytes is the size from which on an object's members are indexed.
const wideBytes = 4 << 10

// child returns the member or element named by the token.
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
		i, ok := jsonschema.Position(token)
		w := rawjson.Array(p.raw)
		for n := 0; ok && n <= i && w.Next(); n++ {
			if n == i {
				raw = w.Value
			}
		}
	}
	return place{raw, p.pointer + "/" + jsonschema.EscapeToken(token)}, raw != nil
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
	x.wide[p.pointer] = names
	return names
}

var errLoop = errors.New("the reference leads to itself")

// resolve finds the target of a reference. from is the schema around it, or nil. Nothing is
// ever fetched.
func (d *Document) resolve(ref string, from *node) (place, error) {
	if names := d.names(); names != nil {
		return names.resolve(ref, from)
	}
	d.index.mu.Lock()
	p, ok := d.index.refs[ref]
	d.index.mu.Unlock()
	if ok {
		return p, nil
	}
	address, fragment, _ := strings.Cut(ref, "#")
	if own := path.Base(d.opts.URL); address != "" && address != d.opts.URL && address != own && address != "./"+own {
		return place{}, errElsewhere(ref)
	}
	p, ok = d.walk(fragment)
	if !ok {
		return place{}, errNowhere(ref)
	}
	d.index.mu.Lock()
	defer d.index.mu.Unlock()
	d.index.refs[ref] = p
	return p, nil
}

func errElsewhere(ref string) error {
	return fmt.Errorf("the reference %q leads to another document, which is not fetched", ref)
}

func errNowhere(ref string) error { return fmt.Errorf("the reference %q leads nowhere", ref) }

// walk follows a pointer.
func (d *Document) walk(pointer string) (place, bool) {
	root := place{raw: d.raw}
	if pointer == "" {
		return root, true
	}
	if pointer[0] != '/' {
		return root, false
	}
	for _, path := range jsonschema.Readings(pointer) {
		p := root
		ok := true
		for i := 0; ok && i < len(path); i++ {
			p, ok = d.child(p, path[i])
		}
		if ok {
			return p, true
		}
	}
	return root, false
}

// refOf returns the reference of a schema, or nil.
func refOf(n *node) *node {
	if ref := n.Get("$ref"); ref != nil {
		return ref
	}
	return n.Get("$dynamicRef")
}

// target finds the target of a schema's reference.
func (d *Document) target(ref *node) (place, error) {
	if names := d.names(); names != nil && ref.Key == "$dynamicRef" {
		return names.dynamic(ref)
	}
	return d.resolve(ref.Text, ref)
}

// maxHops limits chains of references. Real documents need a handful.
const maxHops = 32

// follow returns the target if n is a reference, else n.
func (d *Document) follow(n *node) (*node, error) {
	for range maxHops {
		ref := refOf(n)
		if ref == nil || ref.Kind != jsonschema.String {
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
