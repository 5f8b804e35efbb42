// Package jsonschema reads JSON Schemas of every draft, and of OpenAPI, into one tree: its
// members in their order and every value as it was written. Keywords says what each
// keyword holds, and Index finds what references mean. What a schema demands of a value is
// for the packages that use it.
package jsonschema

import (
	"slices"
	"strconv"

	"github.com/toolfit/toolfit/internal/rawjson"
)

// Kind is what a JSON value is.
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

// Node is one JSON value. Of members with the same name the last counts, at the place of
// the first. A node that was read is never changed.
type Node struct {
	Kind   Kind
	Twice  bool   // other members of this name stood before it
	ID     int32  // its place among the nodes of its tree
	Key    string // its name as a member; of a root, the pointer to where it stands
	Text   string // the value of a string; any other value as it was written
	Kids   []*Node
	Parent *Node
}

// Get is the member of that name, or nil.
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

// Str is the text of a string member, "" when there is none.
func (n *Node) Str(key string) string {
	if m := n.Get(key); m != nil && m.Kind == String {
		return m.Text
	}
	return ""
}

// Strings are the texts of a member that is a list of strings, or one string.
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

// Elements are those of an array, none of anything else.
func (n *Node) Elements() []*Node {
	if n == nil || n.Kind != Array {
		return nil
	}
	return n.Kids
}

// Members are those of an object, none of anything else.
func (n *Node) Members() []*Node {
	if n == nil || n.Kind != Object {
		return nil
	}
	return n.Kids
}

// IsTrue tells whether n is the literal true.
func (n *Node) IsTrue() bool { return n != nil && n.Kind == Bool && n.Text == "true" }

// IsFalse tells whether n is the literal false.
func (n *Node) IsFalse() bool { return n != nil && n.Kind == Bool && n.Text == "false" }

// Pointer is where n stands in its document.
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
	case Array:
		dst = append(dst, '[')
		for i, kid := range n.Kids {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = kid.Append(dst)
		}
		return append(dst, ']')
	}
	dst = append(dst, '{')
	for i, kid := range n.Kids {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(rawjson.AppendString(dst, kid.Key), ':')
		dst = kid.Append(dst)
	}
	return append(dst, '}')
}

// Raw is a value that was read, as it was written but for the escapes of a string.
func (n *Node) Raw() []byte {
	if n.Kind == String {
		return rawjson.AppendString(nil, n.Text)
	}
	return []byte(n.Text)
}

func (n *Node) String() string { return string(n.Append(nil)) }
