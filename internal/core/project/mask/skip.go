package mask

import "github.com/toolfit/toolfit/internal/base/rawjson"

// at is the byte at i; 0, which no JSON has, where there is none.
func at(src []byte, i int) byte {
	if i < len(src) {
		return src[i]
	}
	return 0
}

// skip checks and passes over a value that is left out. The bits of a word track open containers,
// which is faster than recursion.
func (c *cutter) skip(depth int) {
	src := c.src
	i := c.pos
	objects := uint64(0)
	open := 0 // the lowest bit is for the innermost: 1 for an object
	for {
		if objects&1 != 0 {
			i = c.skipKey(i)
			if i < 0 {
				return
			}
		}
		switch b := at(src, i); {
		case b == c.quote:
			i = c.stringEnd(i)
			if i < 0 {
				return
			}
		case b == '{' || b == '[':
			if open == 64 || depth+open >= MaxDepth {
				i = c.skipDeep(i, depth+open)
				if i < 0 {
					return
				}
				break
			}
			open++
			objects <<= 1
			if b == '{' {
				objects |= 1
			}
			i = c.blank(i + 1)
			if at(src, i) != b+2 {
				continue
			}
		default:
			i = c.skipScalar(i)
			if i < 0 {
				return
			}
		}
		for { // what ends here
			if open == 0 {
				c.pos = i
				return
			}
			i = c.blank(i)
			b := at(src, i)
			if b == ',' {
				i = c.blank(i + 1)
				break
			}
			if b != '}' && b != ']' || (b == '}') != (objects&1 != 0) {
				c.wrong(i, "a comma or the end of what is open")
				return
			}
			i++
			open--
			objects >>= 1
		}
	}
}

// skipDeep is skip for what is open deeper than one word can remember.
func (c *cutter) skipDeep(i, depth int) int {
	if depth >= MaxDepth {
		c.err = rawjson.ErrDepth
		return -1
	}
	c.pos = i
	c.skip(depth)
	if c.err != nil {
		return -1
	}
	return c.pos
}

// skipKey goes over a member's name and returns where its value starts.
func (c *cutter) skipKey(i int) int {
	if at(c.src, i) != c.quote {
		return c.wrong(i, "a key")
	}
	i = c.stringEnd(i)
	if i < 0 {
		return i
	}
	i = c.blank(i)
	if at(c.src, i) != ':' {
		return c.wrong(i, "a colon")
	}
	return c.blank(i + 1)
}

// skipScalar goes over a number, true, false or null.
func (c *cutter) skipScalar(i int) int {
	c.pos = i
	c.scalar()
	if c.err != nil {
		return -1
	}
	return c.pos
}

// wrong keeps the first error and returns -1.
func (c *cutter) wrong(i int, want string) int {
	c.pos = i
	c.fail(want)
	return -1
}

// stringEnd is where the string that starts at i ends; -1 when it is invalid.
func (c *cutter) stringEnd(i int) int {
	if c.quoted {
		return c.quotedEnd(i)
	}
	end := i + 1
	end += rawjson.PlainRun(c.src, end)
	if at(c.src, end) == '"' {
		return end + 1
	}
	end, err := rawjson.Skip(c.src, i, 1)
	if err != nil {
		c.pos = end
		c.err = err
		return -1
	}
	return end
}

// blank is where white space that may stand at i ends.
func (c *cutter) blank(i int) int {
	if i < len(c.src) && mayBlank[c.src[i]] {
		return c.blanks(i)
	}
	return i
}

// mayBlank marks the bytes that white space starts with, in a string or out of it.
var mayBlank = [256]bool{' ': true, '\n': true, '\r': true, '\t': true, '\\': true}

func (c *cutter) blanks(i int) int {
	if c.quoted {
		if c.src[i] == '\\' && at(c.src, i+1) == '"' { // mostly
			return i
		}
		return c.quotedBlanks(i)
	}
	for i < len(c.src) && isSpace(c.src[i]) {
		i++
	}
	return i
}

func isSpace(b byte) bool { return b == ' ' || b == '\n' || b == '\r' || b == '\t' }
