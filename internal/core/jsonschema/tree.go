package jsonschema

import (
	"strings"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// Tree parses JSON and allocates nodes in blocks: allocating them one by one would be most of
// the cost of a small schema.
type Tree struct {
	Count int   // nodes so far
	Named bool  // some key is a reference, an anchor or an $id
	Twice *Node // a duplicate member
	nodes []Node
	lists []*Node
	open  []*Node // children of the containers being parsed
	block []Node  // reused by Reset
	rows  []*Node // reused by Reset, for lists
}

// IsRef reports whether the value of a key is a reference.
func IsRef(key string) bool { return key == "$ref" || key == "$dynamicRef" || key == "$recursiveRef" }

// NamesPlace reports whether the value of a key is a reference or something a reference can
// point to.
func NamesPlace(key string) bool {
	return IsRef(key) || key == "$id" || key == "$anchor" || key == "$dynamicAnchor" || key == "$recursiveAnchor"
}

// Parse parses exactly one JSON value.
func Parse(raw []byte) (*Node, error) {
	var t Tree
	return t.Parse(raw)
}

// ParseAt parses valid JSON of bounded depth at the pointer of a larger document.
func ParseAt(raw []byte, pointer string) *Node {
	var t Tree
	n, _ := t.value(string(raw), 0)
	n.Key = pointer
	return n
}

// Reset prepares t for another document. It reuses the memory of earlier nodes, which must no
// longer be used.
func (t *Tree) Reset() {
	if t.Count > len(t.block) {
		size := max(t.Count, 2*len(t.block))
		t.block = make([]Node, size)
		t.rows = make([]*Node, size) // each node is in at most one list
	}
	*t = Tree{nodes: t.block, lists: t.rows, open: t.open[:0], block: t.block, rows: t.rows}
}

// New returns a node without a parent.
func (t *Tree) New(k Kind) *Node {
	if len(t.nodes) == 0 {
		t.nodes = make([]Node, min(64, 16+t.Count))
	}
	n := &t.nodes[0]
	t.nodes = t.nodes[1:]
	*n = Node{Kind: k, ID: int32(t.Count)}
	t.Count++
	return n
}

// Room returns an empty list with capacity n.
func (t *Tree) Room(n int) []*Node {
	if len(t.lists) < n {
		t.lists = make([]*Node, max(64, n))
	}
	out := t.lists[:0:n]
	t.lists = t.lists[n:]
	return out
}

// Parse parses exactly one JSON value.
func (t *Tree) Parse(raw []byte) (*Node, error) {
	if err := rawjson.Check(raw); err != nil {
		return nil, err
	}
	if t.open == nil {
		t.open = make([]*Node, 0, 8)
	}
	n, _ := t.value(string(raw), 0)
	return n, nil
}

func space(s string, i int) int {
	for i < len(s) && s[i] <= ' ' {
		i++
	}
	return i
}

// value parses the value at i of valid JSON of bounded depth.
func (t *Tree) value(s string, i int) (*Node, int) {
	i = space(s, i)
	n := t.New(Null)
	end := i
	switch s[i] {
	case '{', '[':
		end = t.container(n, s, i)
	case '"':
		n.Kind = String
		n.Text, end = text(s, i)
		return n, end
	case 't':
		n.Kind = Bool
		end = i + len("true")
	case 'f':
		n.Kind = Bool
		end = i + len("false")
	case 'n':
		end = i + len("null")
	default:
		for n.Kind = Number; end < len(s) && strings.IndexByte("0123456789+-.eE", s[end]) >= 0; {
			end++
		}
	}
	n.Text = s[i:end]
	return n, end
}

// container parses the children of the object or array at i and returns its end.
func (t *Tree) container(n *Node, s string, i int) int {
	mark := len(t.open)
	n.Kind = Array
	if s[i] == '{' {
		n.Kind = Object
	}
	for i = space(s, i+1); s[i] != '}' && s[i] != ']'; {
		if s[i] == ',' {
			i = space(s, i+1)
		}
		var key string
		if n.Kind == Object {
			key, i = text(s, i)
			i = space(s, i) + 1 // the colon
			if len(key) > 2 && key[0] == '$' {
				t.Named = t.Named || NamesPlace(key)
			}
		}
		var kid *Node
		kid, i = t.value(s, i)
		kid.Key = key
		kid.Parent = n
		t.open = append(t.open, kid)
		i = space(s, i)
	}
	if kids := t.unique(n, t.open[mark:]); len(kids) > 0 {
		n.Kids = append(t.Room(len(kids)), kids...)
	}
	t.open = t.open[:mark]
	return i + 1
}

// unique removes duplicate members: the last value stays, in the position of the first.
func (t *Tree) unique(n *Node, kids []*Node) []*Node {
	if n.Kind != Object || len(kids) < 2 {
		return kids
	}
	if len(kids) > 12 {
		return t.merge(kids)
	}
	for i := 1; i < len(kids); i++ {
		for j := range i {
			if kids[j].Key == kids[i].Key {
				return t.merge(kids)
			}
		}
	}
	return kids
}

func (t *Tree) merge(kids []*Node) []*Node {
	at := make(map[string]int, len(kids))
	out := kids[:0]
	for _, kid := range kids {
		if i, ok := at[kid.Key]; ok {
			out[i] = kid
			t.Twice = kid
			kid.Twice = true
			continue
		}
		at[kid.Key] = len(out)
		out = append(out, kid)
	}
	return out
}

// text parses the string at i. Without escapes it is a substring of s.
func text(s string, i int) (string, int) {
	end := i + 1 + strings.IndexByte(s[i+1:], '"')
	escape := strings.IndexByte(s[i+1:end], '\\')
	if escape < 0 {
		return s[i+1 : end], end + 1
	}
	for end = i + 1 + escape; s[end] != '"'; end++ {
		if s[end] == '\\' {
			end++
		}
	}
	v, _ := rawjson.String([]byte(s[i : end+1]))
	return v, end + 1
}
