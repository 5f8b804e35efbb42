package project

import "github.com/toolfit/toolfit/internal/rawjson"

// Values are the JSON values of a result that a rule would cut: structuredContent where
// there is one, for the texts mostly say the same, else the texts that are JSON, as far as
// their ends show. A result that nobody cuts has none.
func Values(raw []byte) (values [][]byte) {
	r, err := readResult(raw, nil)
	if err != nil || r == nil {
		return nil
	}
	r.find()
	for _, p := range r.parts {
		if p.structured {
			return [][]byte{p.full}
		}
		if p.json && !p.user {
			values = append(values, p.full)
		}
	}
	return values
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
