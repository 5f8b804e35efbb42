package project

import (
	"bytes"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// fromLines makes an array of JSON Lines: objects or arrays on at least two lines. False: it is
// something else.
func (r *result) fromLines(text []byte) ([]byte, bool) {
	end := bytes.IndexByte(text, '\n')
	if end < 0 || !isRow(bytes.TrimSpace(text[:end])) {
		return nil, false
	}
	out := append(r.space(len(text)+2), '[')
	for line := range bytes.Lines(text) {
		row := bytes.TrimSpace(line)
		switch {
		case len(row) == 0:
			continue
		case len(out) > 1:
			out = append(out, ',')
			if !isRow(row) {
				return nil, false
			}
		}
		out = append(out, row...)
	}
	return append(out, ']'), true
}

// isRow reports whether a line is one object or array, not too deep to be part of an array.
func isRow(line []byte) bool {
	if len(line) == 0 || line[0] != '{' && line[0] != '[' {
		return false
	}
	end, err := rawjson.Skip(line, 0, rawjson.MaxDepth-1)
	return err == nil && end == len(line)
}

// toLines writes the rows of an array as JSON Lines. A value without rows stays as it is.
func (r *result) toLines(value []byte) []byte {
	out := r.space(len(value))
	for w := rawjson.Array(value); w.Next(); {
		if !isRow(w.Value) {
			return value
		}
		if len(out) > 0 {
			out = append(out, '\n')
		}
		out = append(out, w.Value...)
	}
	if len(out) == 0 {
		return value
	}
	return out
}
