package search

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

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
	weight = [fields]float64{2, 1, 1, .3, .5, .3}
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
	vague  map[int32]bool   // terms
	begin  map[int32]int    // number of tools whose name begins with the term
	forms  map[string]bool  // words as they are written, in lower case
	last   map[int32]int    // index in found, for the current tool
	tree   jsonschema.Tree
}

// occurrence is a term in a tool.
type occurrence struct {
	term, doc int32
	count     [fields]uint16
}

func newBuilder(docs int) *builder {
	return &builder{
		terms: map[string]int32{}, length: make([][fields]uint32, 0, docs), last: map[int32]int{},
		vague: map[int32]bool{}, begin: map[int32]int{}, forms: map[string]bool{},
	}
}

// read adds the words of the next tool. It returns its schema, which is valid until the next
// call, or nil.
func (b *builder) read(d *Doc) *jsonschema.Node {
	clear(b.last)
	b.length = append(b.length, [fields]uint32{})
	in := func(field int) func(string) {
		isName := field == inName || field == inParams
		add := func(term, word string, joined bool) {
			if !joined || !isName {
				b.add(field, term, word, joined)
			}
		}
		return func(text string) { read(text, add) }
	}
	in(inName)(d.Name)
	b.readName()
	in(inName)(d.Path)
	in(inDescription)(d.Description)
	in(inServer)(d.Server)
	for _, tag := range d.Tags {
		in(inServer)(tag)
	}
	in(inServerText)(d.ServerDescription)
	b.tree.Reset()
	schema, err := b.tree.Parse(d.Schema)
	if err != nil {
		return nil
	}
	schemaText(schema, 0, in(inParams), in(inParamText))
	return schema
}

// readName records the terms of the name, which are all that has been read of the tool.
func (b *builder) readName() {
	first := int32(-1)
	for id, at := range b.last {
		if first < 0 || at < b.last[first] {
			first = id
		}
		if !b.vague[id] {
			b.named = append(b.named, b.found[at])
		}
	}
	if first >= 0 {
		b.begin[first]++
	}
}

func (b *builder) add(field int, term, word string, joined bool) {
	id, ok := b.terms[term]
	if !ok {
		id = int32(len(b.terms))
		b.terms[strings.Clone(term)] = id // a copy, because it may be part of a long text
		b.vague[id] = vague[term]
	}
	if word != "" && !b.forms[word] {
		b.forms[strings.Clone(word)] = true
	}
	doc := len(b.length) - 1
	if !joined && !b.vague[id] {
		b.length[doc][field]++
	}
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
	x.begin = b.begin
	x.forms = b.forms
	x.sorted = slices.Sorted(maps.Keys(b.terms))
	x.chinese = slices.ContainsFunc(x.sorted, isChinese)
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
	x.nameIDF = make([]float32, len(b.length))
	slices.SortFunc(b.named, func(a, b occurrence) int { return cmp.Or(cmp.Compare(a.doc, b.doc), cmp.Compare(a.term, b.term)) })
	for _, o := range b.named {
		x.nameIDF[o.doc] += x.idf[o.term]
	}
	x.naming = gather(b.named, len(b.terms), func(o occurrence) float32 { return x.idf[o.term] / x.nameIDF[o.doc] })
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

// isChinese reports whether a term is a pair of Han characters.
func isChinese(term string) bool {
	first, size := utf8.DecodeRuneInString(term)
	return unicode.Is(unicode.Han, first) && len(term) > size
}
