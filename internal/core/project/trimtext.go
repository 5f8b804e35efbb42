package project

import (
	"bytes"
	"slices"
	"sort"
	"strconv"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/core/project/mask"
	"github.com/toolfit/toolfit/internal/core/tokens"
)

// trimText cuts text to the budget: the lines of a page that say least, then the middle, at the ends of
// lines where these are near.
func trimText(text []byte, budget int, t *mask.Tally) []byte {
	if tokens.Fits(text, budget) {
		return text
	}
	text = withoutBlobs(text, t)
	text = trimOutline(text, budget, t)
	if tokens.Fits(text, budget) {
		return text
	}
	text = trimLines(text, budget, t)
	if tokens.Fits(text, budget) {
		return text
	}
	t.Cut++
	for room := budget - markRoom; room > 0; room -= max(1, room/16) {
		if out := headAndTail(text, room); tokens.Fits(out, budget) {
			return out
		}
	}
	return nil
}

// Of lines: those of a text that has several are cut to longLine before others go.
const (
	longLine  = 240 // characters
	mostLine  = 4000
	manyLines = 8
)

// trimLines cuts long lines to their beginning, no more than is needed.
func trimLines(text []byte, budget int, t *mask.Tally) []byte {
	if bytes.Count(text, []byte("\n")) < manyLines {
		return text
	}
	n := sort.Search(mostLine-longLine, func(i int) bool {
		short, _ := cutLines(text, mostLine-i)
		return tokens.Fits(short, budget)
	})
	short, cut := cutLines(text, mostLine-n)
	t.Cut += cut
	return short
}

// cutLines cuts the lines that have more characters, and counts them.
func cutLines(text []byte, most int) (short []byte, cut int) {
	for line := range bytes.Lines(text) {
		if end := bytesOf(line, most); end < len(line) {
			line = slices.Concat(line[:end], []byte("…\n"))
			cut++
		}
		short = append(short, line...)
	}
	return short, cut
}

// markRoom is what the mark for the missing middle takes.
const markRoom = 6

// headAndTail is the start of a text and, where it has lines, its end: what a log ends with matters.
func headAndTail(text []byte, budget int) []byte {
	tail := lastLines(text, budget/4)
	head := tokens.Prefix(text[:len(text)-len(tail)], budget-counted(tail))
	if end := bytes.LastIndexByte(text[:head], '\n'); end > head/2 {
		head = end
	}
	middle := text[head : len(text)-len(tail)]
	out := append(make([]byte, 0, head+len(tail)+24), bytes.TrimRight(text[:head], "\n")...)
	out = append(out, "…[+"...)
	out = append(strconv.AppendInt(out, int64(utf8.RuneCount(middle)), 10), ']')
	if len(tail) > 0 {
		out = append(append(out, '\n'), tail...)
	}
	return out
}

// lastLines are the last whole lines that fit.
func lastLines(text []byte, budget int) []byte {
	start := len(text)
	for start > 0 {
		line := 1 + bytes.LastIndexByte(text[:start-1], '\n')
		if line == 0 { // the first line belongs to the head
			break
		}
		budget -= counted(text[line:start])
		if budget < 0 {
			break
		}
		start = line
	}
	return text[start:]
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
