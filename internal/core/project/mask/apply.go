package mask

import (
	"errors"
	"sync"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// MaxDepth is how deep a value may be nested for a mask to apply.
const MaxDepth = 1000

// ErrMismatch says that no name of the mask occurs where it should: the value is of another kind,
// perhaps an error, and should be sent whole.
var ErrMismatch = errors.New("no name of the mask occurs in the value")

// Apply appends to dst what the mask keeps of src, compact, and adds to t what it left out. On an
// error (invalid JSON, nested too deep, ErrMismatch) dst is returned unchanged and t is meaningless.
func (m *Mask) Apply(dst, src []byte, t *Tally) ([]byte, error) {
	c := m.cutter(dst, src, t)
	c.whole(m)
	if c.err == nil && c.pos != len(src) {
		c.fail("end of input")
	}
	if err := c.finish(); err != nil {
		return dst, err
	}
	return c.dst, nil
}

// room is what a cutter works in. A value that needs more costs an allocation.
type room struct {
	active [16]*exclusion
	names  [16][]byte
}

// rooms are used again: a result may have many small values.
var rooms = sync.Pool{New: func() any { return new(room) }}

func (m *Mask) cutter(dst, src []byte, t *Tally) cutter {
	r := rooms.Get().(*room)
	return cutter{src: src, dst: dst, quote: '"', blobs: m.blobs, texts: m.texts, stars: m.stars, most: m.most, anyRows: m.anyRows,
		tally: t, room: r, active: r.active[:0], names: r.names[:0]}
}

// whole cuts the whole source.
func (c *cutter) whole(m *Mask) {
	c.skipSpace()
	f := frame{level: m.root.sub, rows: m.root.rows, limit: m.root.limit, filled: m.filled, root: true}
	f.open(c, m.root.sub)
	c.cut(&f)
	c.skipSpace()
}

// finish gives the room back, and says what is wrong with the value, if anything is.
func (c *cutter) finish() error {
	clear(c.room.names[:]) // they hold on to src
	rooms.Put(c.room)
	if c.err == nil && c.foreign && !c.matched {
		return ErrMismatch
	}
	return c.err
}

// cutter goes once over a value.
type cutter struct {
	src, dst []byte
	quoted   bool // the value stands inside a JSON string
	quote    byte // the first byte of the quotes of its strings
	extra    int  // bytes walked over that are there because it is quoted
	pos      int
	from     int  // where the bytes start that are to be copied, when keep is set
	keep     bool // false: the values are left out
	limit    int  // of strings that are kept
	blobs    bool // of those that are kept, base64 is replaced
	texts    bool // only strings that people write are cut
	stars    bool // a list by name is one place
	most     int  // elements of arrays that are kept; 0: all
	anyRows  bool // slices count as not written
	bulk     *Bulk
	err      error

	room    *room
	active  []*exclusion // a stack; each frame owns a piece of it
	names   [][]byte     // the way to the object at hand, as written between quotes
	tally   *Tally
	members [64]member // of earlier objects
	matched bool       // an include of the first level occurred
	foreign bool       // an object of the first level has members, and none is included
}

// frame is what holds for one value.
type frame struct {
	level  *level // nil: all of it is kept
	rows   slice
	limit  int
	lo, hi int    // its exclusions in cutter.active
	path   uint64 // stands for the way to it
	depth  int
	filled bool // members without a value are left out
	root   bool // the level is the mask's first
	star   bool // it is in a list by name
}

// open makes the exclusions that start at the level active.
func (f *frame) open(c *cutter, l *level) {
	f.lo = len(c.active)
	if l != nil {
		c.active = append(c.active, l.exclude...)
	}
	f.hi = len(c.active)
}

func (f *frame) cutsMembers() bool { return f.level != nil || f.hi > f.lo || f.filled }

func (c *cutter) fail(want string) {
	if c.err == nil {
		c.err = &rawjson.SyntaxError{Offset: c.pos, Want: want}
	}
}

// cut writes what the frame keeps of the value at hand.
func (c *cutter) cut(f *frame) {
	rows := f.rows.set && !c.anyRows
	switch first := at(c.src, c.pos); {
	case first == '[' && (rows || f.cutsMembers()):
		c.cutArray(f)
	case first == '{' && f.cutsMembers() && !rows: // a slice means an array
		c.cutObject(f)
	default:
		c.copyWhole(f.limit, f.depth)
	}
}

// copyWhole writes the value at hand, its strings cut to the limit.
func (c *cutter) copyWhole(limit, depth int) {
	c.keep = true
	c.from = c.pos
	c.limit = limit
	c.value(depth)
	c.flush(c.pos)
	c.keep = false
}

func (c *cutter) flush(to int) { c.dst = append(c.dst, c.src[c.from:to]...) }

func (c *cutter) cutArray(of *frame) {
	f := *of
	f.depth++
	if f.depth > MaxDepth {
		c.err = rawjson.ErrDepth
		return
	}
	rows := f.rows
	rows.set = rows.set && !c.anyRows
	if rows.set && rows.last {
		rows.from = max(0, c.countRows(f.depth)-rows.count)
		rows.to = -1
	}
	f.rows = slice{}
	c.dst = append(c.dst, '[')
	c.pos++
	kept := 0
	for i := 0; c.next(']', i == 0); i++ {
		if rows.set && (i < rows.from || rows.to >= 0 && i >= rows.to) {
			c.skip(f.depth)
			c.tally.Rows++
			continue
		}
		if kept > 0 {
			c.dst = append(c.dst, ',')
		}
		kept++
		c.cut(&f)
	}
	c.dst = append(c.dst, ']')
}

// countRows counts the elements of the array at hand without moving. A list of all places could be as
// long as the array.
func (c *cutter) countRows(depth int) int {
	start := c.pos
	n := 0
	c.pos++
	for c.next(']', n == 0) {
		c.skip(depth)
		n++
	}
	c.pos = start
	return n
}

// next goes to the next member or element; false at the end and on an error.
func (c *cutter) next(end byte, first bool) bool {
	if c.err != nil {
		return false
	}
	c.skipSpace()
	switch b := at(c.src, c.pos); {
	case b == end:
		c.pos++
		return false
	case first:
		return true
	case b != ',':
		c.fail("a comma or " + string(end))
		return false
	}
	c.pos++
	c.skipSpace()
	return true
}

func (c *cutter) cutObject(of *frame) {
	f := *of
	f.depth++
	if f.depth > MaxDepth {
		c.err = rawjson.ErrDepth
		return
	}
	c.dst = append(c.dst, '{')
	c.pos++
	count := 0
	kept := 0
	matched := false
	var child frame
	for ; ; count++ {
		start := c.pos + len(",")
		extra := c.extra
		m := c.known(&f, count)
		if m == nil {
			if !c.next('}', count == 0) {
				break
			}
			start = c.pos
			extra = c.extra
			m = c.member(&f, count)
		}
		if c.err != nil {
			return
		}
		matched = matched || m.step != nil
		if !m.keep || !c.enter(&f, m, &child) {
			c.skip(f.depth)
			if c.err == nil {
				m.field = c.tally.drop(c.names, m, c.pos-start-(c.extra-extra))
			}
		} else {
			if kept > 0 {
				c.dst = append(c.dst, ',')
			}
			kept++
			c.dst = append(append(c.dst, m.literal...), ':')
			name := m.name
			if child.star {
				name = anyName
			}
			c.names = append(c.names, name)
			c.cut(&child)
			c.names = c.names[:len(c.names)-1]
		}
		c.active = c.active[:f.hi]
	}
	c.dst = append(c.dst, '}')
	if f.root && f.level != nil && f.level.allow {
		c.matched = c.matched || matched
		c.foreign = c.foreign || count > 0 && !matched
	}
}

// enter makes child the frame of a member; false when the member is excluded or empty.
func (c *cutter) enter(f *frame, m *member, child *frame) bool {
	if f.filled && c.isEmpty() {
		return false
	}
	*child = frame{limit: f.limit, depth: f.depth, filled: f.filled}
	if s := m.step; s != nil {
		child.level = s.sub
		child.rows = s.rows
		if s.limit != noCap {
			child.limit = s.limit
		}
	}
	if f.hi == f.lo && child.level == nil && !f.filled {
		return true
	}
	child.open(c, child.level)
	var keep bool
	c.active, keep = follow(c.active, c.active[f.lo:f.hi], unescaped(m.name))
	if !keep {
		return false
	}
	child.hi = len(c.active)
	child.star = c.stars && isStar(c.active[f.lo:f.hi], m.name)
	child.path = fieldID(f.path, m.name)
	if child.star {
		child.path = fieldID(f.path, anyName)
	}
	return true
}

// anyName stands for the names of a list by name. No name is written so.
var anyName = []byte("\x00*")

// isStar reports whether only exclusions of any name lead further by the name.
func isStar(active []*exclusion, written []byte) bool {
	name := unescaped(written)
	star := false
	for _, e := range active {
		for _, x := range e.next {
			star = star || x.key.glob
			if !x.key.glob && x.key.matches(name) {
				return false
			}
		}
	}
	return star
}
