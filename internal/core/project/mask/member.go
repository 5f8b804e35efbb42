package mask

import (
	"bytes"
	"slices"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// member is what is known of one member. Rows mostly have the same members in the same order, so it is
// reused where the bytes are the same.
type member struct {
	level *level // whose member it is; nil: nothing is remembered
	path  uint64

	lead    []byte // what stands before its value
	after   []byte // the comma and lead; nil: something stands between them
	literal []byte // its name in quotes, as it is copied
	name    []byte // as it is written between the quotes of a string that stands in none
	extra   int    // bytes of lead that are there because it is quoted

	step  *step // the include that names it; nil when none does
	keep  bool  // as far as includes say
	field int   // 1 + its place in the tally; 0: not known
}

// known goes over the comma and what stands before the value of the nth member, if that is as in an earlier object; else nil.
func (c *cutter) known(f *frame, n int) *member {
	m := c.remembered(f, n)
	if n == 0 || m == nil || m.after == nil || c.err != nil || !bytes.HasPrefix(c.src[c.pos:], m.after) {
		return nil
	}
	c.pos += len(m.after)
	c.extra += m.extra
	c.skipSpace()
	return m
}

// remembered is what is known of the nth member of earlier objects; nil: nothing is.
func (c *cutter) remembered(f *frame, n int) *member {
	m := &c.members[(f.depth*23+n)%len(c.members)]
	if m.level == nil || m.level != f.level || m.path != f.path {
		return nil
	}
	return m
}

// member reads what stands before the value of the nth member.
func (c *cutter) member(f *frame, n int) *member {
	if m := c.remembered(f, n); m != nil && bytes.HasPrefix(c.src[c.pos:], m.lead) {
		c.pos += len(m.lead)
		c.extra += m.extra
		c.skipSpace()
		return m
	}
	start := c.pos
	extra := c.extra
	end := c.key()
	if c.err != nil {
		return nil
	}
	m := &c.members[(f.depth*23+n)%len(c.members)]
	*m = member{level: f.level, path: f.path, lead: c.src[start:c.pos], literal: c.src[start:end], name: c.inner(start, end),
		extra: c.extra - extra, keep: true}
	if c.src[start-1] == ',' {
		m.after = c.src[start-1 : c.pos]
	}
	if f.level != nil && f.level.allow {
		m.step = f.level.find(unescaped(m.name))
		if m.step != nil {
			c.tally.see(m.step.id)
		}
		m.keep = m.step != nil
	}
	return m
}

// key reads a member's name and what stands before its value, and returns where the name ends.
func (c *cutter) key() (end int) {
	if at(c.src, c.pos) != c.quote {
		return c.wrong(c.pos, "a key")
	}
	end = c.stringEnd(c.pos)
	if end < 0 {
		return end
	}
	c.pos = end
	c.skipSpace()
	if at(c.src, c.pos) != ':' {
		return c.wrong(c.pos, "a colon")
	}
	c.pos++
	c.skipSpace()
	return end
}

// unescaped is the name that is written so between quotes.
func unescaped(written []byte) []byte {
	if bytes.IndexByte(written, '\\') < 0 {
		return written
	}
	s, _ := rawjson.String(slices.Concat([]byte{'"'}, written, []byte{'"'})) // scanned before: it is a valid literal
	return []byte(s)
}
