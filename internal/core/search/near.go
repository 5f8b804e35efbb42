package search

import (
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/spelling"
)

// Near returns the tools whose name may have been meant, best first: those spelled alike, then
// those with the same words.
func (x *Index) Near(name string, limit int, allow func(i int) bool) []int {
	out := x.Alike(name, limit, allow)
	for _, r := range x.Search(Query{Text: name, Limit: limit, Allow: allow}) {
		if r.Score >= Sure && len(out) < limit && !slices.Contains(out, r.Index) {
			out = append(out, r.Index)
		}
	}
	return out
}

// Alike returns the tools with a similar spelling, most similar first.
func (x *Index) Alike(name string, limit int, allow func(i int) bool) []int {
	want := squeeze(clip(name, maxText))
	if want == "" || limit < 1 {
		return nil
	}
	type near struct{ index, edits int }
	var list []near
	most := 1 + len(want)/4
	for i, s := range x.names {
		if allow != nil && !allow(i) {
			continue
		}
		if d := min(spelling.Edits(want, s.id, most), spelling.Edits(want, s.name, most)); d < most {
			list = append(list, near{i, d})
		}
	}
	slices.SortStableFunc(list, func(a, b near) int { return a.edits - b.edits })
	var out []int
	for _, n := range list[:min(limit, len(list))] {
		out = append(out, n.index)
	}
	return out
}

// squeeze keeps only the letters and digits of a name, in lower case.
func squeeze(name string) string {
	return strings.ToLower(separators.Replace(name))
}

var separators = strings.NewReplacer("_", "", "-", "", ".", "", "/", "", " ", "", ":", "")
