package project

import (
	"cmp"
	"slices"

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
	maxOtherColumns = 64
	maxOtherDepth   = 3
	sparse          = 4 // a column that fewer than a quarter of the rows have is not worth its place
)

// othersOf takes the rows of an array apart. There are none when they are not objects, or hold most of
// their content in lists of their own: then these should be cut rather.
func othersOf(array []byte) *others {
	r := rowReader{index: map[string]int{}, row: make([][]byte, maxOtherColumns)}
	var rows [][][]byte // with the columns that were known by then
	for w := rawjson.Array(array); w.Next(); {
		if w.Value[0] != '{' {
			return nil
		}
		clear(r.row)
		r.object("", w.Value, 0)
		rows = append(rows, slices.Clone(r.row[:len(r.columns)]))
	}
	order := r.order(len(rows))
	if 2*r.inside > len(array) || len(order) == 0 {
		return nil
	}
	o := &others{}
	for _, i := range order {
		o.names = append(o.names, rawjson.AppendString(nil, r.columns[i].path))
	}
	sorted := make([][]byte, len(order)*len(rows))
	for n, row := range rows {
		to := sorted[n*len(order) : (n+1)*len(order)]
		for i, from := range order {
			if from < len(row) {
				to[i] = row[from]
			}
		}
		rows[n] = to
	}
	o.rows = rows
	return o
}

// rowReader reads rows one after another.
type rowReader struct {
	columns []rowColumn
	index   map[string]int // of the columns, by path
	row     [][]byte       // at hand: a value per column
	path    []byte         // of the member at hand
	inside  int            // bytes of lists in rows
}

type rowColumn struct {
	path         string
	filled, size int // rows that have it, and bytes in these
}

// object reads the plain values of an object.
func (r *rowReader) object(prefix string, object []byte, depth int) {
	for w := rawjson.Object(object); w.Next(); {
		if w.Value[0] == '{' && len(w.Value) > 2 && depth < maxOtherDepth {
			r.object(prefix+string(w.Key)+".", w.Value, depth+1)
			continue
		}
		if w.Value[0] == '[' && len(w.Value) > 2 && w.Value[1] == '{' {
			r.inside += len(w.Value)
		}
		r.path = append(append(r.path[:0], prefix...), w.Key...)
		i, ok := r.index[string(r.path)]
		if !ok {
			if len(r.columns) == maxOtherColumns {
				continue
			}
			i = len(r.columns)
			path := string(r.path)
			r.index[path] = i
			r.columns = append(r.columns, rowColumn{path: path})
		}
		r.row[i] = w.Value
		r.columns[i].filled++
		r.columns[i].size += len(w.Value)
	}
}

// order puts the columns that identify first, and short ones before long ones. Those that most rows do
// not have are left out.
func (r *rowReader) order(rows int) (order []int) {
	for i, c := range r.columns {
		if sparse*c.filled >= rows {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(i, j int) int {
		a := r.columns[i]
		b := r.columns[j]
		return cmp.Or(cmp.Compare(columns.Weight(a.path), columns.Weight(b.path)), cmp.Compare(a.size, b.size), cmp.Compare(a.path, b.path))
	})
	return order
}

// append appends rows with so many columns, the first of them with all.
func (o *others) append(dst []byte, rows [][][]byte, wide, columns int) []byte {
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
	names := o.names
	if wide == 0 {
		names = names[:columns]
	}
	dst = append(dst, `{"columns":[`...)
	list(names)
	dst = append(dst, `,"rows":[`...)
	for i, row := range rows {
		if i > 0 {
			dst = append(dst, ',')
		}
		if i >= wide {
			row = row[:columns]
		}
		dst = append(dst, '[')
		list(row)
	}
	return append(dst, "]}"...)
}

// thinList shortens the largest list and says in the note what the rows are that are left out: all of
// them with as many columns as fit (if whole, with all), or as many of them as fit.
func (c *trimmer) thinList(whole bool) bool {
	bulk, err := mask.Survey(c.value)
	if err != nil || bulk.Array.Count < 2 || !c.noted {
		return false
	}
	l := listCut{trimmer: c, full: c.state, over: c.over, at: bulk.Array}
	list := c.value[l.at.Start:l.at.End]
	l.others = othersOf(list)
	if l.others == nil {
		return false
	}
	for w := rawjson.Array(list); w.Next(); {
		l.ends = append(l.ends, w.End)
	}
	if c.write != nil {
		list = c.write(list)
	}
	if 4*len(l.others.append(nil, l.others.rows, 0, 1)) > 3*len(list) {
		return false // rows take no more
	}
	if l.sayAll(whole) || !whole && l.saySome() {
		return true
	}
	c.state = l.full
	c.over = l.over
	return false
}

// listCut is the work of thinList.
type listCut struct {
	*trimmer
	full   state // with all rows
	over   int   // tokens of that
	at     mask.Place
	ends   []int // of the rows
	others *others
}

// sayAll has all rows in the note with as many columns as fit. What is left is for the first ones: they
// stay in the list, or have all columns.
func (l *listCut) sayAll(whole bool) bool {
	all := len(l.others.names)
	least := 1
	if whole {
		least = all
	}
	total := len(l.ends)
	columns, ok := l.most(least, all+1, l.over, nil, func(n int) state { return l.with(1, total, 0, n) })
	switch {
	case !ok:
	case columns == all:
		l.most(1, total, l.over, nil, func(n int) state { return l.with(n, total, 0, all) })
	default:
		l.most(0, total, l.over, nil, func(n int) state { return l.with(1, total, n, columns) })
	}
	return ok
}

// saySome has rows with all columns in the note for half of the budget, and as many others as fit.
func (l *listCut) saySome() bool {
	total := len(l.ends)
	budget := l.budget
	l.budget /= 2
	wide, _ := l.most(0, total, l.over, nil, func(n int) state { return l.with(1, 1+n, n, 0) })
	l.budget = budget
	_, ok := l.most(wide, total, l.over, nil, func(n int) state { return l.with(1, 1+n, wide, 1) })
	return ok
}

// with is the value with the first rows of the list, and those after them up to last said with so many
// columns; some of these with all.
func (l *listCut) with(rows, last, wide, columns int) state {
	s := l.full
	s.value = cutAfter(l.full.value, l.at, l.ends[rows-1], ']')
	s.tally = l.full.tally.Clone()
	s.tally.Rows += len(l.ends) - rows
	if rows < last {
		s.said.others = l.others.append(nil, l.others.rows[rows:last], wide, columns)
	}
	return s
}
