package project

import (
	"bytes"
	"slices"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/project/quoted"
)

// Values are the JSON values of a result that a rule would cut: structuredContent where
// there is one, for the texts mostly say the same, else the texts that are JSON; JSON Lines
// are the array of them. A result that nobody cuts has none.
func Values(raw []byte) (values [][]byte) {
	for _, p := range cuttable(raw) {
		if p.structured {
			return [][]byte{p.full}
		}
		values = append(values, p.full)
	}
	return values
}

// Rows is an array of the values.
func Rows(values [][]byte) []byte {
	return slices.Concat([]byte{'['}, bytes.Join(values, []byte{','}), []byte{']'})
}

// cuttable are the parts of a result that a rule would cut, structuredContent first.
func cuttable(raw []byte) (parts []*part) {
	r, err := readResult(raw, nil)
	if err != nil || r == nil {
		return nil
	}
	r.find()
	for _, p := range r.parts {
		switch {
		case p.structured:
			parts = slices.Insert(parts, 0, p)
		case p.json && !p.user && rawjson.Check(p.full) == nil:
			parts = append(parts, p)
		}
	}
	return parts
}

// Texts are what a reader sees of a result: its texts, else structuredContent, else all of it;
// of each at most the first most bytes, as JSON writes it.
func Texts(raw []byte, most int) (texts [][]byte) {
	for w := rawjson.Array(rawjson.Get(raw, "content")); w.Next(); {
		if text := rawjson.Get(w.Value, "text"); len(text) > 0 && text[0] == '"' {
			start, _ := quoted.ReadText(nil, text[:min(len(text), most)])
			texts = append(texts, start)
		}
	}
	if len(texts) > 0 {
		return texts
	}
	if structured := rawjson.Get(raw, "structuredContent"); structured != nil {
		raw = structured
	}
	return [][]byte{raw[:min(len(raw), most)]}
}
