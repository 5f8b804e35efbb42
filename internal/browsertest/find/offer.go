package find

import (
	"cmp"
	"slices"

	"github.com/toolfit/toolfit/internal/browsertest/snapshot"
)

// Offered is an element that somebody else may choose.
type Offered struct {
	Candidate
	Node *snapshot.Node
}

// maxOffered bounds what somebody who chooses has to look at.
const maxOffered = 40

// Offer is what a model may choose from where the words did not lead to one element: elements that
// serve the action, have every number, identifier and quoted text of the description, and can be
// told apart. It is empty where the words count (第2个) or name a place.
func (x *Index) Offer(q Query, r *Error) []Offered {
	if _, isSelector := ParseSelector(q.Text); isSelector || q.Action == Any || q.Within != "" || q.Frame != "" || q.Nth != 0 {
		return nil
	}
	alike := r.Code == snapshot.Ambiguous
	if alike && r.Count > len(r.Candidates) {
		return nil // too many to be told apart
	}
	d := describe(q.Text, x.syn)
	if slices.ContainsFunc(d.readings(), func(r reading) bool {
		return r.nth != 0 || slices.ContainsFunc(r.places, func(p place) bool { return p.nth != 0 })
	}) {
		return nil
	}
	certain := certainties(d)
	want := read(q.Text)
	var list []candidate
	for _, n := range x.serving(q.Action) {
		if alike && !slices.ContainsFunc(r.Candidates, func(c Candidate) bool { return c.Ref == x.actOn(n) }) {
			continue
		}
		if x.keeps(n, certain) {
			list = append(list, candidate{node: n, score: overlap(want, read(x.called(n))), why: "chosen"})
		}
	}
	slices.SortStableFunc(list, func(a, b candidate) int { return cmp.Compare(b.score, a.score) })
	return x.distinct(list, alike)
}

// distinct are the elements that differ: by where they are or, with byName, by their names alone.
func (x *Index) distinct(list []candidate, byName bool) (out []Offered) {
	seen := map[[3]string]int{}
	look := func(c Candidate) [3]string {
		if byName {
			return [3]string{c.Role, c.Name}
		}
		return [3]string{c.Role, c.Name, c.Path}
	}
	for _, c := range list {
		seen[look(x.show(c))]++
	}
	for _, c := range list {
		shown := x.show(c)
		if seen[look(shown)] == 1 && shown.Name != "" && len(out) < maxOffered {
			out = append(out, Offered{shown, c.node})
		}
	}
	return out
}

// certain is what the words of a description say for certain.
type certain struct {
	text   phrase   // all of them
	idents []word   // numbers and identifiers
	quotes []phrase // names in quotes
}

func certainties(d description) (c certain) {
	whole := d.text
	for _, q := range d.quotes {
		whole += " " + q
		c.quotes = append(c.quotes, read(q))
	}
	c.text = read(whole)
	for _, w := range c.text.words {
		if w.kind == ident {
			c.idents = append(c.idents, w)
		}
	}
	return c
}

// keeps tells whether the labels, the row or the places of an element have all that is certain.
func (x *Index) keeps(n *snapshot.Node, c certain) bool {
	if len(c.idents) == 0 && len(c.quotes) == 0 {
		return true
	}
	var texts []phrase
	for _, l := range x.labelsOf(n) {
		texts = append(texts, l.phrase)
	}
	inRow := false
	for a := n.Parent; a != nil; a = a.Parent {
		switch {
		case is(a, row) && !inRow: // a row around the row has others' texts, too
			inRow = true
			texts = append(texts, x.pieces(a)...)
		case is(a, landmark):
			texts = append(texts, x.placeName(a))
		}
	}
	for _, w := range c.idents {
		if !slices.ContainsFunc(texts, func(p phrase) bool { return slices.ContainsFunc(p.words, w.same) }) {
			return false
		}
	}
	for _, q := range c.quotes {
		if !slices.ContainsFunc(texts, q.equal) {
			return false
		}
	}
	return numbersFit(texts, c.text)
}

// numbersFit tells whether each small number is next to the same word as in the description.
func numbersFit(texts []phrase, said phrase) bool {
	words := telling(said.words)
	for i, w := range words {
		beside := func(p phrase) bool {
			return i > 0 && inOrder(p.words, words[i-1:i+1]) || i+1 < len(words) && inOrder(p.words, words[i:i+2])
		}
		if isCount(w) && len(words) > 1 && !slices.ContainsFunc(texts, beside) {
			return false
		}
	}
	return true
}
