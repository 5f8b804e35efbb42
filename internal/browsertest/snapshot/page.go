// Package snapshot reads the answers of playwright-mcp: the accessibility tree of a page, its
// address, title, tabs and open dialogs, and errors with a code. It reads the forms of every
// version of the server, and keeps or skips what it does not know.
//
// It does not decide which element is meant: that is package find. It makes no calls.
//
//	answer := snapshot.ReadAnswer(result)
//	if answer.Err != nil { … }
//	for n := range answer.Page.All() { fmt.Println(n.Role, n.Name, n.Ref) }
package snapshot

import (
	"iter"
	"strings"
)

// Page is the accessibility tree of one page at one time. It is never changed.
type Page struct {
	Partial bool // an incremental or cut form: no element may be looked up in it
	nodes   []Node
}

// Node is one line of the tree: an element, or a piece of text.
type Node struct {
	Role        string // "text" for a piece of text
	Name        string // the accessible name
	Text        string // own text; of a field its value
	Ref         string // what calls name the element by, valid for this snapshot only; "" for none
	Placeholder string
	Level       int // of a heading
	Checked     State
	Pressed     State
	Selected    bool
	Disabled    bool
	Pointer     bool // the mouse turns into a hand over it
	Attrs       []Attr

	Parent, First, Next *Node
	Index               int // place in document order, from 0
	End                 int // index after its last descendant
}

// Attr is an attribute or a property line that has no field of its own.
type Attr struct{ Key, Value string }

// State is that of a checkbox or a toggle button.
type State uint8

const (
	Off State = iota
	On
	Mixed
)

func stateOf(value string) State {
	switch value {
	case "mixed":
		return Mixed
	case "false":
		return Off
	}
	return On
}

// Len is the number of nodes.
func (p *Page) Len() int { return len(p.nodes) }

// Node is the one at a place in document order.
func (p *Page) Node(i int) *Node { return &p.nodes[i] }

// All goes over the nodes in document order.
func (p *Page) All() iter.Seq[*Node] {
	return func(yield func(*Node) bool) {
		for i := range p.nodes {
			if !yield(&p.nodes[i]) {
				return
			}
		}
	}
}

// Inside goes over a node's descendants in document order.
func (p *Page) Inside(n *Node) iter.Seq[*Node] {
	return func(yield func(*Node) bool) {
		for i := n.Index + 1; i < n.End; i++ {
			if !yield(&p.nodes[i]) {
				return
			}
		}
	}
}

// Holds tells whether m is n or one of its descendants.
func (n *Node) Holds(m *Node) bool { return n.Index <= m.Index && m.Index < n.End }

// Content is the visible text of a node: its name, or the texts in it, up to a limit in bytes.
func (p *Page) Content(n *Node, limit int) string {
	if n.Name != "" {
		return n.Name
	}
	var b strings.Builder
	b.WriteString(n.Text)
	for i := n.Index + 1; i < n.End && b.Len() < limit; {
		m := &p.nodes[i]
		i++
		if m.Name == "" && m.Text == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		if m.Name != "" { // a name says what is inside, too
			b.WriteString(m.Name)
			i = m.End
			continue
		}
		b.WriteString(m.Text)
	}
	return b.String()
}
