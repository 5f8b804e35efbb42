// Package columns finds what the members of JSON rows are good for: which identify a row or tell it
// from others, and which a reader misses least. A column is a member at one place; arrays are
// transparent, as they are for a mask, and so are objects with so many members that these must be
// rows themselves. It looks at values first, and at names only to choose among columns of one kind.
// It never decodes a value, and it never drops anything itself.
//
//	t := columns.Read(value)
//	for _, c := range t.Columns { … c.Class, c.Path … } // the first may go first
//	out, err := mask.Without(t.Without(5), false, 0).Apply(nil, value, &tally)
package columns

import (
	"cmp"
	"slices"
)

// Class is why a column may go. They go in this order.
type Class int

const (
	Constant Class = iota + 1 // the same in every row: it can be said once
	Empty                     // null, "", [] or {} in every row
	Link                      // a URL beside a better one, or one of a nested object
	Opaque                    // a hash, or an ID beside another
	Nested                    // a member of a nested object that does not identify it
	Page                      // the URL of a row that has an ID
	Plain                     // a number or a flag that hardly varies, or long
	Rest                      // all others of rows that have a name: what is left is the name
)

// Column is one that may go.
type Column struct {
	Class Class
	Path  []string // names from the root; "*" stands for any
	First []byte   // its first value, as JSON
	Bytes int      // of its values, with its name

	rank int // within the class
	node *node
}

// Table is a value with its columns found.
type Table struct {
	Columns []Column // that may go, those that are missed least first; none of them identifies a row
	root    node
}

// Read finds the columns of a compact JSON value.
func Read(value []byte) *Table {
	t := &Table{}
	r := reader{}
	r.value(&t.root, value, 0)
	t.classify(&t.root, nil)
	slices.SortStableFunc(t.Columns, func(a, b Column) int {
		return cmp.Or(cmp.Compare(a.Class, b.Class), cmp.Compare(a.rank, b.rank), cmp.Compare(b.Bytes, a.Bytes))
	})
	return t
}

// Until is how many of the columns are of the class or of one before it.
func (t *Table) Until(c Class) int {
	n, _ := slices.BinarySearchFunc(t.Columns, c+1, func(col Column, c Class) int { return cmp.Compare(col.Class, c) })
	return n
}

// Without are the paths that are left out when the first n columns go, but for some of them. An object of
// which nothing would be left goes as a whole.
func (t *Table) Without(n int, but ...int) [][]string {
	gone := make(map[*node]bool, n)
	for _, c := range t.Columns[:n] {
		gone[c.node] = true
	}
	for _, i := range but {
		delete(gone, t.Columns[i].node)
	}
	return t.root.without(nil, nil, gone)
}

// Lists are the paths of the lists that stand in so many others, and how many levels of lists there are.
func (t *Table) Lists(within int) (paths [][]string, levels int) {
	return t.root.lists(nil, nil, within, 0)
}

func (n *node) lists(paths [][]string, way []string, within, depth int) ([][]string, int) {
	levels := depth
	if n.rows {
		levels++
		if depth == within && len(way) > 0 {
			paths = append(paths, way)
		}
	}
	inside := levels
	for _, k := range n.kids {
		deeper := 0
		paths, deeper = k.lists(paths, append(way[:len(way):len(way)], k.name), within, inside)
		levels = max(levels, deeper)
	}
	return paths, levels
}

// without appends the paths of what goes below n.
func (n *node) without(paths [][]string, way []string, gone map[*node]bool) [][]string {
	for _, k := range n.kids {
		path := append(way[:len(way):len(way)], k.name)
		if k.goes(gone) {
			paths = append(paths, path)
		} else {
			paths = k.without(paths, path, gone)
		}
	}
	return paths
}

// goes reports whether a column goes, or everything in it.
func (n *node) goes(gone map[*node]bool) bool {
	if gone[n] {
		return true
	}
	if len(n.kids) == 0 || n.values > n.empty || n.more {
		return false
	}
	return !slices.ContainsFunc(n.kids, func(k *node) bool { return !k.goes(gone) })
}
