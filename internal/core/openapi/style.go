package openapi

import (
	"strconv"
	"strings"

	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// atom returns a value as text: strings unquoted, others as JSON.
func atom(n *node) string {
	switch n.Kind {
	case jsonschema.Array, jsonschema.Object:
		return string(n.Append(nil))
	case jsonschema.Null:
		return ""
	}
	return n.Text
}

// items returns the escaped parts of a value: elements of an array, names and values of an
// object, joined by = if exploded.
func items(n *node, explode bool, escape func(string) string) (out []string) {
	switch n.Kind {
	case jsonschema.Array:
		for _, kid := range n.Kids {
			out = append(out, escape(atom(kid)))
		}
	case jsonschema.Object:
		for _, kid := range n.Kids {
			key := escape(kid.Key)
			v := escape(atom(kid))
			if explode {
				out = append(out, key+"="+v)
			} else {
				out = append(out, key, v)
			}
		}
	default:
		out = append(out, escape(atom(n)))
	}
	return out
}

// styled serializes a value for a path or header.
func styled(name string, n *node, how encoding, escape func(string) string) string {
	parts := items(n, how.explode, escape)
	switch how.style {
	case "label":
		if how.explode {
			return "." + strings.Join(parts, ".")
		}
		return "." + strings.Join(parts, ",")
	case "matrix":
		lead := ";" + escape(name) + "="
		switch {
		case !how.explode || n.Kind != jsonschema.Array && n.Kind != jsonschema.Object:
			return lead + strings.Join(parts, ",")
		case n.Kind == jsonschema.Object:
			lead = ";"
		}
		return lead + strings.Join(parts, lead)
	}
	return strings.Join(parts, ",")
}

// delimiters separate the elements of query styles that are not exploded.
var delimiters = map[string]string{"form": ",", "spaceDelimited": "%20", "pipeDelimited": "%7C", "tabDelimited": "%09", "deepObject": ","}

// pairs serializes a value for a query, form or cookie as escaped name=value pairs. It returns
// false if they exceed maxDeep.
func pairs(name string, n *node, how encoding, escape func(string) string) (out []string, ok bool) {
	key := percent(name, unreserved)
	isScalar := n.Kind != jsonschema.Array && n.Kind != jsonschema.Object
	switch {
	case how.style == "deepObject" && !isScalar:
		d := deepPairs{escape: escape, room: maxDeep}
		d.add(key, n)
		return d.out, d.room >= 0
	case isScalar:
		return []string{key + "=" + escape(atom(n))}, true
	case !how.explode:
		return []string{key + "=" + strings.Join(items(n, false, escape), delimiters[how.style])}, true
	case n.Kind == jsonschema.Object:
		return items(n, true, escape), true
	}
	for _, v := range items(n, true, escape) {
		out = append(out, key+"="+v)
	}
	return out, true
}

// maxDeep limits the size of nested values: each repeats the names of its parents.
const maxDeep = 4 << 20

// deepPairs writes nested values with keys in brackets: a[b][0]=c.
type deepPairs struct {
	escape func(string) string
	room   int // bytes left; negative: exceeded
	out    []string
}

func (d *deepPairs) add(key string, n *node) {
	if n.Kind != jsonschema.Array && n.Kind != jsonschema.Object {
		pair := key + "=" + d.escape(atom(n))
		d.room -= len(pair)
		d.out = append(d.out, pair)
		return
	}
	for i, kid := range n.Kids {
		inner := strconv.Itoa(i)
		if n.Kind == jsonschema.Object {
			inner = percent(kid.Key, unreserved)
		}
		d.room -= len(inner)
		if d.room < 0 {
			return
		}
		d.add(key+"%5B"+inner+"%5D", kid)
	}
}
