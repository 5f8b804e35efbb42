package toolcall

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// maxDepth limits the nesting of values.
const maxDepth = 200

// Repair reads JSON as models write it: brackets and commas may be missing or too many, keys may
// lack quotes, words may be Python's. Valid JSON stays as it is. An unterminated string is an
// error.
func Repair(text string) (value json.RawMessage, missing Missing, err error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil, Nothing, errors.New("the call is empty")
	}
	if rawjson.Check([]byte(text)) == nil && (text[0] == '{' || text[0] == '[') {
		return json.RawMessage(text), Nothing, nil
	}
	m := repairer{in: text}
	if c := text[0]; c != '{' && c != '[' {
		if !m.named() {
			return nil, Nothing, fmt.Errorf("expected a JSON object, got %.40q", text)
		}
		m = repairer{in: "{" + text}
	}
	if err := m.value(0); err != nil {
		return nil, Nothing, fmt.Errorf("at byte %d: %w", m.at, err)
	}
	if rest := strings.Trim(m.in[m.at:], " \t\r\n}];,`"); rest != "" {
		return nil, Nothing, fmt.Errorf("at byte %d: after the object comes %.40q", m.at, rest)
	}
	if err := rawjson.Check(m.out); err != nil {
		return nil, Nothing, err
	}
	return m.out, m.missing, nil
}

// Missing is what was missing at the end of a text.
type Missing int

const (
	Nothing  Missing = iota
	Brackets         // it ended before they were closed
	InNumber         // it ended behind a number, of which more may have been to come
)

type repairer struct {
	in      string
	at      int
	out     []byte
	missing Missing
}

func (m *repairer) blanks(also string) {
	for m.at < len(m.in) && strings.IndexByte(" \t\r\n"+also, m.in[m.at]) >= 0 {
		m.at++
	}
}

// named tells whether a member begins here: the bracket before it is missing.
func (m *repairer) named() bool {
	if c := m.in[m.at]; c != '"' && c != '\'' {
		return false
	}
	return m.key() == nil
}

func (m *repairer) value(depth int) error {
	m.blanks("")
	if m.at == len(m.in) {
		return errors.New("the text ends where a value is due")
	}
	if depth > maxDepth {
		return fmt.Errorf("values stand more than %d deep", maxDepth)
	}
	switch m.in[m.at] {
	case '{':
		return m.container('}', depth)
	case '[':
		return m.container(']', depth)
	case '"', '\'':
		return m.text()
	}
	return m.word()
}

// container reads an object or a list. The bracket of an outer one ends it too.
func (m *repairer) container(end byte, depth int) error {
	m.out = append(m.out, m.in[m.at])
	m.at++
	for first := true; ; first = false {
		m.blanks(",")
		if m.at == len(m.in) {
			m.missing = max(m.missing, Brackets)
			break
		}
		if c := m.in[m.at]; c == end || depth > 0 && (c == '}' || c == ']') {
			if c == end {
				m.at++
			}
			break
		}
		if !first {
			m.out = append(m.out, ',')
		}
		if end == '}' {
			if err := m.key(); err != nil {
				return err
			}
		}
		if err := m.value(depth + 1); err != nil {
			return err
		}
	}
	m.out = append(m.out, end)
	return nil
}

// key reads a name and the colon.
func (m *repairer) key() error {
	if c := m.in[m.at]; c == '"' || c == '\'' {
		if err := m.text(); err != nil {
			return err
		}
	} else {
		name := m.run()
		if name == "" {
			return fmt.Errorf("expected a name, got %.20q", m.in[m.at:])
		}
		m.out = rawjson.AppendString(m.out, name)
	}
	m.blanks("")
	if m.at == len(m.in) || m.in[m.at] != ':' {
		return errors.New(`expected ":" after a name`)
	}
	m.at++
	m.out = append(m.out, ':')
	return nil
}

// text reads a string, with line breaks and tabs.
func (m *repairer) text() error {
	quote := m.in[m.at]
	m.at++
	m.out = append(m.out, '"')
	for m.at < len(m.in) {
		c := m.in[m.at]
		switch {
		case c == quote:
			m.at++
			m.out = append(m.out, '"')
			return nil
		case c == '\\':
			if err := m.escape(); err != nil {
				return err
			}
			continue
		case c == '"':
			m.out = append(m.out, `\"`...)
		case c < ' ':
			m.out = fmt.Appendf(m.out, `\u%04x`, c)
		case c < utf8.RuneSelf:
			m.out = append(m.out, c)
		default:
			r, size := utf8.DecodeRuneInString(m.in[m.at:])
			m.out = utf8.AppendRune(m.out, r)
			m.at += size
			continue
		}
		m.at++
	}
	return errors.New("the text ends inside a string")
}

// escape reads a JSON escape; before any other character the backslash is literal, as in a Windows
// path.
func (m *repairer) escape() error {
	if m.at+1 == len(m.in) {
		return errors.New("the text ends inside a string")
	}
	c := m.in[m.at+1]
	switch {
	case c == '\'':
		m.out = append(m.out, '\'')
	case c == 'u' && m.at+6 <= len(m.in) && isHex(m.in[m.at+2:m.at+6]):
		m.out = append(m.out, m.in[m.at:m.at+6]...)
		m.at += 6
		return nil
	case strings.IndexByte(`"\/bfnrt`, c) >= 0:
		m.out = append(m.out, '\\', c)
	default:
		m.out = append(m.out, `\\`...)
		m.at++
		return nil
	}
	m.at += 2
	return nil
}

func isHex(s string) bool { return strings.Trim(s, "0123456789abcdefABCDEF") == "" }

// run returns the bare word at this place.
func (m *repairer) run() string {
	from := m.at
	for m.at < len(m.in) && strings.IndexByte(" \t\r\n,:{}[]\"'", m.in[m.at]) < 0 {
		m.at++
	}
	return m.in[from:m.at]
}

var pythons = map[string]string{"True": "true", "False": "false", "None": "null"}

// word reads a number, true, false or null.
func (m *repairer) word() error {
	from := m.at
	word := m.run()
	if p, ok := pythons[word]; ok {
		word = p
	}
	if word == "" || rawjson.Check([]byte(word)) != nil {
		m.at = from
		return fmt.Errorf("expected a value, got %.20q", m.in[from:])
	}
	if m.at == len(m.in) && strings.Trim(word, "0123456789.eE+-") == "" {
		m.missing = InNumber
	}
	m.out = append(m.out, word...)
	return nil
}
