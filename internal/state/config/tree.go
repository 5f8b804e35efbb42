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
	raw  string // as it stands in the file
	text string // without byte order mark, lines ended by \n
	crlf bool   // most lines end in \r\n
	json bool
	root *node

	tables []tomlTable // of a TOML file
}

// bytes is the edited text as it goes into the file. What the edit left alone keeps its
// bytes, whatever its line endings are.
func (s *source) bytes(edited string) []byte {
	from := 0
	for from < min(len(s.text), len(edited)) && s.text[from] == edited[from] {
		from++
	}
	tail := 0
	for tail < min(len(s.text), len(edited))-from && s.text[len(s.text)-1-tail] == edited[len(edited)-1-tail] {
		tail++
	}
	added := edited[from : len(edited)-tail]
	if s.crlf {
		added = strings.ReplaceAll(added, "\n", "\r\n")
	}
	return []byte(s.raw[:s.rawOffset(from)] + added + s.raw[s.rawOffset(len(s.text)-tail):])
}

// rawOffset is where in raw the byte of an offset in text stands.
func (s *source) rawOffset(at int) int {
	raw := 0
	if strings.HasPrefix(s.raw, bom) {
		raw = len(bom)
	}
	for ; at > 0; at-- {
		if strings.HasPrefix(s.raw[raw:], "\r\n") {
			raw++
		}
		raw++
	}
	return raw
}

const bom = "\ufeff"

// readSource reads a file's text into a tree. Where no tree can be made, the source is nil.
func readSource(path string, data []byte) (*source, problems) {
	src, found := readText(data)
	if src == nil {
		return nil, found
	}
	if src.json = OfClient(path); src.json {
		src.root, found = readJSON(src.text)
	} else {
		src.root, found = readYAML(src.text)
	}
	if src.root == nil {
		return nil, found
	}
	return src, found
}

// readText is the part of reading that all formats share. Where the text is none, the source is nil.
func readText(data []byte) (*source, problems) {
	if len(data) > maxFile {
		return nil, problems{{text: "is larger than 4 MB; is it the right file?"}}
	}
	raw := string(data)
	if strings.HasPrefix(raw, "\xff\xfe") || strings.HasPrefix(raw, "\xfe\xff") {
		return nil, problems{{line: 1, text: "is UTF-16; save it as UTF-8"}}
	}
	src := &source{raw: raw}
	raw = strings.TrimPrefix(raw, bom)
	if at := invalidUTF8(raw); at >= 0 {
		return nil, problems{{line: lineAt(raw, at), text: "is not UTF-8; save it as UTF-8"}}
	}
	pairs := strings.Count(raw, "\r\n")
	src.crlf = pairs > 0 && 2*pairs >= strings.Count(raw, "\n")
	src.text = strings.ReplaceAll(strings.ReplaceAll(raw, "\r\n", "\n"), "\r", "\n")
	return src, nil
}

// OfClient tells whether a file is read as one of an MCP client, by its name.
func OfClient(path string) bool {
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
