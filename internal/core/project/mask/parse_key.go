package mask

import (
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"
)

func isBare(r rune) bool {
	return !unicode.IsSpace(r) && !unicode.IsControl(r) && !strings.ContainsRune(`,()/!~[]"\`, r)
}

func (p *parser) key() (key, error) {
	if p.peek() == '"' {
		return p.quoted()
	}
	start := p.pos
	for p.pos < len(p.src) {
		r, n := utf8.DecodeRuneInString(p.src[p.pos:])
		if !isBare(r) {
			break
		}
		p.pos += n
	}
	text := p.src[start:p.pos]
	if i := strings.Index(text, "**"); i >= 0 {
		p.pos = start + i
		return key{}, p.unexpected()
	}
	if text == "" {
		return key{}, p.unexpected()
	}
	return key{text, strings.Contains(text, "*")}, nil
}

func (p *parser) quoted() (key, error) {
	start := p.pos
	for p.pos++; p.pos < len(p.src) && p.src[p.pos] != '"'; p.pos++ {
		if p.src[p.pos] == '\\' {
			p.pos++
		}
	}
	if p.pos >= len(p.src) {
		p.pos = len(p.src)
		return key{}, p.fail(start, `add "`, "the quoted name does not end")
	}
	p.pos++
	var text string
	if err := json.Unmarshal([]byte(p.src[start:p.pos]), &text); err != nil {
		return key{}, p.fail(start, `quote as in JSON: \" and \\`, "the quoted name is not a JSON string")
	}
	return key{text: text}, nil
}

// modifiers reads a slice and a cap. A name that comes twice must not have different ones.
func (p *parser) modifiers(d *step) error {
	start := p.pos
	if p.peek() == '[' {
		rows, err := p.slice()
		if err != nil {
			return err
		}
		if d.rows.set && d.rows != rows {
			return p.fail(start, "", "the same name has another slice already")
		}
		d.rows = rows
	}
	start = p.pos
	if !p.take('~') {
		return nil
	}
	n, err := p.number()
	if err != nil {
		return err
	}
	if d.limit != noCap && d.limit != n {
		return p.fail(start, "", "the same name has another cap already")
	}
	d.limit = n
	return nil
}

const sliceForms = "a slice is [:20], [5:10], [5:] or [-3:]"

func (p *parser) slice() (s slice, err error) {
	p.pos++
	s = slice{set: true, to: -1}
	switch {
	case p.take('-'):
		s.last = true
		s.count, err = p.number()
	case p.peek() != ':':
		s.from, err = p.number()
	}
	if err != nil {
		return s, err
	}
	if !p.take(':') {
		return s, p.fail(p.pos, sliceForms, "a colon is missing in the slice")
	}
	if !s.last && p.peek() != ']' {
		s.to, err = p.number()
		if err != nil {
			return s, err
		}
	}
	if !p.take(']') {
		return s, p.fail(p.pos, sliceForms, "the slice does not end")
	}
	return s, nil
}

func (p *parser) number() (int, error) {
	start := p.pos
	n := 0
	for p.pos < len(p.src) && p.src[p.pos] >= '0' && p.src[p.pos] <= '9' {
		n = n*10 + int(p.src[p.pos]-'0')
		if n > maxNumber {
			return 0, p.fail(start, "", "the number is too large")
		}
		p.pos++
	}
	if p.pos == start {
		return 0, p.fail(start, "", "a number is missing")
	}
	return n, nil
}
