package tokens

import (
	"regexp"
	"slices"
)

// pattern is that of split. The standard library has no lookahead, so what (?!\S) leaves to the next piece is given back below.
var pattern = regexp.MustCompile(`^(?:[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?` +
	`|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?` +
	`|\p{N}{1,3}| ?[^` + space + `\p{L}\p{N}]+[\r\n/]*|[` + space + `]*[\r\n]+|([` + space + `]*?)[` + space + `](?:$|[^` + space + `])|[` + space + `]+)`)

const space = `\t\n\v\f\r \x{85}\x{A0}\p{Z}`

// Naive counts tokens as the vocabulary is described: pieces by the pattern, then the two neighbours of the lowest rank are
// put together, again and again.
func Naive(text string) (n int) {
	for text != "" {
		found := pattern.FindStringSubmatchIndex(text)
		size := found[1]
		if found[2] >= 0 { // white space
			size = naiveBlanks(text, found[3])
		}
		n += naiveMerge([]byte(text[:size]))
		text = text[size:]
	}
	return n
}

var blankEnd = regexp.MustCompile(`^[` + space + `]+$`)

// naiveBlanks is white space but for its last character, if it has others and something follows it.
func naiveBlanks(text string, before int) int {
	if blankEnd.MatchString(text) {
		return len(text)
	}
	if before > 0 {
		return before
	}
	_, size := first([]byte(text))
	return size
}

func naiveMerge(piece []byte) int {
	w := vocabulary()
	if w.rank(piece) != noRank {
		return 1
	}
	var parts [][]byte
	for i := range piece {
		parts = append(parts, piece[i:i+1])
	}
	for {
		best := uint32(noRank)
		at := 0
		for i := range len(parts) - 1 {
			if rank := w.rank(slices.Concat(parts[i], parts[i+1])); rank < best {
				best = rank
				at = i
			}
		}
		if best == noRank {
			return len(parts)
		}
		parts[at] = slices.Concat(parts[at], parts[at+1])
		parts = slices.Delete(parts, at+1, at+2)
	}
}
