package project

import (
	"bytes"
	"slices"
	"sync"

	"github.com/toolfit/toolfit/internal/project/mask"
	"github.com/toolfit/toolfit/internal/project/quoted"
	"github.com/toolfit/toolfit/internal/rawjson"
)

// result is a tools/call result with its parts found.
type result struct {
	raw        []byte
	mask       *mask.Mask // cuts texts while they are read; nil: nothing does
	parts      []*part
	contentEnd int  // where a block can be added to content; 0 without one
	contents   bool // content has a block
	noContent  bool // the result has no such member
	metaEnd    int  // where a member can be added to _meta; 0 without one
	metas      bool // _meta has a member
	noMeta     bool // the result has no such member
	end        int  // where a member can be added to the result

	room *[]byte // where the texts lie, and what is made of them; nil: not opened
}

// part is a piece of a result that may be cut: structuredContent, or the text of a block.
type part struct {
	start, end int // of its value in the result's bytes
	structured bool
	user       bool // not for the model: its annotations say so

	full []byte // its JSON, or its text; nil when it was cut while it was read
	json bool   // full is JSON, as far as its ends show
	out  []byte // what is left of it; nil: all

	quoted bool // out is a string, as it was cut while it was read

	shaped []byte // out, or full, written shorter; nil: it is not

	cost    int // tokens of full; 0: not counted yet
	tally   mask.Tally
	left    []mask.Field // of the tally; nil: not asked for yet
	note    noteRoom
	program bool // a jq program made out, so that nobody counted what is missing
}

// leaves tells whether something of the part is left out.
func (p *part) leaves() bool { return p.program || p.tally.Left() }

// text is what is left of the part.
func (p *part) text() []byte {
	if p.out != nil {
		return p.out
	}
	return p.full
}

// sent is what the reader gets of it, without the note.
func (p *part) sent() []byte {
	if p.shaped != nil {
		return p.shaped
	}
	return p.text()
}

// holdsNote tells whether the note can stand inside the part: in an object that has no
// such member of its own.
func (p *part) holdsNote() bool {
	if p.note == unknown {
		p.note = outside
		if p.json && p.shaped == nil && p.leaves() && p.isObject() && !p.hasNote() {
			p.note = inside
		}
	}
	return p.note == inside
}

// noteRoom is where the note of a part stands. It is found out once, when all is cut.
type noteRoom int

const (
	unknown noteRoom = iota
	inside           // the part
	outside
)

// changed tells whether any part is sent otherwise than it came.
func (r *result) changed() bool {
	for _, p := range r.parts {
		if p.out != nil || p.shaped != nil {
			return true
		}
	}
	return false
}

// readResult finds the parts; nil for an error, for what is not complete, and for what is
// no result at all. With a mask, texts that are JSON are cut by it on the way.
func readResult(raw []byte, m *mask.Mask) (*result, error) {
	r := &result{raw: raw, mask: m, noContent: true, noMeta: true}
	w := rawjson.Object(raw)
	for w.Step() {
		if string(w.Key) == "content" {
			r.noContent = false
			if raw[w.Start] == '[' {
				r.readContent(&w)
				continue
			}
		}
		if !w.Skip() {
			break
		}
		switch string(w.Key) {
		case "isError":
			if string(w.Value) == "true" {
				return nil, nil
			}
		case "resultType":
			if string(w.Value) != `"complete"` {
				return nil, nil
			}
		case "structuredContent":
			if c := w.Value[0]; c == '{' || c == '[' || c == '"' {
				r.parts = append(r.parts, &part{start: w.Start, end: w.End, structured: true, full: w.Value, json: true})
			}
		case "_meta":
			r.noMeta = false
			if w.Value[0] == '{' {
				r.metaEnd = w.End - 1
				r.metas = !isEmpty(w.Value)
			}
		}
	}
	if err := w.Err(); err != nil {
		return nil, err
	}
	for r.end = len(raw) - 1; raw[r.end] != '}'; r.end-- {
	}
	return r, nil
}

// readContent finds the text blocks. It goes over the bytes once: they are most of a result.
func (r *result) readContent(w *rawjson.Walk) {
	blocks := w.Into()
	for blocks.Step() {
		r.contents = true
		if r.raw[blocks.Start] != '{' {
			blocks.Skip()
			continue
		}
		block := blocks.Into()
		if p := r.readBlock(&block); p != nil {
			r.parts = append(r.parts, p)
		}
		blocks.Out(&block)
	}
	w.Out(&blocks)
	r.contentEnd = w.End - 1
}

// readBlock is the part that a block of content is; nil when it is no text.
func (r *result) readBlock(block *rawjson.Walk) *part {
	p := &part{}
	isText := false
	for block.Step() {
		if string(block.Key) == "text" && (r.cutQuoted(p, block.Start) || r.read(p, block.Start)) {
			block.SkipTo(p.end)
			continue
		}
		if !block.Skip() {
			break
		}
		switch string(block.Key) {
		case "type":
			isText = string(block.Value) == `"text"`
		case "annotations":
			p.user = string(bytes.Join(bytes.Fields(rawjson.Get(block.Value, "audience")), nil)) == `["user"]`
		}
	}
	if !isText || p.end == 0 {
		return nil
	}
	if p.user && p.quoted { // which was said after the text
		r.read(p, p.start)
	}
	return p
}

// read reads the string that starts there; false when there is none.
func (r *result) read(p *part, start int) bool {
	r.open()
	before := len(*r.room)
	text, size := quoted.ReadText(*r.room, r.raw[start:])
	if size == 0 {
		return false
	}
	*r.room = text
	p.start, p.end, p.full = start, start+size, text[before:len(text):len(text)]
	p.out, p.quoted = nil, false
	p.tally.Reset() // of what was cut before
	return true
}

// open takes a room in which there is space for all texts, which together are no longer
// than the result, and for about as much that is made of them.
func (r *result) open() {
	if r.room == nil {
		r.room = rooms.Get().(*[]byte)
		*r.room = slices.Grow((*r.room)[:0], 2*len(r.raw))
	}
}

// space is for n bytes that last until Release.
func (r *result) space(n int) []byte {
	r.open()
	used := len(*r.room)
	if cap(*r.room)-used < n {
		return make([]byte, 0, n)
	}
	*r.room = (*r.room)[:used+n]
	return (*r.room)[used : used : used+n]
}

// isEmpty tells whether an object or array has nothing in it.
func isEmpty(container []byte) bool {
	start, end := quoted.Trim(container, 1, len(container)-1)
	return start == end
}

// rooms are where results are worked on.
var rooms = sync.Pool{New: func() any { return new([]byte) }}

// maxRoom is the largest room that is used again.
const maxRoom = 1 << 20

// Release lets the room that the plan takes be used again. It need not be called; after it
// the cut is of no use, and what Apply returned stays.
func (c *Cut) Release() {
	if c.result == nil {
		return
	}
	if room := c.result.room; room != nil && cap(*room) <= maxRoom {
		rooms.Put(room)
	}
	c.result = nil
}

// find looks which of the texts may be JSON.
func (r *result) find() {
	for _, p := range r.parts {
		if p.structured || p.quoted {
			continue
		}
		var start, end int
		if start, end, p.json = quoted.JSON(p.full); p.json {
			p.full = p.full[start:end]
		}
	}
}
