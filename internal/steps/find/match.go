package find

import (
	"fmt"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/steps/snapshot"
)

// The scores. Each step is wider than the lead that a winner needs, so that what is equal
// in kind is ambiguous, however long its label is.
const (
	isEqual   = 1.00 // the label is the name
	isAlike   = 0.90 // but for endings and words that say nothing
	isAround  = 0.85 // the label is part of the name, and the rest is the whole name of what holds the element
	isSynonym = 0.76 // the label means the same in other words: no better than one that has the words
	isWithin  = 0.75 // the label has further words
	isPartly  = 0.70 // the label is part of the name, and the rest is among the words around the element
	isText    = 0.76 // no control, but its text is the name: no better than a control that has the words
	isWeak    = 0.62 // the rest of the name are words that say nothing
	isOnlyOne = 0.60 // no name was given, only a kind of element

	synonymCost = 0.02
	looseCost   = 0.05 // a second choice for the action or the role word
	partCost    = 0.10 // a place that only has the words among its own
	nearCost    = 0.05
	lead        = 0.04
)

// match is how a label answers to a name.
type match struct {
	score  float64
	why    string
	rest   []word // words of the name that must come from around the element
	left   phrase // those of them that say something
	absent bool   // of these, some stand nowhere on the page
	rival  bool   // the label is of another thing of the kind
	short  bool   // the label is a single character: the rest must be a whole name
	weak   bool   // words were left out that say little of a field, but may say much of a button
	does   bool   // the label is what is done with the thing that the name says
	said   phrase // what the label is a synonym of, where the rest is another thing
}

// compare holds a label against a reading. The zero match is none.
func (r *reading) compare(l phrase) match {
	if r.exact {
		if l.equal(r.name) {
			return match{score: isEqual, why: "is called exactly so"}
		}
		return match{}
	}
	best := match{}
	for i, v := range r.variants {
		m := compareOne(l, v)
		if i > 0 {
			m = m.synonym(l)
		}
		if m.score > best.score {
			best = m
		}
	}
	if best.score > 0 {
		return best
	}
	core := l.core()
	if core.empty() {
		return match{}
	}
	for i, v := range r.variants {
		if rest, found := v.cutEnd(core); found {
			best = match{score: isAround, why: "part of the words are its name", rest: rest, short: len([]rune(l.joined)) == 1}
			if i > 0 {
				best.score -= synonymCost
				best.why += ", by a synonym"
				said, _ := r.name.cut(phraseOf(rest))
				best.said = phraseOf(said)
			}
			return best
		}
	}
	return match{}
}

// core is a label without the words that say nothing.
func (p phrase) core() phrase {
	var words []word
	for _, w := range p.words {
		if !stopWords[w.text] && !weakWords[w.text] {
			words = append(words, w)
		}
	}
	if len(words) == len(p.words) {
		return p
	}
	return phraseOf(words)
}

// withoutStops is a name without the words that join the others; the name itself when it
// is made of nothing else.
func (p phrase) withoutStops() phrase {
	words := slices.DeleteFunc(slices.Clone(p.words), func(w word) bool { return stopWords[w.text] })
	if len(words) < 2 || len(words) == len(p.words) {
		return p
	}
	return phraseOf(words)
}

// compareOne finds the name as the label or inside of it.
func compareOne(l, name phrase) match {
	if l.equal(name) {
		return match{score: isEqual, why: "is called so"}
	}
	rest, found := l.cut(name)
	if !found {
		rest, found = l.cut(name.withoutStops())
	}
	if !found && len(l.words) > 1 && len(name.words) == 1 && l.allHan() { // 同意《协议》 is one run for those who speak
		l = phraseOf([]word{{l.joined, han}})
		rest, found = l.cut(name)
	}
	if !found {
		return match{}
	}
	switch {
	case meaningless(name.words):
	case !slices.ContainsFunc(rest, func(w word) bool { return !stopWords[w.text] }):
		return match{score: isAlike, why: "is called so but for small words"}
	case !slices.ContainsFunc(rest, func(w word) bool { return !stopWords[w.text] && !weakWords[w.text] && !holders[w.text] }):
		return match{score: isAlike, why: "is called so but for small words", weak: true}
	}
	if isNumber(name) {
		return match{} // 3 is a page or a day, not a cart with three things in it
	}
	if slices.ContainsFunc(rest, reverses) || marked(l, name) || !countsFit([]phrase{l}, name) || apart(l, name) {
		return match{} // "cancel order" is not "order"
	}
	return match{score: isWithin, why: "its name holds the words", does: does(l, name), rival: slices.ContainsFunc(rest, sets) || inflected(l, name)}
}

// apart tells whether a name's words stand in a label, but not together: "delete John" is not
// "delete all messages from John".
func apart(l, name phrase) bool {
	if len(name.words) < 2 || slices.ContainsFunc(name.words, func(w word) bool { return w.kind == han }) {
		return false
	}
	words := name.withoutStops().words
	plain := slices.DeleteFunc(slices.Clone(l.words), func(w word) bool { return modifiers[w.text] && indexOf(words, w) < 0 })
	return !inOrder(l.words, words) && !inOrder(plain, words)
}

// modifiers may be left out from between the words of a label: who confirms a password means
// the field "Confirm new password", where there is no other.
var modifiers = set("all new this selected current your my every each full")

// synonym is a match by synonyms, which must be of the whole label: a synonym of one word
// among others is mostly another thing.
func (m match) synonym(l phrase) match {
	if m.score < isAlike {
		return match{}
	}
	return match{score: isSynonym, why: fmt.Sprintf("%q means the same", l.text)}
}

// isCount tells whether a word is a small number.
func isCount(w word) bool {
	return w.kind == ident && len(w.text) <= 4 && !strings.ContainsFunc(w.text, func(r rune) bool { return !isDigit(r) })
}

// isNumber tells whether a name is a small number and nothing else.
func isNumber(p phrase) bool { return len(p.words) == 1 && isCount(p.words[0]) }

// missing is what of a name is left to be found around the element; false when all of it
// was found.
func (m *match) missing() (phrase, bool) {
	var rest []word
	for _, w := range m.rest {
		if !stopWords[w.text] && !structural[w.text] {
			rest = append(rest, w)
		}
	}
	return phraseOf(rest), len(rest) > 0
}

// around finds the rest of a name in what holds the element.
func (s *search) around(n *snapshot.Node, name phrase, m *match) (float64, string) {
	if !m.said.empty() && s.isCalled(m.said) {
		return 0, "" // the page has the word itself, so its synonym is another thing
	}
	if m.left.empty() {
		return m.score - isAround + isAlike, m.why
	}
	isField := s.query.Action == Fill || s.query.Action == Select
	g := none
	if !m.absent {
		g = s.chain(n, m.left)
	}
	switch {
	case g == whole:
		return m.score, m.why + ", and the rest names where it stands"
	case !m.absent && slices.ContainsFunc(s.x.labelsWith(n), name.equal): // "Delete account", and a button for it
		return m.score, m.why + ", and all of them stand beside it"
	case m.short:
		return 0, ""
	case g == inRow, g == part && isField:
		return m.score - isAround + isPartly, m.why + ", and the rest stands around it"
	case isField && meaningless(m.left.words):
		return m.score - isAround + isWeak, m.why
	}
	return 0, ""
}

// isCalled tells whether an element that serves the action is called so.
func (s *search) isCalled(name phrase) bool {
	is, known := s.called[name.text]
	if !known {
		is = slices.ContainsFunc(s.x.serving(s.query.Action), func(n *snapshot.Node) bool {
			return s.x.phrase(n.Name).equal(name) || n.Name == "" && s.x.phrase(n.Text).equal(name)
		})
		s.called[name.text] = is
	}
	return is
}

// chainKey is a look-up of words around an element. Siblings under the same heading have
// the same around them, but for texts among the siblings themselves.
type chainKey struct {
	parent  *snapshot.Node
	heading int // how many there are before it
	rest    string
}

// chain looks for words in what holds an element: its row, its groups, the headings above it.
func (s *search) chain(n *snapshot.Node, rest phrase) grade {
	heading, _ := slices.BinarySearch(s.x.headings, n.Index)
	key := chainKey{n.Parent, heading, rest.text}
	g, known := s.chains[key]
	if !known {
		g = s.x.chain(n, rest)
		s.chains[key] = g
	}
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
		if a.Role == "cell" || a.Role == "gridcell" {
			names = append(names, x.phrase(x.columnHead(a)))
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
	g := part
	for _, w := range rest.words {
		has := func(p phrase) bool { return holdsWord(p, w) }
		begins := func(p phrase) bool {
			return len(p.words) > 0 && (p.words[0].same(w) || w.kind == han && strings.HasPrefix(p.words[0].text, w.text))
		}
		switch {
		case slices.ContainsFunc(strict, has):
			g = inRow
		case !slices.ContainsFunc(names, begins):
			return none
		}
	}
	if g == inRow && (!countsFit(strict, rest) || !told(strict, heldBy(strict, rest.words))) {
		return none
	}
	return g
}

// heldBy are the words that stand in one of the texts.
func heldBy(texts []phrase, words []word) (list []word) {
	for _, w := range words {
		if slices.ContainsFunc(texts, func(p phrase) bool { return holdsWord(p, w) }) {
			list = append(list, w)
		}
	}
	return list
}
