// Package search finds the tools that a sentence asks for, in English and Chinese, by the
// words of their names, descriptions, servers and parameters (BM25F), and by what the same
// words led to before. It never does I/O, asks no clock, and the same tools and the same
// query always give the same answer. It does not decide who may call what: it asks.
//
//	index := search.New(docs)
//	for _, r := range index.Search(search.Query{Text: "读取 Excel 文件", Limit: 5, Allow: may}) {
//		show(docs[r.Index], r.Score)
//	}
package search

import "strings"

// Doc is what is searched of one tool.
type Doc struct {
	ID                string // by which memory knows the tool; "": Name
	Name              string // the server's own name for it
	Path              string // method and path of a tool that is a REST operation
	Server            string
	ServerDescription string
	Description       string
	Tags              []string
	Schema            []byte // of the arguments, raw; what is not JSON is passed over
}

// Index is a searchable list of tools. It is never changed; a new list gets a new one.
type Index struct {
	terms    map[string]int32
	sorted   []string  // the terms in order
	idf      []float32 // how much a term tells, by term
	unknown  float32   // how much a term would tell that no tool has
	words    postings  // what a term adds to a tool's score
	naming   postings  // the share of a tool's name that a term is
	nameSize []float32 // how many terms the tool's name has

	ids   map[string]int32 // the tool's place, by ID
	exact map[string][]int32
	names []squeezed
}

// postings are the tools of each term, in order, with a number for each.
type postings struct {
	starts []int32 // where those of a term begin; one more for the end
	docs   []int32
	value  []float32
}

// addTo adds the numbers of a term's tools, times the weight, to the sums by tool.
func (p *postings) addTo(sums []float32, term int32, weight float32) {
	from := p.starts[term]
	to := p.starts[term+1]
	value := p.value[from:to]
	for i, d := range p.docs[from:to] {
		sums[d] += weight * value[i]
	}
}

// squeezed is a tool's name without what people get wrong in names.
type squeezed struct{ id, name string }

// New makes an index of the tools.
func New(docs []Doc) *Index {
	b := newBuilder(len(docs))
	x := &Index{ids: make(map[string]int32, len(docs)), exact: make(map[string][]int32, len(docs)), names: make([]squeezed, len(docs))}
	for i := range docs {
		d := &docs[i]
		b.read(d)
		id := d.ID
		if id == "" {
			id = d.Name
		}
		place := int32(i)
		if _, taken := x.ids[id]; !taken {
			x.ids[id] = place
		}
		x.names[i] = squeezed{squeeze(id), squeeze(d.Name)}
		name := strings.ToLower(d.Name)
		full := strings.ToLower(id)
		x.exact[name] = append(x.exact[name], place)
		if full != name {
			x.exact[full] = append(x.exact[full], place)
		}
	}
	b.finish(x)
	return x
}

// Len is the number of tools.
func (x *Index) Len() int { return len(x.names) }
