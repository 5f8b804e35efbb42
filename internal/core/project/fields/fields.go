// Package fields shows which fields JSON values have, so that a person can choose among
// them: one tree, in which the elements of arrays lie on each other, as they do for a mask.
// A tree is bounded, however large the values are, and says where it leaves something out.
// It never decodes a value, and it never holds more of one than a short sample.
//
//	tree := fields.Of(value)
//	mask := tree.Mask(map[int]bool{3: true, 7: true}) // items(id,name)
//	ticked, err := tree.Kept(m)                       // and the way back
package fields

import (
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// Limits of a tree.
const (
	maxNodes   = 500
	maxMembers = 120 // of one object
	maxDepth   = 12
	maxSample  = 48      // characters
	maxBytes   = 1 << 20 // of the values that are read: later rows rarely have other fields
)

// Node is a field, or at the root the value itself.
type Node struct {
	ID       int    // position in the tree, from 1; 0 is the root
	Name     string // as the value has it
	Kind     Kind   // of the first value that is not null
	Many     bool   // it is an array, or sometimes one
	Count    int    // how often it occurs
	Bytes    int    // size of all its values
	Sample   string // the first plain value, as JSON; long ones are cut
	Children []*Node
	Cut      bool // there are more fields below it than Children

	byName map[string]*Node
}

// Kind is what a value is.
type Kind string

// The kinds; of an array it is that of its elements.
const (
	Object  Kind = "object"
	Text    Kind = "text"
	Number  Kind = "number"
	Boolean Kind = "boolean"
	Null    Kind = "null"
)

// Of merges the values into one tree. Invalid JSON counts as far as it can be read.
func Of(values ...[]byte) *Node {
	root := &Node{}
	g := grower{}
	for _, v := range values {
		if room := maxBytes - root.Bytes; len(v) > room {
			v = v[:room]
			root.Cut = true
		}
		root.Count++
		root.Bytes += len(v)
		g.data = v
		if w := rawjson.Object(v); w.Err() == nil {
			root.is(Object)
			g.members(root, &w, 0)
			continue
		}
		for w := rawjson.Array(v); w.Step(); {
			root.Many = true
			g.value(root, &w, 0)
		}
	}
	root.number(0)
	return root
}

// grower goes once over a value.
type grower struct {
	data  []byte
	nodes int
}

// value adds the value that the walk has stopped at.
func (g *grower) value(n *Node, w *rawjson.Walk, depth int) {
	switch g.data[w.Start] {
	case '{':
		n.is(Object)
		in := w.Into()
		g.members(n, &in, depth)
		w.Out(&in)
	case '[':
		in := w.Into()
		for in.Step() {
			g.value(n, &in, depth)
		}
		w.Out(&in)
		n.Many = true
	default:
		if w.Skip() {
			n.plain(w.Value)
		}
	}
}

func (g *grower) members(n *Node, w *rawjson.Walk, depth int) {
	for w.Step() {
		child := n.byName[string(w.Key)]
		if child == nil {
			if depth == maxDepth || g.nodes == maxNodes || len(n.Children) == maxMembers {
				n.Cut = true
				w.Skip()
				continue
			}
			child = n.add(string(w.Key))
			g.nodes++
		}
		child.Count++
		size := len(w.Key) + len(`"":,`)
		start := w.Start
		g.value(child, w, depth+1)
		if w.Err() != nil { // it goes on where nobody looks
			child.Bytes += len(g.data) - start
			return
		}
		child.Bytes += size + w.End - start
	}
}

func (n *Node) add(name string) *Node {
	if n.byName == nil {
		n.byName = map[string]*Node{}
	}
	child := &Node{Name: name}
	n.byName[name] = child
	n.Children = append(n.Children, child)
	return child
}

// is records a kind; the first one wins, unless it was null.
func (n *Node) is(k Kind) {
	if n.Kind == "" || n.Kind == Null {
		n.Kind = k
	}
}

func (n *Node) plain(raw []byte) {
	switch raw[0] {
	case '"':
		n.is(Text)
	case 't', 'f':
		n.is(Boolean)
	case 'n':
		n.is(Null)
	default:
		n.is(Number)
	}
	if n.Sample == "" || n.Sample == "null" || n.Sample == `""` {
		n.Sample = short(raw)
	}
}

// short is the beginning of a plain value.
func short(raw []byte) string {
	at := 0
	for count := 0; at < len(raw) && count < maxSample; count++ {
		_, size := utf8.DecodeRune(raw[at:])
		at += size
	}
	if at == len(raw) {
		return string(raw)
	}
	return string(raw[:at]) + "…"
}

// number assigns the IDs below n.
func (n *Node) number(last int) int {
	for _, child := range n.Children {
		child.ID = last + 1
		last = child.number(child.ID)
	}
	return last
}

// Share returns the field's share of the whole, by size.
func (n *Node) Share(root *Node) float64 { return min(1, float64(n.Bytes)/float64(max(1, root.Bytes))) }
