package schema

import (
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/rawjson"
)

// kind is what a JSON value is.
type kind uint8

const (
	nullKind kind = iota
	boolKind
	numberKind
	stringKind
	arrayKind
	objectKind
)

// node is one JSON value. Members keep their order, numbers and booleans their text. A
// node of the input is never changed once it is read.
type node struct {
	kind   kind
	key    string // as a member of parent
	text   string // a string's value, a number's or boolean's literal
	kids   []*node
	parent *node
	form   *form // this node read as a schema, once somebody asked
}

// tree reads JSON and hands out nodes from blocks, because one by one they would be most
// of the cost of a small schema.
type tree struct {
	nodes  []node
	lists  []*node
	open   []*node // the children of the containers that are being read
	count  int
	refs   bool  // some key names a place or refers to one
	double *node // some member stood there twice; the last one counts
}

// refKeys are the keys that refer to places.
var refKeys = map[string]bool{"$ref": true, "$dynamicRef": true, "$recursiveRef": true}

// named are the keys that name places and refer to them.
var named = map[string]bool{
	"$ref": true, "$dynamicRef": true, "$recursiveRef": true, "$anchor": true, "$dynamicAnchor": true, "$recursiveAnchor": true, "$id": true,
}

func (t *tree) new(k kind) *node {
	if len(t.nodes) == 0 {
		t.nodes = make([]node, min(64, 16+t.count))
	}
	n := &t.nodes[0]
	t.nodes = t.nodes[1:]
	t.count++
	n.kind = k
	return n
}

// list copies children to a slice of their own.
func (t *tree) list(kids []*node) []*node {
	if len(kids) == 0 {
		return nil
	}
	if len(t.lists) < len(kids) {
		t.lists = make([]*node, max(64, len(kids)))
	}
	out := t.lists[:len(kids):len(kids)]
	t.lists = t.lists[len(kids):]
	copy(out, kids)
	return out
}

// parse reads raw, which must be exactly one JSON value.
func (t *tree) parse(raw []byte) (*node, error) {
	if err := rawjson.Check(raw); err != nil {
		return nil, err
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

// value reads the value at i of a text known to be JSON. Its depth is known to be bounded too.
func (t *tree) value(s string, i int) (*node, int) {
	i = space(s, i)
	switch s[i] {
	case '{', '[':
		return t.container(s, i)
	case '"':
		n := t.new(stringKind)
		n.text, i = text(s, i)
		return n, i
	case 't', 'f':
		n, end := t.new(boolKind), i+4
		if s[i] == 'f' {
			end++
		}
		n.text = s[i:end]
		return n, end
	case 'n':
		return t.new(nullKind), i + 4
	}
	n, end := t.new(numberKind), i+1
	for end < len(s) && strings.IndexByte("0123456789+-.eE", s[end]) >= 0 {
		end++
	}
	n.text = s[i:end]
	return n, end
}

func (t *tree) container(s string, i int) (*node, int) {
	n, mark := t.new(arrayKind), len(t.open)
	if s[i] == '{' {
		n.kind = objectKind
	}
	for i = space(s, i+1); s[i] != '}' && s[i] != ']'; {
		if s[i] == ',' {
			i = space(s, i+1)
		}
		var key string
		if n.kind == objectKind {
			key, i = text(s, i)
			i = space(s, i) + 1 // the colon
			if len(key) > 2 && key[0] == '$' {
				t.refs = t.refs || named[key]
			}
		}
		var kid *node
		kid, i = t.value(s, i)
		kid.key, kid.parent = key, n
		t.open = append(t.open, kid)
		i = space(s, i)
	}
	n.kids = t.list(t.unique(n, t.open[mark:]))
	t.open = t.open[:mark]
	return n, i + 1
}

// unique leaves the last of equal members, at the place of the first.
func (t *tree) unique(n *node, kids []*node) []*node {
	if n.kind != objectKind || len(kids) < 2 {
		return kids
	}
	if len(kids) <= 12 {
		for i := 1; i < len(kids); i++ {
			for j := range i {
				if kids[j].key == kids[i].key {
					return t.merge(n, kids)
				}
			}
		}
		return kids
	}
	return t.merge(n, kids)
}

func (t *tree) merge(n *node, kids []*node) []*node {
	at := make(map[string]int, len(kids))
	out := kids[:0]
	for _, kid := range kids {
		if i, ok := at[kid.key]; ok {
			out[i], t.double = kid, kid
			continue
		}
		at[kid.key] = len(out)
		out = append(out, kid)
	}
	return out
}

// text reads the string that starts at i. Most have no escape and stay a part of s.
func text(s string, i int) (string, int) {
	for end := i + 1; ; end++ {
		switch s[end] {
		case '"':
			return s[i+1 : end], end + 1
		case '\\':
			for ; s[end] != '"'; end++ {
				if s[end] == '\\' {
					end++
				}
			}
			v, _ := rawjson.String([]byte(s[i : end+1]))
			return v, end + 1
		}
	}
}

// get is the member of that name, or nil.
func (n *node) get(key string) *node {
	if n == nil || n.kind != objectKind {
		return nil
	}
	for _, kid := range n.kids {
		if kid.key == key {
			return kid
		}
	}
	return nil
}

// str is the text of a string member, "" when there is none.
func (n *node) str(key string) string {
	if m := n.get(key); m != nil && m.kind == stringKind {
		return m.text
	}
	return ""
}

// isTrue tells whether n is the literal true.
func (n *node) isTrue() bool { return n != nil && n.kind == boolKind && n.text == "true" }

// isFalse tells whether n is the literal false.
func (n *node) isFalse() bool { return n != nil && n.kind == boolKind && n.text == "false" }

// pointer is where n stands in its document.
func (n *node) pointer() string {
	var tokens []string
	for ; n != nil && n.parent != nil; n = n.parent {
		token := n.key
		if n.parent.kind == arrayKind {
			token = itoa(slices.Index(n.parent.kids, n))
		}
		tokens = append(tokens, token)
	}
	slices.Reverse(tokens)
	return pointer(tokens)
}

// pointer joins the tokens of a JSON pointer.
func pointer(tokens []string) string {
	var b strings.Builder
	for _, token := range tokens {
		b.WriteByte('/')
		b.WriteString(escapeToken(token))
	}
	return b.String()
}

func escapeToken(s string) string {
	if strings.IndexByte(s, '~') < 0 && strings.IndexByte(s, '/') < 0 {
		return s
	}
	return strings.ReplaceAll(strings.ReplaceAll(s, "~", "~0"), "/", "~1")
}

// append writes n as compact JSON.
func (n *node) append(dst []byte) []byte {
	switch n.kind {
	case nullKind:
		return append(dst, "null"...)
	case boolKind, numberKind:
		return append(dst, n.text...)
	case stringKind:
		return rawjson.AppendString(dst, n.text)
	case arrayKind:
		dst = append(dst, '[')
		for i, kid := range n.kids {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = kid.append(dst)
		}
		return append(dst, ']')
	}
	dst = append(dst, '{')
	for i, kid := range n.kids {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(rawjson.AppendString(dst, kid.key), ':')
		dst = kid.append(dst)
	}
	return append(dst, '}')
}

func (n *node) String() string { return string(n.append(nil)) }
