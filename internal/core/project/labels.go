package project

import (
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/project/columns"
	"github.com/toolfit/toolfit/internal/core/project/mask"
)

// labelChars is how much of a name a label has.
const labelChars = 48

// labels are what the rows of an array are called, as JSON strings; none when they are not objects.
func labels(array []byte) (list [][]byte) {
	for w := rawjson.Array(array); w.Next(); {
		if w.Value[0] != '{' {
			return nil
		}
		list = append(list, label(w.Value))
	}
	return list
}

// label is a row in a few words: its ID and its name, or its first plain values.
func label(row []byte) []byte {
	var id, name, first []byte
	least := 0
	for w := rawjson.Object(row); w.Next(); {
		if w.Value[0] == '{' || w.Value[0] == '[' || string(w.Value) == "null" {
			continue
		}
		if first == nil {
			first = w.Value
		}
		switch rank, isName := columns.Names(string(w.Key)); {
		case rank < 0:
		case isName && name == nil:
			name = w.Value
		case !isName && (id == nil || rank < least):
			id = w.Value
			least = rank
		}
	}
	switch {
	case id == nil && name == nil:
		return shortLabel(first, nil)
	case id == nil:
		return shortLabel(name, nil)
	}
	return shortLabel(id, name)
}

// shortLabel joins two plain values in one string.
func shortLabel(id, name []byte) []byte {
	text := plainText(id)
	if name != nil {
		text += " " + plainText(name)
	}
	literal := rawjson.AppendString(nil, text)
	if short, cut := mask.AppendShort(nil, literal, labelChars); cut {
		return short
	}
	return literal
}

// plainText is a plain value without its quotes.
func plainText(value []byte) string {
	if s, ok := rawjson.String(value); ok {
		return s
	}
	return string(value)
}
