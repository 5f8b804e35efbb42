package project

import (
	"math"
	"slices"
	"sort"

	"github.com/toolfit/toolfit/internal/core/project/mask"
	"github.com/toolfit/toolfit/internal/core/tokens"
)

// around returns the tokens outside of the container at the place.
func around(src []byte, at mask.Place) int {
	return counted(src[:at.Start]) + counted(src[at.End:])
}

// fits is how many elements of a container fit, given where each ends; at least one.
func fits(container []byte, ends []int, budget int) int {
	n := sort.Search(len(ends), func(i int) bool { return !tokens.Fits(container[:ends[i]], budget) })
	return max(1, n)
}

// cutAfter ends the container at the place early.
func cutAfter(src []byte, at mask.Place, end int, close byte) []byte {
	end += at.Start
	out := append(make([]byte, 0, end+1+len(src)-at.End), src[:end]...)
	return append(append(out, close), src[at.End:]...)
}

// share is the most that each text may take so that all fit: small ones stay whole, large ones get the
// same.
func share(sizes []int, budget int) int {
	sizes = slices.Sorted(slices.Values(sizes))
	for i, n := range sizes {
		if fair := budget / (len(sizes) - i); n > fair {
			return fair
		}
		budget -= n
	}
	return math.MaxInt
}
