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

// Value is what a program reads of a result: structuredContent, else the JSON object or array that its only text is, else its text as
// a JSON string, with the lines of several texts below each other. nil: it has neither.
func Value(raw []byte) []byte {
	if structured := rawjson.Get(raw, "structuredContent"); !rawjson.IsNull(structured) {
		return structured
	}
	var texts [][]byte
	for w := rawjson.Array(rawjson.Get(raw, "content")); w.Next(); {
		if text := rawjson.Get(w.Value, "text"); len(text) > 0 && text[0] == '"' {
			texts = append(texts, quoted.AppendText(nil, text))
		}
	}
	if len(texts) == 0 {
		return nil
	}
	text := bytes.Join(texts, []byte{'\n'})
	value := bytes.TrimSpace(text)
	if len(texts) == 1 && len(value) > 0 && (value[0] == '{' || value[0] == '[') && rawjson.Check(value) == nil {
		return value
	}
	return quoted.Append(nil, text)
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
