package steps

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/browsertest/grammar"
)

// masked is a line whose quoted parts, variables and addresses are replaced by private characters.
type masked struct {
	text  string
	parts map[rune]part
}

// part is what stands behind a mark.
type part struct {
	written string
	value   string // without quotes
	quoted  bool
}

const (
	firstMark = '\uf000' // of quoted parts; the others begin at half
	halfMark  = '\uf080'
	lastMark  = '\uf0ff'
)

var address = regexp.MustCompile(`^(?:https?://|about:|data:)[^\s"'“”「」『』，。；、]+`)

// mask takes the parts out.
func mask(line string) masked {
	m := masked{parts: map[rune]part{}}
	next := rune(firstMark)
	other := rune(halfMark)
	line = strings.ToValidUTF8(line, "\ufffd")
	var b strings.Builder
	for line != "" {
		r, size := utf8.DecodeRuneInString(line)
		p, length := special(line, b.String())
		switch {
		case r >= firstMark && r <= lastMark: // not ours
			length = size
		case length > 0 && p.quoted && next < halfMark:
			b.WriteRune(next)
			m.parts[next] = p
			next++
		case length > 0 && !p.quoted && other <= lastMark:
			b.WriteRune(other)
			m.parts[other] = p
			other++
		default:
			b.WriteRune(r)
			length = size
		}
		line = line[length:]
	}
	m.text = b.String()
	return m
}

// special reads a quoted text, a variable or an address, and returns its length; 0 for none.
func special(line, before string) (part, int) {
	if strings.HasPrefix(line, "${") {
		if end := strings.IndexByte(line, '}'); end > 0 {
			return part{written: line[:end+1], value: line[:end+1]}, end + 1
		}
	}
	if a := address.FindString(line); a != "" {
		a = strings.TrimRight(a, ".,;")
		return part{written: a, value: a}, len(a)
	}
	text, end := grammar.Quoted(line, before)
	return part{written: line[:end], value: text, quoted: true}, end
}

// written puts the parts back as they stood there.
func (m masked) written(s string) string { return m.fill(s, func(p part) string { return p.written }) }

// value puts the parts back without their quotes.
func (m masked) value(s string) string { return m.fill(s, func(p part) string { return p.value }) }

func (m masked) fill(s string, text func(part) string) string {
	var b strings.Builder
	for _, r := range s {
		if p, marked := m.parts[r]; marked {
			b.WriteString(text(p))
			continue
		}
		b.WriteRune(r)
	}
	return strings.TrimSpace(b.String())
}

// column is where in the written line a place of the masked one stands, from 1.
func (m masked) column(at int) int {
	column := 1
	for _, r := range m.text[:min(at, len(m.text))] {
		if p, marked := m.parts[r]; marked {
			column += utf8.RuneCountInString(p.written)
			continue
		}
		column++
	}
	return column
}
