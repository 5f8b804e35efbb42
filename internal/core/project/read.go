package project

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/project/mask"
	"github.com/toolfit/toolfit/internal/core/project/quoted"
)

// readResult finds the parts; nil for an error or an incomplete result. Texts that are JSON are cut by
// the mask on the way.
func readResult(raw []byte, m *mask.Mask) (*result, error) {
	r := &result{raw: raw, mask: m}
	w := rawjson.Object(raw)
	for w.Step() {
		if string(w.Key) == "content" {
			r.content.there = true
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
			r.meta.there = true
			if w.Value[0] == '{' {
				r.meta.end = w.End - 1
				r.meta.filled = !isEmpty(w.Value)
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

// readContent finds the text blocks in one pass.
func (r *result) readContent(w *rawjson.Walk) {
	blocks := w.Into()
	for blocks.Step() {
		before := blocks.End
		r.content.filled = true
		if r.raw[blocks.Start] != '{' {
			blocks.Skip()
			continue
		}
		block := blocks.Into()
		p := r.readBlock(&block)
		blocks.Out(&block)
		if p != nil {
			p.block = rawjson.Edit{Start: before, End: blocks.End}
		}
		if p == nil || p.resource {
			r.others += blockTokens(blocks.Value)
		}
	}
	w.Out(&blocks)
	r.content.end = w.End - 1
}

// readBlock finds the part that a block of content is; nil when it has no text.
func (r *result) readBlock(block *rawjson.Walk) *part {
	p := &part{}
	var kind string
	var resource rawjson.Edit
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
			kind = string(block.Value)
		case "annotations":
			p.user = string(bytes.Join(bytes.Fields(rawjson.Get(block.Value, "audience")), nil)) == `["user"]`
		case "resource":
			resource = rawjson.Edit{Start: block.Start, End: block.End}
		}
	}
	switch {
	case kind == `"text"` && p.end > 0:
		if p.user && p.quoted { // which came after the text
			r.read(p, p.start)
		}
		r.parts = append(r.parts, p)
		return p
	case kind == `"resource"` && resource.End > 0:
		return r.addResource(resource, p.user)
	}
	return nil
}

// addResource records where the text of a resource is; nil if it has none.
func (r *result) addResource(at rawjson.Edit, user bool) *part {
	for w := rawjson.Object(r.raw[at.Start:at.End]); w.Next(); {
		if string(w.Key) == "text" && w.Value[0] == '"' {
			p := &part{start: at.Start + w.Start, end: at.Start + w.End, resource: true, user: user}
			r.resources = append(r.resources, p)
			return p
		}
	}
	return nil
}

// readResources adds the texts of resources as parts, in the order of the blocks.
func (r *result) readResources() {
	if len(r.resources) == 0 {
		return
	}
	for _, p := range r.resources {
		r.read(p, p.start)
	}
	r.parts = append(r.parts, r.resources...)
	slices.SortStableFunc(r.parts, func(a, b *part) int { return cmp.Compare(a.start, b.start) })
}

// read reads the string at start; false if there is none.
func (r *result) read(p *part, start int) bool {
	r.open()
	before := len(*r.room)
	text, size := quoted.ReadText(*r.room, r.raw[start:])
	if size == 0 {
		return false
	}
	*r.room = text
	p.start = start
	p.end = start + size
	p.came = text[before:len(text):len(text)]
	p.full = p.came
	p.out = nil
	p.quoted = false
	p.tally.Reset() // of what was cut before
	return true
}

// find determines which of the texts may be JSON.
func (r *result) find() {
	for _, p := range r.parts {
		if p.structured || p.quoted {
			continue
		}
		var start, end int
		start, end, p.json = quoted.JSON(p.full)
		if p.json {
			p.full = p.full[start:end]
			if rows, ok := r.fromLines(p.full); ok {
				p.full = rows
				p.lines = true
			}
		}
	}
}

// isEmpty reports whether an object or array has nothing in it.
func isEmpty(container []byte) bool {
	start, end := quoted.Trim(container, 1, len(container)-1)
	return start == end
}
