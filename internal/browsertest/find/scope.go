package find

import (
	"slices"

	"github.com/toolfit/toolfit/internal/browsertest/snapshot"
)

// scope is a part of the page that answers to a name.
type scope struct {
	from, to int // places in document order
	name     phrase
	level    int // of the heading that names it
	grade    grade
}

func (s scope) holds(n *snapshot.Node) bool { return s.from <= n.Index && n.Index < s.to }

// grade is how well a place answers to a name.
type grade uint8

const (
	none  grade = iota
	part        // the words are among its words
	inRow       // the words are among those of a row
	whole
)

// scopes are the parts of the page that a place may mean. Many readings share a place.
func (s *search) scopes(p place) []scope {
	key := placeKey{p.name.text, p.exact, p.word, p.row, p.nth, p.near}
	return memo(s.byPlace, key, func() []scope {
		if !s.x.knowsAll(p.name) && (p.cell.value.empty() || !s.x.knowsAll(p.cell.value)) {
			return nil
		}
		return s.x.scopes(p)
	})
}

type placeKey struct {
	name  string
	exact bool
	word  *placeWord
	row   bool
	nth   int
	near  bool
}

func (x *Index) scopes(p place) []scope {
	switch {
	case p.near: // below a heading is in its section; beside anything else is no scope
		return slices.DeleteFunc(x.headed(p), func(s scope) bool { return s.grade != whole })
	case p.row && p.nth != 0:
		return x.numbered(p.nth)
	case p.word != nil && p.word.column && !p.name.empty():
		return x.columns(p.name)
	case p.word != nil:
		return x.kindScopes(p)
	}
	list := x.rowScopes(p)
	if p.row {
		return list
	}
	var parts []scope
	for _, n := range x.places {
		if n.Index == 0 {
			continue
		}
		if g := nameGrade(x.placeName(n), p); g != none {
			parts = append(parts, scope{from: n.Index, to: n.End, grade: g})
		}
	}
	return append(list, bestNamed(append(parts, x.headed(p)...))...)
}

// bestNamed are the places with exactly that name; where there are none, those that contain it.
func bestNamed(list []scope) []scope {
	if !slices.ContainsFunc(list, func(s scope) bool { return s.grade == whole }) {
		return list
	}
	return slices.DeleteFunc(list, func(s scope) bool { return s.grade != whole })
}

// rowScopes are the rows that a place may mean: of each table and list the best named.
func (x *Index) rowScopes(p place) (list []scope) {
	column := x.columnNames(p.cell.column)
	for _, rows := range byOwner(x.rows) {
		var named []scope
		for _, n := range rows {
			g := covers(x.pieces(n), p.name, p.exact)
			if !p.row && !x.callsRow(n, p.name) {
				g = none
			}
			if g != whole && len(column) > 0 {
				g = none // "to is London" is not said of what comes from London
				if x.hasCell(n, column, p.cell.value) {
					g = whole
				}
			}
			if g != none && !x.isHead(n) {
				named = append(named, scope{from: n.Index, to: n.End, grade: g})
			}
		}
		list = append(list, bestNamed(named)...)
	}
	return list
}

// kindScopes are the places of a kind: dialogs, tables, frames.
func (x *Index) kindScopes(p place) (list []scope) {
	headed := x.headed(p)
	for n := range x.page.All() {
		isMenu := n.Role == "list" && slices.Contains(p.word.roles, "menu") && x.opener(n) != nil
		if !slices.Contains(p.word.roles, n.Role) && !isMenu {
			continue
		}
		g := whole
		if !p.name.empty() {
			g = x.kindGrade(n, p, headed)
		}
		if g != none {
			list = append(list, scope{from: n.Index, to: n.End, grade: g})
		}
	}
	if slices.Contains(p.word.roles, "region") { // what a heading heads is a section, too
		list = append(list, headed...)
	}
	list = bestNamed(list)
	if p.nth == 0 {
		return list
	}
	i := nthOf(p.nth, len(list))
	if i < 0 {
		return nil
	}
	return list[i : i+1]
}

// kindGrade compares the name of a place of a kind, or that of the heading above it. Headed are the
// sections that the place may mean.
func (x *Index) kindGrade(n *snapshot.Node, p place, headed []scope) grade {
	if is(n, row) {
		return covers(x.pieces(n), p.name, p.exact)
	}
	name := x.placeName(n)
	g := nameGrade(name, p)
	for _, l := range x.labelsOf(n) {
		g = max(g, nameGrade(l.phrase, p))
	}
	if g != none || !name.empty() || is(n, dialog) {
		return g
	}
	for a := n.Parent; a != nil; a = a.Parent {
		if (a.Role == "region" || a.Role == "figure") && nameGrade(x.placeName(a), p) == whole {
			return whole
		}
	}
	if slices.ContainsFunc(headed, func(s scope) bool { return s.grade == whole && s.holds(n) }) {
		return whole
	}
	return none
}

// nameGrade compares a place's own name with what it is called.
func nameGrade(name phrase, p place) grade {
	if name.empty() || p.name.empty() {
		return none
	}
	if name.equal(p.name) {
		return whole
	}
	if p.exact {
		return none
	}
	if rest, found := name.cut(p.name); found {
		if meaningless(rest) {
			return whole
		}
		if apart(name, p.name) || slices.ContainsFunc(rest, sets) {
			return none
		}
		return part
	}
	if rest, found := p.name.cut(name); found && meaningless(rest) {
		return whole
	}
	return none
}

// meaningless tells whether words say nothing about what is meant.
func meaningless(words []word) bool {
	return !slices.ContainsFunc(words, func(w word) bool { return !stopWords[w.text] && !weakWords[w.text] })
}
