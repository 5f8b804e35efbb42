package project

import (
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
// of each no more than the beginning that is most bytes long as JSON writes it.
func Texts(raw []byte, most int) (texts [][]byte) {
	structured := raw
	for w := rawjson.Object(raw); w.Step(); {
		if string(w.Key) == "content" && raw[w.Start] == '[' {
			blocks := w.Into()
			if texts = textsOf(&blocks, most); len(texts) > 0 {
				return texts
			}
			w.Out(&blocks)
			continue
		}
		if w.Skip() && string(w.Key) == "structuredContent" {
			structured = w.Value
		}
	}
	return [][]byte{structured[:min(len(structured), most)]}
}

func textsOf(blocks *rawjson.Walk, most int) (texts [][]byte) {
	for blocks.Step() {
		block := blocks.Into()
		for block.Next() {
			if string(block.Key) == "text" && block.Value[0] == '"' {
				text, _ := quoted.ReadText(nil, block.Value[:min(len(block.Value), most)])
				texts = append(texts, text)
			}
		}
		if block.Err() != nil {
			blocks.Skip()
			continue
		}
		blocks.Out(&block)
	}
	return texts
}
