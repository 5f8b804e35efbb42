package demo

import (
	"cmp"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/arguments"
	"github.com/toolfit/toolfit/internal/base/spelling"
)

// near are the three ids most similar to the wanted one, nearest first.
func near(wanted string, ids []string) []string {
	wanted = strings.ToLower(arguments.Cut(wanted, arguments.MaxShown)) // limits the work
	type scored struct {
		id       string
		distance int
	}
	var all []scored
	for _, id := range ids {
		d := 0 // a substring is nearer than any misspelling
		if !strings.Contains(strings.ToLower(id), wanted) {
			d = 1 + spelling.Edits(wanted, strings.ToLower(id), spelling.MaxLetters)
		}
		all = append(all, scored{id, d})
	}
	slices.SortStableFunc(all, func(a, b scored) int { return cmp.Compare(a.distance, b.distance) })
	var out []string
	for _, s := range all[:min(3, len(all))] {
		out = append(out, s.id)
	}
	return out
}
