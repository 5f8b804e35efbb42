package project

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/project/mask"
	"github.com/toolfit/toolfit/internal/core/project/quoted"
)

// Body is the value that fetches select from: structuredContent if the text says the same, else the
// only text block (as JSON if it is), else the whole result.
func Body(raw []byte) []byte {
	r, err := readResult(raw, nil)
	if err != nil || r == nil {
		return raw
	}
	r.find()
	var texts []*part
	var structured *part
	for _, p := range r.parts {
		if p.structured {
			structured = p
		} else {
			texts = append(texts, p)
		}
	}
	blocks := 0
	for w := rawjson.Array(rawjson.Get(raw, "content")); w.Next(); {
		blocks++
	}
	switch {
	case blocks != len(texts): // an image, a link
		return raw
	case structured != nil:
		for _, p := range texts {
			if !sameValue(p.full, structured.full) {
				return raw
			}
		}
		return structured.full
	case len(texts) == 1:
		return texts[0].value()
	}
	return raw
}

// value is a text as JSON.
func (p *part) value() []byte {
	if p.json && rawjson.Check(p.full) == nil {
		return p.full
	}
	return quoted.Append(nil, p.full)
}

// sameValue reports whether two JSON texts mean the same.
func sameValue(a, b []byte) bool {
	x, errX := mask.Compact(nil, a)
	y, errY := mask.Compact(nil, b)
	if errX != nil || errY != nil {
		return false
	}
	return bytes.Equal(x, y) || reflect.DeepEqual(decoded(x), decoded(y)) // in another order, or with other escapes
}

func decoded(raw []byte) (v any) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return nil
	}
	return v
}

// selectFrom applies the mask to the body of a stored result, or else to the values that a rule would
// cut, as one array if there are several. The names that occurred are noted in t.
func selectFrom(result []byte, m *mask.Mask, t *mask.Tally) ([]byte, error) {
	out, err := m.Apply(nil, Body(result), t)
	if err == nil {
		return out, nil
	}
	*t = mask.Tally{}
	var found [][]byte
	for _, p := range cuttable(result) {
		var own mask.Tally
		out, err := m.Apply(nil, p.full, &own)
		if err != nil {
			continue
		}
		t.See(&own)
		if p.structured { // the texts mostly say the same
			return out, nil
		}
		found = append(found, out)
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return Rows(found), nil
	case errors.Is(err, mask.ErrMismatch):
		return nil, fault.New(fault.BadRequest, "none of the fields %.200s occurs", m).
			WithHint("there are: %s", strings.Join(known(treeOf(result)), ", "))
	}
	return nil, fault.New(fault.BadRequest, "the result is not JSON, so fields cannot be selected").
		WithHint("fetch it without fields, by offset and limit")
}
