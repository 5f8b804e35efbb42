package openapi

import (
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// entry is an operation of the document, not yet read.
type entry struct {
	name   string // of its tool
	method string
	path   string
	id     string // its operationId; "" without one
	tags   []string
	at     place
	item   *pathItem
}

// pathItem is what the operations of one path share.
type pathItem struct {
	parameters, servers place
	text                string // summary and description of the path
}

var methods = map[string]bool{
	"get": true, "put": true, "post": true, "delete": true, "options": true, "head": true, "patch": true, "trace": true, "query": true,
}

// isReadOnly reports whether a method is safe in HTTP's sense.
func isReadOnly(method string) bool {
	return slices.Contains([]string{"GET", "HEAD", "OPTIONS", "TRACE", "QUERY"}, method)
}

// readPaths lists the operations.
func (d *Document) readPaths(bad *problems) {
	paths, ok := d.child(place{raw: d.raw}, "paths")
	if !ok || !paths.isObject() {
		bad.add("/paths", "is missing, so there are no operations")
		return
	}
	twice := func(key string) {
		bad.add("/paths/"+jsonschema.EscapeToken(key), "is a duplicate; the last one counts")
	}
	for _, m := range members(paths.raw, twice) {
		item := place{m.raw, "/paths/" + jsonschema.EscapeToken(m.key)}
		switch {
		case strings.HasPrefix(m.key, "x-"):
		case !strings.HasPrefix(m.key, "/"):
			bad.add(item.pointer, "a path must begin with a slash; ignored")
		case !item.isObject():
			bad.add(item.pointer, "is not an object; ignored")
		default:
			d.readItem(m.key, item, bad)
		}
	}
}

// readItem lists the operations of one path. Members beside its reference take precedence.
func (d *Document) readItem(path string, item place, bad *problems) {
	shared := &pathItem{}
	seen := map[string]bool{}
	for hops := 0; item.raw != nil; hops++ {
		var next place
		twice := func(key string) {
			bad.add(item.pointer+"/"+jsonschema.EscapeToken(key), "is a duplicate; the last one counts")
		}
		for _, m := range members(item.raw, twice) {
			here := place{m.raw, item.pointer + "/" + jsonschema.EscapeToken(m.key)}
			if m.key == "$ref" {
				next = d.itemOf(here, hops, bad)
			}
			if seen[m.key] {
				continue
			}
			seen[m.key] = true
			switch {
			case m.key == "parameters":
				shared.parameters = here
			case m.key == "servers":
				shared.servers = here
			case m.key == "summary" || m.key == "description":
				if s, ok := rawjson.String(m.raw); ok && shared.text == "" {
					shared.text = s
				}
			case methods[m.key] && here.isObject():
				d.entries = append(d.entries, newEntry(strings.ToUpper(m.key), path, here, shared))
			case methods[m.key]:
				bad.add(here.pointer, "is not an object; ignored")
			}
		}
		item = next
	}
}

// itemOf resolves the reference of a path item.
func (d *Document) itemOf(ref place, hops int, bad *problems) place {
	text, _ := rawjson.String(ref.raw)
	target, err := d.resolve(text, nil)
	if hops > maxHops {
		err = errLoop
	}
	if err != nil || !target.isObject() {
		bad.add(ref.pointer, reason(err, "leads to no path item"))
		return place{}
	}
	return target
}

func reason(err error, other string) string {
	if err != nil {
		return err.Error()
	}
	return other
}

func newEntry(method, path string, at place, item *pathItem) *entry {
	e := &entry{method: method, path: path, at: at, item: item}
	for w := rawjson.Object(at.raw); w.Next(); {
		switch string(w.Key) {
		case "operationId":
			e.id, _ = rawjson.String(w.Value)
		case "tags":
			for t := rawjson.Array(w.Value); t.Next(); {
				if tag, ok := rawjson.String(t.Value); ok {
					e.tags = append(e.tags, tag)
				}
			}
		}
	}
	return e
}
