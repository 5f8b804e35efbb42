package find

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// The scores. Each step is wider than lead, so that equally good matches are ambiguous.
const (
	isEqual   = 1.00 // the label is the name
	isAlike   = 0.90 // but for endings and words that say nothing
	isAround  = 0.85 // the label is part of the name, and the rest is the whole name of what holds the element
	isSynonym = 0.76 // the label means the same in other words: no better than one that has the words
	isWithin  = 0.75 // the label has further words
	isRival   = 0.72 // the label has the words, and is of another thing: it makes doubtful what has no more than the words, too
	isPartly  = 0.70 // the label is part of the name, and the rest is among the words around the element
	isText    = 0.76 // no control, but its text is the name: no better than a control that has the words
	isWeak    = 0.62 // the rest of the name are words that say nothing
	isOnlyOne = 0.60 // no name was given, only a kind of element

	synonymCost = 0.02
	looseCost   = 0.05 // a second choice for the action or the role word
	partCost    = 0.10 // a place that only has the words among its own
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
	number bool   // the label is a number
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
		if m.score == isSynonym && best.score == isWithin && !best.rival {
			m.score += lead + synonymCost // it has the words, and means nothing more
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
		if rest, found := v.cutEnd(core); found && !particular(l, v) {
			best = match{score: isAround, why: "part of the words are its name", rest: rest, number: isNumber(l)}
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

// withoutStops is a name without stop words; the name itself when little is left.
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
	if !found || particular(l, name) {
		return match{}
	}
	turned := match{score: isRival, why: "its name turns the words", rival: true}
	switch {
	case negating[l.words[0].text] && indexOf(name.words, l.words[0]) < 0 && !meaningless(name.words):
		return turned // "No smoking" is not "smoking"
	case meaningless(name.words):
	case !slices.ContainsFunc(rest, func(w word) bool { return !stopWords[w.text] }):
		return match{score: isAlike, why: "is called so but for small words"}
	case !slices.ContainsFunc(rest, func(w word) bool { return !stopWords[w.text] && !weakWords[w.text] && !holders[w.text] }):
		return match{score: isAlike, why: "is called so but for small words", weak: true}
	}
	if isNumber(name) || len(name.joined) == 1 {
		return match{} // 3 is a page or a day, not a cart with three things in it, and X is no X-ray
	}
	if apart(l, name) {
		return match{}
	}
	if slices.ContainsFunc(rest, reverses) || marked(l, name) || lengthens(l, name) {
		return turned // "cancel order" is not "order"
	}
	short := len(name.words) == 1 && !imperatives[name.text] // "Privacy" for "Privacy policy"
	rival := slices.ContainsFunc(rest, sets) || inflected(l, name) || goesOn(l, name) && !short
	return match{score: isWithin, why: "its name holds the words", does: does(l, name), rival: rival}
}

// particular tells whether the label or the name ends in a particle that the other lacks: "Save as"
// is not "Save".
func particular(l, name phrase) bool {
	return l.endsApart(name, particles) || name.endsApart(l, saidParticles)
}

// endsApart tells whether the last word is one of the set, and one that the other lacks.
func (p phrase) endsApart(q phrase, words map[string]bool) bool {
	last := p.words[len(p.words)-1]
	return len(p.words) > 1 && words[last.text] && indexOf(q.words, last) < 0
}

// lengthens tells whether a label is the name and one more character: 新建文件夹 is not 新建文件.
func lengthens(l, name phrase) bool {
	last := name.words[len(name.words)-1]
	return last.kind == han && slices.ContainsFunc(l.words, func(v word) bool {
		more, found := strings.CutPrefix(v.text, last.text)
		return found && isHanSign(more) && !weakWords[more]
	})
}

// goesOn tells whether a label continues after the name and so is another thing: "Save and close" is
// not "Save", but "Delete project" is "Delete".
func goesOn(l, name phrase) bool {
	size := len(name.words)
	if len(l.words) <= size || !slices.EqualFunc(l.words[:size], name.words, word.same) {
		return false
	}
	next := l.words[size]
	if imperatives[name.words[0].text] {
		return next.text == "and"
	}
	return next.kind == latin && !stopWords[next.text] && !weakWords[next.text] && !kindNouns[next.text]
}

// apart tells whether the words of a name are in a label, but not together.
func apart(l, name phrase) bool {
	if len(name.words) < 2 || slices.ContainsFunc(name.words, func(w word) bool { return w.kind == han }) {
		return false
	}
	words := name.withoutStops().words
	plain := slices.DeleteFunc(slices.Clone(l.words), func(w word) bool { return modifiers[w.text] && indexOf(words, w) < 0 })
	return !inOrder(l.words, words) && !inOrder(plain, words)
}

// synonym is a match by synonyms, which must be of the whole label.
func (m match) synonym(l phrase) match {
	if m.score < isAlike {
		return match{}
	}
	return match{score: isSynonym, why: fmt.Sprintf("%q means the same", cmp.Or(l.raw, l.text))}
}

// isCount tells whether a word is a small number.
func isCount(w word) bool {
	return w.kind == ident && len(w.text) <= 4 && !strings.ContainsFunc(w.text, func(r rune) bool { return !isDigit(r) })
}

// isNumber tells whether a name is a small number and nothing else.
func isNumber(p phrase) bool { return len(p.words) == 1 && isCount(p.words[0]) }
