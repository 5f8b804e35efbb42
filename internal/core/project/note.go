package project

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/project/mask"
	"github.com/toolfit/toolfit/internal/core/tokens"
)

// Omitted is the name of the note that says what was left out.
const Omitted = "_omitted"

// metaOmitted is the member of _meta with the full list.
const metaOmitted = "toolfit/omitted"

// How many names there are in a note: enough to see what kind of thing is missing, and more where a
// budget of some size chose.
const (
	maxNamed  = 3
	mostNamed = 12
)

// A note is measured before its ref is known: no byte of a ref takes more than a token.
const (
	likeRef    = "r_"
	refRoom    = 8
	mostTokens = 9_999_999
)

// said is what a note says beside names and counts.
type said struct {
	same   []byte   // members of an object: the columns that are the same in every row, by path
	paths  []string // of these
	others []byte   // an object: what the rows are that are left out
	named  int      // how many fields may be named; 0: as many as usual; unnamed: none
}

const unnamed = -1

// absent is what is left out of one part, or of several.
type absent struct {
	fields []mask.Field
	others int // members beyond those fields
	rows   int
	cut    int // strings
	tokens int // of everything; 0: nothing is left out
	said   said
}

// cutParts are the parts of which something is left out.
func (r *result) cutParts(of func(*part) bool) []*part {
	return slices.DeleteFunc(slices.Clone(r.parts), func(p *part) bool { return !p.leaves() || !of(p) })
}

// absent sums up what is left out of some parts.
func (r *result) absent(of func(*part) bool) absent { return r.absentFrom(r.cutParts(of)) }

// absentFrom is absent for parts of which something is left out.
func (r *result) absentFrom(some []*part) (a absent) {
	if len(some) == 0 {
		return a
	}
	for _, p := range some {
		a.tokens += r.fullTokens(p)
	}
	t := &some[0].tally
	a.said = some[0].said
	fields := some[0].fields
	if len(some) > 1 {
		a.said = said{named: a.said.named}
		t = &mask.Tally{}
		for _, p := range some {
			t.Add(&p.tally)
		}
		fields = t.Fields
	}
	a.fields = fields()
	a.others = t.Others
	a.rows = t.Rows
	a.cut = t.Cut
	return a
}

// fields are those that are left out of the part. The note and the list both name them.
func (p *part) fields() []mask.Field {
	if p.left == nil {
		p.left = p.tally.Fields()
	}
	return p.left
}

// appendNote appends the note for the reader: a few names, the counts, and the ref; after a budget also
// what is the same in every row, and what the missing rows are.
//
//	{"fields":["Databases","Storages","LogServices"],"more":8,"ref":"r_7f3kq2","tokens":17520}
//	{"same":{"items/state":"open"},"others":{"columns":["number","title"],"rows":[[12,"Crash"]]},"rows":1,"ref":"r_7f3kq2","tokens":9520}
func appendNote(dst []byte, a *absent, ref string) []byte {
	names, more := a.names()
	dst = append(dst, '{')
	if len(names) > 0 {
		dst = append(dst, `"fields":[`...)
		for i, name := range names {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = rawjson.AppendString(dst, name)
		}
		dst = append(dst, "],"...)
	}
	dst = appendCount(dst, "more", more)
	if len(a.said.same) > 0 {
		dst = append(append(append(dst, `"same":{`...), a.said.same...), "},"...)
	}
	if len(a.said.others) > 0 {
		dst = append(append(append(dst, `"others":`...), a.said.others...), ',')
	}
	return a.appendCounts(dst, ref)
}

// noteBlock is the text of a note that stands by itself.
func noteBlock(note []byte) []byte {
	return slices.Concat([]byte(`{"`+Omitted+`":`), note, []byte{'}'})
}

// appendCounts appends the end of a note and of a list.
func (a *absent) appendCounts(dst []byte, ref string) []byte {
	dst = appendCount(dst, "rows", a.rows)
	dst = appendCount(dst, "cut", a.cut)
	if ref != "" {
		dst = append(rawjson.AppendString(append(dst, `"ref":`...), ref), ',')
	}
	dst = append(dst, `"tokens":`...)
	return append(strconv.AppendInt(dst, int64(a.tokens), 10), '}')
}

// appendCount appends a counter and a comma, unless it is zero.
func appendCount(dst []byte, name string, n int) []byte {
	if n == 0 {
		return dst
	}
	dst = append(append(append(dst, '"'), name...), `":`...)
	return append(strconv.AppendInt(dst, int64(n), 10), ',')
}

// names are the largest fields by distinct name, and how many more there are.
func (a *absent) names() (names []string, more int) {
	most := cmp.Or(a.said.named, maxNamed)
	for i, f := range a.fields {
		if slices.ContainsFunc(a.fields[:i], func(g mask.Field) bool { return g.Name == f.Name }) || slices.Contains(a.said.paths, f.Path) {
			continue
		}
		if len(names) < most {
			names = append(names, f.Name)
		} else {
			more++
		}
	}
	return names, more + a.others
}

// appendList appends the full list, for programs: every path as a mask that asks for it.
func appendList(dst []byte, a *absent, ref string) []byte {
	dst = append(dst, '{')
	if len(a.fields) > 0 {
		dst = append(dst, `"fields":[`...)
		for i, f := range a.fields {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(rawjson.AppendString(append(dst, `{"path":`...), f.Path), ',')
			dst = appendCount(dst, "bytes", f.Bytes)
			dst = append(strconv.AppendInt(append(dst, `"count":`...), int64(f.Count), 10), '}')
		}
		dst = append(dst, "],"...)
	}
	dst = appendCount(dst, "others", a.others)
	return a.appendCounts(dst, ref)
}

// noted returns an object with the note as its last member, in pieces.
func noted(object, note []byte) [][]byte {
	member := `,"` + Omitted + `":`
	if isEmpty(object) {
		member = member[1:]
	}
	return [][]byte{object[:len(object)-1], []byte(member), note, {'}'}}
}

// fullTokens returns the tokens of the uncut part.
func (r *result) fullTokens(p *part) int {
	switch {
	case p.cost > 0:
	case p.full == nil:
		p.cost = quotedTokens(r.raw[p.start:p.end])
	default:
		p.cost = tokens.Sampled(p.full)
	}
	return p.cost
}
