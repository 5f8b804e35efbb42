package find

import (
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/steps/grammar"
	"github.com/toolfit/toolfit/internal/steps/snapshot"
)

// A small number says little by itself: "order 5" is neither "order 3 of 5" nor the row of
// order 3 with five things in it. It must stand beside the words that it stands beside in
// the name, or be what its row is called by.

// countsFit tells whether the small numbers of a name mean in the texts what they mean in the name.
func countsFit(texts []phrase, name phrase) bool {
	for i, w := range name.words {
		if !isCount(w) {
			continue
		}
		before, after := neighbour(name.words, i, -1), neighbour(name.words, i, 1)
		if before == nil && after == nil {
			continue
		}
		if !slices.ContainsFunc(texts, func(p phrase) bool { return besideIn(p.words, w, before, after) }) && !aloneIn(texts, w, before, after) {
			return false
		}
	}
	return true
}

// neighbour is the next word that says something, in one direction; nil for none.
func neighbour(words []word, i, step int) *word {
	for i += step; i >= 0 && i < len(words); i += step {
		if !stopWords[words[i].text] && !structural[words[i].text] {
			return &words[i]
		}
	}
	return nil
}

// besideIn tells whether a number stands in a text beside one of its neighbours.
func besideIn(text []word, w word, before, after *word) bool {
	for i, v := range text {
		if !w.same(v) {
			continue
		}
		b, a := neighbour(text, i, -1), neighbour(text, i, 1)
		if before != nil && b != nil && ends(*b, *before) || after != nil && a != nil && begins(*a, *after) {
			return true
		}
	}
	return false
}

// aloneIn tells whether a number is a text of its own, where none of its neighbours belongs
// to another number.
func aloneIn(texts []phrase, w word, before, after *word) bool {
	alone := false
	for _, p := range texts {
		alone = alone || len(p.words) == 1 && w.same(p.words[0])
		other := slices.ContainsFunc(p.words, func(v word) bool { return v.kind == ident && !w.same(v) })
		if other && (before != nil && holdsWord(p, *before) || after != nil && holdsWord(p, *after)) {
			return false
		}
	}
	return alone
}

// callsRow tells whether a row may be called by a small number alone: it is the first thing
// written in it, or written there with words.
func (x *Index) callsRow(of *snapshot.Node, name phrase) bool {
	if !isNumber(name) {
		return true
	}
	for i := of.Index + 1; i < of.End; i++ {
		m := x.page.Node(i)
		text := m.Name
		if text == "" {
			text = m.Text
		}
		if p := x.phrase(text); !p.empty() && !is(m, control) {
			return p.equal(name)
		}
	}
	return false
}

// ends tells whether a text's word is the name's, or a Chinese run that ends with it.
func ends(v, w word) bool {
	return w.same(v) || v.kind == han && w.kind == han && strings.HasSuffix(v.text, w.text)
}

// begins tells whether a text's word is the name's, or a Chinese run that begins with it.
func begins(v, w word) bool {
	return w.same(v) || v.kind == han && w.kind == han && strings.HasPrefix(v.text, w.text)
}

// fewestDays is more numbers than a pager shows side by side.
const fewestDays = 28

// inPager tells whether a number stands among others of which two follow each other, as the
// numbers of pages do. The days of a month do so, too, but there are many of them.
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
