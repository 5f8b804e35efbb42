package find

import (
	"regexp"
	"slices"

	"github.com/toolfit/toolfit/internal/browsertest/snapshot"
)

// columnOf is the name of the column of a field in a cell; "" for none, or where the head is more
// than text: the box that checks all rows is no label of theirs.
func (x *Index) columnOf(n *snapshot.Node) string {
	at := n.Parent
	for depth := 0; at != nil && !is(at, cell) && depth < 4; depth++ {
		at = at.Parent
	}
	if at == nil || !is(at, cell) {
		return ""
	}
	head := x.headCell(at)
	if head == nil || !x.plainText(head) {
		return ""
	}
	return x.page.Content(head, 100)
}

// headCell is the head of the column that a cell stands in; nil without one.
func (x *Index) headCell(at *snapshot.Node) *snapshot.Node {
	line := at.Parent
	if line != nil && line.Role == "generic" && line.Parent != nil && line.Parent.Role == "row" {
		line = line.Parent
	}
	if line == nil {
		return nil // a cell by itself has no column
	}
	owner := holder(at, table)
	if owner == nil {
		return nil
	}
	row := x.headRow(owner)
	if row == nil || row == line || !owner.Holds(row) && cells(row) != cells(line) {
		return nil
	}
	head := firstCell(row)
	for m := firstCell(line); m != nil && m != at && head != nil; m = m.Next {
		head = head.Next
	}
	return head
}

// firstCell is the first cell of a row. Some tables keep the cells of a row in a box.
func firstCell(row *snapshot.Node) *snapshot.Node {
	first := row.First
	if row.Role == "row" && first != nil && first.Next == nil && first.Role == "generic" && first.First != nil {
		return first.First
	}
	return first
}

func cells(row *snapshot.Node) (count int) {
	for m := firstCell(row); m != nil; m = m.Next {
		count++
	}
	return count
}

// byColumn is a row that is told by one of its cells: 编号为 1042, order 1042, status is paid.
var byColumn = regexp.MustCompile(`^(?:with |where |whose )?(?:the )?` +
	`(?:(\S.*?)(?:\s*(?:为|是|等于|=|:)\s*|\s+(?:is|equals)\s+)(\S.*?)的?|(\pL.*?)\s*(#?[\w./@-]*\d[\w./@-]*)的?)$`)

// cellOf is a column and what stands in it.
type cellOf struct{ column, value phrase }

func readCellOf(text string) (c cellOf) {
	if m := byColumn.FindStringSubmatch(text); m != nil {
		c.column = read(m[1] + m[3])
		c.value = read(m[2] + m[4])
	}
	return c
}

// hasCell tells whether the row has the value in a column of one of the names.
func (x *Index) hasCell(row *snapshot.Node, names []phrase, value phrase) bool {
	if len(names) == 0 || value.empty() {
		return false
	}
	for m := firstCell(row); m != nil; m = m.Next {
		if x.phrase(x.page.Content(m, 200)).equal(value) && x.isUnder(m, names) {
			return true
		}
	}
	return false
}

// columnNames are the names and synonyms of a column; none where no table has it.
func (x *Index) columnNames(column phrase) []phrase {
	if column.empty() {
		return nil
	}
	names := x.syn.variants(column, false)
	for _, row := range x.headLines() {
		for m := firstCell(row); m != nil; m = m.Next {
			if x.isCalled(m, names) {
				return names
			}
		}
	}
	return nil
}

// isUnder tells whether the column of a cell has one of the names.
func (x *Index) isUnder(at *snapshot.Node, names []phrase) bool {
	head := at
	if at.Role != "columnheader" {
		head = x.headCell(at)
	}
	return head != nil && x.isCalled(head, names)
}

// isCalled tells whether the head of a column has one of the names.
func (x *Index) isCalled(head *snapshot.Node, names []phrase) bool {
	called := func(text string) bool { return text != "" && slices.ContainsFunc(names, x.phrase(text).equal) }
	return called(x.page.Content(head, 100)) || called(x.firstText(head))
}

// firstText is the first text in a node: the title of a column before its sort marks.
func (x *Index) firstText(n *snapshot.Node) string {
	for m := range x.page.Inside(n) {
		if m.Text != "" {
			return m.Text
		}
	}
	return ""
}

// columns are the cells of the columns that are called so, by a synonym too, and their heads.
func (x *Index) columns(name phrase) (list []scope) {
	names := x.syn.variants(name, false)
	for n := range x.page.All() {
		if (n.Role == "columnheader" || is(n, cell)) && x.isUnder(n, names) {
			list = append(list, scope{from: n.Index, to: n.End, grade: whole})
		}
	}
	return list
}
