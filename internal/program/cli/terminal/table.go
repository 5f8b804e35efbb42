// Package terminal writes text for terminals: tables that fit, untrusted text on one line,
// counts and short lists. It never reads from a terminal.
//
//	t := terminal.Table{Head: []string{"NAME", "STATE"}, None: "no servers"}
//	t.Row("files", "up")
//	err := t.Print(os.Stdout)
package terminal

import (
	"bufio"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"unicode"

	"golang.org/x/text/width"

	"github.com/toolfit/toolfit/internal/base/visible"
)

// ClearLine clears the line of the cursor.
const ClearLine = "\r\033[K"

// Is tells whether a stream is a terminal.
func Is(stream any) bool {
	f, ok := stream.(interface{ Stat() (fs.FileInfo, error) })
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&fs.ModeCharDevice != 0
}

// Line is untrusted text as part of one line.
func Line(text string) string { return visible.Text(oneLine.Replace(text)) }

var oneLine = strings.NewReplacer("\r\n", " ", "\n", " ", "\t", " ")

// Count is a number with a noun.
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Some lists the first few.
func Some(list []string) string {
	const few = 5
	if len(list) > few {
		return fmt.Sprintf("%s and %d more", strings.Join(list[:few], ", "), len(list)-few)
	}
	return strings.Join(list, ", ")
}

// Table is rows of cells. Columns are as wide as a terminal shows them: a Chinese character
// takes two places, a combining mark none. On a terminal, rows end at its right edge.
type Table struct {
	Head  []string // first row, unless there are no others
	None  string   // printed instead of an empty table
	Right int      // how many columns, from the first, are aligned right: numbers, which are never truncated
	Wraps bool     // a long last cell continues below instead of being truncated
	Rows  [][]string
}

const (
	gap       = 2  // places between columns
	leastCell = 8  // least width of a column
	leastLast = 24 // least width of the last column before others become narrower
)

// Row adds a row. Only the last cell may have several lines.
func (t *Table) Row(cells ...string) {
	for i, cell := range cells {
		if i < len(cells)-1 {
			cells[i] = Line(cell)
			continue
		}
		lines := strings.Split(strings.TrimSpace(cell), "\n")
		for j := range lines {
			lines[j] = strings.TrimRight(Line(lines[j]), " ")
		}
		cells[i] = strings.Join(lines, "\n")
	}
	t.Rows = append(t.Rows, cells)
}

// Print writes the rows, with two spaces between columns and none at the end.
func (t *Table) Print(out io.Writer) error {
	if len(t.Rows) == 0 && t.None != "" {
		_, err := fmt.Fprintln(out, t.None)
		return err
	}
	if t.Head != nil {
		t.Rows = append([][]string{t.Head}, t.Rows...)
		t.Head = nil
	}
	room := 0 // columns of the terminal; 0: no limit
	if terminal, ok := out.(interface{ Width() int }); ok {
		room = terminal.Width()
	}
	widths := t.widths(room)
	w := bufio.NewWriter(out)
	for _, cells := range t.Rows {
		at := 0      // where the cell begins
		written := 0 // columns written
		for i, cell := range cells {
			begin := at
			if i == len(cells)-1 {
				cell = t.last(cell, room-begin, room > 0)
			} else {
				cell = truncate(cell, widths[i])
			}
			if i < len(widths) {
				if i < t.Right && i < len(cells)-1 {
					begin += widths[i] - Columns(cell)
				}
				at += widths[i] + gap
			}
			if cell == "" {
				continue
			}
			w.WriteString(strings.Repeat(" ", begin-written))
			w.WriteString(strings.ReplaceAll(cell, "\n", "\n"+strings.Repeat(" ", begin)))
			written = begin + Columns(cell)
		}
		w.WriteByte('\n')
	}
	return w.Flush()
}

// widths are the widths of all columns but the last, so that some of the last fits as well: the
// widest columns shrink first.
func (t *Table) widths(room int) (widths []int) {
	last := 0
	for _, cells := range t.Rows {
		for i, cell := range cells {
			if i == len(cells)-1 {
				last = max(last, Columns(cell))
				break
			}
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], Columns(cell))
		}
	}
	over := min(last, leastLast) - room
	for _, n := range widths {
		over += n + gap
	}
	for ; room > 0 && over > 0; over-- {
		widest := -1
		for i := t.Right; i < len(widths); i++ {
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

// last fits the last cell of a row into the room, if that is limited.
func (t *Table) last(cell string, room int, bounded bool) string {
	if !bounded {
		return cell
	}
	var lines []string
	for text := range strings.SplitSeq(cell, "\n") {
		room = max(room, leastCell)
		if t.Wraps {
			lines = append(lines, wrapped(text, room)...)
		} else {
			lines = append(lines, truncate(text, room))
		}
	}
	return strings.Join(lines, "\n")
}

// truncate shortens text to the room, with an ellipsis.
func truncate(text string, room int) string {
	if Columns(text) <= room {
		return text
	}
	return text[:fitting(text, room-1)] + "…"
}

// wrapped breaks text into lines that fit the room, between words if possible.
func wrapped(text string, room int) (lines []string) {
	for Columns(text) > room {
		end := fitting(text, room)
		if blank := strings.LastIndexByte(text[:end+1], ' '); blank > 0 {
			end = blank
		}
		lines = append(lines, strings.TrimRight(text[:end], " "))
		text = strings.TrimLeft(text[end:], " ")
	}
	return append(lines, text)
}

// fitting is how many bytes of text fit into the room: at least one character.
func fitting(text string, room int) int {
	n := 0
	for i, r := range text {
		n += Columns(string(r))
		if n > room && i > 0 {
			return i
		}
	}
	return len(text)
}

// Columns is how wide a terminal shows the text.
func Columns(text string) (n int) {
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
