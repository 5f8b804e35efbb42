package config

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
	maxDepth  = 100
	maxTokens = 60_000 // the parser's time grows with the square of a mapping's length
)

// readYAML reads text into a tree. A nil tree comes with the reason.
func readYAML(src string) (root *node, found problems) {
	defer func() {
		// The parser is not ours, and a file with a slip must not take the gateway down.
		if r := recover(); r != nil {
			root, found = nil, problems{{text: "is not YAML that can be read; look for an unclosed quote or bracket"}}
		}
	}()
	tokens := lexer.Tokenize(src)
	if bad := tokens.InvalidToken(); bad != nil {
		return nil, problems{{line: bad.Position.Line, text: explain(bad.Error, bad)}}
	}
	if len(tokens) > maxTokens {
		return nil, problems{{line: tokens[maxTokens].Position.Line, text: fmt.Sprintf("holds more than %d words; is it the right file?", maxTokens)}}
	}
	if line := tooDeep(tokens); line > 0 {
		return nil, problems{{line: line, text: fmt.Sprintf("is nested deeper than %d levels", maxDepth)}}
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, problems{syntaxProblem(err)}
	}
	y := &yamlReader{src: src, starts: lineStarts(src)}
	root = &node{kind: nothing, line: 1}
	seen := false
	for _, doc := range file.Docs {
		if doc.Body == nil {
			continue
		}
		if seen {
			y.fail(doc.Body, "starts a second document; keep one")
			break
		}
		root, seen = y.value(doc.Body), true
	}
	return root, y.found
}

// syntaxProblem takes line and message out of a parser's error.
func syntaxProblem(err error) problem {
	var at interface {
		GetMessage() string
		GetToken() *token.Token
	}
	if !errors.As(err, &at) || at.GetToken() == nil {
		return problem{text: "is not YAML: " + oneLine(err.Error())}
	}
	return problem{line: at.GetToken().Position.Line, text: explain(at.GetMessage(), at.GetToken())}
}

// backslash is the fix for a path of Windows between double quotes.
const backslash = `; write \\ for a backslash between double quotes, or use single quotes`

// explain adds the fix for the slips that people make most.
func explain(message string, tk *token.Token) string {
	text := "is not YAML: " + oneLine(message)
	switch {
	case strings.Contains(message, "'\t'"), strings.Contains(message, "tab"):
		return "is not YAML: a tab stands where indentation is expected; use spaces"
	case strings.Contains(message, "escape character"):
		return text + backslash
	case strings.Contains(message, "reserved character"):
		return text + "; put the text in quotes"
	case tk.Prev != nil && tk.Type == token.MappingStartType && strings.HasSuffix(tk.Prev.Value, "$"):
		return "is not YAML: ${…} stands inside { } or [ ] without quotes; put the text in quotes"
	}
	return text
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// tooDeep is the line where the tokens nest deeper than maxDepth, or 0. The parser
// recurses without a limit, so this must be known before it starts.
func tooDeep(tokens token.Tokens) int {
	var columns []int     // of the blocks that are open
	brackets, run := 0, 0 // open brackets; tokens in them since the last comma
	for _, tk := range tokens {
		switch tk.Type {
		case token.CommentType:
			continue
		case token.SequenceStartType, token.MappingStartType:
			brackets, run = brackets+1, 0
		case token.SequenceEndType, token.MappingEndType:
			brackets, run = max(0, brackets-1), 0
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
		if len(columns)+brackets+run > 2*maxDepth || brackets > maxDepth {
			return tk.Position.Line
		}
	}
	return 0
}

// yamlReader turns the parser's tree into ours.
type yamlReader struct {
	src    string
	starts []int // byte offset of each line
	found  problems
	depth  int
	at     place // of the value that is being read
}

func (y *yamlReader) fail(n ast.Node, format string, args ...any) *node {
	line := lineOf(n)
	y.found = append(y.found, problem{line: line, field: y.at.field, text: fmt.Sprintf(format, args...)})
	return &node{kind: broken, line: line}
}

func (y *yamlReader) value(n ast.Node) *node {
	y.depth++
	defer func() { y.depth-- }()
	if y.depth > maxDepth {
		return y.fail(n, "is nested deeper than %d levels", maxDepth)
	}
	switch n := n.(type) {
	case nil, *ast.CommentGroupNode:
		return &node{kind: nothing}
	case *ast.NullNode:
		out := &node{kind: nothing, line: lineOf(n)}
		if at := y.offset(n.Token); n.Token.Value != "" && strings.HasPrefix(y.src[at:], n.Token.Value) {
			out.at, out.end = at, at+len(n.Token.Value)
		}
		return out
	case *ast.BoolNode:
		return &node{kind: boolean, line: lineOf(n), text: n.Token.Value}
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return &node{kind: number, line: lineOf(n), text: n.GetToken().Value}
	case *ast.StringNode:
		return &node{kind: text, line: lineOf(n), text: n.Value}
	case *ast.LiteralNode:
		return &node{kind: text, line: n.Start.Position.Line, text: n.Value.Value}
	case *ast.SequenceNode:
		return y.list(n)
	case *ast.MappingNode:
		return y.mapping(n.Values, n)
	case *ast.MappingValueNode:
		return y.mapping([]*ast.MappingValueNode{n}, nil)
	case *ast.AliasNode:
		return y.fail(n, `text that starts with "*" is taken for an alias, and aliases are not supported; put it in quotes, or write the value out`)
	case *ast.AnchorNode:
		return y.fail(n, "anchors (&name) are not supported; write the value out, or put the text in quotes")
	case *ast.TagNode:
		return y.fail(n, "tags (!name) are not supported; put the text in quotes")
	}
	return y.fail(n, "this kind of YAML is not supported")
}

func (y *yamlReader) list(n *ast.SequenceNode) *node {
	out := &node{kind: list, line: lineOf(n), flow: n.IsFlowStyle}
	outer := y.at
	for i, v := range n.Values {
		y.at = outer.index(i, out.line)
		out.items = append(out.items, y.value(v))
	}
	y.at = outer
	return out
}

func (y *yamlReader) mapping(values []*ast.MappingValueNode, whole *ast.MappingNode) *node {
	out := &node{kind: object}
	if whole != nil {
		out.line = lineOf(whole)
		if whole.IsFlowStyle && whole.Start != nil && whole.End != nil {
			out.flow, out.at, out.end = true, y.offset(whole.Start), y.offset(whole.End)+1
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
		y.at = outer.key(e.key, e.line)
		e.value = y.value(v.Value)
		if e.value.line == 0 {
			e.value.line = e.line
		}
		out.entries = append(out.entries, e)
	}
	return out
}

// key reads a mapping's key. Numbers and the like count as their source text.
func (y *yamlReader) key(k ast.MapKeyNode) (entry, bool) {
	tk := k.GetToken()
	e := entry{line: lineOf(k), at: y.offset(tk)}
	if tk != nil {
		e.col = tk.Position.Column
		e.key = tk.Value
	}
	switch k := k.(type) {
	case *ast.StringNode:
		e.key = k.Value
	case *ast.NullNode, *ast.BoolNode, *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
	case *ast.MergeKeyNode:
		y.fail(k, "merge keys (<<) are not supported; write the keys out")
		return e, false
	case *ast.AliasNode:
		y.fail(k, `a key that starts with "*" is taken for an alias; put it in quotes`)
		return e, false
	default:
		y.fail(k, "this kind of key is not supported; use plain text")
		return e, false
	}
	return e, true
}

func lineOf(n ast.Node) int {
	if tk := n.GetToken(); tk != nil && tk.Position != nil {
		return tk.Position.Line
	}
	return 0
}

// offset is where a token stands in the text. The lexer counts columns in characters.
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
	for i := range len(s) {
		if s[i] == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}
