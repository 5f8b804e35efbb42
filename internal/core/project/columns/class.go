package columns

import (
	"bytes"
	"math"
)

// Limits of the classes.
const (
	leastRows = 3   // in which a column is the same before it counts as constant
	plainRows = 5   // from which on columns that hardly vary tell little
	bulkBytes = 200 // of an array of plain values
)

// classify adds the columns below n that may go.
func (t *Table) classify(n *node, way []string) {
	o := object{node: n, nested: len(way) > 0 && (!n.rows || n.below), own: n.own(), page: n.page(), depth: len(way)}
	o.known = o.own != nil || n.known
	for _, k := range n.kids {
		path := append(way[:len(way):len(way)], k.name)
		k.below = n.rows || n.below
		k.known = o.known
		if len(k.kids) > 0 || k.more || k.values == 0 {
			t.classify(k, path)
			continue
		}
		class, rank := o.class(k)
		if class == 0 && (n.rows || n.below) && n.objects >= plainRows && o.own != nil && k != o.own {
			class = Rest
		}
		if class > 0 {
			t.Columns = append(t.Columns, Column{Class: class, Path: path, First: k.first, Bytes: k.bytes + k.within*(len(k.name)+4), rank: rank, node: k})
		}
	}
}

// object is what the objects at one place have in common.
type object struct {
	*node
	nested bool  // they stand in others
	own    *node // the column that names them best; nil: none
	page   *node // the best of their URLs; nil: they have none
	depth  int
}

// class says why a column may go, and when within the class; 0 when it should stay.
func (o *object) class(k *node) (Class, int) {
	filled := k.values - k.empty
	list := words(k.name)
	switch {
	case filled == 0:
		return Empty, 0
	case !o.rows && !o.below && leadsOn(list):
		return 0, 0
	case mostly(k.urls, filled):
		return o.classURL(k)
	case (o.rows || o.below) && o.objects >= leastRows && !k.varies && k.listed == 0 && k.values == o.objects:
		return Constant, o.depth
	case (o.rows || o.below) && k.listed > 0 && k.strings == 0 && k.bytes > bulkBytes*k.within:
		return Opaque, 0
	case mostly(k.opaque, filled) && k != o.own && o.known && !isReference(list) && !(isID(list) && o.ids() == 1):
		return Opaque, 0
	case k == o.own:
		return 0, 0
	case o.nested && o.own != nil && !names(list):
		return Nested, 0
	}
	return o.classPlain(k, filled)
}

func (o *object) classURL(k *node) (Class, int) {
	switch {
	case k != o.page, o.nested && o.known:
		return Link, 0
	case o.ids() > 0:
		return Page, 0 // it leads where the ID leads
	}
	return 0, 0 // it may be all that leads to the row
}

// classPlain is for what may be worth less than a row. Short words and what varies from row to row stay.
func (o *object) classPlain(k *node, filled int) (Class, int) {
	if o.objects < plainRows || o.own == nil {
		return 0, 0
	}
	named := names(words(k.name))
	distinct := len(k.some)
	switch {
	case k.long():
		return Plain, 2
	case named:
		return 0, 0
	case mostly(k.bools, filled):
		return Plain, 0
	case k.strings == 0 && distinct*5 <= min(k.values, maxDistinct):
		return Plain, 1
	}
	return 0, 0
}

func mostly(n, of int) bool { return n > 0 && n*10 >= of*9 }

// long reports whether the values are texts rather than names.
func (n *node) long() bool { return n.strings > 0 && n.bytes > longBytes*n.values }

// ids is how many columns are IDs.
func (n *node) ids() (count int) {
	for _, k := range n.kids {
		if k.values > k.empty && isID(words(k.name)) {
			count++
		}
	}
	return count
}

// own is the column that names the objects best; nil when none does.
func (n *node) own() (best *node) {
	least := math.MaxInt
	for _, k := range n.kids {
		if k.values == k.empty || len(k.kids) > 0 || k.listed > 0 || n.objects > 1 && !k.varies || k.urls > 0 || k.long() {
			continue
		}
		if rank := ownRank(words(k.name)); rank >= 0 && rank < least {
			least = rank
			best = k
		}
	}
	return best
}

// page is the URL that a person would open, or the first one.
func (n *node) page() (best *node) {
	least := math.MaxInt
	for _, k := range n.kids {
		if len(k.kids) > 0 || !mostly(k.urls, k.values-k.empty) {
			continue
		}
		rank := pageRank(words(k.name))
		if bytes.Contains(k.first, []byte("//api.")) || bytes.Contains(k.first, []byte("/api/")) || bytes.IndexByte(k.first, '{') >= 0 {
			rank += 10
		}
		if rank < least {
			least = rank
			best = k
		}
	}
	return best
}
