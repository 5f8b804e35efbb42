package openapi

import (
	"bytes"
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/toolfit/toolfit/internal/rawjson"
)

// identities are the names that schemas have beside their pointers. A schema with an $id is a
// resource: its anchors are its own, and references in it are relative to it. What stands in
// none belongs to the document, whose pointer is "".
type identities struct {
	base    map[string]string // the address of each resource, by its pointer
	byID    map[string]string // the pointer of each resource, by its address
	anchors map[anchor]string // the pointer of each named schema
	dynamic map[string]int    // how many schemas have a dynamic anchor of that name
}

// anchor is a name in the resource at a pointer.
type anchor struct{ resource, name string }

// identity is a keyword that names the schema at a pointer.
type identity struct{ pointer, keyword, text string }

// identities finds the names of schemas, once; nil where there are none, as in most documents.
func (d *Document) identities() *identities {
	d.index.naming.Do(func() {
		if d.format != openapi31 || !bytes.Contains(d.raw, []byte(`"$id"`)) && !bytes.Contains(d.raw, []byte(`nchor"`)) {
			return
		}
		var found []identity
		root := rawjson.Object(d.raw)
		identify(d.raw, &root, nil, false, &found)
		d.index.names = newIdentities(d.opts.URL, found)
	})
	return d.index.names
}

// byName are the members whose own members the author of the document names: those are no
// keywords.
var byName = map[string]bool{
	"properties": true, "patternProperties": true, "dependentSchemas": true, "$defs": true, "definitions": true, "schemas": true,
	"responses": true, "parameters": true, "requestBodies": true, "headers": true,
}

// isData are the keywords whose values hold no schemas.
var isData = map[string]bool{"default": true, "const": true, "enum": true, "example": true, "examples": true}

// identify lists the names in what w walks over, which stands at the pointer.
func identify(data []byte, w *rawjson.Walk, pointer []byte, named bool, found *[]identity) {
	for i := 0; w.Step(); i++ {
		key, keyword := string(w.Key), w.Key != nil && !named
		switch c := data[w.Start]; {
		case c == '"' && keyword && (key == "$id" || key == "$anchor" || key == "$dynamicAnchor"):
			w.Skip()
			if text, ok := rawjson.String(w.Value); ok && text != "" {
				*found = append(*found, identity{string(pointer), key, text})
			}
			continue
		case c != '{' && c != '[', keyword && (isData[key] || strings.HasPrefix(key, "x-")):
			w.Skip()
			continue
		}
		if w.Key == nil {
			key = strconv.Itoa(i)
		}
		in := w.Into()
		identify(data, &in, append(append(pointer, '/'), escapeToken(key)...), keyword && byName[key], found)
		w.Out(&in)
	}
}

// newIdentities sorts what was found in the document at the address. Of equal names the first
// counts.
func newIdentities(address string, found []identity) *identities {
	x := &identities{base: map[string]string{"": address}, byID: map[string]string{}, anchors: map[anchor]string{}, dynamic: map[string]int{}}
	slices.SortStableFunc(found, func(a, b identity) int { return cmp.Compare(len(a.pointer), len(b.pointer)) }) // outer ones first
	for _, f := range found {
		if id := strings.TrimSuffix(f.text, "#"); f.keyword == "$id" {
			full := join(x.base[x.resource(f.pointer)], id)
			x.base[f.pointer] = full
			setOnce(x.byID, full, f.pointer)
			setOnce(x.byID, id, f.pointer)
		}
	}
	for _, f := range found {
		if f.keyword != "$id" {
			setOnce(x.anchors, anchor{x.resource(f.pointer), f.text}, f.pointer)
		}
		if f.keyword == "$dynamicAnchor" {
			x.dynamic[f.text]++
		}
	}
	return x
}

func setOnce[K comparable](m map[K]string, key K, value string) {
	if _, taken := m[key]; !taken {
		m[key] = value
	}
}

// join makes an $id or a reference absolute. What is no address stays as it is written.
func join(base, id string) string {
	b, err := url.Parse(base)
	if err != nil || base == "" {
		return id
	}
	u, err := b.Parse(id)
	if err != nil {
		return id
	}
	return u.String()
}

// resource is the pointer of the resource that the schema at the pointer belongs to.
func (x *identities) resource(pointer string) string {
	for pointer != "" {
		if _, ok := x.base[pointer]; ok {
			return pointer
		}
		pointer = pointer[:strings.LastIndexByte(pointer, '/')]
	}
	return ""
}

// find is the resource that an address in another one means.
func (x *identities) find(home, address string) (pointer string, ok bool) {
	if x == nil {
		return "", false
	}
	if pointer, ok = x.byID[join(x.base[home], address)]; !ok {
		pointer, ok = x.byID[address]
	}
	return pointer, ok
}
