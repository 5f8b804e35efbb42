package project

import (
	"strconv"

	"github.com/toolfit/toolfit/internal/project/mask"
	"github.com/toolfit/toolfit/internal/rawjson"
	"github.com/toolfit/toolfit/internal/tokens"
)

// Omitted is the name under which an answer says what was left out of it.
const Omitted = "_omitted"

// metaOmitted is the member of _meta with the full list.
const metaOmitted = "toolfit/omitted"

// maxNamed is how many names a note gives: enough to see what kind of thing is missing.
const maxNamed = 3

// appendNote appends what the reader is told: a few names, the counts, and the handle.
//
//	{"fields":["Databases","Storages","LogServices"],"more":8,"ref":"r_7f3kq2","tokens":17520}
func appendNote(dst []byte, t *mask.Tally, ref string, full int) []byte {
	names, more := noteNames(t)
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
	dst = appendCount(dst, "rows", t.Rows)
	dst = appendCount(dst, "cut", t.Cut)
	if ref != "" {
		dst = append(rawjson.AppendString(append(dst, `"ref":`...), ref), ',')
	}
	dst = append(dst, `"tokens":`...)
	return append(strconv.AppendInt(dst, int64(full), 10), '}')
}

// appendCount appends a counter and a comma, unless it is zero.
func appendCount(dst []byte, name string, n int) []byte {
	if n == 0 {
		return dst
	}
	dst = append(append(append(dst, '"'), name...), `":`...)
	return append(strconv.AppendInt(dst, int64(n), 10), ',')
}

// noteNames are the names with most bytes, and how many others there are. The same name in
// two places is one name.
func noteNames(t *mask.Tally) (names []string, more int) {
	seen := map[string]bool{}
	for _, f := range t.Fields() {
		if seen[f.Name] {
			continue
		}
		seen[f.Name] = true
		if len(names) < maxNamed {
			names = append(names, f.Name)
		} else {
			more++
		}
	}
	return names, more + t.Others
}

// appendList appends the full list, for programs: every path as a mask that asks for it.
func appendList(dst []byte, t *mask.Tally, ref string, full int) []byte {
	dst = append(dst, '{')
	if fields := t.Fields(); len(fields) > 0 {
		dst = append(dst, `"fields":[`...)
		for i, f := range fields {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(rawjson.AppendString(append(dst, `{"path":`...), f.Path), ',')
			dst = appendCount(dst, "bytes", f.Bytes)
			dst = append(strconv.AppendInt(append(dst, `"count":`...), int64(f.Count), 10), '}')
		}
		dst = append(dst, "],"...)
	}
	dst = appendCount(dst, "others", t.Others)
	dst = appendCount(dst, "rows", t.Rows)
	dst = appendCount(dst, "cut", t.Cut)
	if ref != "" {
		dst = append(rawjson.AppendString(append(dst, `"ref":`...), ref), ',')
	}
	dst = append(dst, `"tokens":`...)
	return append(strconv.AppendInt(dst, int64(full), 10), '}')
}

// noted is an object with the note as its last member, in pieces.
func noted(object, note []byte) [][]byte {
	member := `,"` + Omitted + `":`
	if isEmpty(object) {
		member = member[1:]
	}
	return [][]byte{object[:len(object)-1], []byte(member), note, {'}'}}
}

// fullTokens is about what all of the part costs.
func (p *part) fullTokens() int {
	if p.cost == 0 {
		p.cost = tokens.Sampled(p.full)
	}
	return p.cost
}
