package doctree

import (
	"strings"
	"unicode/utf8"
)

// maxSize bounds a document; the largest that people write are far smaller.
const maxSize = 4 << 20

const bom = "\ufeff"

// Source is a document's text with the tree read from it.
type Source struct {
	Text string // without byte order mark, lines ended by \n
	Root *Node
	JSON bool

	raw  string // as given
	crlf bool   // most lines end in \r\n
}

// NewSource checks and normalizes a document's text; Root is still to be set. A nil Source
// comes with the reason.
func NewSource(data []byte) (*Source, Problems) {
	if len(data) > maxSize {
		return nil, Problems{{Text: "is larger than 4 MB; is it the right file?"}}
	}
	raw := string(data)
	if strings.HasPrefix(raw, "\xff\xfe") || strings.HasPrefix(raw, "\xfe\xff") {
		return nil, Problems{{Line: 1, Text: "is UTF-16; save it as UTF-8"}}
	}
	src := &Source{raw: raw}
	raw = strings.TrimPrefix(raw, bom)
	for i, r := range raw {
		if r == utf8.RuneError && !strings.HasPrefix(raw[i:], string(utf8.RuneError)) {
			return nil, Problems{{Line: LineAt(raw, i), Text: "is not UTF-8; save it as UTF-8"}}
		}
	}
	pairs := strings.Count(raw, "\r\n")
	src.crlf = pairs > 0 && 2*pairs >= strings.Count(raw, "\n")
	src.Text = strings.ReplaceAll(strings.ReplaceAll(raw, "\r\n", "\n"), "\r", "\n")
	return src, nil
}

// ParseYAML reads a YAML document. Without a tree the Source is nil.
func ParseYAML(data []byte) (*Source, Problems) { return parse(data, readYAML) }

// ParseJSON reads a JSON document. Comments and trailing commas are fine, as in VS Code.
func ParseJSON(data []byte) (*Source, Problems) {
	src, found := parse(data, readJSON)
	if src != nil {
		src.JSON = true
	}
	return src, found
}

func parse(data []byte, read func(string) (*Node, Problems)) (*Source, Problems) {
	src, found := NewSource(data)
	if src == nil {
		return nil, found
	}
	src.Root, found = read(src.Text)
	if src.Root == nil {
		return nil, found
	}
	return src, found
}

// Bytes returns the document with the text edited. What the edit did not touch keeps its bytes,
// including its line endings.
func (s *Source) Bytes(edited string) []byte {
	most := min(len(s.Text), len(edited))
	from := 0
	for from < most && s.Text[from] == edited[from] {
		from++
	}
	tail := 0
	for tail < most-from && s.Text[len(s.Text)-1-tail] == edited[len(edited)-1-tail] {
		tail++
	}
	added := edited[from : len(edited)-tail]
	if s.crlf {
		added = strings.ReplaceAll(added, "\n", "\r\n")
	}
	return []byte(s.raw[:s.rawOffset(from)] + added + s.raw[s.rawOffset(len(s.Text)-tail):])
}

// rawOffset translates an offset in Text to one in raw.
func (s *Source) rawOffset(at int) int {
	raw := len(s.raw) - len(strings.TrimPrefix(s.raw, bom))
	for ; at > 0; at-- {
		if strings.HasPrefix(s.raw[raw:], "\r\n") {
			raw++
		}
		raw++
	}
	return raw
}

// LineAt returns the line, from 1, of a byte offset.
func LineAt(s string, at int) int {
	return 1 + strings.Count(s[:min(max(at, 0), len(s))], "\n")
}
