// Package toon writes JSON as TOON, a notation for models: indentation in place of braces,
// and arrays of like objects as tables. It loses nothing but the way numbers are spelled.
// It never reads TOON.
//
//	{"total":2,"items":[{"id":1,"name":"a"},{"id":2,"name":"b"}]}
//
// becomes
//
//	total: 2
//	items[2]{id,name}:
//	  1,a
//	  2,b
package toon

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// Encode writes one JSON value. What is no JSON is refused.
func Encode(data []byte) ([]byte, error) {
	if err := rawjson.Check(data); err != nil {
		return nil, fmt.Errorf("write TOON: %w", err)
	}
	data = bytes.TrimSpace(data)
	w := &writer{}
	switch data[0] {
	case '{':
		w.fields(data, 0)
	case '[':
		w.array(data, 0, true)
	default:
		w.scalar(data)
	}
	return bytes.TrimSuffix(w.out, []byte("\n")), nil
}

// writer writes lines, each with its line break.
type writer struct{ out []byte }

func (w *writer) indent(depth int) {
	for range depth {
		w.out = append(w.out, "  "...)
	}
}

// fields writes the members of an object, a line or more each.
func (w *writer) fields(object []byte, depth int) {
	for m := rawjson.Object(object); m.Next(); {
		w.indent(depth)
		w.key(m.Key)
		switch m.Value[0] {
		case '{':
			w.out = append(w.out, ":\n"...)
			w.fields(m.Value, depth+1)
		case '[':
			w.array(m.Value, depth, true)
		default:
			w.out = append(w.out, ": "...)
			w.scalar(m.Value)
			w.out = append(w.out, '\n')
		}
	}
}

// array writes the rest of a line that names an array, and the lines below. Only a named one can be a
// table.
func (w *writer) array(array []byte, depth int, named bool) {
	a := look(array)
	w.out = strconv.AppendInt(append(w.out, '['), int64(a.n), 10)
	w.out = append(w.out, ']')
	switch {
	case a.scalars:
		w.row(array)
	case a.columns != nil && named:
		w.table(array, a.columns, depth+1)
	default:
		w.out = append(w.out, ":\n"...)
		w.items(array, depth+1)
	}
}

// row ends a line with scalars.
func (w *writer) row(array []byte) {
	w.out = append(w.out, ':')
	sep := byte(' ')
	for e := rawjson.Array(array); e.Next(); {
		w.out = append(w.out, sep)
		w.scalar(e.Value)
		sep = ','
	}
	w.out = append(w.out, '\n')
}

// table writes objects that all have the same members, and no others inside.
func (w *writer) table(array []byte, columns []string, depth int) {
	w.out = append(w.out, '{')
	for i, c := range columns {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		w.key([]byte(c))
	}
	w.out = append(w.out, "}:\n"...)
	for e := rawjson.Array(array); e.Next(); {
		cells := make(map[string][]byte, len(columns))
		for m := rawjson.Object(e.Value); m.Next(); {
			cells[string(m.Key)] = m.Value
		}
		w.indent(depth)
		for i, c := range columns {
			if i > 0 {
				w.out = append(w.out, ',')
			}
			w.scalar(cells[c])
		}
		w.out = append(w.out, '\n')
	}
}

// items writes elements of any kind, each behind a dash.
func (w *writer) items(array []byte, depth int) {
	for e := rawjson.Array(array); e.Next(); {
		if e.Value[0] == '{' {
			w.item(e.Value, depth)
			continue
		}
		w.indent(depth)
		w.out = append(w.out, "- "...)
		if e.Value[0] == '[' {
			w.array(e.Value, depth, false)
			continue
		}
		w.scalar(e.Value)
		w.out = append(w.out, '\n')
	}
}

// item writes an object behind a dash: its first line begins there.
func (w *writer) item(object []byte, depth int) {
	start := len(w.out)
	w.fields(object, depth+1)
	if len(w.out) == start {
		w.indent(depth)
		w.out = append(w.out, "-\n"...)
		return
	}
	copy(w.out[start+2*depth:], "- ")
}

// form is how an array can be written.
type form struct {
	n       int
	scalars bool     // all elements are scalars, or there are none
	columns []string // all elements are objects with these members, all scalars
}

func look(array []byte) form {
	f := form{scalars: true}
	alike := true
	for e := rawjson.Array(array); e.Next(); {
		f.n++
		f.scalars = f.scalars && isScalar(e.Value)
		if !alike {
			continue
		}
		names, ok := members(e.Value)
		switch {
		case !ok:
			alike = false
		case f.n == 1:
			f.columns = names
		default:
			alike = sameNames(f.columns, names)
		}
	}
	if !alike {
		f.columns = nil
	}
	return f
}

// members are the names in an object of scalars; false for anything else, and for duplicate names.
func members(value []byte) ([]string, bool) {
	if value[0] != '{' {
		return nil, false
	}
	var names []string
	seen := map[string]bool{}
	for m := rawjson.Object(value); m.Next(); {
		if !isScalar(m.Value) || seen[string(m.Key)] {
			return nil, false
		}
		seen[string(m.Key)] = true
		names = append(names, string(m.Key))
	}
	return names, len(names) > 0
}

func sameNames(a, b []string) bool {
	return slices.Equal(a, b) || slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

func isScalar(value []byte) bool { return value[0] != '{' && value[0] != '[' }
