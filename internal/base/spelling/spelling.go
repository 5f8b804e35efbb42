// Package spelling measures the distance of two words, so that an error can suggest the word
// that was probably meant. What is near enough is up to the caller.
//
//	spelling.Edits("lable", "label", 3) // 1: two letters swapped
package spelling

import "unicode/utf8"

// MaxLetters is the length up to which words are compared; longer ones match nothing.
const MaxLetters = 128

// Edits counts the letters to add, drop, change, or swap with the next, to get from a to b, up
// to the limit.
func Edits(a, b string, limit int) int {
	var roomA, roomB [MaxLetters]rune
	x := letters(a, &roomA)
	y := letters(b, &roomB)
	if x == nil && a != "" || y == nil && b != "" || len(x)-len(y) >= limit || len(y)-len(x) >= limit {
		return limit
	}
	var rows [3][MaxLetters + 1]int
	before, last, now := &rows[0], &rows[1], &rows[2]
	for j := range len(y) + 1 {
		last[j] = j
	}
	for i := range x {
		now[0] = i + 1
		least := now[0]
		for j := range y {
			change := last[j]
			if x[i] != y[j] {
				change++
			}
			edits := min(change, last[j+1]+1, now[j]+1)
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				edits = min(edits, before[j-1]+1)
			}
			now[j+1] = edits
			least = min(least, edits)
		}
		if least >= limit {
			return limit
		}
		before, last, now = last, now, before
	}
	return min(last[len(y)], limit)
}

// letters returns those of s, or nil when there are too many.
func letters(s string, room *[MaxLetters]rune) []rune {
	if len(s) > MaxLetters && utf8.RuneCountInString(s) > MaxLetters {
		return nil
	}
	out := room[:0]
	for _, r := range s {
		out = append(out, r)
	}
	return out
}
