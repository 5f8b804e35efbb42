package mask

import (
	"bytes"
	"slices"

	"github.com/toolfit/toolfit/internal/project/quoted"
	"github.com/toolfit/toolfit/internal/rawjson"
)

// ApplyQuoted is Apply for a value that is the text of a JSON string, as most results
// carry theirs: src starts with the string. It appends what is kept as it is written in
// the string, without the string's own quotes, and says where the string ends. So most
// bytes are gone over once, where taking the text out of the string, cutting it and
// putting it back would go over them three times.
//
// It reads what encoders write. A string that spells brackets or quotes as \u escapes is
// refused as if it held no JSON: on any error the text is to be read and given to Apply.
func (m *Mask) ApplyQuoted(dst, src []byte, t *Tally) (out []byte, end int, err error) {
	if len(src) == 0 || src[0] != '"' {
		return dst, 0, &rawjson.SyntaxError{Want: "a string"}
	}
	c := m.cutter(dst, src, t)
	c.pos, c.quoted, c.quote = 1, true, '\\'
	c.whole(m)
	if c.err == nil && (c.pos >= len(src) || src[c.pos] != '"') {
		c.fail("end of input")
	}
	if err := c.finish(t); err != nil {
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
			return i + 2
		}
		n := quotedEscape(src[i:])
		if n == 0 {
			return c.wrong(i, "an escape")
		}
		i += n
	}
}

// quotedEscape is how many bytes the escaped character at the start of b takes, which
// stands in a string in a string; 0 when it must not stand there, or is better read otherwise.
func quotedEscape(b []byte) int {
	switch b[1] {
	case '/':
		return 2
	case 'u': // of the outer string: any character but those that mean something inside
		if rawjson.EscapeLength(b) == 0 || isMark(b[2:6]) {
			return 0
		}
		return 6
	case '\\': // of the inner string
		inner := b[2:]
		if len(inner) > 1 && inner[0] == '\\' && (inner[1] == '"' || inner[1] == '\\' || inner[1] == '/') {
			return 4
		}
		if len(inner) > 0 && inner[0] != '"' && inner[0] != '\\' {
			if n := rawjson.EscapeLength(b[1:]); n > 0 {
				return 1 + n
			}
		}
	}
	return 0
}

// isMark tells whether four hexadecimal digits stand for a quote, a backslash or a control
// character.
func isMark(hex []byte) bool {
	return hex[0] == '0' && hex[1] == '0' && (hex[2] < '2' || hex[2] == '2' && hex[3] == '2' || hex[2] == '5' && hex[3]|0x20 == 'c')
}

// quotedSpace is how many bytes of white space b starts with.
func quotedSpace(b []byte) (n int) {
	for n < len(b) {
		switch {
		case b[n] == ' ':
			n++
		case b[n] == '\\' && n+1 < len(b) && (b[n+1] == 'n' || b[n+1] == 'r' || b[n+1] == 't'):
			n += 2
		default:
			return n
		}
	}
	return n
}

// inner is what stands between the quotes of the string from start to end, as it is written
// in a string that stands in none.
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

// requoted is a literal as it is inside a string.
func requoted(literal []byte) []byte {
	outer := quoted.Append(nil, literal)
	return outer[1 : len(outer)-1]
}
