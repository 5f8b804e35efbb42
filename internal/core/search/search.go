// Package search finds the tools that a sentence asks for, in English and Chinese, by the
// words of their names, descriptions, servers and parameters (BM25F), and by what the same
// words led to before. It does no I/O and reads no clock: the same tools and the same query
// always give the same result. Who may call what is decided by the caller.
//
//	index := search.New(search.Read(docs))
//	for _, r := range index.Search(search.Query{Text: "读取 Excel 文件", Limit: 5, Allow: may}) {
//		show(docs[r.Index], r.Score)
//	}
package search

import (
	"github.com/toolfit/toolfit/internal/core/search/static"
)

// Doc is the searchable text of one tool.
type Doc struct {
	ID                string // identifies the tool in Memory; default: Name
	Name              string // the tool's own name on its server
	Path              string // method and path of a REST operation
	Server            string
	ServerDescription string
	Description       string
	Tags              []string
	Schema            []byte // JSON Schema of the arguments; ignored if it is not JSON
}

// Index is a searchable list of tools. It is immutable.
type Index struct {
	terms   map[string]int32
	sorted  []string        // terms, sorted
	idf     []float32       // inverse document frequency, by term
	unknown float32         // idf of a term that no tool has
	words   postings        // score of a term for a tool
	naming  postings        // share of a tool's name that a term covers
	nameIDF []float32       // sum of the idf of a name's terms, by tool
	begin   map[int32]int   // number of tools whose name begins with a term
	forms   map[string]bool // words as the tools write them, in lower case
	chinese bool            // some tools are described in Chinese

	server  []int32          // index of a tool's server
	servers []float32        // number of tools, by server
	id      []string         // of each tool
	ids     map[string]int32 // index of a tool, by ID
	exact   map[string][]int32
	names   []squeezed
	vectors []*static.Vector // by tool
}

// postings lists the tools of each term, in order, with a number for each.
type postings struct {
	starts []int32 // start of each term's list, and the end of the last
	docs   []int32
	value  []float32
}

// addTo adds the numbers of a term's tools, times weight, to sums.
func (p *postings) addTo(sums []float32, term int32, weight float32) {
	from := p.starts[term]
	to := p.starts[term+1]
	value := p.value[from:to]
	for i, d := range p.docs[from:to] {
		sums[d] += weight * value[i]
	}
}

// squeezed is a tool's name without case and punctuation.
type squeezed struct{ id, name string }

// New indexes the tools of some groups, one after the other. Reading is most of the work, and need not be done again for groups
// that are in another index already.
func New(groups ...*Group) *Index {
	total := 0
	for _, g := range groups {
		total += len(g.docs)
	}
	x := &Index{ids: make(map[string]int32, total), exact: make(map[string][]int32, total)}
	x.server = make([]int32, 0, total)
	x.id = make([]string, 0, total)
	x.names = make([]squeezed, 0, total)
	x.vectors = make([]*static.Vector, 0, total)
	servers := map[string]int32{}
	for _, g := range groups {
		for i := range g.docs {
			d := &g.docs[i]
			server, ok := servers[d.server]
			if !ok {
				server = int32(len(servers))
				servers[d.server] = server
				x.servers = append(x.servers, 0)
			}
			x.servers[server]++
			x.server = append(x.server, server)
			place := int32(len(x.id))
			x.id = append(x.id, d.id)
			if _, taken := x.ids[d.id]; !taken {
				x.ids[d.id] = place
			}
			x.names = append(x.names, d.squeezed)
			x.vectors = append(x.vectors, &d.vector)
			x.exact[d.name] = append(x.exact[d.name], place)
			if d.full != d.name {
				x.exact[d.full] = append(x.exact[d.full], place)
			}
		}
	}
	joined(groups, total).finish(x)
	return x
}

// Len returns the number of tools.
func (x *Index) Len() int { return len(x.names) }
