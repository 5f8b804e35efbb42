package project

import (
	"slices"

	"github.com/toolfit/toolfit/internal/rawjson"
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

// Texts are what a reader sees of a result: its texts, else structuredContent, else all of it.
func Texts(raw []byte) (texts [][]byte) {
	r, err := readResult(raw, nil)
	if err != nil || r == nil {
		r = &result{raw: raw}
		for w := rawjson.Array(rawjson.Get(raw, "content")); w.Next(); {
			if text, ok := rawjson.String(rawjson.Get(w.Value, "text")); ok {
				texts = append(texts, []byte(text))
			}
		}
	}
	var structured []byte
	for _, p := range r.parts {
		if p.structured {
			structured = p.full
		} else {
			texts = append(texts, p.full)
		}
	}
	switch {
	case len(texts) > 0:
		return texts
	case structured != nil:
		return [][]byte{structured}
	}
	return [][]byte{raw}
}
