package snapshot

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode"
)

// Parse reads a snapshot line by line. It skips lines that it cannot read, and is faster than YAML.
func Parse(text string) *Page {
	p := &Page{nodes: make([]Node, 0, strings.Count(text, "\n")+1)}
	var open []level // the nodes that the current line may be inside of
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		body := strings.TrimLeft(line, " ")
		indent := len(line) - len(body)
		if !strings.HasPrefix(body, "- ") {
			continue
		}
		for len(open) > 0 && open[len(open)-1].indent >= indent {
			p.close(open[len(open)-1])
			open = open[:len(open)-1]
		}
		body = body[2:]
		if rest, found := strings.CutPrefix(body, "<changed> "); found {
			p.Partial = true
			body = rest
		}
		var parent *level
		if len(open) > 0 {
			parent = &open[len(open)-1]
		}
		if p.property(parent, body) || p.unchanged(body) {
			continue
		}
		open = append(open, level{indent, p.add(parent, body), nil})
	}
	for len(open) > 0 {
		p.close(open[len(open)-1])
		open = open[:len(open)-1]
	}
	return p
}

// level is an open node while its lines are read.
type level struct {
	indent int
	node   *Node
	last   *Node // its last child so far
}

func (p *Page) close(l level) { l.node.End = len(p.nodes) }

// property reads a line such as "/url: x", which belongs to the node above it.
func (p *Page) property(parent *level, body string) bool {
	if parent == nil || !strings.HasPrefix(body, "/") {
		return false
	}
	key, value, found := strings.Cut(body[1:], ":")
	if !found || strings.ContainsAny(key, ` "[`) {
		return false
	}
	value = plain(value)
	if key == "placeholder" {
		parent.node.Placeholder = value
	} else {
		parent.node.Attrs = append(parent.node.Attrs, Attr{"/" + key, value})
	}
	return true
}

// unchanged reads the mark of a part that an incremental form leaves out.
func (p *Page) unchanged(body string) bool {
	if strings.HasPrefix(body, "ref=") && strings.HasSuffix(body, "[unchanged]") {
		p.Partial = true
		return true
	}
	return false
}

// add appends the node of a line. The slice has room for every line, so nodes never move.
func (p *Page) add(parent *level, body string) *Node {
	i := len(p.nodes)
	p.nodes = append(p.nodes, Node{Index: i, End: i + 1})
	n := &p.nodes[i]
	n.read(body)
	if parent == nil {
		return n
	}
	n.Parent = parent.node
	if parent.last == nil {
		parent.node.First = n
	} else {
		parent.last.Next = n
	}
	parent.last = n
	return n
}

// read fills the node from its line: role "name" [attr]…: text.
func (n *Node) read(body string) {
	key, value := splitKey(body)
	n.Text = withoutIcons(plain(strings.TrimPrefix(value, ":")))
	end := strings.IndexAny(key, " [")
	if end < 0 {
		end = len(key)
	}
	n.Role = key[:end]
	rest := strings.TrimLeft(key[end:], " ")
	if strings.HasPrefix(rest, `"`) {
		end := stringEnd(rest)
		n.Name = withoutIcons(decode(rest[:end]))
		rest = rest[end:]
	}
	n.attributes(rest)
}

// attributes reads " [a] [b=c]…".
func (n *Node) attributes(rest string) {
	for {
		from := strings.IndexByte(rest, '[')
		if from < 0 {
			return
		}
		rest = rest[from+1:]
		end := strings.IndexByte(rest, ']')
		if end < 0 {
			return
		}
		key, value, _ := strings.Cut(rest[:end], "=")
		n.attribute(key, value)
		rest = rest[end+1:]
	}
}

func (n *Node) attribute(key, value string) {
	switch key {
	case "ref":
		n.Ref = value
	case "checked":
		n.Checked = stateOf(value)
	case "pressed":
		n.Pressed = stateOf(value)
	case "selected":
		n.Selected = true
	case "disabled":
		n.Disabled = true
	case "level":
		n.Level, _ = strconv.Atoi(value) // 0 for none
	case "cursor":
		n.Pointer = value == "pointer"
	default:
		n.Attrs = append(n.Attrs, Attr{key, value})
	}
}

// splitKey splits a line at the colon after its name and attributes.
func splitKey(body string) (key, value string) {
	if strings.HasPrefix(body, "'") {
		return unquoteKey(body)
	}
	for i := 0; i < len(body); i++ {
		switch body[i] {
		case '"':
			i += stringEnd(body[i:]) - 1
		case ':':
			return body[:i], body[i:]
		}
	}
	return body, ""
}

// stringEnd is the length of the quoted string that s begins with.
func stringEnd(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(s)
}

func unquoteKey(body string) (key, value string) {
	for i := 1; i < len(body); i++ {
		if body[i] != '\'' {
			continue
		}
		if i+1 < len(body) && body[i+1] == '\'' {
			i++
			continue
		}
		return strings.ReplaceAll(body[1:i], "''", "'"), body[i+1:]
	}
	return strings.ReplaceAll(body[1:], "''", "'"), ""
}

// plain is a value without its quotes.
func plain(value string) string {
	value = strings.TrimSpace(value)
	if len(value) >= 2 && value[0] == '\'' && value[len(value)-1] == '\'' {
		return strings.ReplaceAll(value[1:len(value)-1], "''", "'")
	}
	if strings.HasPrefix(value, `"`) && stringEnd(value) == len(value) {
		return decode(value)
	}
	return value
}

// decode reads a double-quoted string. YAML's \xNN is the one escape that JSON lacks.
func decode(quoted string) string {
	inner := strings.TrimSuffix(strings.TrimPrefix(quoted, `"`), `"`)
	if !strings.Contains(inner, `\`) {
		return valid(inner)
	}
	var s string
	if json.Unmarshal([]byte(hexEscapes.Replace(quoted)), &s) == nil {
		return s
	}
	return valid(inner)
}

// hexEscapes writes \xNN as \u00NN, and leaves an escaped backslash before an x alone.
var hexEscapes = strings.NewReplacer(`\\`, `\\`, `\x`, `\u00`)

// withoutIcons removes the characters of icon fonts: nobody could say them.
func withoutIcons(s string) string {
	if !strings.ContainsFunc(s, isIcon) {
		return s
	}
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if isIcon(r) {
			return -1
		}
		return r
	}, s))
}

func isIcon(r rune) bool { return r >= 0xE000 && unicode.Is(unicode.Co, r) }

func valid(s string) string { return strings.ToValidUTF8(s, "\ufffd") }
