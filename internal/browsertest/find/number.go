package find

import (
	"cmp"
	"slices"

	"github.com/toolfit/toolfit/internal/browsertest/grammar"
	"github.com/toolfit/toolfit/internal/browsertest/snapshot"
)

// callsRow tells whether a small number may name a row: it is the first text in it.
func (x *Index) callsRow(of *snapshot.Node, name phrase) bool {
	if !isNumber(name) {
		return true
	}
	for m := range x.page.Inside(of) {
		if p := x.phrase(cmp.Or(m.Name, m.Text)); !p.empty() && !is(m, control) {
			return p.equal(name)
		}
	}
	return false
}

// fewestDays is more numbers than a pager shows side by side.
const fewestDays = 28

// inPager tells whether a number is among others that count up, but fewer than the days of a month.
func (x *Index) inPager(n *snapshot.Node) bool {
	at := n
	for range 3 {
		if at.Parent == nil || is(at, cell|row) && at.Role != "listitem" {
			return false
		}
		at = at.Parent
		var numbers []int
		for m := at.First; m != nil && len(numbers) < fewestDays; m = m.Next {
			if k := x.shownNumber(m); k > 0 {
				numbers = append(numbers, k)
			}
		}
		if len(numbers) > 1 {
			return len(numbers) < fewestDays && slices.ContainsFunc(numbers, func(k int) bool { return slices.Contains(numbers, k+1) })
		}
	}
	return false
}

// shownNumber is the number that a node shows and nothing else; 0 for none.
func (x *Index) shownNumber(n *snapshot.Node) int {
	for _, text := range [...]string{n.Text, x.page.Content(n, 40)} {
		if p := x.phrase(text); isNumber(p) {
			return grammar.Number(p.text)
		}
	}
	return 0
}
