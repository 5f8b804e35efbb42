package search

import (
	"cmp"
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

// builder numbers the terms of words.
type builder struct {
	corpus
	ids map[string]int32 // of the terms
}

// id is the number of a term.
func (b *builder) id(term string) int32 {
	id, ok := b.ids[term]
	if !ok {
		id = int32(len(b.terms))
		b.ids[term] = id
		b.terms = append(b.terms, term)
	}
	return id
}

// reader reads the words of tools.
type reader struct {
	builder
	vague []bool        // terms
	last  map[int32]int // index in found, for the current tool
	tree  jsonschema.Tree
}

// occurrence is a term in a tool.
type occurrence struct {
	term, doc int32
	count     [fields]uint16
}

func newReader(docs int) *reader {
	r := &reader{last: map[int32]int{}}
	r.ids = map[string]int32{}
	r.length = make([][fields]uint32, 0, docs)
	r.begin = map[int32]int{}
	r.forms = map[string]bool{}
	return r
}

// read adds the words of the next tool. It returns its schema, which is valid until the next
// call, or nil.
func (r *reader) read(d *Doc) *jsonschema.Node {
	clear(r.last)
	r.length = append(r.length, [fields]uint32{})
	in := func(field int) func(string) {
		isName := field == inName || field == inParams
		add := func(term, word string, joined bool) {
			if !joined || !isName {
				r.add(field, term, word, joined)
			}
		}
		return func(text string) { read(text, add) }
	}
	in(inName)(d.Name)
	r.readName()
	in(inName)(d.Path)
	in(inDescription)(d.Description)
	in(inServer)(d.Server)
	for _, tag := range d.Tags {
		in(inServer)(tag)
	}
	in(inServerText)(d.ServerDescription)
	r.tree.Reset()
	schema, err := r.tree.Parse(d.Schema)
	if err != nil {
		return nil
	}
	schemaText(schema, 0, in(inParams), in(inParamText))
	return schema
}

// readName records the terms of the name, which are all that has been read of the tool.
func (r *reader) readName() {
	first := int32(-1)
	for id, at := range r.last {
		if first < 0 || at < r.last[first] {
			first = id
		}
		if !r.vague[id] {
			r.named = append(r.named, r.found[at])
		}
	}
	if first >= 0 {
		r.begin[first]++
	}
}

func (r *reader) add(field int, term, word string, joined bool) {
	id, ok := r.ids[term]
	if !ok {
		id = r.id(strings.Clone(term)) // a copy, because it may be part of a long text
		r.vague = append(r.vague, vague[term])
	}
	if word != "" && !r.forms[word] {
		r.forms[strings.Clone(word)] = true
	}
	doc := len(r.length) - 1
	if !joined && !r.vague[id] {
		r.length[doc][field]++
	}
	at, ok := r.last[id]
	if !ok {
		at = len(r.found)
		r.last[id] = at
		r.found = append(r.found, occurrence{term: id, doc: int32(doc)})
	}
	if c := &r.found[at].count[field]; *c < math.MaxUint16 {
		*c++
	}
}

// finish computes the weights and fills the index.
func (b *builder) finish(x *Index) {
	x.terms = b.ids
	x.begin = b.begin
	x.forms = b.forms
	x.sorted = slices.Sorted(slices.Values(b.terms))
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
