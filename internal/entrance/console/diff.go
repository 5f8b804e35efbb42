package console

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

type diffLine struct {
	Mark string // "+" new, "-" gone, " " in both, "…" for many of those
	Text string
}

const (
	// maxDiff is how many lines a side may have; longer texts are shown whole.
	maxDiff = 2000
	// around is how many unchanged lines are shown around a change.
	around = 3
)

// diffJSON compares two JSON values line by line, or the lines of two JSON strings.
func diffJSON(old, now json.RawMessage) []diffLine {
	a := indentLines(old)
	b := indentLines(now)
	if len(a) > maxDiff || len(b) > maxDiff {
		return append(marked("-", a), marked("+", b)...)
	}
	return shorten(diff(a, b))
}

func indentLines(raw json.RawMessage) []string {
	if len(raw) == 0 {
		return nil
	}
	if text, ok := rawjson.String(raw); ok {
		return strings.Split(text, "\n")
	}
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return strings.Split(string(raw), "\n")
	}
	return strings.Split(b.String(), "\n")
}

func marked(mark string, lines []string) (out []diffLine) {
	for _, l := range lines {
		out = append(out, diffLine{mark, l})
	}
	return out
}

// diff marks the lines that are not in both texts. It skips equal beginnings and ends first:
// usually that is nearly everything.
func diff(a, b []string) (out []diffLine) {
	start := 0
	for start < len(a) && start < len(b) && same(a[start], b[start]) {
		start++
	}
	end := 0
	for end < len(a)-start && end < len(b)-start && same(a[len(a)-1-end], b[len(b)-1-end]) {
		end++
	}
	out = marked(" ", b[:start])
	out = append(out, middle(a[start:len(a)-end], b[start:len(b)-end])...)
	return append(out, marked(" ", b[len(b)-end:])...)
}

// same compares lines without a comma at the end.
func same(a, b string) bool { return strings.TrimSuffix(a, ",") == strings.TrimSuffix(b, ",") }

// middle finds the longest common subsequence of lines.
func middle(a, b []string) (out []diffLine) {
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
			out = append(out, diffLine{" ", b[j]})
			i++
			j++
		case common[(i+1)*width+j] >= common[i*width+j+1]:
			out = append(out, diffLine{"-", a[i]})
			i++
		default:
			out = append(out, diffLine{"+", b[j]})
			j++
		}
	}
	return append(append(out, marked("-", a[i:])...), marked("+", b[j:])...)
}

// shorten drops unchanged lines, except a few around changes.
func shorten(lines []diffLine) (out []diffLine) {
	near := make([]bool, len(lines))
	for i, l := range lines {
		if l.Mark != " " {
			for j := max(0, i-around); j <= min(len(lines)-1, i+around); j++ {
				near[j] = true
			}
		}
	}
	for i, l := range lines {
		switch {
		case near[i]:
			out = append(out, l)
		case len(out) == 0 || out[len(out)-1].Mark != "…":
			out = append(out, diffLine{Mark: "…"})
		}
	}
	return out
}
