// Package linediff compares texts line by line.
//
//	for _, l := range linediff.Compare(old, now, linediff.Equal) {
//		fmt.Println(l.Mark, l.Text)
//	}
package linediff

import (
	"fmt"
	"slices"
	"strings"
)

// Line is a line of one text or both.
type Line struct {
	Mark string // "+" new, "-" gone, " " in both, "…" for many of those
	Text string
}

const (
	// maxLines is how many lines a side may have between equal beginnings and ends; longer texts
	// are shown whole.
	maxLines = 2000
	// around is how many unchanged lines are shown around a change.
	around = 3
)

// Equal is how most texts are compared.
func Equal(a, b string) bool { return a == b }

// Compare marks the lines that are not in both texts. It skips equal beginnings and ends first:
// usually that is nearly everything.
func Compare(a, b []string, same func(a, b string) bool) (out []Line) {
	start := 0
	for start < len(a) && start < len(b) && same(a[start], b[start]) {
		start++
	}
	end := 0
	for end < len(a)-start && end < len(b)-start && same(a[len(a)-1-end], b[len(b)-1-end]) {
		end++
	}
	out = Marked(" ", b[:start])
	out = append(out, middle(a[start:len(a)-end], b[start:len(b)-end], same)...)
	return append(out, Marked(" ", b[len(b)-end:])...)
}

// Marked returns the lines with a mark.
func Marked(mark string, lines []string) (out []Line) {
	for _, l := range lines {
		out = append(out, Line{mark, l})
	}
	return out
}

// middle finds the longest common subsequence of lines.
func middle(a, b []string, same func(a, b string) bool) (out []Line) {
	if len(a) > maxLines || len(b) > maxLines {
		return append(Marked("-", a), Marked("+", b)...)
	}
	width := len(b) + 1
	common := make([]uint16, (len(a)+1)*width)
	for i, x := range slices.Backward(a) {
		for j, y := range slices.Backward(b) {
			if same(x, y) {
				common[i*width+j] = common[(i+1)*width+j+1] + 1
			} else {
				common[i*width+j] = max(common[(i+1)*width+j], common[i*width+j+1])
			}
		}
	}
	i := 0
	j := 0
	for i < len(a) && j < len(b) {
		switch {
		case same(a[i], b[j]):
			out = append(out, Line{" ", b[j]})
			i++
			j++
		case common[(i+1)*width+j] >= common[i*width+j+1]:
			out = append(out, Line{"-", a[i]})
			i++
		default:
			out = append(out, Line{"+", b[j]})
			j++
		}
	}
	return append(append(out, Marked("-", a[i:])...), Marked("+", b[j:])...)
}

// Shorten drops unchanged lines, except a few around changes.
func Shorten(lines []Line) (out []Line) {
	keep := near(lines)
	for i, l := range lines {
		switch {
		case keep[i]:
			out = append(out, l)
		case len(out) == 0 || out[len(out)-1].Mark != "…":
			out = append(out, Line{Mark: "…"})
		}
	}
	return out
}

// near tells which lines are changes or close to one.
func near(lines []Line) []bool {
	near := make([]bool, len(lines))
	for i, l := range lines {
		if l.Mark != " " {
			for j := max(0, i-around); j <= min(len(lines)-1, i+around); j++ {
				near[j] = true
			}
		}
	}
	return near
}

// Unified returns the difference of two texts in the unified format; "" if there is none. The
// line endings are not compared.
func Unified(from, to, old, now string) string {
	lines := Compare(split(old), split(now), Equal)
	keep := near(lines)
	var out strings.Builder
	a, b := 1, 1 // line numbers
	for i := 0; i < len(lines); {
		if !keep[i] {
			a, b, i = a+1, b+1, i+1
			continue
		}
		if out.Len() == 0 {
			fmt.Fprintf(&out, "--- %s\n+++ %s\n", from, to)
		}
		var hunk strings.Builder
		olds, news := 0, 0
		for ; i < len(lines) && keep[i]; i++ {
			hunk.WriteString(lines[i].Mark + lines[i].Text + "\n")
			if lines[i].Mark != "+" {
				olds++
			}
			if lines[i].Mark != "-" {
				news++
			}
		}
		fmt.Fprintf(&out, "@@ -%s +%s @@\n%s", span(a, olds), span(b, news), &hunk)
		a += olds
		b += news
	}
	return out.String()
}

// span is the range of a hunk; an empty one names the line before it.
func span(first, n int) string {
	if n == 0 {
		first--
	}
	return fmt.Sprintf("%d,%d", first, n)
}

func split(text string) []string {
	text = strings.TrimSuffix(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}
