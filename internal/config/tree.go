package config

import (
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// kind is what a value is in the file, whichever the format.
type kind int

const (
	nothing kind = iota
	boolean
	number
	text
	list
	object
	broken // reported already: say no more about it
)

func (k kind) String() string {
	return [...]string{"nothing", "true or false", "a number", "text", "a list", "a mapping", "something unreadable"}[k]
}

// node is one value of a file. Both formats are read into it, so that there is one
// decoder and one way to edit.
type node struct {
	kind    kind
	line    int
	text    string // a scalar: text without quotes, anything else as written
	items   []*node
	entries []entry
	flow    bool // written in braces
	at, end int  // byte range in the text; end is 0 where the format does not tell it
}

// entry is one key of a mapping with its value.
type entry struct {
	key   string
	line  int
	col   int // of the key, from 1
	at    int // byte offset of the key
	value *node
}

// find returns the value of the key, or nil.
func (n *node) find(key string) *node {
	if n == nil {
		return nil
	}
	for _, e := range n.entries {
		if e.key == key {
			return e.value
		}
	}
	return nil
}

// equal tells whether two values mean the same, wherever they stand.
func equal(a, b *node) bool {
	if a.kind != b.kind || a.text != b.text || len(a.items) != len(b.items) || len(a.entries) != len(b.entries) {
		return false
	}
	for i := range a.items {
		if !equal(a.items[i], b.items[i]) {
			return false
		}
	}
	for i := range a.entries {
		if a.entries[i].key != b.entries[i].key || !equal(a.entries[i].value, b.entries[i].value) {
			return false
		}
	}
	return true
}

// source is a file's text with the tree read from it.
type source struct {
	text string // without byte order mark, lines ended by \n
	bom  bool
	crlf bool
	json bool
	root *node
}

// bytes is the text as it goes into the file.
func (s *source) bytes(text string) []byte {
	if s.crlf {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	if s.bom {
		text = bom + text
	}
	return []byte(text)
}

const bom = "\ufeff"

// readSource reads a file's text into a tree. Where no tree can be made, the source is nil.
func readSource(path string, data []byte) (*source, problems) {
	if len(data) > maxFile {
		return nil, problems{{text: "is larger than 4 MB; is it the right file?"}}
	}
	raw := string(data)
	if strings.HasPrefix(raw, "\xff\xfe") || strings.HasPrefix(raw, "\xfe\xff") {
		return nil, problems{{line: 1, text: "is UTF-16; save it as UTF-8"}}
	}
	src := &source{json: isJSON(path)}
	raw, src.bom = strings.CutPrefix(raw, bom)
	if at := invalidUTF8(raw); at >= 0 {
		return nil, problems{{line: lineAt(raw, at), text: "is not UTF-8; save it as UTF-8"}}
	}
	pairs := strings.Count(raw, "\r\n")
	src.crlf = pairs > 0 && pairs == strings.Count(raw, "\n")
	src.text = strings.ReplaceAll(strings.ReplaceAll(raw, "\r\n", "\n"), "\r", "\n")

	var found problems
	if src.json {
		src.root, found = readJSON(src.text)
	} else {
		src.root, found = readYAML(src.text)
	}
	if src.root == nil {
		return nil, found
	}
	return src, found
}

func isJSON(path string) bool {
	ext := strings.ToLower(filepath.Ext(path))
	return ext == ".json" || ext == ".jsonc"
}

// invalidUTF8 is the offset of the first byte that is no UTF-8, or -1.
func invalidUTF8(s string) int {
	if utf8.ValidString(s) {
		return -1
	}
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size <= 1 {
			return i
		}
		i += size
	}
	return -1
}

// lineAt is the line, from 1, of a byte offset.
func lineAt(s string, at int) int {
	return 1 + strings.Count(s[:min(max(at, 0), len(s))], "\n")
}
