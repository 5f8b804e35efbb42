// Package search finds the tools that a sentence asks for, in English and Chinese, by the
// words of their names, descriptions, servers and parameters (BM25F), and by what the same
// words led to before. It does no I/O and reads no clock: the same tools and the same query
// always give the same result. Who may call what is decided by the caller.
//
//	index := search.New(docs)
//	for _, r := range index.Search(search.Query{Text: "读取 Excel 文件", Limit: 5, Allow: may}) {
//		show(docs[r.Index], r.Score)
//	}
package search

import (
	"strings"

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
	vectors []static.Vector // by tool
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

// New indexes the tools.
func New(docs []Doc) *Index {
	b := newBuilder(len(docs))
	x := &Index{ids: make(map[string]int32, len(docs)), exact: make(map[string][]int32, len(docs)), names: make([]squeezed, len(docs))}
	servers := map[string]int32{}
	for i := range docs {
		d := &docs[i]
		x.vectors = append(x.vectors, vectorOf(d, b.read(d)))
		server, ok := servers[d.Server]
		if !ok {
			server = int32(len(servers))
			servers[d.Server] = server
			x.servers = append(x.servers, 0)
		}
		x.servers[server]++
		x.server = append(x.server, server)
		id := d.ID
		if id == "" {
			id = d.Name
		}
		x.id = append(x.id, id)
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

// Len returns the number of tools.
func (x *Index) Len() int { return len(x.names) }
