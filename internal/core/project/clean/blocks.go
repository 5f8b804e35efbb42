package clean

import (
	"bytes"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/project/quoted"
)

// block is a text of a result's content, or of a resource in it.
type block struct {
	text   []byte
	isJSON bool // JSON is cleaned on its own: nothing spans its borders
	hidden bool // inside a comment
}

// across cleans what spans several blocks, since a model reads them as one text; nil when nothing is
// found.
func (c *Cleaner) across(raw []byte, spans []rawjson.Span, count *Count) []byte {
	if len(spans) < 2 {
		return nil
	}
	var joined []byte
	blocks := make([]block, len(spans))
	ends := make([]int, len(spans))
	for i, s := range spans {
		b := &blocks[i]
		b.text = textOf(raw[s.Start:s.End])
		b.isJSON = holdsJSON(b.text)
		if !b.isJSON {
			joined = append(joined, b.text...)
		}
		ends[i] = len(joined)
	}
	w := rewrite{text: joined, places: ends, hide: func(i int) { blocks[i].hidden = blocks[i].isJSON }}
	out := c.rewrite(&w, count)
	if out == nil {
		return nil
	}
	var edits []rawjson.Edit
	from := 0
	for i, b := range blocks {
		text := out[from:ends[i]]
		from = ends[i]
		if b.hidden || !b.isJSON && !bytes.Equal(text, b.text) {
			edits = append(edits, rawjson.Edit{Start: spans[i].Start, End: spans[i].End, New: quoted.Append(nil, text)})
		}
	}
	return rawjson.AppendSplice(nil, raw, edits...)
}

// appendSpans finds the texts of a result; false when it is no JSON.
func appendSpans(spans []rawjson.Span, raw []byte) ([]rawjson.Span, bool) {
	top := rawjson.Object(raw)
	for top.Step() {
		if string(top.Key) != "content" || raw[top.Start] != '[' {
			top.Skip()
			continue
		}
		w := top.Into()
		for w.Step() {
			spans = appendBlock(spans, raw, &w)
		}
		top.Out(&w)
	}
	return spans, top.Err() == nil || rawjson.Check(raw) == nil
}

// appendBlock finds the text of the block or resource that w stopped at.
func appendBlock(spans []rawjson.Span, raw []byte, w *rawjson.Walk) []rawjson.Span {
	if raw[w.Start] != '{' {
		w.Skip()
		return spans
	}
	in := w.Into()
	for in.Step() {
		if string(in.Key) == "resource" {
			spans = appendBlock(spans, raw, &in)
			continue
		}
		if in.Skip() && string(in.Key) == "text" && in.Value[0] == '"' {
			spans = append(spans, rawjson.Span{Start: in.Start, End: in.End})
		}
	}
	w.Out(&in)
	return spans
}

// holdsJSON reports whether a text is cleaned string by string.
func holdsJSON(text []byte) bool {
	start, end, ok := quoted.JSON(text)
	return ok && (rawjson.Check(text[start:end]) == nil || areLines(text[start:end]))
}
