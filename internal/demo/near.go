package demo

import (
	"cmp"
	"slices"
	"strings"
)

// near gives the three ids that are most like the wanted one, the nearest first.
func near(wanted string, ids []string) []string {
	wanted = strings.ToLower(cut(wanted)) // an id is short; a long text would only cost time
	type scored struct {
		id       string
		distance int
	}
	var all []scored
	for _, id := range ids {
		d := 0 // a part of the id is nearer than any misspelling
		if !strings.Contains(strings.ToLower(id), wanted) {
			d = 1 + distance([]rune(wanted), []rune(strings.ToLower(id)))
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

// distance counts the single-character edits between a and b.
func distance(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j := range b {
			edit := diagonal
			if a[i] != b[j] {
				edit++
			}
			diagonal = row[j+1]
			row[j+1] = min(edit, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
