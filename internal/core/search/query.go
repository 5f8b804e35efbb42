package search

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Query is one search.
type Query struct {
	Text   string           // a sentence, words or a name; only the first 4 KB are read
	Limit  int              // maximum number of results; default 5
	Allow  func(i int) bool // reports whether tool i may be found; nil: all
	Memory *Memory          // what the caller's queries led to before; may be nil
	Now    time.Time        // for the decay of Memory

	Vector  []float32   // embedding of the text; nil: no embeddings
	Vectors [][]float32 // embeddings of the tools, by the same model
}

// Result is a found tool.
type Result struct {
	Index  int     // index in the list of tools
	Score  float32 // 1 for the best match by words, plus meaning and memory
	Memory float32 // the part of Score that comes from memory
}

// withHelpers is the number of the best tools that bring those they were called with.
const withHelpers = 3

// maxText limits the text of a query, maxClauses the clauses that are searched separately.
const (
	maxText    = 4 << 10
	maxClauses = 12
)

// The weights of the parts of a score, relative to the best match by words.
const (
	perClause   = .3  // best tool of each clause: a long task needs several tools
	wholeName   = 1.5 // a tool whose whole name is in the query, if its words are rare
	perServer   = .4  // what the tools of the same server score on average
	perSynonym  = .3  // a synonym
	perSimilar  = .6  // a term similar to one that no tool has
	perValue    = .6  // a term that occurs only in values
	perVague    = .2  // a vague term
	perGeneral  = .4  // a tool that finds what the query is about
	perHelper   = .9  // a tool that was called together with one of the best, relative to it
	perMeaning  = .3  // the tool closest in meaning
	exactlyThis = 1   // the tool whose name is the query
)

// general are the terms of tools that help when no other one fits, or before another one is
// called: who asks about a person by name needs a search first.
var general = count("search web internet")

// Search returns the best tools for the query, best first. Ties keep the order of the list. If
// hardly a word of the query is known, the scores are below Sure.
func (x *Index) Search(q Query) []Result {
	text := clip(q.Text, maxText)
	s := &scores{
		x:     x,
		total: make([]float32, x.Len()),
		part:  make([]float32, x.Len()),
		cover: make([]float32, x.Len()),
		allow: x.allowed(q.Allow),
	}
	terms := count(text)
	sure := s.add(x.translate(x.expand(terms), text), 1, 0)
	for _, c := range x.clauses(text) {
		s.add(x.translate(x.expand(c.terms), c.text), 0, perClause)
	}
	share := sure / x.ideal(terms)
	trust := min(1, share/enough)
	room := max(0, 1-share)
	s.scale(trust)
	if len(terms) > 0 {
		s.add(x.known(general), 0, perGeneral*(1+trust)/2*room)
		s.addMeaning(s.nearest(&q, text))
	}
	s.addHelpers(&q)
	past := s.addMemory(&q, terms, room)
	for _, i := range x.exact[strings.ToLower(strings.TrimSpace(text))] {
		if s.allow[i] {
			s.total[i] += exactlyThis
		}
	}
	list := s.best(cmp.Or(max(q.Limit, 0), 5))
	if len(list) == 0 && len(terms) > 0 {
		list = s.first(cmp.Or(max(q.Limit, 0), 5))
	}
	for i := range list {
		if past != nil {
			list[i].Memory = past[list[i].Index]
		}
	}
	return list
}

// Sure is the least score of a match; what scores less is a guess.
const Sure = .55

// enough is the share of what a query says that the best tool must have in words; with less, its
// words count less.
const enough = .15

// clip truncates a text to size bytes.
func clip(text string, size int) string {
	if len(text) <= size {
		return text
	}
	return strings.ToValidUTF8(text[:size], " ")
}

// allowed calls allow once for every tool.
func (x *Index) allowed(allow func(int) bool) []bool {
	list := make([]bool, x.Len())
	for i := range list {
		list[i] = allow == nil || allow(i)
	}
	return list
}

// ideal is the score of a tool with all of the terms. A term that no tool has counts half: it
// may be a value.
func (x *Index) ideal(terms []counted) float32 {
	var sum float32
	for _, t := range terms {
		id, ok := x.terms[t.term]
		switch {
		case vague[t.term], t.joined:
		case ok:
			sum += x.idf[id]
		default:
			sum += x.unknown / 2
		}
	}
	return max(sum, 1e-6)
}

// clause is a part of a text that may ask for a tool of its own.
type clause struct {
	text  string
	terms []counted
}

// clauses returns the parts of a text that have a verb; none if the text has one part only.
func (x *Index) clauses(text string) []clause {
	var list []clause
	n := 0
	for part := range strings.FieldsFuncSeq(text, endsClause) {
		if width(part) <= 12 || n == maxClauses {
			continue
		}
		n++
		if terms := count(part); x.hasVerb(terms) {
			list = append(list, clause{part, terms})
		}
	}
	if n < 2 {
		return nil
	}
	return list
}

// hasVerb reports whether a clause asks for something to be done: it has a word with which the
// names of tools begin, or one that means the same.
func (x *Index) hasVerb(clause []counted) bool {
	return slices.ContainsFunc(clause, func(t counted) bool {
		id, ok := x.terms[t.term]
		return vague[t.term] || actions()[t.term] || ok && x.begin[id] > 1
	})
}

func endsClause(r rune) bool { return strings.ContainsRune(".?!;,\n。？！；，、", r) }

// width is the length of a text in letters; a Han character counts as three.
func width(text string) int {
	n := 0
	for _, r := range text {
		n++
		if withoutSpaces(r) {
			n += 2
		}
	}
	return n
}

// scores are the scores of all tools for one query.
type scores struct {
	x                  *Index
	total, part, cover []float32
	allow              []bool
}

// add scores the tools by the terms. It adds the share of the best score times even, and the
// square of that share times steep, and returns the best score.
func (s *scores) add(terms []weighted, even, steep float32) float32 {
	if len(terms) == 0 || len(s.part) == 0 {
		return 0
	}
	clear(s.part)
	clear(s.cover)
	for _, t := range terms {
		s.x.words.addTo(s.part, t.term, t.weight)
		s.x.naming.addTo(s.cover, t.term, min(1, t.weight))
	}
	for i, c := range s.cover {
		switch {
		case !s.allow[i]:
			s.part[i] = 0 // excluded tools must not affect the others
		case c > 0:
			rarity := c * s.x.nameIDF[i] / s.x.unknown // a match of a long name of rare words means more
			s.part[i] *= 1 + wholeName*c*rarity/(rarity+.6)
		}
	}
	s.addServers()
	best := slices.Max(s.part)
	if best == 0 {
		return 0
	}
	for i, v := range s.part {
		share := v / best
		s.total[i] += even*share + steep*share*share
	}
	return best
}

// someTools is how many tools without a score a server's average includes, so that servers with
// one tool have no advantage.
const someTools = 3

// addServers adds to each tool with a score what the tools of its server score on average: they
// are about the same things.
func (s *scores) addServers() {
	if len(s.x.servers) < 2 {
		return
	}
	mean := make([]float32, len(s.x.servers))
	for i, v := range s.part {
		server := s.x.server[i]
		mean[server] += v / (s.x.servers[server] + someTools)
	}
	for i, v := range s.part {
		if v > 0 {
			s.part[i] += perServer * mean[s.x.server[i]]
		}
	}
}

// scale makes the best score the given one.
func (s *scores) scale(best float32) {
	if len(s.total) == 0 {
		return
	}
	if most := slices.Max(s.total); most > 0 {
		for i := range s.total {
			s.total[i] *= best / most
		}
	}
}

// best returns the highest scores; ties keep their order.
func (s *scores) best(limit int) []Result {
	list := make([]Result, 0, min(limit, s.x.Len())+1)
	for i, v := range s.total {
		if v <= 0 || len(list) == limit && v <= list[limit-1].Score {
			continue
		}
		at, _ := slices.BinarySearchFunc(list, v, func(r Result, v float32) int {
			if r.Score >= v {
				return -1
			}
			return 1
		})
		list = slices.Insert(list, at, Result{Index: i, Score: v})
		if len(list) > limit {
			list = list[:limit]
		}
	}
	return list
}

// first returns the first tools of the list.
func (s *scores) first(limit int) []Result {
	var list []Result
	for i, ok := range s.allow {
		if ok && len(list) < limit {
			list = append(list, Result{Index: i})
		}
	}
	return list
}

// known returns the terms that tools have.
func (x *Index) known(terms []counted) []weighted {
	var list []weighted
	for _, t := range terms {
		if id, ok := x.terms[t.term]; ok {
			list = append(list, weighted{id, 1})
		}
	}
	return list
}
