package project

import (
	"cmp"
	"slices"
	"sort"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/project/columns"
	"github.com/toolfit/toolfit/internal/core/project/mask"
)

// others are the rows of a list as a note can say them: the names of the columns once, and a short array
// per row. That takes about half as much as objects do.
//
//	{"columns":["number","title"],"rows":[[12,"Crash"],[9,"Typo"]]}
type others struct {
	names [][]byte   // of the columns as JSON strings, those that identify first
	rows  [][][]byte // a value per column; nil where the row has none
}

const (
	maxOtherColumns = 24
	maxOtherDepth   = 3
	fewColumns      = 2 // that say what a row is
	sparse          = 4 // a column that fewer than a quarter of the rows have is not worth its place
)

// othersOf takes the rows of an array apart. There are none when they are not objects, or hold most of
// their content in lists of their own: then these should be cut rather.
func othersOf(array []byte) *others {
	o := &others{}
	index := map[string]int{}
	var paths []string
	inside := 0
	for w := rawjson.Array(array); w.Next(); {
		if w.Value[0] != '{' {
			return nil
		}
		row := map[string][]byte{}
		inside += cells(row, "", w.Value, 0)
		cell := make([][]byte, len(paths), len(paths)+len(row))
		for path, value := range row {
			i, ok := index[path]
			if !ok && len(paths) == maxOtherColumns {
				continue
			}
			if !ok {
				i = len(paths)
				index[path] = i
				paths = append(paths, path)
				cell = append(cell, nil)
			}
			cell[i] = value
		}
		o.rows = append(o.rows, cell)
	}
	o.sort(paths)
	if 2*inside > len(array) || len(o.names) == 0 {
		return nil
	}
	return o
}

// sort puts the columns that identify first, and short ones before long ones. Those that most rows do
// not have are left out.
func (o *others) sort(paths []string) {
	filled := make([]int, len(paths))
	size := make([]int, len(paths))
	for _, row := range o.rows {
		for i, value := range row {
			if value != nil {
				filled[i]++
				size[i] += len(value)
			}
		}
	}
	var order []int
	for i := range paths {
		if sparse*filled[i] >= len(o.rows) {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(columns.Weight(paths[a]), columns.Weight(paths[b])), cmp.Compare(size[a], size[b]),
			cmp.Compare(paths[a], paths[b]))
	})
	for _, i := range order {
		o.names = append(o.names, rawjson.AppendString(nil, paths[i]))
	}
	for r, row := range o.rows {
		sorted := make([][]byte, len(order))
		for to, from := range order {
			if from < len(row) {
				sorted[to] = row[from]
			}
		}
		o.rows[r] = sorted
	}
}

// cells adds the plain values of an object by their paths, and returns the size of the lists in it.
func cells(row map[string][]byte, prefix string, object []byte, depth int) (inside int) {
	for w := rawjson.Object(object); w.Next(); {
		path := prefix + string(w.Key)
		switch {
		case w.Value[0] == '{' && len(w.Value) > 2 && depth < maxOtherDepth:
			inside += cells(row, path+".", w.Value, depth+1)
		case w.Value[0] == '[' && len(w.Value) > 2 && w.Value[1] == '{':
			inside += len(w.Value)
			fallthrough
		default:
			row[path] = w.Value
		}
	}
	return inside
}

// append appends some rows with some columns.
func (o *others) append(dst []byte, from, to, columns int) []byte {
	list := func(values [][]byte) {
		for i, value := range values {
			if i > 0 {
				dst = append(dst, ',')
			}
			if value == nil {
				value = []byte("null")
			}
			dst = append(dst, value...)
		}
		dst = append(dst, ']')
	}
	dst = append(dst, `{"columns":[`...)
	list(o.names[:columns])
	dst = append(dst, `,"rows":[`...)
	for i, row := range o.rows[from:to] {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, '[')
		list(row[:columns])
	}
	return append(dst, "]}"...)
}

// thinList shortens the largest list and says in the note what the rows are that are left out: all of
// them with as many columns as fit, or as many of them as fit.
func (c *trimmer) thinList() bool {
	bulk, err := mask.Survey(c.value)
	at := bulk.Array
	if err != nil || at.Count < 2 || !c.noted {
		return false
	}
	list := c.value[at.Start:at.End]
	o := othersOf(list)
	if o == nil {
		return false
	}
	if c.write != nil {
		list = c.write(list)
	}
	if 4*len(o.append(nil, 0, len(o.rows), min(fewColumns, len(o.names)))) > 3*len(list) {
		return false // rows take no more
	}
	var ends []int
	for w := rawjson.Array(c.value[at.Start:at.End]); w.Next(); {
		ends = append(ends, w.End)
	}
	try := func(rows, said, columns int) bool {
		out := cutAfter(c.value, at, ends[rows-1], ']')
		t := c.tally.Clone()
		t.Rows += len(ends) - rows
		s := c.said
		if said > 0 {
			s.others = o.append(nil, rows, rows+said, columns)
		}
		if !c.fits(out, t, s, c.budget) {
			return false
		}
		c.thinned = thinned{out, t, s}
		return true
	}
	c.thinned = thinned{}
	all := len(o.names)
	narrow := sort.Search(all-1, func(i int) bool { return try(1, len(ends)-1, all-i) })
	width := all - narrow
	if width >= min(fewColumns, all) && try(1, len(ends)-1, width) {
		sort.Search(len(ends)-2, func(i int) bool { return !try(2+i, len(ends)-2-i, width) })
	} else {
		width = min(fewColumns, all)
		half := c.budget / 2
		rows := 1 + sort.Search(len(ends)-2, func(i int) bool { return !c.fitsCut(at, ends, 2+i, half) })
		if try(rows, 0, width) {
			sort.Search(len(ends)-rows, func(i int) bool { return !try(rows, i+1, width) })
		}
	}
	if c.thinned.value == nil {
		return false
	}
	c.value = c.thinned.value
	*c.tally = *c.thinned.tally
	c.said = c.thinned.said
	return true
}

// thinned is the last cut that fitted.
type thinned struct {
	value []byte
	tally *mask.Tally
	said  said
}

// fitsCut reports whether the value fits with so many rows of a list.
func (c *trimmer) fitsCut(at mask.Place, ends []int, rows, budget int) bool {
	t := c.tally.Clone()
	t.Rows += len(ends) - rows
	return c.fits(cutAfter(c.value, at, ends[rows-1], ']'), t, c.said, budget)
}
