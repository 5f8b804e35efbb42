package fit

import (
	"bytes"
	"net/url"
	"strconv"
	"strings"
)

// position says what the value of a keyword is.
type position uint8

const (
	oneSchema   position = 1 + iota
	schemaList           // a list of schemas
	schemaNames          // schemas by name
)

// applicators are the keywords under which schemas stand. All else is data, in which a
// reference or an id means nothing.
var applicators = map[string]position{
	"additionalItems": oneSchema, "additionalProperties": oneSchema, "contains": oneSchema, "contentSchema": oneSchema,
	"else": oneSchema, "if": oneSchema, "items": oneSchema, "not": oneSchema, "propertyNames": oneSchema, "then": oneSchema,
	"unevaluatedItems": oneSchema, "unevaluatedProperties": oneSchema,
	"allOf": schemaList, "anyOf": schemaList, "oneOf": schemaList, "prefixItems": schemaList,
	"$defs": schemaNames, "definitions": schemaNames, "dependencies": schemaNames, "dependentSchemas": schemaNames,
	"patternProperties": schemaNames, "properties": schemaNames, "schemas": schemaNames,
}

// anchor is a named place of one resource.
type anchor struct {
	resource int32
	name     string
}

// places knows the parts of a document that references can name.
type places struct {
	t       *tape
	draft   draft
	base    map[int32]string // the tokens that open a resource, with their address
	byID    map[string]int32
	anchors map[anchor]int32
	dynamic map[anchor]int32 // the anchors that $dynamicRef looks for
	wide    map[int32]map[string]int32
}

// wide is from how many members or elements on a look-up pays for an index.
const wide = 32

func newPlaces(t *tape, d draft) *places {
	p := &places{t: t, draft: d, base: map[int32]string{0: ""}, byID: map[string]int32{}, anchors: map[anchor]int32{}, dynamic: map[anchor]int32{}}
	for _, word := range []string{`id"`, `nchor"`} { // nearly no schema has one
		if bytes.Contains(t.data, []byte(word)) {
			p.walk(0, 0)
			break
		}
	}
	return p
}

// str is the text of a member, "" without one.
func (p *places) str(i int32, name string) string {
	if m := p.t.get(i, name); m >= 0 {
		return p.t.text(m)
	}
	return ""
}

// walk visits schema i and those in it.
func (p *places) walk(i, resource int32) {
	if p.t.tokens[i].kind != isObject {
		return
	}
	resource = p.open(i, resource)
	for _, key := range []string{"$anchor", "$dynamicAnchor"} {
		name := p.str(i, key)
		if name == "" {
			continue
		}
		p.anchors[anchor{resource, name}] = i
		if key == "$dynamicAnchor" {
			p.dynamic[anchor{resource, name}] = i
		}
	}
	for m := p.t.first(i); m >= 0; m = p.t.after(m) {
		name, k := p.t.name(m), p.t.tokens[m].kind
		switch pos := applicators[name]; {
		case name == "components" && k == isObject, pos == oneSchema && k == isObject:
			p.walk(m, resource)
		case pos == schemaNames && k == isObject, pos != 0 && k == isArray:
			for c := p.t.first(m); c >= 0; c = p.t.after(c) {
				p.walk(c, resource)
			}
		}
	}
}

// open notes the id of schema i and returns the resource that it belongs to.
func (p *places) open(i, resource int32) int32 {
	id := p.str(i, "$id")
	if p.draft == 4 {
		id = p.str(i, "id")
	}
	if id == "" || p.draft < 2019 && p.str(i, "$ref") != "" {
		return resource
	}
	id, name, _ := strings.Cut(id, "#")
	if id != "" {
		abs := join(p.base[resource], id)
		resource, p.base[i] = i, abs
		for _, address := range []string{id, abs} {
			if _, taken := p.byID[address]; !taken {
				p.byID[address] = i
			}
		}
	}
	if name != "" { // how older drafts write an anchor
		p.anchors[anchor{resource, name}] = i
	}
	return resource
}

// join makes id absolute. What is no address stays as it is written.
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

// resource is the nearest part above token i that is one.
func (p *places) resource(i int32) int32 {
	if len(p.base) == 1 {
		return 0
	}
	for ; i > 0; i = p.t.tokens[i].parent {
		if _, ok := p.base[i]; ok {
			return i
		}
	}
	return 0
}

// lookup finds what the reference that stands in token i means; false when it is not here.
func (p *places) lookup(i int32, ref string) (int32, bool) {
	address, fragment, _ := strings.Cut(ref, "#")
	resource := p.resource(i)
	if address != "" {
		at, ok := p.byID[join(p.base[resource], address)]
		if !ok {
			if at, ok = p.byID[address]; !ok {
				return 0, false
			}
		}
		resource = at
	}
	switch {
	case fragment == "":
		return resource, true
	case fragment[0] != '/':
		at, ok := p.anchors[anchor{resource, unescape(fragment)}]
		return at, ok
	}
	for _, root := range []int32{resource, 0} { // a pointer that is wrong in a nested part is often meant for the whole
		if at, ok := p.follow(root, strings.Split(unescape(fragment)[1:], "/"), false); ok {
			return at, true
		}
		if at, ok := p.follow(root, strings.Split(fragment[1:], "/"), true); ok {
			return at, true // %2F for a slash in a name
		}
	}
	return 0, false
}

func unescape(s string) string {
	if out, err := url.PathUnescape(s); err == nil {
		return out
	}
	return s
}

var tokenText = strings.NewReplacer("~1", "/", "~0", "~")

func (p *places) follow(at int32, path []string, percent bool) (int32, bool) {
	for _, name := range path {
		if percent {
			name = unescape(name)
		}
		name = tokenText.Replace(name)
		if at = p.inside(at, name); at < 0 {
			return 0, false
		}
	}
	return at, true
}

// inside is the member or element of token at that a pointer names; -1 without one.
func (p *places) inside(at int32, name string) int32 {
	tok := &p.t.tokens[at]
	if tok.kind == isObject && tok.size < wide {
		return p.t.get(at, name)
	}
	if tok.kind != isObject && tok.kind != isArray {
		return -1
	}
	index := p.wide[at]
	if index == nil {
		index = make(map[string]int32, tok.size)
		for c := p.t.first(at); c >= 0; c = p.t.after(c) {
			if tok.kind == isObject {
				index[p.t.name(c)] = c
			} else {
				index[strconv.Itoa(len(index))] = c
			}
		}
		if p.wide == nil {
			p.wide = map[int32]map[string]int32{}
		}
		p.wide[at] = index
	}
	if c, ok := index[name]; ok {
		return c
	}
	return -1
}
