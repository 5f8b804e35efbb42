package project

import (
	"slices"
	"sync"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/project/mask"
)

// result is a tools/call result with its parts found.
type result struct {
	raw       []byte
	mask      *mask.Mask // cuts texts while reading; may be nil
	parts     []*part
	resources []*part // texts in blocks that hold a resource, not read yet: only a budget cuts them
	others    int     // tokens of the non-text blocks
	content   slot
	meta      slot // _meta
	end       int  // where a member can be added to the result

	room *[]byte // buffer of the texts and of the output; nil: not opened
}

// slot is a member of the result to which something can be added.
type slot struct {
	there  bool
	end    int  // where to add; 0: it is neither an array nor an object
	filled bool // not empty
}

// add appends the edit that adds a piece to the slot. A missing slot is opened and closed.
func (s slot) add(r *result, edits []rawjson.Edit, open string, piece []byte, end string) []rawjson.Edit {
	at := s.end
	switch {
	case !s.there: // there are other members, so a comma is needed
		at = r.end
		piece = slices.Concat([]byte(","+open), piece, []byte(end))
	case at == 0:
		return edits
	case s.filled:
		piece = append([]byte{','}, piece...)
	}
	return append(edits, rawjson.Edit{Start: at, End: at, New: piece})
}

// part is a piece of a result that may be cut: structuredContent, or the text of a block.
type part struct {
	start, end int // of its value in the result's bytes
	structured bool
	resource   bool // the text of a resource
	user       bool // not for the model, according to its annotations

	block   rawjson.Edit // removes the block of the text from content
	dropped bool         // it is taken out

	came  []byte // its text; nil if it was cut while reading
	full  []byte // its JSON, else its text; nil as well
	json  bool   // full is JSON, as far as its ends show
	lines bool   // it came as JSON Lines, of which full is the array
	out   []byte // what is left of it; nil: all

	quoted bool // out is a string literal, cut while reading

	shaped []byte // out, or full, written shorter; nil: it is not

	cost    int // tokens of full; 0: not counted yet
	tally   mask.Tally
	left    []mask.Field // of the tally; nil: not asked for yet
	said    said
	note    noteRoom
	program bool // out comes from a jq program, so nothing was counted
}

// drop leaves out the whole block.
func (p *part) drop() {
	p.dropped = true
	p.note = outside
	p.tally.Reset()
	p.tally.Rows = 1
}

// leaves reports whether something of the part is left out.
func (p *part) leaves() bool { return p.program || p.tally.Left() }

// text returns what is left of the part.
func (p *part) text() []byte {
	if p.out != nil {
		return p.out
	}
	return p.full
}

// sent returns what the reader gets, without the note.
func (p *part) sent() []byte {
	if p.shaped != nil {
		return p.shaped
	}
	return p.text()
}

// holdsNote reports whether the note goes inside the part: an object without a member of that name.
func (p *part) holdsNote() bool {
	if p.note == unknown {
		p.note = outside
		if p.json && p.shaped == nil && p.leaves() && p.isObject() && !p.hasNote() {
			p.note = inside
		}
	}
	return p.note == inside
}

// noteRoom is where the note of a part goes, decided once everything is cut.
type noteRoom int

const (
	unknown noteRoom = iota
	inside           // the part
	outside
)

// textBytes is at least the bytes of all texts, and so at least their tokens.
func (r *result) textBytes() (n int) {
	for _, list := range [...][]*part{r.parts, r.resources} {
		for _, p := range list {
			switch {
			case p.structured:
			case p.out != nil:
				n += len(p.out)
			default:
				n += p.end - p.start
			}
		}
	}
	return n
}

// changed reports whether any part was changed.
func (r *result) changed() bool {
	return slices.ContainsFunc(r.parts, func(p *part) bool { return p.dropped || p.out != nil || p.shaped != nil })
}

// open takes a buffer with room for all texts and about as much output, unless that is very
// large.
func (r *result) open() {
	if r.room != nil {
		return
	}
	size := 2 * len(r.raw)
	if size > maxRoom {
		size = len(r.raw)
	}
	r.room = rooms.Get().(*[]byte)
	*r.room = (*r.room)[:0]
	if cap(*r.room) < size {
		*r.room = make([]byte, 0, size) // and not grown: what nobody writes to costs no memory
	}
}

// space returns n bytes that are valid until Release.
func (r *result) space(n int) []byte {
	r.open()
	used := len(*r.room)
	if cap(*r.room)-used < n {
		return make([]byte, 0, n)
	}
	*r.room = (*r.room)[:used+n]
	return (*r.room)[used : used : used+n]
}

var rooms = sync.Pool{New: func() any { return new([]byte) }}

// maxRoom is the largest buffer that is reused.
const maxRoom = 8 << 20

// Release returns the buffer to the pool. After it the cut must not be used; what Apply returned stays
// valid.
func (c *Cut) Release() {
	if c.result == nil {
		return
	}
	if room := c.result.room; room != nil && cap(*room) <= maxRoom {
		rooms.Put(room)
	}
	c.result = nil
}
