package search

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// The fields of a tool. A word is weighted by its field.
const (
	inName = iota
	inDescription
	inServer
	inServerText
	inParams
	inParamText
	fields
)

// weight is the weight of a word in each field; even is how strongly it is normalized by the
// field's length. They were set by hand, not tuned to any set of queries.
var (
	weight = [fields]float64{2, 1, .6, .3, .5, .3}
	even   = [fields]float64{.3, .6, .3, .5, .6, .7}
)

// saturation is how often a word must occur to reach half of its maximum score.
const saturation = 1.2

// builder collects the words of all tools; weights can only be computed at the end.
type builder struct {
	terms  map[string]int32
	found  []occurrence
	length [][fields]uint32 // in words, by tool
	named  []occurrence     // terms of names, without duplicates
	last   map[int32]int    // index in found, for the current tool
	tree   jsonschema.Tree
}

// occurrence is a term in a tool.
type occurrence struct {
	term, doc int32
	count     [fields]uint16
}

func newBuilder(docs int) *builder {
	return &builder{terms: map[string]int32{}, length: make([][fields]uint32, 0, docs), last: map[int32]int{}}
}

// read adds the words of the next tool.
func (b *builder) read(d *Doc) {
	clear(b.last)
	b.length = append(b.length, [fields]uint32{})
	in := func(field int) func(string) {
		add := func(term string) { b.add(field, term) }
		return func(text string) { words(text, add) }
	}
	in(inName)(d.Name)
	for _, at := range b.last {
		b.named = append(b.named, b.found[at])
	}
	in(inName)(d.Path)
	in(inDescription)(d.Description)
	in(inServer)(d.Server)
	for _, tag := range d.Tags {
		in(inServer)(tag)
	}
	in(inServerText)(d.ServerDescription)
	b.tree.Reset()
	if schema, err := b.tree.Parse(d.Schema); err == nil {
		schemaText(schema, 0, in(inParams), in(inParamText))
	}
}

func (b *builder) add(field int, term string) {
	id, ok := b.terms[term]
	if !ok {
		id = int32(len(b.terms))
		b.terms[strings.Clone(term)] = id // a copy, because it may be part of a long text
	}
	doc := len(b.length) - 1
	b.length[doc][field]++
	at, ok := b.last[id]
	if !ok {
		at = len(b.found)
		b.last[id] = at
		b.found = append(b.found, occurrence{term: id, doc: int32(doc)})
	}
	if c := &b.found[at].count[field]; *c < math.MaxUint16 {
		*c++
	}
}

// finish computes the weights and fills the index.
func (b *builder) finish(x *Index) {
	x.terms = b.terms
	x.sorted = slices.Sorted(maps.Keys(b.terms))
	all := float64(len(b.length))
	x.unknown = idf(all, 0)
	x.idf = make([]float32, len(b.terms))
	for _, o := range b.found {
		x.idf[o.term]++
	}
	for t, n := range x.idf {
		x.idf[t] = idf(all, float64(n))
	}
	usual := b.meanLength()
	x.words = gather(b.found, len(b.terms), func(o occurrence) float32 {
		var sum float64
		for f, n := range o.count {
			if n > 0 {
				sum += weight[f] * float64(n) / (1 - even[f] + even[f]*float64(b.length[o.doc][f])/usual[f])
			}
		}
		return x.idf[o.term] * float32(sum/(saturation+sum))
	})
	x.nameSize = make([]float32, len(b.length))
	whole := make([]float32, len(b.length))
	slices.SortFunc(b.named, func(a, b occurrence) int { return cmp.Or(cmp.Compare(a.doc, b.doc), cmp.Compare(a.term, b.term)) })
	for _, o := range b.named {
		x.nameSize[o.doc]++
		whole[o.doc] += x.idf[o.term]
	}
	x.naming = gather(b.named, len(b.terms), func(o occurrence) float32 { return x.idf[o.term] / whole[o.doc] })
}

// meanLength is the average length of each field.
func (b *builder) meanLength() (mean [fields]float64) {
	for _, l := range b.length {
		for f, n := range l {
			mean[f] += float64(n) / float64(len(b.length))
		}
	}
	return mean
}

// idf returns the inverse document frequency of a term in some of all documents.
func idf(all, some float64) float32 {
	return float32(math.Log(1 + (all-some+.5)/(some+.5)))
}

// gather groups occurrences by term, keeping the order of the tools.
func gather(list []occurrence, terms int, value func(occurrence) float32) postings {
	p := postings{make([]int32, terms+1), make([]int32, len(list)), make([]float32, len(list))}
	for _, o := range list {
		p.starts[o.term+1]++
	}
	for t := range terms {
		p.starts[t+1] += p.starts[t]
	}
	next := slices.Clone(p.starts)
	for _, o := range list {
		at := next[o.term]
		next[o.term]++
		p.docs[at] = o.doc
		p.value[at] = value(o)
	}
	return p
}
