package doctree

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

const (
	// MaxDepth is how deep a document may be nested.
	MaxDepth  = 100
	maxTokens = 60_000 // the parser's time grows with the square of a mapping's length
)

// readYAML reads text into a tree. A nil tree comes with the reason.
func readYAML(src string) (root *Node, found Problems) {
	defer func() {
		// The parser is not ours, and a mistake in a document must not crash the program.
		if r := recover(); r != nil {
			root = nil
			found = Problems{{Text: "is not YAML that can be read; look for an unclosed quote or bracket"}}
		}
	}()
	tokens := lexer.Tokenize(src)
	if bad := tokens.InvalidToken(); bad != nil {
		return nil, problemAt(bad, explain(bad.Error, bad))
	}
	if len(tokens) > maxTokens {
		return nil, problemAt(tokens[maxTokens], fmt.Sprintf("holds more than %d words; is it the right file?", maxTokens))
	}
	if deep := tooDeep(tokens); deep != nil {
		return nil, problemAt(deep, fmt.Sprintf("is nested deeper than %d levels", MaxDepth))
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, syntaxProblem(err)
	}
	y := &yamlReader{src: src, starts: lineStarts(src)}
	root = &Node{Line: 1}
	seen := false
	for _, doc := range file.Docs {
		if doc.Body == nil {
			continue
		}
		if seen {
			y.fail(doc.Body, "starts a second document; keep one")
			break
		}
		root = y.value(doc.Body)
		seen = true
	}
	return root, y.found
}

func problemAt(tk *token.Token, text string) Problems {
	return Problems{{Line: tk.Position.Line, Column: tk.Position.Column, Text: text}}
}

// syntaxProblem extracts place and message from a parser's error.
func syntaxProblem(err error) Problems {
	var at interface {
		GetMessage() string
		GetToken() *token.Token
	}
	if !errors.As(err, &at) || at.GetToken() == nil {
		return Problems{{Text: "is not YAML: " + oneLine(err.Error())}}
	}
	return problemAt(at.GetToken(), explain(at.GetMessage(), at.GetToken()))
}

// BackslashHint is the fix for a Windows path between double quotes.
const BackslashHint = `; write \\ for a backslash between double quotes, or use single quotes`

// explain adds the fix for the most common mistakes.
func explain(message string, tk *token.Token) string {
	text := "is not YAML: " + oneLine(message)
	switch {
	case strings.Contains(message, "'\t'"), strings.Contains(message, "tab"):
		return "is not YAML: a tab is used for indentation; use spaces"
	case strings.Contains(message, "escape character"):
		return text + BackslashHint
	case strings.Contains(message, "reserved character"):
		return text + "; put the text in quotes"
	case tk.Prev != nil && tk.Type == token.MappingStartType && strings.HasSuffix(tk.Prev.Value, "$"):
		return "is not YAML: ${…} is inside { } or [ ] without quotes; put the text in quotes"
	}
	return text
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// tooDeep returns the token at which the document nests deeper than MaxDepth, or nil. The parser
// recurses without a limit, so this must be checked before it starts.
func tooDeep(tokens token.Tokens) *token.Token {
	var columns []int // of the open blocks
	brackets := 0     // that are open
	run := 0          // tokens in brackets since the last comma
	for _, tk := range tokens {
		switch tk.Type {
		case token.CommentType:
			continue
		case token.SequenceStartType, token.MappingStartType:
			brackets++
			run = 0
		case token.SequenceEndType, token.MappingEndType:
			brackets = max(0, brackets-1)
			run = 0
		case token.CollectEntryType:
			run = 0
		default:
			if brackets > 0 {
				run++
				break
			}
			for len(columns) > 0 && columns[len(columns)-1] >= tk.Position.Column {
				columns = columns[:len(columns)-1]
			}
			columns = append(columns, tk.Position.Column)
		}
		if len(columns)+brackets+run > 2*MaxDepth || brackets > MaxDepth {
			return tk
		}
	}
	return nil
}

// yamlReader converts the parser's tree to ours.
type yamlReader struct {
	src    string
	starts []int // byte offset of each line
	found  Problems
	depth  int
	at     Place // of the value that is being read
}

func (y *yamlReader) fail(n ast.Node, format string, args ...any) *Node {
	out := newNode(Broken, n.GetToken(), "")
	y.found = append(y.found, Problem{Line: out.Line, Column: out.Column, Field: y.at.Field, Text: fmt.Sprintf(format, args...)})
	return out
}

func newNode(kind Kind, tk *token.Token, text string) *Node {
	n := &Node{Kind: kind, Text: text}
	if tk != nil && tk.Position != nil {
		n.Line = tk.Position.Line
		n.Column = tk.Position.Column
	}
	return n
}

func (y *yamlReader) value(n ast.Node) *Node {
	y.depth++
	defer func() { y.depth-- }()
	if y.depth > MaxDepth {
		return y.fail(n, "is nested deeper than %d levels", MaxDepth)
	}
	switch n := n.(type) {
	case nil, *ast.CommentGroupNode:
		return &Node{}
	case *ast.NullNode:
		out := newNode(Nothing, n.Token, "")
		if at := y.offset(n.Token); n.Token.Value != "" && strings.HasPrefix(y.src[at:], n.Token.Value) {
			out.Start = at
			out.End = at + len(n.Token.Value)
		}
		return out
	case *ast.BoolNode:
		return newNode(Bool, n.Token, n.Token.Value)
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return newNode(Number, n.GetToken(), n.GetToken().Value)
	case *ast.StringNode:
		out := newNode(Text, n.Token, n.Value)
		out.Quoted = n.Token.Type == token.SingleQuoteType || n.Token.Type == token.DoubleQuoteType
		return out
	case *ast.LiteralNode:
		out := newNode(Text, n.Start, n.Value.Value)
		out.Column = 0 // of its first line
		return out
	case *ast.SequenceNode:
		return y.list(n)
	case *ast.MappingNode:
		return y.mapping(n.Values, n)
	case *ast.MappingValueNode:
		return y.mapping([]*ast.MappingValueNode{n}, nil)
	case *ast.AliasNode:
		return y.fail(n, `text that starts with "*" is an alias, and aliases are not supported; put it in quotes, or write the value out`)
	case *ast.AnchorNode:
		return y.fail(n, "anchors (&name) are not supported; write the value out, or put the text in quotes")
	case *ast.TagNode:
		return y.fail(n, "tags (!name) are not supported; put the text in quotes")
	}
	return y.fail(n, "this kind of YAML is not supported")
}

func (y *yamlReader) list(n *ast.SequenceNode) *Node {
	out := newNode(List, n.GetToken(), "")
	out.Flow = n.IsFlowStyle
	outer := y.at
	for i, v := range n.Values {
		y.at = outer.Index(i, out.Line)
		out.Items = append(out.Items, y.value(v))
	}
	y.at = outer
	return out
}

// mapping reads the entries of a mapping. A block mapping begins at its first key, not at the
// colon that the parser reports.
func (y *yamlReader) mapping(values []*ast.MappingValueNode, whole *ast.MappingNode) *Node {
	out := &Node{Kind: Mapping}
	if whole != nil {
		out = newNode(Mapping, whole.GetToken(), "")
		if whole.IsFlowStyle && whole.Start != nil && whole.End != nil {
			out.Flow = true
			out.Start = y.offset(whole.Start)
			out.End = y.offset(whole.End) + 1
		}
	}
	outer := y.at
	defer func() { y.at = outer }()
	for _, v := range values {
		y.at = outer
		e, ok := y.key(v.Key)
		if !ok {
			continue
		}
		y.at = outer.Key(e.Key, e.Line)
		e.Value = y.value(v.Value)
		if e.Value.Line == 0 {
			e.Value.Line = e.Line
			e.Value.Column = e.Column
		}
		out.Entries = append(out.Entries, e)
	}
	if !out.Flow && len(out.Entries) > 0 {
		out.Line = out.Entries[0].Line
		out.Column = out.Entries[0].Column
	}
	return out
}

// key reads a mapping's key. Numbers and the like count as their source text.
func (y *yamlReader) key(k ast.MapKeyNode) (Entry, bool) {
	tk := k.GetToken()
	at := newNode(Text, tk, "")
	e := Entry{Line: at.Line, Column: at.Column, Start: y.offset(tk)}
	if tk != nil {
		e.Key = tk.Value
	}
	switch k := k.(type) {
	case *ast.StringNode:
		e.Key = k.Value
	case *ast.NullNode, *ast.BoolNode, *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
	case *ast.MergeKeyNode:
		y.fail(k, "merge keys (<<) are not supported; write the keys out")
		return e, false
	case *ast.AliasNode:
		y.fail(k, `a key that starts with "*" is an alias; put it in quotes`)
		return e, false
	default:
		y.fail(k, "this kind of key is not supported; use plain text")
		return e, false
	}
	return e, true
}

// offset returns where a token stands in the text. The lexer counts columns in characters.
func (y *yamlReader) offset(tk *token.Token) int {
	if tk == nil || tk.Position == nil || tk.Position.Line < 1 || tk.Position.Line > len(y.starts) {
		return 0
	}
	at := y.starts[tk.Position.Line-1]
	for i := 1; i < tk.Position.Column && at < len(y.src); i++ {
		_, size := utf8.DecodeRuneInString(y.src[at:])
		at += size
	}
	return at
}

func lineStarts(s string) []int {
	starts := []int{0}
	for line := range strings.Lines(s) {
		starts = append(starts, starts[len(starts)-1]+len(line))
	}
	return starts
}
