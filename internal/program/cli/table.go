package cli

import (
	"bufio"
	"io"
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// table is rows of cells in columns. Columns are as wide as a terminal shows them: a Chinese
// character takes two places, a combining mark none. On a terminal rows end where its lines do.
type table struct {
	right int  // how many columns, from the first, stand at the right edge: numbers, which are never cut
	wraps bool // what a last cell has too much goes on below it; else it is cut
	rows  [][]string
}

const (
	gap       = 2  // places between columns
	leastCell = 8  // columns are not cut narrower
	leastLast = 24 // and not before the last one has no more than that
)

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
	room := 0 // places of a line; 0: any number
	if terminal, ok := out.(interface{ width() int }); ok {
		room = terminal.width()
	}
	widths := t.widths(room)
	w := bufio.NewWriter(out)
	for _, cells := range t.rows {
		at, written := 0, 0 // places: where the cell begins, and what is written of the row
		for i, cell := range cells {
			begin := at
			if i == len(cells)-1 {
				cell = t.last(cell, room-begin, room > 0)
			} else {
				cell = cutTo(cell, widths[i])
			}
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

// widths are those of all columns but a row's last, so that something of the last fits too: the
// widest columns are cut first.
func (t *table) widths(room int) (widths []int) {
	last := 0
	for _, cells := range t.rows {
		for i, cell := range cells {
			if i == len(cells)-1 {
				last = max(last, places(cell))
				break
			}
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], places(cell))
		}
	}
	over := min(last, leastLast) - room
	for _, n := range widths {
		over += n + gap
	}
	for ; room > 0 && over > 0; over-- {
		widest := -1
		for i := t.right; i < len(widths); i++ {
			if widths[i] > leastCell && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		widths[widest]--
	}
	return widths
}

// last is a last cell within so many places, where they are bounded.
func (t *table) last(cell string, room int, bounded bool) string {
	if !bounded {
		return cell
	}
	var lines []string
	for text := range strings.SplitSeq(cell, "\n") {
		if room = max(room, leastCell); t.wraps {
			lines = append(lines, wrapped(text, room)...)
		} else {
			lines = append(lines, cutTo(text, room))
		}
	}
	return strings.Join(lines, "\n")
}

// cutTo is text of at most so many places, with a sign where something is missing.
func cutTo(text string, room int) string {
	if places(text) <= room {
		return text
	}
	return text[:fitting(text, room-1)] + "…"
}

// wrapped is text in lines of at most so many places, broken between words where there are some.
func wrapped(text string, room int) (lines []string) {
	for places(text) > room {
		end := fitting(text, room)
		if blank := strings.LastIndexByte(text[:end+1], ' '); blank > 0 {
			end = blank
		}
		lines = append(lines, strings.TrimRight(text[:end], " "))
		text = strings.TrimLeft(text[end:], " ")
	}
	return append(lines, text)
}

// fitting is how many bytes of text fit into so many places: one character at least.
func fitting(text string, room int) int {
	n := 0
	for i, r := range text {
		if n += places(string(r)); n > room && i > 0 {
			return i
		}
	}
	return len(text)
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
