package steps

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// node is one value of a YAML file with its place.
type node struct {
	kind    nodeKind
	line    int
	column  int
	text    string // of a scalar
	items   []*node
	entries []entry
}

type entry struct {
	key    string
	line   int
	column int
	value  *node
}

type nodeKind int

const (
	nothing nodeKind = iota
	scalar
	list
	mapping
)

func (k nodeKind) String() string {
	return [...]string{"nothing", "a value", "a list", "a mapping"}[k]
}

const (
	maxFile  = 1 << 20
	maxDepth = 40
)

// find returns the value of a key, or nil.
func (n *node) find(key string) *node {
	for _, e := range n.entries {
		if e.key == key {
			return e.value
		}
	}
	return nil
}

// readTree reads YAML; JSON is YAML, too.
func readTree(file string, data []byte) (root *node, err error) {
	defer func() {
		// The parser is not ours, and a file with a slip must not take the run down.
		if r := recover(); r != nil {
			root, err = nil, Problem{Code: invalid, File: file, Text: "is not YAML that can be read; look for an unclosed quote or bracket"}
		}
	}()
	if len(data) > maxFile {
		return nil, Problem{Code: invalid, File: file, Text: "is larger than 1 MB; is it the right file?"}
	}
	if deep(data) {
		return nil, Problem{Code: invalid, File: file, Text: fmt.Sprintf("is nested deeper than %d levels", maxDepth)}
	}
	tree, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, syntaxProblem(file, err)
	}
	for _, doc := range tree.Docs {
		if doc.Body != nil {
			return readNode(doc.Body, 0)
		}
	}
	return &node{kind: nothing, line: 1}, nil
}

// deep tells whether brackets or indentation nest further than anybody writes. The parser
// recurses without a limit, so this must be known before it starts.
func deep(data []byte) bool {
	open := 0
	for line := range strings.Lines(string(data)) {
		indent := len(line) - len(strings.TrimLeft(line, " -?"))
		open += strings.Count(line, "[") + strings.Count(line, "{") - strings.Count(line, "]") - strings.Count(line, "}")
		if indent > 4*maxDepth || open > maxDepth || strings.Count(line, "[")+strings.Count(line, "{") > 10*maxDepth {
			return true
		}
	}
	return false
}

// syntaxProblem takes line and message out of a parser's error.
func syntaxProblem(file string, err error) Problem {
	p := Problem{Code: invalid, File: file, Text: "is not YAML: " + strings.Join(strings.Fields(err.Error()), " ")}
	var at interface {
		GetMessage() string
		GetToken() *token.Token
	}
	if errors.As(err, &at) && at.GetToken() != nil {
		p.Line, p.Column = at.GetToken().Position.Line, at.GetToken().Position.Column
		p.Text = "is not YAML: " + at.GetMessage()
	}
	return p
}

// readNode turns the parser's tree into ours.
func readNode(n ast.Node, depth int) (*node, error) {
	if depth > maxDepth {
		return nil, Problem{Code: invalid, Text: "is nested too deep"}
	}
	pos := n.GetToken().Position
	out := &node{line: pos.Line, column: pos.Column}
	switch n := n.(type) {
	case *ast.NullNode:
	case *ast.MappingNode:
		return out, out.addEntries(n.Values, depth)
	case *ast.MappingValueNode:
		return out, out.addEntries([]*ast.MappingValueNode{n}, depth)
	case *ast.SequenceNode:
		out.kind = list
		for _, v := range n.Values {
			item, err := readNode(v, depth+1)
			if err != nil {
				return nil, err
			}
			out.items = append(out.items, item)
		}
	case *ast.AnchorNode, *ast.AliasNode, *ast.TagNode, *ast.MergeKeyNode:
		return nil, Problem{Code: invalid, Line: pos.Line, Column: pos.Column, Text: "uses a YAML anchor or tag; write the value out"}
	case *ast.LiteralNode:
		out.kind, out.text = scalar, n.Value.Value
	default:
		out.kind, out.text = scalar, n.GetToken().Value
	}
	return out, nil
}

func (n *node) addEntries(values []*ast.MappingValueNode, depth int) error {
	n.kind = mapping
	for _, v := range values {
		value, err := readNode(v.Value, depth+1)
		if err != nil {
			return err
		}
		key := v.Key.GetToken()
		n.entries = append(n.entries, entry{key.Value, key.Position.Line, key.Position.Column, value})
	}
	if len(n.entries) > 0 {
		n.line, n.column = n.entries[0].line, n.entries[0].column
	}
	return nil
}

// any is the value as JSON would have it.
func (n *node) any() any {
	switch n.kind {
	case scalar:
		return plainValue(n.text)
	case list:
		out := make([]any, len(n.items))
		for i, item := range n.items {
			out[i] = item.any()
		}
		return out
	case mapping:
		out := map[string]any{}
		for _, e := range n.entries {
			out[e.key] = e.value.any()
		}
		return out
	}
	return nil
}

func plainValue(text string) any {
	switch text {
	case "true":
		return true
	case "false":
		return false
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil && !math.IsInf(f, 0) && !math.IsNaN(f) {
		return f
	}
	return text
}
