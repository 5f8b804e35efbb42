package project

import (
	"slices"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/project/mask"
	"github.com/toolfit/toolfit/internal/core/project/quoted"
	"github.com/toolfit/toolfit/internal/core/tokens"
)

// Page is a piece of a value.
type Page struct {
	Value []byte // JSON
	Next  int    // offset of the next page; 0: this is the last
	Rows  bool   // offsets count rows; else characters
	Cut   bool   // a row, or what is beside the rows, was too long and was cut: use a mask or a slice for the rest
}

// PageOf is the piece of a value from the offset on, limited in number and by a budget (0: unlimited).
// It counts rows of an array, or of the only array in an object; else characters.
func PageOf(value []byte, offset, limit, budget int) (Page, error) {
	if offset < 0 || limit < 0 {
		return Page{}, fault.New(fault.BadRequest, "offset and limit cannot be negative")
	}
	value, err := mask.Compact(nil, value)
	if err != nil {
		return Page{}, fault.New(fault.BadRequest, "the value is not JSON: %w", err)
	}
	if at, ok := rowsOf(value); ok && rawjson.Check(value) == nil {
		rows := value
		cut := false
		if budget > 0 {
			rows, at, cut = trimBeside(value, at, budget/2)
		}
		if budget == 0 || around(rows, at) < budget {
			page, err := pageOfRows(rows, at, span{offset, limit, budget})
			page.Cut = page.Cut || cut
			return page, err
		}
	}
	if offset == 0 && limit == 0 && (budget == 0 || tokens.Fits(value, budget)) {
		return Page{Value: value}, nil
	}
	return pageOfText(value, span{offset, limit, budget})
}

type span struct{ offset, limit, budget int }

// rowsOf finds the one array whose elements are the rows of a value.
func rowsOf(value []byte) (at mask.Place, ok bool) {
	place := func(array []byte, start int) mask.Place {
		p := mask.Place{Start: start, End: start + len(array)}
		for w := rawjson.Array(array); w.Next(); {
			p.Count++
		}
		return p
	}
	if value[0] == '[' {
		at = place(value, 0)
		return at, at.Count > 1
	}
	if value[0] != '{' {
		return at, false
	}
	arrays := 0
	for w := rawjson.Object(value); w.Next(); {
		if w.Value[0] == '[' {
			arrays++
			at = place(w.Value, w.Start)
		}
	}
	return at, arrays == 1 && at.Count > 1
}

// trimBeside cuts what is beside the rows, since every page repeats it.
func trimBeside(value []byte, at mask.Place, budget int) ([]byte, mask.Place, bool) {
	if around(value, at) <= budget {
		return value, at, false
	}
	var sizes []int
	for w := rawjson.Object(value); w.Next(); {
		if w.Start != at.Start {
			sizes = append(sizes, counted(w.Value))
		}
	}
	most := share(sizes, budget)
	var edits []rawjson.Edit
	var t mask.Tally
	moved := 0
	for w := rawjson.Object(value); w.Next(); {
		if w.Start == at.Start || tokens.Fits(w.Value, most) {
			continue
		}
		short := trimJSON(w.Value, most, &t)
		edits = append(edits, rawjson.Edit{Start: w.Start, End: w.End, New: short})
		if w.Start < at.Start {
			moved += len(short) - len(w.Value)
		}
	}
	value = rawjson.AppendSplice(nil, value, edits...)
	return value, mask.Place{Start: at.Start + moved, End: at.End + moved, Count: at.Count}, t.Left()
}

func pageOfRows(value []byte, at mask.Place, s span) (Page, error) {
	if s.offset > 0 && s.offset >= at.Count {
		return Page{}, fault.New(fault.BadRequest, "offset %d is beyond the last of %d rows", s.offset, at.Count)
	}
	var ends []int // of the rows from the offset on
	from := 0
	i := 0
	array := value[at.Start:at.End]
	for w := rawjson.Array(array); w.Next(); i++ {
		if i == s.offset {
			from = w.Start
		}
		if i >= s.offset {
			ends = append(ends, w.End-from)
		}
	}
	n := len(ends)
	if s.limit > 0 {
		n = min(n, s.limit)
	}
	room := s.budget - around(value, at)
	if s.budget > 0 {
		n = fits(array[from:], ends[:n], room)
	}
	piece := array[from : from+ends[n-1]]
	page := Page{Rows: true}
	if s.budget > 0 && n == 1 && !tokens.Fits(piece, room) {
		var t mask.Tally
		piece = trimJSON(piece, max(1, room), &t)
		page.Cut = t.Left()
	}
	if s.offset+n < at.Count {
		page.Next = s.offset + n
	}
	page.Value = slices.Concat(value[:at.Start], []byte{'['}, piece, []byte{']'}, value[at.End:])
	return page, nil
}

func pageOfText(value []byte, s span) (Page, error) {
	text := value
	if value[0] == '"' {
		text = quoted.AppendText(nil, value)
	}
	if n := utf8.RuneCount(text); s.offset > 0 && s.offset >= n {
		return Page{}, fault.New(fault.BadRequest, "offset %d is beyond the last of %d characters", s.offset, n)
	}
	start := bytesOf(text, s.offset)
	piece := text[start:]
	if s.limit > 0 {
		piece = piece[:bytesOf(piece, s.limit)]
	}
	page := Page{Value: quoted.Append(nil, piece)}
	for room := s.budget; room > 0 && !tokens.Fits(page.Value, s.budget); room -= 1 + room/16 { // quotes and escapes count
		piece = piece[:max(tokens.Prefix(piece, room), bytesOf(piece, 1))]
		page.Value = quoted.Append(nil, piece)
	}
	if start+len(piece) < len(text) {
		page.Next = s.offset + utf8.RuneCount(piece)
	}
	return page, nil
}

// bytesOf is how many bytes the first n characters take, without splitting half of a surrogate pair.
func bytesOf(text []byte, n int) int {
	i := 0
	for ; n > 0 && i < len(text); n-- {
		_, size := utf8.DecodeRune(text[i:])
		i += size
	}
	for back := 1; back <= 2 && back <= i; back++ {
		if quoted.IsHalf(text[i-back:]) {
			return i - back + 3
		}
	}
	return i
}
