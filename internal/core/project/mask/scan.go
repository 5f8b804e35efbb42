package mask

import (
	"bytes"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/project/quoted"
)

// skipSpace goes over white space. While bytes are being kept, it leaves the white space out.
func (c *cutter) skipSpace() {
	if i := c.pos; i < len(c.src) && mayBlank[c.src[i]] {
		c.skipBlanks()
	}
}

// skipBlanks is the rest of skipSpace, apart so that the test before it costs no call.
func (c *cutter) skipBlanks() {
	start := c.pos
	c.pos = c.blank(start)
	if c.keep && c.pos > start {
		c.flush(start)
		c.from = c.pos
	}
}

// value goes over the value at hand, and does to its strings what is asked for.
func (c *cutter) value(depth int) {
	switch at(c.src, c.pos) {
	case c.quote:
		c.stringValue()
	case '{', '[':
		c.container(depth + 1)
	default:
		c.scalar()
	}
}

func (c *cutter) stringValue() {
	start := c.pos
	end := c.stringEnd(start)
	if end < 0 {
		return
	}
	c.pos = end
	size := end - start - 2*c.edge()
	if c.keep && (c.limit != noCap && size > c.limit || c.blobs && size > blobSize) {
		c.shorten(start)
	}
}

func (c *cutter) container(depth int) {
	if depth > MaxDepth {
		c.err = rawjson.ErrDepth
		return
	}
	start := c.pos
	count := 0
	largest := 0
	isObject := c.src[start] == '{'
	end := c.src[start] + 2
	c.pos++
	for ; c.next(end, count == 0); count++ {
		if isObject {
			c.key()
		} else if count == c.most && c.most > 0 && c.keep {
			c.tally.Rows += c.leaveRest(depth)
			break
		}
		if c.err != nil {
			return
		}
		from := c.pos
		c.value(depth)
		largest = max(largest, c.pos-from)
	}
	if c.bulk != nil && isObject {
		c.note(&c.bulk.Object, start, count, largest)
	} else if c.bulk != nil {
		c.note(&c.bulk.Array, start, count, largest)
		c.bulk.Longest = max(c.bulk.Longest, count)
	}
}

// scalar goes over a number, true, false or null.
func (c *cutter) scalar() {
	if n := naturalLength(c.src, c.pos); n > 0 {
		c.pos += n
		return
	}
	switch at(c.src, c.pos) {
	case '"', '{', '[': // of what is quoted, the quote is its end
		c.fail("a value")
		return
	}
	c.pos, c.err = rawjson.Skip(c.src, c.pos, 1)
}

// naturalLength is how many bytes the whole number at i takes, as most do; 0 for any other.
func naturalLength(src []byte, i int) int {
	end := i
	for end < len(src) && src[end]-'0' <= 9 {
		end++
	}
	if b := at(src, end); end == i || src[i] == '0' || b == '.' || b|0x20 == 'e' {
		return 0
	}
	return end - i
}

// shorten cuts the string that starts at start and ends here, if it has too many characters.
func (c *cutter) shorten(start int) {
	c.flush(start)
	c.from = start
	dst := c.dst
	if c.quoted {
		dst = nil
	}
	short, cut := c.appendShort(dst, c.literal(start, c.pos))
	if !cut {
		return
	}
	if c.quoted {
		short = quoted.AppendInside(c.dst, short)
	}
	c.dst = short
	c.from = c.pos
	c.tally.Cut++
}

// appendShort appends what a string is cut to; false when it stays.
func (c *cutter) appendShort(dst, literal []byte) ([]byte, bool) {
	if inner := literal[1 : len(literal)-1]; c.blobs && isBlob(inner) {
		return append(AppendBlob(append(dst, '"'), len(inner)), '"'), true
	}
	if c.limit == noCap || c.texts && !isText(literal) {
		return dst, false
	}
	return AppendShort(dst, literal, c.limit)
}

// isText reports whether people wrote a string: it has a space, a line break or letters beyond ASCII.
func isText(literal []byte) bool {
	return bytes.IndexByte(literal, ' ') >= 0 || bytes.Contains(literal, []byte(`\n`)) || bytes.Contains(literal, []byte(`\u`)) ||
		bytes.ContainsFunc(literal, func(r rune) bool { return r >= utf8.RuneSelf })
}
