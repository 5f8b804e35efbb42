package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The part of TOML that is in the configuration files of clients: tables, arrays of tables,
// dotted and quoted keys, text of all four kinds, numbers, dates, lists and inline tables.
// Anything else is a problem with its line, never a guess.

func isTOML(path string) bool { return strings.EqualFold(filepath.Ext(path), ".toml") }

// tomlTable is one table as it is written: from its header to the end of its last value.
type tomlTable struct {
	path    []string
	many    bool // [[…]]
	at, end int
	node    *node
}

// readTOML reads text into a tree. tables are in the order of the file; the first has no header.
func readTOML(text string) (root *node, tables []tomlTable, found problems) {
	r := &tomlReader{src: text, root: &node{kind: object, line: 1}}
	r.tables = []tomlTable{{node: r.root}}
	if err := r.file(); err != nil {
		return nil, nil, problems{{line: lineAt(text, r.at), text: "is not TOML that can be read: " + err.Error()}}
	}
	return r.root, r.tables, nil
}

type tomlReader struct {
	src    string
	at     int
	seen   int // bytes whose lines are counted
	lines  int
	pairs  int
	depth  int
	root   *node
	tables []tomlTable
}

func (r *tomlReader) file() error {
	for {
		if r.blank(); r.at >= len(r.src) {
			return nil
		}
		var err error
		if r.src[r.at] == '[' {
			err = r.header()
		} else {
			table := &r.tables[len(r.tables)-1]
			err = r.pair(table.node)
			table.end = r.at
		}
		if err != nil {
			return err
		}
		if err := r.lineEnd(); err != nil {
			return err
		}
	}
}

// line is the line of the place that has been reached, from 1.
func (r *tomlReader) line() int {
	r.lines += strings.Count(r.src[r.seen:r.at], "\n")
	r.seen = r.at
	return 1 + r.lines
}

// blank skips white space, line ends and comments.
func (r *tomlReader) blank() {
	for r.at < len(r.src) {
		switch r.src[r.at] {
		case ' ', '\t', '\n':
			r.at++
		case '#':
			r.comment()
		default:
			return
		}
	}
}

func (r *tomlReader) comment() {
	if i := strings.IndexByte(r.src[r.at:], '\n'); i >= 0 {
		r.at += i
		return
	}
	r.at = len(r.src)
}

func (r *tomlReader) space() {
	for r.at < len(r.src) && (r.src[r.at] == ' ' || r.src[r.at] == '\t') {
		r.at++
	}
}

func (r *tomlReader) lineEnd() error {
	if r.space(); r.at < len(r.src) && r.src[r.at] == '#' {
		r.comment()
	}
	if r.at < len(r.src) && r.src[r.at] != '\n' {
		return fmt.Errorf("expected the end of the line, got %q", r.rune())
	}
	return nil
}

func (r *tomlReader) rune() rune {
	c, _ := utf8.DecodeRuneInString(r.src[r.at:])
	return c
}

// take reads the word if it comes next.
func (r *tomlReader) take(word string) bool {
	if !strings.HasPrefix(r.src[r.at:], word) {
		return false
	}
	r.at += len(word)
	return true
}

// header reads [a.b] or [[a.b]].
func (r *tomlReader) header() error {
	t := tomlTable{at: r.at, many: strings.HasPrefix(r.src[r.at:], "[[")}
	open, end := "[", "]"
	if t.many {
		open, end = "[[", "]]"
	}
	r.take(open)
	var err error
	if t.path, err = r.path(); err != nil {
		return err
	}
	if !r.take(end) {
		return fmt.Errorf("expected %q after the name of a table", end)
	}
	t.end = r.at
	t.node, err = r.enter(r.root, t.path, t.many)
	if err != nil {
		return err
	}
	for _, other := range r.tables[1:] {
		if !t.many && !other.many && other.node == t.node {
			return fmt.Errorf("table %s is given twice", strings.Join(t.path, "."))
		}
	}
	r.tables = append(r.tables, t)
	return nil
}

// enter finds or makes the table at the path. The last of an array of tables is the one meant.
func (r *tomlReader) enter(n *node, path []string, many bool) (*node, error) {
	for i, key := range path {
		child := n.find(key)
		last := many && i == len(path)-1
		switch {
		case child == nil && last:
			child = &node{kind: list, line: r.line()}
			n.entries = append(n.entries, entry{key: key, line: child.line, value: child})
		case child == nil:
			child = &node{kind: object, line: r.line()}
			n.entries = append(n.entries, entry{key: key, line: child.line, value: child})
		}
		if last && child.kind == list {
			child.items = append(child.items, &node{kind: object, line: r.line()})
		}
		if child.kind == list && len(child.items) > 0 {
			child = child.items[len(child.items)-1]
		}
		if child.kind != object || child.flow {
			return nil, fmt.Errorf("%s is given twice, once as a table and once as a value", strings.Join(path[:i+1], "."))
		}
		n = child
	}
	return n, nil
}

// pair reads key = value into the table.
func (r *tomlReader) pair(table *node) error {
	const most = 20_000 // each is compared with its neighbors
	if r.pairs++; r.pairs > most {
		return fmt.Errorf("it holds more than %d values; is it the right file?", most)
	}
	at, line := r.at, r.line()
	path, err := r.path()
	if err != nil {
		return err
	}
	if !r.take("=") {
		return fmt.Errorf("expected %q after a key", "=")
	}
	r.space()
	if table, err = r.enter(table, path[:len(path)-1], false); err != nil {
		return err
	}
	key := path[len(path)-1]
	if table.find(key) != nil {
		return fmt.Errorf("%s is given twice", key)
	}
	value, err := r.value()
	if err != nil {
		return err
	}
	table.entries = append(table.entries, entry{key: key, line: line, at: at, value: value})
	return nil
}

var bareKey = regexp.MustCompile(`^[A-Za-z0-9_-]+`)

// path reads a dotted key and the space after it.
func (r *tomlReader) path() ([]string, error) {
	var path []string
	for {
		r.space()
		switch {
		case r.at < len(r.src) && (r.src[r.at] == '"' || r.src[r.at] == '\''):
			key, err := r.text()
			if err != nil {
				return nil, err
			}
			path = append(path, key)
		default:
			key := bareKey.FindString(r.src[r.at:])
			if key == "" {
				return nil, fmt.Errorf("expected a key")
			}
			r.at += len(key)
			path = append(path, key)
		}
		if r.space(); !r.take(".") {
			return path, nil
		}
		if len(path) > maxDepth {
			return nil, fmt.Errorf("nested deeper than %d levels", maxDepth)
		}
	}
}

// otherScalar is every number, date and time. Which it is does not matter here.
var otherScalar = regexp.MustCompile(`^[+-]?[0-9A-Za-z_.:+-]+( [0-9]{2}:[0-9.:+-]+[A-Za-z]?)?`)

func (r *tomlReader) value() (*node, error) {
	n := &node{line: r.line(), at: r.at, flow: true}
	if r.at >= len(r.src) {
		return nil, fmt.Errorf("expected a value, got the end of the file")
	}
	if r.depth++; r.depth > maxDepth {
		return nil, fmt.Errorf("nested deeper than %d levels", maxDepth)
	}
	defer func() { r.depth-- }()
	var err error
	switch c := r.src[r.at]; {
	case c == '"' || c == '\'':
		n.kind = text
		n.text, err = r.text()
	case c == '[':
		n.kind = list
		err = r.list(n)
	case c == '{':
		n.kind = object
		err = r.inline(n)
	default:
		n.text = otherScalar.FindString(r.src[r.at:])
		r.at += len(n.text)
		n.kind = number
		switch {
		case n.text == "true" || n.text == "false":
			n.kind = boolean
		case n.text == "" || !strings.ContainsAny(n.text[:1], "+-0123456789") && !slices.Contains([]string{"inf", "nan"}, n.text):
			err = fmt.Errorf("expected a value; text stands in quotes")
		}
	}
	n.end = r.at
	return n, err
}

func (r *tomlReader) list(n *node) error {
	r.take("[")
	for {
		if r.blank(); r.take("]") {
			return nil
		}
		item, err := r.value()
		if err != nil {
			return err
		}
		n.items = append(n.items, item)
		if r.blank(); !r.take(",") && !strings.HasPrefix(r.src[r.at:], "]") {
			return fmt.Errorf("expected %q or %q in a list", ",", "]")
		}
	}
}

func (r *tomlReader) inline(n *node) error {
	r.take("{")
	n.flow = false // its own keys may be entered while it is read
	defer func() { n.flow = true }()
	for {
		if r.blank(); r.take("}") {
			return nil
		}
		if err := r.pair(n); err != nil {
			return err
		}
		if r.blank(); !r.take(",") && !strings.HasPrefix(r.src[r.at:], "}") {
			return fmt.Errorf("expected %q or %q in a table", ",", "}")
		}
	}
}

// text reads text in quotes, of one line or of several.
func (r *tomlReader) text() (string, error) {
	quote := r.src[r.at : r.at+1]
	if long := strings.Repeat(quote, 3); r.take(long) {
		r.take("\n")
		return r.until(long, quote == `"`, true)
	}
	r.take(quote)
	return r.until(quote, quote == `"`, false)
}

// until reads text up to the closing quotes.
func (r *tomlReader) until(end string, escapes, lines bool) (string, error) {
	var out strings.Builder
	for r.at < len(r.src) {
		switch {
		case r.take(end):
			for lines && r.at < len(r.src) && r.src[r.at] == end[0] { // quotes may stand before the closing ones
				out.WriteByte(end[0])
				r.at++
			}
			return out.String(), nil
		case escapes && r.src[r.at] == '\\':
			if err := r.escape(&out, lines); err != nil {
				return "", err
			}
		case r.src[r.at] == '\n' && !lines:
			return "", fmt.Errorf("text without its closing quote")
		default:
			out.WriteByte(r.src[r.at])
			r.at++
		}
	}
	return "", fmt.Errorf("text without its closing quote")
}

// escape reads what follows a backslash. JSON and Go know the same ones, but for \e.
func (r *tomlReader) escape(out *strings.Builder, lines bool) error {
	if rest := strings.TrimLeft(r.src[r.at+1:], " \t"); lines && strings.HasPrefix(rest, "\n") {
		r.at = len(r.src) - len(strings.TrimLeft(rest, " \t\n"))
		return nil
	}
	if strings.HasPrefix(r.src[r.at:], `\e`) {
		r.at += 2
		out.WriteByte(0x1b)
		return nil
	}
	if at := r.at + 1; at >= len(r.src) || !strings.ContainsRune(`btnfr"\uUx`, rune(r.src[at])) {
		return errors.New("an unknown escape in text" + backslash)
	}
	c, _, rest, err := strconv.UnquoteChar(r.src[r.at:], '"')
	if err != nil {
		return errors.New("an unknown escape in text" + backslash)
	}
	r.at = len(r.src) - len(rest)
	out.WriteRune(c)
	return nil
}
