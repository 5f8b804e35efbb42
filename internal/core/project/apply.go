package project

import (
	"cmp"
	"slices"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/project/quoted"
)

// Leaves reports whether something is left out. Then the full result must be stored before the
// result of Apply is sent.
func (c *Cut) Leaves() bool {
	return c.result != nil && slices.ContainsFunc(c.result.parts, (*part).leaves)
}

// Apply returns the result for its reader: the original bytes if nothing changed. ref names
// the stored result, or is "".
func (c *Cut) Apply(ref string) []byte {
	if c.result == nil {
		return c.raw
	}
	r := c.result
	r.gatherNotes()
	var edits []rawjson.Edit
	for _, p := range r.parts {
		switch {
		case p.dropped:
			edits = append(edits, p.block)
		case p.out != nil || p.shaped != nil:
			edits = append(edits, rawjson.Edit{Start: p.start, End: p.end, New: r.write(p, ref)})
		}
	}
	if c.Leaves() {
		edits = r.addNote(edits, ref)
		edits = r.addList(edits, ref)
	}
	slices.SortStableFunc(edits, func(a, b rawjson.Edit) int { return cmp.Compare(a.Start, b.Start) })
	size := len(c.raw)
	for _, e := range edits {
		size += len(e.New) - (e.End - e.Start)
	}
	return rawjson.AppendSplice(make([]byte, 0, size), c.raw, edits...)
}

// gatherNotes merges the notes of several texts: a list is often written as one text per row.
func (r *result) gatherNotes() {
	cut := r.cutParts(func(p *part) bool { return !p.structured })
	if len(cut) > 1 {
		for _, p := range cut {
			p.note = outside
		}
	}
}

// write returns the part's value as it goes into the result.
func (r *result) write(p *part, ref string) []byte {
	if p.quoted {
		return r.writeQuoted(p, ref)
	}
	pieces := r.pieces(p, ref)
	size := 0
	for _, piece := range pieces {
		size += len(piece)
	}
	if p.structured {
		return appendAll(r.space(size), pieces)
	}
	return quoted.Append(r.space(size+size/4+16), pieces...)
}

// pieces returns what is left of the part, with the note that goes into it.
func (r *result) pieces(p *part, ref string) [][]byte {
	switch {
	case p.holdsNote():
		return noted(p.sent(), r.noteOf(p, ref))
	case p.lines && p.shaped == nil:
		return [][]byte{r.toLines(p.sent())}
	}
	return [][]byte{p.sent()}
}

// noteOf returns the note that goes into the part.
func (r *result) noteOf(p *part, ref string) []byte {
	a := r.absentFrom([]*part{p})
	return appendNote(nil, &a, ref)
}

func appendAll(dst []byte, pieces [][]byte) []byte {
	for _, piece := range pieces {
		dst = append(dst, piece...)
	}
	return dst
}

// addNote adds a text block listing what is missing from parts that cannot hold a note.
func (r *result) addNote(edits []rawjson.Edit, ref string) []rawjson.Edit {
	text := r.outsideNote(ref)
	if text == nil {
		return edits
	}
	block := append(quoted.Append([]byte(`{"type":"text","text":`), text), '}')
	return r.content.add(r, edits, `"content":[`, block, "]")
}

// outsideNote is the text of that block; nil when none is needed.
func (r *result) outsideNote(ref string) []byte {
	a := r.absent(func(p *part) bool { return !p.structured && !p.holdsNote() })
	if a.tokens == 0 {
		a = r.absent(func(p *part) bool { return p.structured && !p.holdsNote() })
	}
	if a.tokens == 0 {
		return nil
	}
	return noteBlock(appendNote(nil, &a, ref))
}

// addList adds the full list of what is missing to _meta.
func (r *result) addList(edits []rawjson.Edit, ref string) []rawjson.Edit {
	a := r.absent(func(p *part) bool { return p.structured })
	if a.tokens == 0 {
		a = r.absent(func(p *part) bool { return !p.structured })
	}
	return r.meta.add(r, edits, `"_meta":{`, appendList([]byte(`"`+metaOmitted+`":`), &a, ref), "}")
}
