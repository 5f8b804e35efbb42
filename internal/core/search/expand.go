package search

import (
	"slices"
	"strings"
)

// weighted is a search term with its weight.
type weighted struct {
	term   int32
	weight float32
}

// counted is a term of a query.
type counted struct {
	term   string
	word   string  // as it is written, in lower case
	n      float32 // how often it occurs
	value  bool    // it occurs only in values
	name   bool    // it is written like a name
	joined bool
}

// count returns the distinct terms of a text, in order.
func count(text string) []counted {
	var list []counted
	places := map[string]int{}
	names := capitalized(text)
	pieces(text, func(piece string, value bool) {
		read(piece, func(term, word string, joined bool) {
			at, ok := places[term]
			if !ok {
				at = len(list)
				places[term] = at
				list = append(list, counted{term: term, word: word, value: true, name: names[word], joined: joined})
			}
			list[at].n++
			list[at].value = list[at].value && value
		})
	})
	return list
}

// expand returns the terms to search for: the given ones, similar ones for those that no tool
// has, and synonyms, which count less.
func (x *Index) expand(own []counted) []weighted {
	anyClear := slices.ContainsFunc(own, func(t counted) bool {
		_, ok := x.terms[t.term]
		return ok && !vague[t.term]
	})
	var list []weighted
	for _, t := range own {
		if id, ok := x.terms[t.term]; ok && !x.isOtherName(t) {
			list = append(list, weighted{id, importance(t, anyClear) * 9 * t.n / (8 + t.n)})
		}
	}
	for _, t := range own {
		if _, ok := x.terms[t.term]; !ok && !t.name {
			list = x.similar(list, t.term)
		}
	}
	for _, t := range own {
		if !t.value && !x.isOtherName(t) {
			list = x.synonyms(list, t.term, importance(t, anyClear))
		}
	}
	return list
}

// importance is how much a term counts: a vague one counts fully only if there is no clear one.
func importance(t counted, anyClear bool) float32 {
	weight := float32(1)
	if t.value {
		weight = perValue
	}
	if anyClear && vague[t.term] {
		weight *= perVague
	}
	return weight
}

// isOtherName reports whether the term is a name that no tool uses, such as Park: its stem may
// still be that of another word, such as parking.
func (x *Index) isOtherName(t counted) bool {
	return t.name && !x.forms[t.word] && !x.forms[strings.TrimSuffix(t.word, "s")]
}

// maxSimilar limits the similar words for an unknown one.
const maxSimilar = 8

// similar adds the terms that start like an unknown one: an unknown ending, an abbreviation,
// or a typo near the end.
func (x *Index) similar(list []weighted, term string) []weighted {
	if len(term) < 4 || term[0] >= 0x80 {
		return list
	}
	head := term[:max(4, len(term)*2/3)]
	from, _ := slices.BinarySearch(x.sorted, head)
	found := 0
	for _, other := range x.sorted[from:] {
		if !strings.HasPrefix(other, head) || found == maxSimilar {
			break
		}
		same := len(head)
		for same < min(len(term), len(other)) && term[same] == other[same] {
			same++
		}
		if likeness := 2 * float32(same) / float32(len(term)+len(other)); likeness >= .7 {
			list = include(list, x.terms[other], perSimilar*likeness)
			found++
		}
	}
	return list
}

// synonyms adds synonyms of a term. A synonym that is rarer than the term counts no more than
// the term.
func (x *Index) synonyms(list []weighted, term string, importance float32) []weighted {
	own := float32(0)
	if id, ok := x.terms[term]; ok {
		own = x.idf[id]
	}
	for _, other := range thesaurus()[term] {
		id, ok := x.terms[other]
		if !ok {
			continue
		}
		weight := perSynonym * importance
		if own > 0 {
			weight *= min(1, own/x.idf[id])
		}
		list = include(list, id, weight)
	}
	return list
}

// include adds a term unless it is already in the list.
func include(list []weighted, term int32, weight float32) []weighted {
	if slices.ContainsFunc(list, func(w weighted) bool { return w.term == term }) {
		return list
	}
	return append(list, weighted{term, weight})
}
