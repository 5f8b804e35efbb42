package search

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Query is one search.
type Query struct {
	Text   string           // a sentence, words, or a name; what is beyond 4 KB is not read
	Limit  int              // how many results at most; 0: 5
	Allow  func(i int) bool // which tools may be found, by their place; nil: all
	Memory *Memory          // what the caller's words led to before; nil: nothing is known
	Now    time.Time        // by which memory ages

	Vector  []float32   // of the text, by some model of meaning; nil: words alone decide
	Vectors [][]float32 // of the tools, by the same model
}

// Result is a found tool.
type Result struct {
	Index  int     // its place in the list
	Score  float32 // about 1 for the best match by words; memory adds to it
	Memory float32 // how much of the score is memory
}

// maxText bounds what is read of a query, maxClauses what is looked up part by part.
const (
	maxText    = 4 << 10
	maxClauses = 12
)

// How much the parts of a score count beside the best match by words, which counts 1.
const (
	perClause   = .3  // the best tool of each clause: a long task needs several tools
	wholeName   = 1.5 // a tool all of whose name is in the query
	perSynonym  = .3  // another word for one of the query's
	perSimilar  = .6  // a word of tools that looks like one of the query's that no tool has
	perMeaning  = .25 // the tool of the nearest meaning
	exactlyThis = 1   // the tool whose name the query is
)

// Search gives the tools that fit the query best, the best first. Equals keep their order.
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
	sure := s.add(x.expand(terms), 1, 0)
	if list := clauses(text); len(list) > 1 {
		for _, c := range list {
			s.add(x.expand(count(c)), 0, perClause)
		}
	}
	s.scale()
	s.addMeaning(q.Vector, q.Vectors)
	past := s.addMemory(&q, terms, 1-sure/x.ideal(terms))
	for _, i := range x.exact[strings.ToLower(strings.TrimSpace(text))] {
		if s.allow[i] {
			s.total[i] += exactlyThis
		}
	}
	list := s.best(cmp.Or(max(q.Limit, 0), 5))
	for i := range list {
		if past != nil {
			list[i].Memory = past[list[i].Index]
		}
	}
	return list
}

// clip cuts a text to so many bytes.
func clip(text string, size int) string {
	if len(text) <= size {
		return text
	}
	return strings.ToValidUTF8(text[:size], " ")
}

// allowed asks once for every tool.
func (x *Index) allowed(allow func(int) bool) []bool {
	list := make([]bool, x.Len())
	for i := range list {
		list[i] = allow == nil || allow(i)
	}
	return list
}

// ideal is the score of a tool that would have every one of the terms. One that no tool has
// counts half: it may be a value.
func (x *Index) ideal(terms []counted) float32 {
	var sum float32
	for _, t := range terms {
		if id, ok := x.terms[t.term]; ok {
			sum += x.idf[id]
		} else {
			sum += x.unknown / 2
		}
	}
	return max(sum, 1e-6)
}

// clauses are the parts of a text that may each ask for a tool of its own.
func clauses(text string) []string {
	var list []string
	for part := range strings.FieldsFuncSeq(text, endsClause) {
		if width(part) > 12 && len(list) < maxClauses {
			list = append(list, part)
		}
	}
	return list
}

func endsClause(r rune) bool { return strings.ContainsRune(".?!;,\n。？！；，、", r) }

// width is a text's length in letters; a Han character says as much as three.
func width(text string) int {
	n := 0
	for _, r := range text {
		n++
		if blankless(r) {
			n += 2
		}
	}
	return n
}

// scores are those of all tools while one query is answered.
type scores struct {
	x                  *Index
	total, part, cover []float32
	allow              []bool
}

// add scores the tools by the terms. To each it adds its share of the best score times even,
// and the square of its share times steep. It returns the best score.
func (s *scores) add(terms []weighted, even, steep float32) float32 {
	clear(s.part)
	clear(s.cover)
	for _, t := range terms {
		s.x.words.addTo(s.part, t.term, t.weight)
		s.x.naming.addTo(s.cover, t.term, min(1, t.weight))
	}
	var best float32
	for i, c := range s.cover {
		switch {
		case !s.allow[i]:
			s.part[i] = 0 // what may not be found is no measure for the others
		case c > 0:
			n := s.x.nameSize[i] // that all of a long name is there says more
			s.part[i] *= 1 + wholeName*c*c*n/(n+1)
		}
		best = max(best, s.part[i])
	}
	if best == 0 {
		return 0
	}
	for i, v := range s.part {
		share := v / best
		s.total[i] += even*share + steep*share*share
	}
	return best
}

// scale makes the best score 1.
func (s *scores) scale() {
	if len(s.total) == 0 {
		return
	}
	if best := slices.Max(s.total); best > 0 {
		for i := range s.total {
			s.total[i] /= best
		}
	}
}

// best gives the highest scores, the first of equals first.
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
