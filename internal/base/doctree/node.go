// Package doctree reads a YAML or JSON document that people wrote into a tree in which every
// value knows its place, and edits the document's text in place: comments, order and layout of
// all else stay. It knows nothing of what the values mean, and never reads or writes a file.
//
//	src, problems := doctree.ParseYAML(data)
//	n := src.Root.Find("servers")
//	fmt.Println(n.Line, n.Column, n.Kind)
package doctree

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// Kind is the type of a value, whatever the format.
type Kind int

const (
	Nothing Kind = iota
	Bool
	Number
	Text
	List
	Mapping
	Broken // its problem is reported already
)

func (k Kind) String() string {
	return [...]string{"nothing", "true or false", "a number", "text", "a list", "a mapping", "something unreadable"}[k]
}

// Node is one value of a document.
type Node struct {
	Kind         Kind
	Line, Column int    // from 1; 0 when not known
	Text         string // of a scalar: text without quotes, anything else as written
	Items        []*Node
	Entries      []Entry
	Flow         bool // written in braces or brackets
	Quoted       bool // a text in quotes
	Start, End   int  // byte range in the text; End is 0 where the parser does not report it
}

// Entry is one key of a mapping with its value.
type Entry struct {
	Key          string
	Line, Column int // of the key, from 1
	Start        int // byte offset of the key
	Value        *Node
}

// NewText, NewNumber, NewBool, NewList and NewMap make values to write.
func NewText(s string) *Node { return &Node{Kind: Text, Text: s} }

func NewNumber(n int) *Node { return &Node{Kind: Number, Text: strconv.Itoa(n)} }

func NewBool(b bool) *Node { return &Node{Kind: Bool, Text: fmt.Sprint(b)} }

func NewList(values []string) *Node {
	n := &Node{Kind: List}
	for _, v := range values {
		n.Items = append(n.Items, NewText(v))
	}
	return n
}

func NewMap(m map[string]string) *Node {
	n := &Node{Kind: Mapping}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		n.Add(key, NewText(m[key]))
	}
	return n
}

// Add adds a key to a mapping.
func (n *Node) Add(key string, value *Node) {
	n.Entries = append(n.Entries, Entry{Key: key, Value: value})
}

// IsScalar reports whether the value is text, a number or a boolean.
func (n *Node) IsScalar() bool { return n.Kind == Text || n.Kind == Number || n.Kind == Bool }

// Find returns the value under the keys, outermost first, or nil.
func (n *Node) Find(keys ...string) *Node {
	for _, key := range keys {
		i := n.index(key)
		if i < 0 {
			return nil
		}
		n = n.Entries[i].Value
	}
	return n
}

func (n *Node) index(key string) int {
	if n == nil {
		return -1
	}
	return slices.IndexFunc(n.Entries, func(e Entry) bool { return e.Key == key })
}

// Each visits the entries of a mapping in order. One that repeats a key goes to repeated, with
// the line of the first.
func (n *Node) Each(visit func(Entry), repeated func(e Entry, first int)) {
	lines := make(map[string]int, len(n.Entries))
	for _, e := range n.Entries {
		if first, ok := lines[e.Key]; ok {
			repeated(e, first)
			continue
		}
		lines[e.Key] = e.Line
		visit(e)
	}
}

// Equal reports whether two values are the same, wherever they stand.
func Equal(a, b *Node) bool {
	return a.Kind == b.Kind && a.Text == b.Text && slices.EqualFunc(a.Items, b.Items, Equal) &&
		slices.EqualFunc(a.Entries, b.Entries, func(a, b Entry) bool { return a.Key == b.Key && Equal(a.Value, b.Value) })
}

// EqualExcept is Equal for trees that may differ in the value under the path, and in mappings
// that are empty without it.
func EqualExcept(a, b *Node, path []string) bool { return Equal(prune(a, path), prune(b, path)) }

// prune returns the tree without the value under the path, and without what is empty then.
func prune(n *Node, path []string) *Node {
	out := &Node{Kind: n.Kind, Text: n.Text, Items: n.Items}
	for _, e := range n.Entries {
		if e.Key == path[0] {
			if len(path) == 1 {
				continue
			}
			e.Value = prune(e.Value, path[1:])
			if e.Value.Kind == Nothing {
				continue
			}
		}
		out.Entries = append(out.Entries, e)
	}
	if out.Kind == Mapping && len(out.Entries) == 0 {
		out.Kind = Nothing
	}
	return out
}
