package find

import (
	"cmp"
	"slices"

	"github.com/toolfit/toolfit/internal/browsertest/snapshot"
)

// telling are the words that say something of what is meant.
func telling(words []word) []word {
	return slices.DeleteFunc(slices.Clone(words), func(w word) bool { return stopWords[w.text] || structural[w.text] })
}

// around finds the rest of a name in what holds the element.
func (s *search) around(n *snapshot.Node, name phrase, m *match) (float64, string) {
	if !m.said.empty() && s.isCalled(m.said) {
		return 0, "" // the page has the word itself, so its synonym is another thing
	}
	if m.left.empty() {
		if m.number {
			return 0, "" // "Section 3" is no page or day
		}
		return m.score - isAround + isAlike, m.why
	}
	isField := s.query.Action == Fill || s.query.Action == Select
	g := none
	if !m.absent {
		g = s.chain(n, m.left)
	}
	titled := func() bool {
		return s.x.sectionOf(n).name.equal(name) || slices.ContainsFunc(s.x.labelsWith(n), name.equal)
	}
	if g == inRow && s.othersRow(n, m.left) {
		g = none
	}
	switch {
	case g == whole:
		return m.score, m.why + ", and the rest names where it stands"
	case !m.absent && !slices.ContainsFunc(m.left.words, turnsAway) && titled(): // "Delete account", and a button for it
		return m.score, m.why + ", and all of them stand beside it"
	case holder(n, dialog) != nil && !slices.ContainsFunc(m.left.words, func(w word) bool { return !holders[w.text] }):
		return m.score, m.why + ", and the rest is what it closes"
	case g == inRow:
		return m.score - isAround + isPartly, m.why + ", and the rest stands around it"
	case isField && meaningless(m.left.words):
		return m.score - isAround + isWeak, m.why
	}
	return 0, ""
}

// turnsAway tells whether a word beside a label makes another thing of it: 不同意 is not 同意.
func turnsAway(w word) bool {
	return reverses(w) || sets(w) || negating[w.text] || slices.Contains(reversingMarks, w.text)
}

// othersRow tells whether a row beside that of the element is called just so, and its own is not.
func (s *search) othersRow(n *snapshot.Node, name phrase) bool {
	own := holder(n, row)
	if own == nil {
		return false
	}
	key := rowsKey{rowsOf(own), name.text}
	return memo(s.calls, key, func() bool {
		says := func(p phrase) bool { return slices.EqualFunc(telling(p.words), name.words, word.same) }
		return slices.ContainsFunc(s.x.rows, func(r *snapshot.Node) bool {
			return rowsOf(r) == key.owner && slices.ContainsFunc(s.x.pieces(r), says)
		})
	})
}

// rowsKey is a look-up of what the rows of a table or a list are called.
type rowsKey struct {
	owner *snapshot.Node
	name  string
}

// isCalled tells whether an element that serves the action is called so.
func (s *search) isCalled(name phrase) bool {
	return memo(s.called, name.text, func() bool {
		return slices.ContainsFunc(s.x.serving(s.query.Action), func(n *snapshot.Node) bool {
			return s.x.phrase(cmp.Or(n.Name, n.Text)).equal(name)
		})
	})
}

// chainKey is a look-up of words around an element: siblings under one heading share it.
type chainKey struct {
	parent  *snapshot.Node
	heading int // how many there are before it
	rest    string
}

// chain looks for words in what holds an element: its row, its groups, the headings above it.
func (s *search) chain(n *snapshot.Node, rest phrase) grade {
	heading, _ := slices.BinarySearch(s.x.headings, n.Index)
	key := chainKey{n.Parent, heading, rest.text}
	g := memo(s.chains, key, func() grade { return s.x.chain(n, rest) })
	if g != whole && slices.ContainsFunc(s.x.labelsWith(n), rest.equal) {
		return whole
	}
	return g
}

func (x *Index) chain(n *snapshot.Node, rest phrase) grade {
	var names, strict []phrase
	for a := n.Parent; a != nil; a = a.Parent {
		switch {
		case is(a, row) && x.callsRow(a, rest):
			strict = append(strict, x.pieces(a)...)
		case is(a, dialog):
			strict = append(strict, x.placeName(a))
		case is(a, landmark) || a.Name != "":
			names = append(names, x.placeName(a))
		}
	}
	for _, s := range x.sections {
		if s.holds(n) {
			names = append(names, s.name)
		}
	}
	p := place{name: rest}
	if slices.ContainsFunc(strict, rest.equal) || slices.ContainsFunc(names, func(name phrase) bool { return nameGrade(name, p) == whole }) {
		return whole
	}
	held := func(w word) bool {
		return slices.ContainsFunc(strict, func(p phrase) bool { return holdsWord(p, w) })
	}
	if slices.ContainsFunc(rest.words, func(w word) bool { return !held(w) }) || !told(strict, rest.words) {
		return none
	}
	return inRow
}
