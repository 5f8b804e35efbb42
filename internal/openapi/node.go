package openapi

import (
	"strconv"
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

// node is one JSON value of a part of the document. Members keep their order and numbers
// their digits. Parts are read when they are needed and dropped afterwards, so that a large
// document costs little more than its bytes.
type node struct {
	kind   kind
	twice  bool   // the member stood there more than once; this is the last
	key    string // as a member; of the top node: the pointer to it
	text   string // a string's value; any other value's JSON as it was written
	kids   []node
	parent *node
}

// parse reads raw, which is known to be one valid JSON value of bounded depth and to stand
// at the pointer.
func parse(raw []byte, pointer string) *node {
	p := parser{s: string(raw)}
	n := new(node)
	*n, _ = p.value(0)
	n.adopt()
	n.key = pointer
	return n
}

type parser struct {
	s     string
	open  []node // the children of the containers that are being read
	block []node // room for those that are read; one by one they would be most of the cost
}

func (p *parser) space(i int) int {
	for i < len(p.s) && p.s[i] <= ' ' {
		i++
	}
	return i
}

// value reads the value at i and returns its end.
func (p *parser) value(i int) (n node, end int) {
	i = p.space(i)
	end = i
	switch p.s[i] {
	case '{', '[':
		n.kind, n.kids, end = p.container(i)
	case '"':
		n.kind = stringKind
		n.text, end = p.str(i)
		return n, end
	case 't':
		n.kind, end = boolKind, i+4
	case 'f':
		n.kind, end = boolKind, i+5
	case 'n':
		n.kind, end = nullKind, i+4
	default:
		for n.kind = numberKind; end < len(p.s) && strings.IndexByte("0123456789+-.eE", p.s[end]) >= 0; {
			end++
		}
	}
	n.text = p.s[i:end]
	return n, end
}

func (p *parser) container(i int) (k kind, kids []node, end int) {
	mark := len(p.open)
	k = arrayKind
	if p.s[i] == '{' {
		k = objectKind
	}
	for i = p.space(i + 1); p.s[i] != '}' && p.s[i] != ']'; {
		if p.s[i] == ',' {
			i = p.space(i + 1)
		}
		key := ""
		if k == objectKind {
			key, i = p.str(i)
			i = p.space(i) + 1 // the colon
		}
		kid, after := p.value(i)
		kid.key = key
		p.open = append(p.open, kid)
		i = p.space(after)
	}
	kids = p.open[mark:]
	if k == objectKind {
		kids = unique(kids)
	}
	kids = p.keep(kids)
	p.open = p.open[:mark]
	return k, kids, i + 1
}

// keep copies children to where they stay.
func (p *parser) keep(kids []node) []node {
	if len(kids) == 0 {
		return nil
	}
	const bytesPerNode, most = 24, 128
	if len(p.block) < len(kids) {
		p.block = make([]node, max(len(kids), min(most, len(p.s)/bytesPerNode)))
	}
	out := p.block[:len(kids):len(kids)]
	p.block = p.block[len(kids):]
	copy(out, kids)
	for i := range out {
		out[i].adopt()
	}
	return out
}

// adopt tells the children who their parent is, once it has come to rest.
func (n *node) adopt() {
	for i := range n.kids {
		n.kids[i].parent = n
	}
}

// unique leaves the last of equal members, at the place of the first.
func unique(kids []node) []node {
	if len(kids) <= 16 {
		for i := 1; i < len(kids); i++ {
			for j := range i {
				if kids[j].key == kids[i].key {
					return lastOfEach(kids)
				}
			}
		}
		return kids
	}
	return lastOfEach(kids)
}

func lastOfEach(kids []node) []node {
	at := make(map[string]int, len(kids))
	out := kids[:0]
	for _, kid := range kids {
		if i, ok := at[kid.key]; ok {
			kid.twice = true
			out[i] = kid
			continue
		}
		at[kid.key] = len(out)
		out = append(out, kid)
	}
	return out
}

// str reads the string that starts at i. Most have no escape and stay a part of the text.
func (p *parser) str(i int) (string, int) {
	end := i + 1 + strings.IndexByte(p.s[i+1:], '"')
	if strings.IndexByte(p.s[i+1:end], '\\') < 0 {
		return p.s[i+1 : end], end + 1
	}
	for end = i + 1; p.s[end] != '"'; end++ {
		if p.s[end] == '\\' {
			end++
		}
	}
	v, _ := rawjson.String([]byte(p.s[i : end+1])) // it is known to be valid
	return v, end + 1
}

// get is the member of that name, or nil.
func (n *node) get(key string) *node {
	if n == nil || n.kind != objectKind {
		return nil
	}
	for i := range n.kids {
		if n.kids[i].key == key {
			return &n.kids[i]
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

// is tells whether the member of that name is the literal true.
func (n *node) is(key string) bool {
	m := n.get(key)
	return m != nil && m.kind == boolKind && m.text == "true"
}

// strings are the texts of a member that is a list of strings, or one string.
func (n *node) strings(key string) (out []string) {
	m := n.get(key)
	if m != nil && m.kind == stringKind {
		return []string{m.text}
	}
	for _, kid := range m.list() {
		if kid.kind == stringKind {
			out = append(out, kid.text)
		}
	}
	return out
}

// list are the elements of an array, none of anything else.
func (n *node) list() []node {
	if n == nil || n.kind != arrayKind {
		return nil
	}
	return n.kids
}

// members are those of an object, none of anything else.
func (n *node) members() []node {
	if n == nil || n.kind != objectKind {
		return nil
	}
	return n.kids
}

// pointer is where n stands in the document.
func (n *node) pointer() string {
	if n.parent == nil {
		return n.key
	}
	token := n.key
	if n.parent.kind == arrayKind {
		for i := range n.parent.kids {
			if &n.parent.kids[i] == n {
				token = strconv.Itoa(i)
			}
		}
	}
	return n.parent.pointer() + "/" + escapeToken(token)
}

func escapeToken(s string) string {
	if strings.IndexByte(s, '~') < 0 && strings.IndexByte(s, '/') < 0 {
		return s
	}
	return strings.ReplaceAll(strings.ReplaceAll(s, "~", "~0"), "/", "~1")
}

// append writes n as JSON.
func (n *node) append(dst []byte) []byte {
	switch n.kind {
	case stringKind:
		return rawjson.AppendString(dst, n.text)
	case arrayKind, objectKind:
		open, end := byte('['), byte(']')
		if n.kind == objectKind {
			open, end = '{', '}'
		}
		dst = append(dst, open)
		for i := range n.kids {
			if i > 0 {
				dst = append(dst, ',')
			}
			if n.kind == objectKind {
				dst = append(rawjson.AppendString(dst, n.kids[i].key), ':')
			}
			dst = n.kids[i].append(dst)
		}
		return append(dst, end)
	}
	return append(dst, n.text...)
}
