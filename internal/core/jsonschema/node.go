// Package jsonschema reads JSON Schemas of every draft, and of OpenAPI, into one tree that
// keeps the order of members and every value as it was written. Keywords is the table of
// keywords, Types a set of types, and Index resolves references. It does not validate values;
// that is up to the packages that use it.
package jsonschema

import (
	"slices"
	"strconv"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// Kind is the kind of a JSON value.
type Kind uint8

// The kinds.
const (
	Null Kind = iota
	Bool
	Number
	String
	Array
	Object
)

// Node is one JSON value. Of duplicate members the last value counts, in the position of the
// first. A parsed node is never changed.
type Node struct {
	Kind   Kind
	Twice  bool   // it replaces an earlier member with the same name
	ID     int32  // index among the nodes of its tree
	Key    string // name as a member; for a root, the pointer to it
	Text   string // value of a string; other values as written
	Kids   []*Node
	Parent *Node
}

// Get returns a member by name, or nil.
func (n *Node) Get(key string) *Node {
	if n == nil || n.Kind != Object {
		return nil
	}
	for _, kid := range n.Kids {
		if kid.Key == key {
			return kid
		}
	}
	return nil
}

// Str returns the text of a string member, or "".
func (n *Node) Str(key string) string {
	if m := n.Get(key); m != nil && m.Kind == String {
		return m.Text
	}
	return ""
}

// Strings returns the strings of a list member, or a single string.
func (n *Node) Strings(key string) []string {
	m := n.Get(key)
	if m != nil && m.Kind == String {
		return []string{m.Text}
	}
	var out []string
	for _, kid := range m.Elements() {
		if kid.Kind == String {
			out = append(out, kid.Text)
		}
	}
	return out
}

// Elements returns the elements of an array, or nil.
func (n *Node) Elements() []*Node {
	if n == nil || n.Kind != Array {
		return nil
	}
	return n.Kids
}

// Members returns the members of an object, or nil.
func (n *Node) Members() []*Node {
	if n == nil || n.Kind != Object {
		return nil
	}
	return n.Kids
}

// IsTrue reports whether n is the literal true.
func (n *Node) IsTrue() bool { return n != nil && n.Kind == Bool && n.Text == "true" }

// IsFalse reports whether n is the literal false.
func (n *Node) IsFalse() bool { return n != nil && n.Kind == Bool && n.Text == "false" }

// Pointer returns the JSON pointer to n in its document.
func (n *Node) Pointer() string {
	if n.Parent == nil {
		return n.Key
	}
	token := n.Key
	if n.Parent.Kind == Array {
		token = strconv.Itoa(slices.Index(n.Parent.Kids, n))
	}
	return n.Parent.Pointer() + "/" + EscapeToken(token)
}

// Append writes n as compact JSON.
func (n *Node) Append(dst []byte) []byte {
	switch n.Kind {
	case Null:
		return append(dst, "null"...)
	case Bool, Number:
		return append(dst, n.Text...)
	case String:
		return rawjson.AppendString(dst, n.Text)
	}
	return n.appendEach(dst, nil, func(dst []byte, kid *Node) []byte { return kid.Append(dst) })
}

// AppendWithout writes a schema and its subschemas as compact JSON without some keywords.
// Properties with such names are kept.
func (n *Node) AppendWithout(dst []byte, keywords ...string) []byte {
	if n.Kind != Object {
		return n.Append(dst)
	}
	write := func(dst []byte, schema *Node) []byte { return schema.AppendWithout(dst, keywords...) }
	return n.appendEach(dst, keywords, func(dst []byte, kid *Node) []byte {
		switch {
		case kid.isOne():
			return write(dst, kid)
		case kid.isMany():
			return kid.appendEach(dst, nil, write)
		}
		return kid.Append(dst)
	})
}

// appendEach writes an array or object without some of its members.
func (n *Node) appendEach(dst []byte, without []string, write func(dst []byte, kid *Node) []byte) []byte {
	brackets := "[]"
	if n.Kind == Object {
		brackets = "{}"
	}
	dst = append(dst, brackets[0])
	empty := len(dst)
	for _, kid := range n.Kids {
		if slices.Contains(without, kid.Key) {
			continue
		}
		if len(dst) > empty {
			dst = append(dst, ',')
		}
		if n.Kind == Object {
			dst = append(rawjson.AppendString(dst, kid.Key), ':')
		}
		dst = write(dst, kid)
	}
	return append(dst, brackets[1])
}

// AppendRaw writes a parsed value as it was written, except for the escapes of a string.
func (n *Node) AppendRaw(dst []byte) []byte {
	if n.Kind == String {
		return rawjson.AppendString(dst, n.Text)
	}
	return append(dst, n.Text...)
}

// Raw returns a parsed value as AppendRaw writes it.
func (n *Node) Raw() []byte { return n.AppendRaw(nil) }

func (n *Node) String() string { return string(n.Append(nil)) }
