package cli

import (
	"bufio"
	"io"
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// table is rows of cells in columns. Columns are as wide as a terminal shows them: a Chinese
// character takes two places, a combining mark none.
type table struct {
	right int // how many columns, from the first, stand at the right edge: numbers
	rows  [][]string
}

// row adds a row. Only the last cell may have several lines, which stand below each other.
func (t *table) row(cells ...string) {
	for i, cell := range cells {
		if i < len(cells)-1 {
			cells[i] = line(cell)
			continue
		}
		lines := strings.Split(strings.TrimSpace(cell), "\n")
		for j := range lines {
			lines[j] = strings.TrimRight(line(lines[j]), " ")
		}
		cells[i] = strings.Join(lines, "\n")
	}
	t.rows = append(t.rows, cells)
}

// print writes the rows, two spaces between columns and none behind the last.
func (t *table) print(out io.Writer) error {
	const gap = 2
	var widths []int // of all columns but a row's last
	for _, cells := range t.rows {
		for i, cell := range cells[:max(0, len(cells)-1)] {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], places(cell))
		}
	}
	w := bufio.NewWriter(out)
	for _, cells := range t.rows {
		at, written := 0, 0 // places: where the cell begins, and what is written of the row
		for i, cell := range cells {
			begin := at
			if i < len(widths) {
				if i < t.right && i < len(cells)-1 {
					begin += widths[i] - places(cell)
				}
				at += widths[i] + gap
			}
			if cell == "" {
				continue
			}
			w.WriteString(strings.Repeat(" ", begin-written))
			w.WriteString(strings.ReplaceAll(cell, "\n", "\n"+strings.Repeat(" ", begin)))
			written = begin + places(cell)
		}
		w.WriteByte('\n')
	}
	return w.Flush()
}

// places is how wide a terminal shows the text.
func places(text string) (n int) {
	for _, r := range text {
		switch kind := width.LookupRune(r).Kind(); {
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		case kind == width.EastAsianWide || kind == width.EastAsianFullwidth:
			n += 2
		default:
			n++
		}
	}
	return n
}
