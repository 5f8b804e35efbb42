package find

import (
	"slices"

	"github.com/toolfit/toolfit/internal/browsertest/snapshot"
)

// headRow is the row that heads a table: its first, or that of a table of its own before it; nil for none.
func (x *Index) headRow(owner *snapshot.Node) *snapshot.Node {
	return memo(x.headRows, owner, func() *snapshot.Node { return x.readHeadRow(owner) })
}

func (x *Index) readHeadRow(owner *snapshot.Node) *snapshot.Node {
	first, _ := slices.BinarySearchFunc(x.rows, owner.Index, func(n *snapshot.Node, i int) int { return n.Index - i })
	if first < len(x.rows) && owner.Holds(x.rows[first]) && (x.isHead(x.rows[first]) || x.mayHead(x.rows[first])) {
		return x.rows[first]
	}
	if first == 0 || x.rows[first-1].Role != "row" || !x.isHead(x.rows[first-1]) && !x.mayHead(x.rows[first-1]) {
		return nil
	}
	return x.rows[first-1]
}

// headLines are the rows that head tables.
func (x *Index) headLines() []*snapshot.Node {
	if x.heads == nil {
		x.heads = []*snapshot.Node{}
		for _, n := range x.rows {
			if x.isHead(n) || x.mayHead(n) {
				x.heads = append(x.heads, n)
			}
		}
	}
	return x.heads
}

// isHead tells whether a row heads a table. Older servers do not mark the cells of heads: there
// it is the only row of the first of several groups, without controls.
func (x *Index) isHead(row *snapshot.Node) bool {
	heads := 0
	for m := firstCell(row); m != nil; m = m.Next {
		if m.Role == "columnheader" {
			heads++
		}
	}
	if heads > 0 {
		return heads == cells(row)
	}
	group := row.Parent
	if group == nil || group.Role != "rowgroup" || group.Parent == nil || group.First != row || row.Next != nil {
		return false
	}
	if group.Next == nil || group.Next.Role != "rowgroup" {
		return false
	}
	for m := group.Parent.First; m != group; m = m.Next {
		if m.Role == "rowgroup" {
			return false
		}
	}
	for m := range x.page.Inside(row) {
		if is(m, control) && m.Role != "checkbox" {
			return false
		}
	}
	return true
}

// mayHead tells whether a row looks like the head of its table, where the server does not mark heads:
// the first row, of texts alone, above rows of as many cells with controls.
func (x *Index) mayHead(row *snapshot.Node) bool {
	if x.tellsHeads || row.Role != "row" || row.Name == "" || x.holdsControl(row) {
		return false
	}
	at, _ := slices.BinarySearchFunc(x.rows, row.Index, func(n *snapshot.Node, i int) int { return n.Index - i })
	if at > 0 && holder(x.rows[at-1], table) == holder(row, table) || at+1 == len(x.rows) {
		return false
	}
	next := x.rows[at+1]
	return next.Role == "row" && cells(next) > 1 && cells(next) == cells(row) && x.holdsControl(next)
}
