package project

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"sort"
	"strconv"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/project/mask"
	"github.com/toolfit/toolfit/internal/core/tokens"
)

const (
	leastChars = 64 // strings are not cut shorter than this to fit a budget, so that names and IDs stay whole
	maxRounds  = 64 // of cutting one container; each removes a good part of the excess
)

// trimJSON cuts compact JSON to about the budget: first rows of the largest array, then the longest
// strings, then members of the largest object.
func trimJSON(src []byte, budget int, t *mask.Tally) []byte {
	if tokens.Estimate(src) <= budget {
		return src
	}
	out, err := mask.Short(0, true).Apply(nil, src, t)
	if err != nil {
		return src
	}
	shortened := false
	for range maxRounds {
		over := tokens.Estimate(out) - budget
		if over <= 0 {
			return out
		}
		bulk, err := mask.Survey(out)
		if err != nil {
			return out
		}
		worth := over / 2 // cutting an array much smaller than the excess would gain little
		if shortened {
			worth = over / 16
		}
		switch at := bulk.Array; {
		case at.Count > 1 && tokens.Estimate(out[at.Start:at.End]) >= worth:
			out = trimRows(out, at, budget, t)
		case !shortened:
			out = trimStrings(out, budget, t)
			shortened = true
		case bulk.Object.Count > 1:
			out = trimMembers(out, bulk.Object, budget, t)
		default:
			return out
		}
	}
	return out
}

// trimRows keeps the first rows of the array at the place, as many as fit but at least one.
func trimRows(src []byte, at mask.Place, budget int, t *mask.Tally) []byte {
	w := rawjson.Array(src[at.Start:at.End])
	n, end := fitting(src, at, budget, &w)
	t.Rows += at.Count - n
	return cutAfter(src, at, end, ']')
}

// trimMembers keeps the first members of the object at the place, as many as fit but at least
// one.
func trimMembers(src []byte, at mask.Place, budget int, t *mask.Tally) []byte {
	w := rawjson.Object(src[at.Start:at.End])
	n, end := fitting(src, at, budget, &w)
	w = rawjson.Object(src[at.Start:at.End])
	for i := 0; w.Next(); i++ {
		switch {
		case i < n:
		case at.Start > 0 || !utf8.Valid(w.Key): // its path is unknown here, or not UTF-8
			t.Others++
		default:
			name := rawjson.AppendString(nil, string(w.Key))
			t.Drop(name, len(name)+1+len(w.Value))
		}
	}
	return cutAfter(src, at, end, '}')
}

// fitting is how many of the values that w walks over fit, and where the last of them ends.
func fitting(src []byte, at mask.Place, budget int, w *rawjson.Walk) (n, end int) {
	ends := make([]int, 0, at.Count)
	for w.Next() {
		ends = append(ends, w.End)
	}
	n = fits(src[at.Start:at.End], ends, budget-around(src, at))
	return n, ends[n-1]
}

// around returns the tokens outside of the container at the place.
func around(src []byte, at mask.Place) int {
	return tokens.Estimate(src[:at.Start]) + tokens.Estimate(src[at.End:])
}

// fits is how many elements of a container fit, given where each ends; at least one.
func fits(container []byte, ends []int, budget int) int {
	n, _ := slices.BinarySearchFunc(ends, budget, func(end, budget int) int {
		return cmp.Compare(tokens.Estimate(container[:end]), budget)
	})
	return max(1, n)
}

// cutAfter ends the container at the place early.
func cutAfter(src []byte, at mask.Place, end int, close byte) []byte {
	end += at.Start
	out := append(make([]byte, 0, end+1+len(src)-at.End), src[:end]...)
	return append(append(out, close), src[at.End:]...)
}

// trimStrings cuts the longest strings, and no more of them than is needed.
func trimStrings(src []byte, budget int, t *mask.Tally) []byte {
	cut := func(src []byte, limit int, t *mask.Tally) []byte {
		out, err := mask.Short(limit, false).Apply(nil, src, t)
		if err != nil {
			return src
		}
		return out
	}
	// No string can be longer than the whole budget. What is left of src then is small
	// enough to try on; between that and the least, halve the range.
	least := leastChars
	most := max(leastChars, 8*budget)
	trial := cut(src, most, &mask.Tally{})
	for most-least > max(8, least/16) {
		middle := (least + most) / 2
		if tokens.Estimate(cut(trial, middle, &mask.Tally{})) <= budget {
			least = middle
		} else {
			most = middle
		}
	}
	return cut(src, least, t)
}

// trimText cuts text to the budget, at the end of a line where one is near.
func trimText(text []byte, budget int, t *mask.Tally) []byte {
	if tokens.Estimate(text) <= budget {
		return text
	}
	text = withoutBlobs(text, t)
	end := 0
	left := budget
	for end < len(text) {
		line := len(text) - end
		if i := bytes.IndexByte(text[end:], '\n'); i >= 0 {
			line = i + 1
		}
		cost := tokens.Estimate(text[end : end+line])
		if cost > left {
			if left > budget/4 { // one long line: a part of it is better than nothing
				end += textFitting(text[end:end+line], left)
			}
			break
		}
		left -= cost
		end += line
	}
	if end == len(text) {
		return text
	}
	t.Cut++
	out := append(make([]byte, 0, end+24), bytes.TrimRight(text[:end], "\n")...)
	out = append(out, "…[+"...)
	out = strconv.AppendInt(out, int64(utf8.RuneCount(text[len(out)-len("…[+"):])), 10)
	return append(out, ']')
}

// textFitting is how many bytes of text fit, up to the end of a character.
func textFitting(text []byte, budget int) int {
	n := sort.Search(len(text), func(n int) bool { return tokens.Estimate(text[:n+1]) > budget })
	for n > 0 && n < len(text) && !utf8.RuneStart(text[n]) {
		n--
	}
	return n
}

// withoutBlobs replaces long runs of base64 by their length.
func withoutBlobs(text []byte, t *mask.Tally) []byte {
	var out []byte
	done := 0
	for i := 0; i < len(text); {
		n, blob := mask.BlobRun(text[i:])
		if blob {
			out = mask.AppendBlob(append(out, text[done:i]...), n)
			done = i + n
			t.Cut++
		}
		i += n + 1
	}
	if done == 0 {
		return text
	}
	return append(out, text[done:]...)
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
