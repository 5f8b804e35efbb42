package shape

import (
	"bytes"
	"slices"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

const (
	leastRows  = 2 // of a table
	leastHoist = 3 // rows from which constants are named once
	maxColumns = 64
)

// column is a member of the rows, or of an object that all rows have it in.
type column struct {
	name   []byte // as the header writes it, dotted
	inside *columns
	whole  bool // some row has a value here that is not taken apart
	index  int  // among the leaves
	row    int  // the last in which it was seen
}

// reader goes over the rows, counted from 1, and finds their columns.
type reader struct{ row, total int }

// columns are the members at one level, in the order in which they came.
type columns struct {
	list  []*column
	byKey map[string]*column
}

// table is an array of objects, taken apart.
type table struct {
	leaves []*column
	rows   [][][]byte // a value per leaf; nil where the row has none
}

// readTable reads an array of at least two objects; false when it is none, or has too many columns.
func readTable(array []byte) (*table, bool) {
	var objects [][]byte
	for w := rawjson.Array(array); w.Next(); {
		if w.Value[0] != '{' || len(w.Value) == 2 {
			return nil, false
		}
		objects = append(objects, w.Value)
	}
	if len(objects) < leastRows {
		return nil, false
	}
	top := &columns{byKey: map[string]*column{}}
	var r reader
	for _, o := range objects {
		r.row++
		if !r.learn(top, nil, o, 0) {
			return nil, false
		}
	}
	t := &table{}
	t.number(top)
	n := len(t.leaves)
	cells := make([][]byte, n*len(objects))
	for i, o := range objects {
		row := cells[i*n : i*n+n]
		top.fill(row, o)
		t.rows = append(t.rows, row)
	}
	return t, true
}

// learn notes a row's members; false when one is there twice or there are too many.
func (r *reader) learn(c *columns, prefix, object []byte, depth int) bool {
	for w := rawjson.Object(object); w.Next(); {
		col := c.byKey[string(w.Key)]
		if col == nil {
			r.total++
			if r.total > maxColumns {
				return false
			}
			col = &column{name: append(prefix[:len(prefix):len(prefix)], keyText(w.Key)...), index: -1}
			c.byKey[string(w.Key)] = col
			c.list = append(c.list, col)
		}
		if col.row == r.row {
			return false
		}
		col.row = r.row
		if col.whole || !takesApart(w.Value, depth) || !isBareKey(w.Key) {
			col.whole = true
			continue
		}
		if col.inside == nil {
			col.inside = &columns{byKey: map[string]*column{}}
		}
		if !r.learn(col.inside, append(col.name[:len(col.name):len(col.name)], '.'), w.Value, depth+1) {
			return false
		}
	}
	return true
}

// takesApart reports whether a value is an object whose names can be parts of dotted ones.
func takesApart(value []byte, depth int) bool {
	if value[0] != '{' || len(value) == 2 || depth >= maxNested {
		return false
	}
	for w := rawjson.Object(value); w.Next(); {
		if !isBareKey(w.Key) {
			return false
		}
	}
	return true
}

// number lists the columns that have cells.
func (t *table) number(c *columns) {
	for _, col := range c.list {
		if !col.whole {
			t.number(col.inside)
			continue
		}
		col.index = len(t.leaves)
		t.leaves = append(t.leaves, col)
	}
}

func (c *columns) fill(row [][]byte, object []byte) {
	for w := rawjson.Object(object); w.Next(); {
		if col := c.byKey[string(w.Key)]; col.whole {
			row[col.index] = w.Value
		} else {
			col.inside.fill(row, w.Value)
		}
	}
}

func (t *table) write(dst []byte) []byte {
	constant := t.constants()
	line := func(lead string, constants bool, cell func(i int)) {
		sep := lead
		for i := range t.leaves {
			if constant[i] == constants {
				dst = append(dst, sep...)
				cell(i)
				sep = ","
			}
		}
		if sep != lead {
			dst = append(dst, '\n')
		}
	}
	line("all rows: ", true, func(i int) {
		dst = append(append(dst, t.leaves[i].name...), '=')
		dst = appendCell(dst, t.rows[0][i], true)
	})
	line("", false, func(i int) { dst = append(dst, t.leaves[i].name...) })
	for _, row := range t.rows {
		line("", false, func(i int) {
			if row[i] != nil {
				dst = appendCell(dst, row[i], true)
			}
		})
	}
	return dst
}

// constants marks the columns that are the same in all rows. One column always stays.
func (t *table) constants() []bool {
	constant := make([]bool, len(t.leaves))
	if len(t.rows) < leastHoist {
		return constant
	}
	for i := range t.leaves {
		constant[i] = t.rows[0][i] != nil
		for _, row := range t.rows[1:] {
			constant[i] = constant[i] && row[i] != nil && bytes.Equal(row[i], t.rows[0][i])
		}
	}
	if !slices.Contains(constant, false) {
		constant[0] = false
	}
	return constant
}
