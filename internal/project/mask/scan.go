package mask

import "github.com/toolfit/toolfit/internal/rawjson"

// skipSpace goes over white space. While bytes are being kept, it leaves the white space out.
func (c *cutter) skipSpace() {
	start := c.pos
	if c.pos = c.blank(start); c.keep && c.pos > start {
		c.flush(start)
		c.from = c.pos
	}
}

// value goes over the value at hand, and does to its strings what is asked for.
func (c *cutter) value(depth int) {
	switch at(c.src, c.pos) {
	case c.quote:
		c.stringValue()
	case '{':
		c.object(depth + 1)
	case '[':
		c.array(depth + 1)
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
	switch {
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

// scalar goes over a number, true, false or null.
func (c *cutter) scalar() {
	switch b := at(c.src, c.pos); {
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
	if at(c.src, c.pos) == '.' {
		c.pos++
		c.digits()
	}
	if at(c.src, c.pos)|0x20 == 'e' {
		c.pos++
		if b := at(c.src, c.pos); b == '+' || b == '-' {
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
		short = append(c.dst, requoted(short)...)
	}
	c.dst, c.from = short, c.pos
	c.tally.Cut++
}

// appendShort appends what a string is cut to; false when it stays.
func (c *cutter) appendShort(dst, literal []byte) ([]byte, bool) {
	if inner := literal[1 : len(literal)-1]; c.blobs && isBlob(inner) {
		return append(AppendBlob(append(dst, '"'), len(inner)), '"'), true
	}
	if c.limit == noCap {
		return dst, false
	}
	return AppendShort(dst, literal, c.limit)
}
