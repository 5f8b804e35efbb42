package mask

import (
	"bytes"
	"strconv"
	"strings"
)

// blobSize is the length from which a string that looks like base64 is not worth showing to a model.
const blobSize = 1 << 10

// Short keeps every field and cuts strings to the limit (0: none). With blobs, long base64 strings
// become their length.
func Short(limit int, blobs bool) *Mask {
	if limit == 0 {
		limit = noCap
	}
	return &Mask{root: step{id: -1, limit: limit, whole: true}, blobs: blobs}
}

// Without keeps all but the members at these paths. The name "*" stands for any, and what is left out
// there counts as one field. With filled, members without a value go as well. What people write is cut to
// so many characters (0: none): strings with a space, a line break or letters beyond ASCII; a piece of an
// ID or an address would be of no use.
func Without(paths [][]string, filled bool, texts int) *Mask {
	m := Short(texts, false)
	m.texts = true
	m.stars = true
	m.filled = filled
	at := m.root.inside()
	for _, path := range paths {
		e := at.exclusions(false)
		for _, name := range path {
			e = e.to(key{text: name, glob: name == "*"})
		}
		e.ends = true
	}
	m.root.finish()
	return m
}

// First returns a mask that keeps every field, and the first elements of each array.
func First(elements int) *Mask {
	return &Mask{root: step{id: -1, limit: noCap, whole: true}, most: elements}
}

// isEmpty reports whether the value at hand holds nothing.
func (c *cutter) isEmpty() bool {
	switch first := at(c.src, c.pos); first {
	case 'n':
		return true // null, or it will be refused
	case c.quote:
		rest := c.src[c.pos:]
		quote := rest[:min(len(rest), c.edge())]
		return bytes.HasPrefix(rest[len(quote):], quote)
	case '{', '[':
		extra := c.extra
		last := at(c.src, c.blank(c.pos+1))
		c.extra = extra // whoever skips the value counts
		return last == first+2
	}
	return false
}

// leaveRest skips the elements of an array from the current one on and returns their number.
func (c *cutter) leaveRest(depth int) (n int) {
	c.flush(c.pos)
	c.dst = c.dst[:len(c.dst)-1] // the comma before the first of them
	c.keep = false
	for more := true; more; more = c.next(']', false) {
		c.skip(depth)
		n++
	}
	c.keep = true
	c.from = c.pos - 1
	return n
}

// Compact appends src without insignificant white space, and checks it on the way.
func Compact(dst, src []byte) ([]byte, error) {
	return (&Mask{root: step{limit: noCap}}).Apply(dst, src, &Tally{})
}

// Bulk is the array and the object from which most can be left out: the size of all elements but the
// largest counts.
type Bulk struct {
	Array, Object Place // with at least two elements, or members
	Longest       int   // array, in elements
}

// Place is a container in the walked bytes.
type Place struct {
	Start, End, Count int

	gives int // bytes without the largest element
}

// Survey finds the bulk of a value in one pass.
func Survey(src []byte) (Bulk, error) {
	c := cutter{src: src, quote: '"', bulk: &Bulk{}}
	c.skipSpace()
	c.value(0)
	c.skipSpace()
	if c.err == nil && c.pos != len(src) {
		c.fail("end of input")
	}
	return *c.bulk, c.err
}

// note remembers a container that ends here, if it has most to give yet.
func (c *cutter) note(into *Place, start, count, largest int) {
	if gives := c.pos - start - largest; count > 1 && gives > into.gives {
		*into = Place{start, c.pos, count, gives}
	}
}

// AppendBlob appends what replaces a long base64 string.
func AppendBlob(dst []byte, length int) []byte {
	dst = append(dst, "[base64, "...)
	dst = strconv.AppendInt(dst, int64(length), 10)
	return append(dst, " characters]"...)
}

// BlobRun is how long a run of base64 characters text starts with, and whether it really is long
// base64.
func BlobRun(text []byte) (n int, blob bool) {
	digits := 0
	capitals := 0
	small := 0
	for n < len(text) && blobByte[text[n]] {
		switch b := text[n]; {
		case b >= '0' && b <= '9':
			digits++
		case b >= 'A' && b <= 'Z':
			capitals++
		case b >= 'a' && b <= 'z':
			small++
		}
		n++
	}
	// Encoded bytes hold all three kinds; one repeated letter, or only digits, is not a blob.
	return n, n > blobSize && digits*50 > n && capitals*10 > n && small*10 > n
}

var blobByte = func() (t [256]bool) {
	for c := range 256 {
		b := byte(c)
		t[c] = b >= '0' && b <= '9' || b >= 'A' && b <= 'Z' || b >= 'a' && b <= 'z' || strings.IndexByte("+/-_=", b) >= 0
	}
	return t
}()

// isBlob reports whether the inside of a string is all base64, perhaps as a data URL.
func isBlob(inner []byte) bool {
	if bytes.HasPrefix(inner, []byte("data:")) {
		_, inner, _ = bytes.Cut(inner, []byte(";base64,"))
	}
	n, blob := BlobRun(inner)
	return blob && n == len(inner)
}
