package mask

import (
	"bytes"
	"slices"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/project/quoted"
)

// ApplyQuoted is Apply for JSON inside a JSON string, which src starts with, in one pass instead of
// three: it appends what is kept, still escaped and without quotes, and returns where the string ends.
// On any error, such as brackets or quotes as \u escapes, decode the text and use Apply.
func (m *Mask) ApplyQuoted(dst, src []byte, t *Tally) (out []byte, end int, err error) {
	if len(src) == 0 || src[0] != '"' {
		return dst, 0, &rawjson.SyntaxError{Want: "a string"}
	}
	c := m.cutter(dst, src, t)
	c.pos = 1
	c.quoted = true
	c.quote = '\\'
	c.whole(m)
	if c.err == nil && (c.pos >= len(src) || src[c.pos] != '"') {
		c.fail("end of input")
	}
	if err := c.finish(); err != nil {
		return dst, 0, err
	}
	return c.dst, c.pos + 1, nil
}

// edge is how many bytes the quote of a string takes.
func (c *cutter) edge() int {
	if c.quoted {
		return 2
	}
	return 1
}

// quotedEnd is stringEnd for a string in a string.
func (c *cutter) quotedEnd(i int) int {
	src := c.src
	if at(src, i+1) != '"' {
		return c.wrong(i, "a quote")
	}
	i += 2
	for {
		i += rawjson.PlainRun(src, i)
		if i+1 >= len(src) || src[i] != '\\' {
			return c.wrong(i, "the end of a string")
		}
		if src[i+1] == '"' {
			c.extra += 2 // the backslashes of both quotes
			return i + 2
		}
		n, size := quotedEscape(src[i:])
		if n == 0 {
			return c.wrong(i, "an escape")
		}
		c.extra += n - size
		i += n
	}
}

// quotedEscape is the length of the escape at the start of b, inside a string in a string, and its
// length inside the outer string alone. 0: it is invalid or needs the slow way.
func quotedEscape(b []byte) (n, size int) {
	switch b[1] {
	case '/':
		return 2, 1
	case 'u': // of the outer string: any character but those that mean something inside
		if rawjson.EscapeLength(b) == 0 || isMark(b[2:6]) {
			return 0, 0
		}
		return 6, encodedLength(b[2:6])
	case '\\': // of the inner string
		inner := b[2:]
		if len(inner) > 1 && inner[0] == '\\' && (inner[1] == '"' || inner[1] == '\\' || inner[1] == '/') {
			return 4, 2
		}
		if len(inner) > 0 && inner[0] != '"' && inner[0] != '\\' {
			if n := rawjson.EscapeLength(b[1:]); n > 0 {
				return 1 + n, n
			}
		}
	}
	return 0, 0
}

// encodedLength is how many bytes a character, or half of a pair, takes in UTF-8.
func encodedLength(hex []byte) int {
	switch {
	case hex[0] == '0' && hex[1] == '0' && hex[2] < '8':
		return 1
	case hex[0] == '0' && hex[1] < '8', hex[0]|0x20 == 'd' && hex[1] >= '8':
		return 2
	}
	return 3
}

// isMark reports whether \u digits stand for a quote, a backslash or a control character.
func isMark(hex []byte) bool {
	return hex[0] == '0' && hex[1] == '0' && (hex[2] < '2' || hex[2] == '2' && hex[3] == '2' || hex[2] == '5' && hex[3]|0x20 == 'c')
}

// quotedBlanks is blank for a value in a string.
func (c *cutter) quotedBlanks(i int) int {
	for {
		switch at(c.src, i) {
		case ' ':
			i++
		case '\\':
			if b := at(c.src, i+1); b != 'n' && b != 'r' && b != 't' {
				return i
			}
			c.extra++
			i += 2
		default:
			return i
		}
	}
}

// inner is the inside of the string from start to end, without the outer string's escapes.
func (c *cutter) inner(start, end int) []byte {
	inner := c.src[start+c.edge() : end-c.edge()]
	if !c.quoted || bytes.IndexByte(inner, '\\') < 0 {
		return inner
	}
	return quoted.AppendText(nil, slices.Concat([]byte{'"'}, inner, []byte{'"'}))
}

// literal is inner with its quotes.
func (c *cutter) literal(start, end int) []byte {
	if !c.quoted {
		return c.src[start:end]
	}
	return slices.Concat([]byte{'"'}, c.inner(start, end), []byte{'"'})
}
