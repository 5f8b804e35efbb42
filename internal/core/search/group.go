package search

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/core/search/static"
)

// Group is tools that have been read. It is immutable.
type Group struct {
	corpus
	docs []readDoc
}

// readDoc is what an index has of each tool, beside its words.
type readDoc struct {
	id, server string
	name, full string // the name and the id, in lower case
	squeezed
	vector static.Vector
}

// corpus is the words of tools, in order. Weights can only be computed for all tools of an index.
type corpus struct {
	terms  []string
	found  []occurrence
	length [][fields]uint32 // in words, by tool
	named  []occurrence     // terms of names, without duplicates
	begin  map[int32]int    // number of tools whose name begins with the term
	forms  map[string]bool  // words as they are written, in lower case
}

// Read reads tools.
func Read(docs []Doc) *Group {
	r := newReader(len(docs))
	g := &Group{docs: make([]readDoc, len(docs))}
	for i := range docs {
		d := &docs[i]
		id := cmp.Or(d.ID, d.Name)
		g.docs[i] = readDoc{
			id: id, server: d.Server, name: strings.ToLower(d.Name), full: strings.ToLower(id),
			squeezed: squeezed{squeeze(id), squeeze(d.Name)}, vector: vectorOf(d, r.read(d)),
		}
	}
	g.corpus = r.corpus
	g.found = slices.Clip(g.found)
	return g
}

// joined are the words of all groups, and the numbers of their terms.
func joined(groups []*Group, docs int) *builder {
	b := &builder{ids: map[string]int32{}}
	b.begin = map[int32]int{}
	b.forms = map[string]bool{}
	b.length = make([][fields]uint32, 0, docs)
	found := 0
	for _, g := range groups {
		found += len(g.found)
	}
	b.found = make([]occurrence, 0, found)
	for _, g := range groups {
		first := int32(len(b.length))
		ids := make([]int32, len(g.terms))
		for i, term := range g.terms {
			ids[i] = b.id(term)
		}
		move := func(to, list []occurrence) []occurrence {
			for _, o := range list {
				o.term = ids[o.term]
				o.doc += first
				to = append(to, o)
			}
			return to
		}
		b.found = move(b.found, g.found)
		b.named = move(b.named, g.named)
		b.length = append(b.length, g.length...)
		for term, n := range g.begin {
			b.begin[ids[term]] += n
		}
		maps.Copy(b.forms, g.forms)
	}
	return b
}
