package search

import (
	"math"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/core/jsonschema"
	"github.com/toolfit/toolfit/internal/core/search/static"
)

// The parts of a tool's vector, relative to its name and its description.
const (
	serverMeaning = .3
	paramsMeaning = .5
)

// vectorOf is the meaning of a tool by the built-in model.
func vectorOf(d *Doc, schema *jsonschema.Node) static.Vector {
	var params strings.Builder
	if schema != nil {
		schemaText(schema, 0, func(name string) { params.WriteString(name + " ") }, func(string) {})
	}
	var v static.Vector
	for _, part := range []struct {
		text   string
		weight float32
	}{
		{d.Name + " " + d.Path, 1},
		{d.Description, 1},
		{d.Server + " " + d.ServerDescription, serverMeaning},
		{params.String(), paramsMeaning},
	} {
		of := static.Of(part.text)
		v.Add(&of, part.weight)
	}
	return v.Unit()
}

// bestPart is how much the clause that is nearest to a tool counts, relative to the whole text.
const bestPart = .5

// nearest returns how near each tool is in meaning: by the outside model if there is one, or
// else by the built-in one.
func (s *scores) nearest(q *Query, text string) []float32 {
	near := make([]float32, len(s.total))
	if len(q.Vector) > 0 {
		for i, v := range q.Vectors[:min(len(q.Vectors), len(near))] {
			if len(v) == len(q.Vector) {
				near[i] = cosine(q.Vector, v)
			}
		}
		return near
	}
	text = s.x.topic(text)
	if !slices.ContainsFunc(count(text), func(t counted) bool { return !vague[t.term] }) {
		return near
	}
	whole := static.Of(text)
	var parts []static.Vector
	for _, c := range s.x.clauses(text) {
		parts = append(parts, static.Of(c.text))
	}
	for i := range near {
		v := s.x.vectors[i]
		near[i] = whole.Dot(v)
		var best float32
		for k := range parts {
			best = max(best, parts[k].Dot(v))
		}
		if parts != nil {
			near[i] = (1-bestPart)*near[i] + bestPart*best
		}
	}
	return near
}

// topic is a text without values and names, which say nothing about what a tool does.
func (x *Index) topic(text string) string {
	var b strings.Builder
	pieces(text, func(piece string, value bool) {
		if !value {
			b.WriteString(piece)
		}
		b.WriteByte(' ')
	})
	return eachName(b.String(), func(word string) string {
		if x.isOtherName(counted{word: strings.ToLower(word), name: true}) {
			return ""
		}
		return word
	})
}

// addMeaning adds how near the tools are in meaning, relative to the nearest. Models find
// everything a little similar, so what is below the average counts nothing.
func (s *scores) addMeaning(near []float32) {
	var sum, best float32
	n := 0
	for i, c := range near {
		if s.allow[i] && c != 0 {
			sum += c
			best = max(best, c)
			n++
		}
	}
	if n == 0 || best <= sum/float32(n) {
		return
	}
	mean := sum / float32(n)
	for i, c := range near {
		if s.allow[i] && c > mean {
			share := (c - mean) / (best - mean)
			s.total[i] += perMeaning * share * share
		}
	}
}

// cosine returns the cosine similarity of two vectors of the same length; 0 if undefined.
func cosine(a, b []float32) float32 {
	var dot, aa, bb float64
	for i, v := range a {
		w := float64(b[i])
		dot += float64(v) * w
		aa += float64(v) * float64(v)
		bb += w * w
	}
	c := float32(dot / math.Sqrt(aa*bb))
	if c != c {
		return 0
	}
	return c
}
