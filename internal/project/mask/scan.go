package mask

import (
	"bytes"

	"github.com/toolfit/toolfit/internal/rawjson"
)

// stops marks the bytes at which the scan of a string must look.
var stops = func() (t [256]bool) {
	for c := range 0x20 {
		t[c] = true
	}
	t['"'], t['\\'] = true, true
	return t
}()

// skipSpace goes over white space. While bytes are being kept, it leaves the white space out.
func (c *cutter) skipSpace() {
	if c.pos >= len(c.src) || c.src[c.pos] > ' ' {
		return
	}
	start := c.pos
	for c.pos < len(c.src) && isSpace(c.src[c.pos]) {
		c.pos++
	}
	if c.keep {
		c.flush(start)
		c.from = c.pos
	}
}

func isSpace(b byte) bool { return b == ' ' || b == '\n' || b == '\r' || b == '\t' }

// skip goes over a value that is left out: most of the bytes, so that nothing is looked at
// on the way.
func (c *cutter) skip(depth int) {
	if c.err == nil {
		c.pos, c.err = rawjson.Skip(c.src, c.pos, MaxDepth-depth)
	}
}

// value goes over the value at hand.
func (c *cutter) value(depth int) {
	if c.pos >= len(c.src) {
		c.fail("a value")
		return
	}
	switch b := c.src[c.pos]; {
	case b == '"':
		c.stringValue()
	case b == '{':
		c.object(depth + 1)
	case b == '[':
		c.array(depth + 1)
	case b == '-' || b >= '0' && b <= '9':
		c.number()
	case b == 't':
		c.word("true")
	case b == 'f':
		c.word("false")
	case b == 'n':
		c.word("null")
	default:
		c.fail("a value")
	}
}

func (c *cutter) stringValue() {
	start := c.pos
	c.text()
	size := c.pos - start - 2
	switch {
	case c.err != nil:
	case c.bulk != nil:
		c.bulk.Longest = max(c.bulk.Longest, size)
	case c.keep && (c.limit != noCap && size > c.limit || c.blobs && size > blobSize):
		c.shorten(start)
	}
}

func (c *cutter) object(depth int) {
	if depth > MaxDepth {
		c.err = rawjson.ErrDepth
		return
	}
	start, count := c.pos, 0
	c.pos++
	for ; c.next('}', count == 0); count++ {
		if c.key(); c.err != nil {
			return
		}
		c.value(depth)
	}
	if c.bulk != nil {
		c.note(&c.bulk.Object, start, count)
	}
}

func (c *cutter) array(depth int) {
	if depth > MaxDepth {
		c.err = rawjson.ErrDepth
		return
	}
	start, count := c.pos, 0
	c.pos++
	for ; c.next(']', count == 0); count++ {
		c.value(depth)
	}
	if c.bulk != nil {
		c.note(&c.bulk.Array, start, count)
	}
}

// text goes over the string at hand, and tells whether it holds an escape.
func (c *cutter) text() (escaped bool) {
	src, i := c.src, c.pos+1
	for i < len(src) {
		b := src[i]
		if !stops[b] {
			i++
			continue
		}
		if b == '"' {
			c.pos = i + 1
			return escaped
		}
		n := 0
		if b == '\\' {
			n = escapeLength(src[i:])
		}
		if n == 0 {
			c.pos = i
			c.fail("a string without control characters and wrong escapes")
			return escaped
		}
		escaped = true
		i += n
	}
	c.pos = i
	c.fail("the end of a string")
	return escaped
}

// escapeLength is how many bytes the escape at the start of b has; 0 when it is none.
func escapeLength(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	if b[1] != 'u' {
		if bytes.IndexByte([]byte(`"\/bfnrt`), b[1]) < 0 {
			return 0
		}
		return 2
	}
	if len(b) < 6 {
		return 0
	}
	for _, d := range b[2:6] {
		if !(d >= '0' && d <= '9' || d >= 'a' && d <= 'f' || d >= 'A' && d <= 'F') {
			return 0
		}
	}
	return 6
}

func (c *cutter) number() {
	if c.src[c.pos] == '-' {
		c.pos++
	}
	start := c.pos
	if c.digits(); c.err != nil {
		return
	}
	if c.src[start] == '0' && c.pos > start+1 {
		c.pos = start
		c.fail("a number without a leading zero")
		return
	}
	if c.pos < len(c.src) && c.src[c.pos] == '.' {
		c.pos++
		c.digits()
	}
	if c.pos < len(c.src) && c.src[c.pos]|0x20 == 'e' {
		c.pos++
		if c.pos < len(c.src) && (c.src[c.pos] == '+' || c.src[c.pos] == '-') {
			c.pos++
		}
		c.digits()
	}
}

func (c *cutter) digits() {
	start := c.pos
	for c.pos < len(c.src) && c.src[c.pos] >= '0' && c.src[c.pos] <= '9' {
		c.pos++
	}
	if c.pos == start {
		c.fail("a digit")
	}
}

func (c *cutter) word(w string) {
	if len(c.src)-c.pos < len(w) || string(c.src[c.pos:c.pos+len(w)]) != w {
		c.fail(w)
		return
	}
	c.pos += len(w)
}

// shorten cuts the string that starts at start and ends here, if it has too many characters.
func (c *cutter) shorten(start int) {
	literal := c.src[start:c.pos]
	c.flush(start)
	c.from = start
	if inner := literal[1 : len(literal)-1]; c.blobs && isBlob(inner) {
		c.dst = append(AppendBlob(append(c.dst, '"'), len(inner)), '"')
		c.from = c.pos
		c.tally.Cut++
		return
	}
	if c.limit == noCap {
		return
	}
	if dst, cut := AppendShort(c.dst, literal, c.limit); cut {
		c.dst, c.from = dst, c.pos
		c.tally.Cut++
	}
}
