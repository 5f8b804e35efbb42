package clientfile

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/toolfit/toolfit/internal/base/doctree"
)

// The part of TOML that is in the configuration files of clients: tables, arrays of tables,
// dotted and quoted keys, text of all four kinds, numbers, dates, lists and inline tables.
// Anything else is a problem with its line, never a guess.

func isTOML(path string) bool { return strings.EqualFold(filepath.Ext(path), ".toml") }

// tomlTable is one table as it is written: from its header to the end of its last value.
type tomlTable struct {
	path       []string
	array      bool // [[…]]
	start, end int
	node       *doctree.Node
}

// readTOML reads text into a tree. The tables are in the order of the file; the first has no header.
func readTOML(text string) (root *doctree.Node, tables []tomlTable, found doctree.Problems) {
	r := &tomlReader{src: text, root: &doctree.Node{Kind: doctree.Mapping, Line: 1}}
	r.tables = []tomlTable{{node: r.root}}
	r.file()
	if r.err != nil {
		return nil, nil, doctree.Problems{{Line: doctree.LineAt(text, r.at), Text: "is not TOML that can be read: " + r.err.Error()}}
	}
	return r.root, r.tables, nil
}

// tomlReader stops at its first error.
type tomlReader struct {
	src    string
	at     int
	err    error
	seen   int // bytes whose lines are counted
	lines  int
	pairs  int
	depth  int
	root   *doctree.Node
	tables []tomlTable
}

func (r *tomlReader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}

var (
	tomlSpace = regexp.MustCompile(`^[ \t]*`)
	tomlBlank = regexp.MustCompile(`^(?:[ \t\n]|#[^\n]*)*`)
	tomlEnd   = regexp.MustCompile(`^[ \t]*(?:#[^\n]*)?`)
	bareKey   = regexp.MustCompile(`^[A-Za-z0-9_-]+`)
	// otherScalar is every number, date and time. Which one it is does not matter here.
	otherScalar = regexp.MustCompile(`^[+-]?[0-9A-Za-z_.:+-]+( [0-9]{2}:[0-9.:+-]+[A-Za-z]?)?`)
)

// skip moves over what the pattern matches and returns it.
func (r *tomlReader) skip(pattern *regexp.Regexp) string {
	found := pattern.FindString(r.src[r.at:])
	r.at += len(found)
	return found
}

// next reports whether the word comes next.
func (r *tomlReader) next(word string) bool { return strings.HasPrefix(r.src[r.at:], word) }

// take moves over the word if it comes next.
func (r *tomlReader) take(word string) bool {
	if !r.next(word) {
		return false
	}
	r.at += len(word)
	return true
}

// line returns the current line, from 1.
func (r *tomlReader) line() int {
	r.lines += strings.Count(r.src[r.seen:r.at], "\n")
	r.seen = r.at
	return 1 + r.lines
}

func (r *tomlReader) file() {
	for r.skip(tomlBlank); r.at < len(r.src) && r.err == nil; r.skip(tomlBlank) {
		if r.next("[") {
			r.header()
		} else {
			table := &r.tables[len(r.tables)-1]
			r.pair(table.node)
			table.end = r.at
		}
		if r.err != nil {
			return
		}
		r.skip(tomlEnd)
		if r.at < len(r.src) && !r.next("\n") {
			r.fail("expected the end of the line, got %q", []rune(r.src[r.at:])[0])
		}
	}
}

// header reads [a.b] or [[a.b]].
func (r *tomlReader) header() {
	t := tomlTable{start: r.at, array: r.next("[[")}
	closing := "]"
	if t.array {
		closing = "]]"
	}
	r.at += len(closing)
	t.path = r.path()
	if !r.take(closing) {
		r.fail("expected %q after the name of a table", closing)
	}
	t.end = r.at
	t.node = r.enter(r.root, t.path, t.array)
	for _, other := range r.tables[1:] {
		if !t.array && !other.array && other.node == t.node {
			r.fail("table %s is given twice", strings.Join(t.path, "."))
		}
	}
	r.tables = append(r.tables, t)
}

// enter finds or makes the table under the path; in an array of tables, the last one.
func (r *tomlReader) enter(n *doctree.Node, path []string, array bool) *doctree.Node {
	for i, key := range path {
		child := n.Find(key)
		last := array && i == len(path)-1
		if child == nil {
			child = &doctree.Node{Kind: doctree.Mapping, Line: r.line()}
			if last {
				child.Kind = doctree.List
			}
			n.Entries = append(n.Entries, doctree.Entry{Key: key, Line: child.Line, Value: child})
		}
		if last && child.Kind == doctree.List {
			child.Items = append(child.Items, &doctree.Node{Kind: doctree.Mapping, Line: r.line()})
		}
		if child.Kind == doctree.List && len(child.Items) > 0 {
			child = child.Items[len(child.Items)-1]
		}
		if child.Kind != doctree.Mapping || child.Flow {
			r.fail("%s is given twice, once as a table and once as a value", strings.Join(path[:i+1], "."))
			return child
		}
		n = child
	}
	return n
}

// pair reads key = value into the table.
func (r *tomlReader) pair(table *doctree.Node) {
	const most = 20_000 // each is compared with its neighbors
	r.pairs++
	if r.pairs > most {
		r.fail("it holds more than %d values; is it the right file?", most)
	}
	e := doctree.Entry{Start: r.at, Line: r.line()}
	path := r.path()
	if !r.take("=") {
		r.fail("expected %q after a key", "=")
	}
	if r.err != nil {
		return
	}
	r.skip(tomlSpace)
	e.Key = path[len(path)-1]
	table = r.enter(table, path[:len(path)-1], false)
	if table.Find(e.Key) != nil {
		r.fail("%s is given twice", e.Key)
	}
	if r.err != nil {
		return
	}
	e.Value = r.value()
	table.Entries = append(table.Entries, e)
}

// path reads a dotted key and the space after it.
func (r *tomlReader) path() (path []string) {
	for r.err == nil {
		r.skip(tomlSpace)
		if r.next(`"`) || r.next("'") {
			path = append(path, r.text())
		} else {
			path = append(path, r.skip(bareKey))
			if path[len(path)-1] == "" {
				r.fail("expected a key")
			}
		}
		r.skip(tomlSpace)
		if !r.take(".") {
			break
		}
		if len(path) > doctree.MaxDepth {
			r.fail("nested deeper than %d levels", doctree.MaxDepth)
		}
	}
	return path
}

func (r *tomlReader) value() *doctree.Node {
	n := &doctree.Node{Line: r.line(), Start: r.at, Flow: true}
	r.depth++
	defer func() { r.depth-- }()
	switch {
	case r.depth > doctree.MaxDepth:
		r.fail("nested deeper than %d levels", doctree.MaxDepth)
	case r.next(`"`), r.next("'"):
		n.Kind = doctree.Text
		n.Text = r.text()
	case r.take("["):
		n.Kind = doctree.List
		r.items("]", func() { n.Items = append(n.Items, r.value()) })
	case r.take("{"):
		n.Kind = doctree.Mapping
		n.Flow = false // its own keys may be entered while it is read
		r.items("}", func() { r.pair(n) })
		n.Flow = true
	default:
		n.Kind = doctree.Number
		n.Text = r.skip(otherScalar)
		switch {
		case n.Text == "true" || n.Text == "false":
			n.Kind = doctree.Bool
		case n.Text == "" || !strings.ContainsAny(n.Text[:1], "+-0123456789") && !slices.Contains([]string{"inf", "nan"}, n.Text):
			r.fail("expected a value; put text in quotes")
		}
	}
	n.End = r.at
	return n
}

// items reads what stands between commas, up to the closing bracket.
func (r *tomlReader) items(closing string, item func()) {
	for r.err == nil {
		r.skip(tomlBlank)
		if r.take(closing) {
			return
		}
		item()
		r.skip(tomlBlank)
		if !r.take(",") && !r.next(closing) {
			r.fail("expected %q or %q", ",", closing)
		}
	}
}

type tomlText struct {
	quote   string
	pattern *regexp.Regexp
}

// tomlTexts are the four kinds of text. Quotes may stand before the closing ones of a long text.
var tomlTexts = []tomlText{
	{`"""`, regexp.MustCompile(`(?s)^"""\n?((?:[^\\]|\\.)*?"*)"""`)},
	{`'''`, regexp.MustCompile(`(?s)^'''\n?(.*?'*)'''`)},
	{`"`, regexp.MustCompile(`^"((?:[^"\\\n]|\\.)*)"`)},
	{`'`, regexp.MustCompile(`^'([^'\n]*)'`)},
}

// text reads text in quotes.
func (r *tomlReader) text() string {
	i := slices.IndexFunc(tomlTexts, func(t tomlText) bool { return r.next(t.quote) })
	kind := tomlTexts[i]
	m := kind.pattern.FindStringSubmatchIndex(r.src[r.at:])
	if m == nil {
		if len(kind.quote) > 1 {
			r.at = len(r.src)
		}
		r.fail("text without its closing quote")
		return ""
	}
	inside := r.src[r.at+m[2] : r.at+m[3]]
	if kind.quote[0] == '"' {
		inside = r.unescaped(inside, len(kind.quote) > 1)
	}
	r.at += m[1]
	return inside
}

// lineBreak is a backslash at the end of a line, which joins it with the next text.
var lineBreak = regexp.MustCompile(`^\\[ \t]*\n[ \t\n]*`)

// unescaped replaces the escapes of a text. Go knows the same ones, except for \e.
func (r *tomlReader) unescaped(s string, long bool) string {
	var out strings.Builder
	for {
		before, _, found := strings.Cut(s, `\`)
		out.WriteString(before)
		if !found {
			return out.String()
		}
		s = s[len(before):]
		if joined := lineBreak.FindString(s); long && joined != "" {
			s = s[len(joined):]
			continue
		}
		if strings.HasPrefix(s, `\e`) {
			s = `\x1b` + s[2:]
		}
		c, _, rest, err := strconv.UnquoteChar(s, '"')
		if err != nil || !strings.ContainsRune(`btnfr"\uUx`, rune(s[1])) {
			r.fail("an unknown escape in text" + doctree.BackslashHint)
			return ""
		}
		s = rest
		out.WriteRune(c)
	}
}
