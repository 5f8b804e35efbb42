package project

import (
	"bytes"
	"slices"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/project/quoted"
)

// Values are the JSON values that a rule would cut: structuredContent, else the texts that are JSON,
// with JSON Lines as an array.
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

// Texts are the texts of a result, else structuredContent, else all of it; each cut to most bytes of
// JSON.
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
