package project

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/fault"
	"github.com/toolfit/toolfit/internal/project/mask"
	"github.com/toolfit/toolfit/internal/project/quoted"
	"github.com/toolfit/toolfit/internal/rawjson"
	"github.com/toolfit/toolfit/internal/tokens"
)

// Body is the value that a stored result stands for, which fetches select from:
// structuredContent where the text says no more than that; else the one text block, as
// JSON if it is JSON and as a string if not; else the whole result.
func Body(raw []byte) []byte {
	r, err := readResult(raw, nil)
	if err != nil || r == nil {
		return raw
	}
	r.find()
	var texts []*part
	var structured *part
	for _, p := range r.parts {
		if p.structured {
			structured = p
		} else {
			texts = append(texts, p)
		}
	}
	blocks := 0
	for w := rawjson.Array(rawjson.Get(raw, "content")); w.Next(); {
		blocks++
	}
	switch {
	case blocks != len(texts): // an image, a link
		return raw
	case structured != nil:
		for _, p := range texts {
			if !sameValue(p.full, structured.full) {
				return raw
			}
		}
		return structured.full
	case len(texts) == 1:
		return texts[0].value()
	}
	return raw
}

// value is a text as JSON.
func (p *part) value() []byte {
	if p.json && rawjson.Check(p.full) == nil {
		return p.full
	}
	return quoted.Append(nil, p.full)
}

// sameValue tells whether two JSON texts mean the same.
func sameValue(a, b []byte) bool {
	x, errX := mask.Compact(nil, a)
	y, errY := mask.Compact(nil, b)
	if errX != nil || errY != nil {
		return false
	}
	return bytes.Equal(x, y) || reflect.DeepEqual(decoded(x), decoded(y)) // in another order, or with other escapes
}

func decoded(raw []byte) (v any) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return nil
	}
	return v
}

// SelectFrom is what the mask keeps of a stored result's body; where nothing of it occurs
// there, what it keeps of the first value that a rule would cut: by its names a note speaks.
func SelectFrom(result []byte, m *mask.Mask) ([]byte, error) {
	body := Body(result)
	out, err := Select(body, m)
	if err == nil || m == nil {
		return out, err
	}
	for _, value := range Values(result) {
		if out, err := m.Apply(nil, value, &mask.Tally{}); err == nil {
			return out, nil
		}
	}
	return nil, err
}

// Select is what the mask keeps of a value. Unlike a rule's, a mask that fits nowhere is a
// fault: it names what there is.
func Select(value []byte, m *mask.Mask) ([]byte, error) {
	if m == nil {
		return value, nil
	}
	out, err := m.Apply(nil, value, &mask.Tally{})
	if errors.Is(err, mask.ErrMismatch) {
		return nil, fault.New(fault.BadRequest, "none of the fields %.200s occurs", m).WithHint("there are: %s", strings.Join(names(value), ", "))
	}
	if err != nil {
		return nil, fault.New(fault.BadRequest, "the result is no JSON that fields can be taken from").WithHint("fetch it without fields, by offset and limit")
	}
	return out, nil
}

// names are the members of a value, or of the first row of one.
func names(value []byte) (keys []string) {
	for first := bytes.TrimSpace(value); len(first) > 0 && first[0] == '['; {
		w := rawjson.Array(first)
		if !w.Next() {
			return nil
		}
		first, value = w.Value, w.Value
	}
	for w := rawjson.Object(value); w.Next() && len(keys) < 40; {
		keys = append(keys, string(mask.AppendKey(nil, rawjson.AppendString(nil, string(w.Key)))))
	}
	return keys
}

// Page is a piece of a value.
type Page struct {
	Value []byte // JSON
	Next  int    // the offset of what follows; 0: nothing does
	Rows  bool   // offsets count rows; else characters
	Cut   bool   // one row was over the budget and was cut: only a mask or a slice gets at its rest
}

// PageOf is the piece of a compact value from the offset on: at most limit of it (0: any
// number), and no more than fits the budget (0: any). It counts rows where the value is an
// array of several elements, or an object with one array of several; else the characters
// of a string, or of the JSON text.
func PageOf(value []byte, offset, limit, budget int) (Page, error) {
	if offset < 0 || limit < 0 {
		return Page{}, fault.New(fault.BadRequest, "offset and limit cannot be negative")
	}
	value, err := mask.Compact(nil, value)
	if err != nil {
		return Page{}, fault.New(fault.BadRequest, "the value is no JSON: %w", err)
	}
	if at, ok := rowsOf(value); ok && rawjson.Check(value) == nil {
		return pageOfRows(value, at, span{offset, limit, budget})
	}
	if offset == 0 && limit == 0 && (budget == 0 || tokens.Estimate(value) <= budget) {
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

func pageOfRows(value []byte, at mask.Place, s span) (Page, error) {
	if s.offset > 0 && s.offset >= at.Count {
		return Page{}, fault.New(fault.BadRequest, "offset %d is beyond the last of %d rows", s.offset, at.Count)
	}
	var ends []int // of the rows from the offset on
	from, i := 0, 0
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
	if s.budget > 0 && n == 1 && tokens.Estimate(piece) > room {
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
		return Page{}, fault.New(fault.BadRequest, "offset %s is beyond the last of %d characters", strconv.Itoa(s.offset), n)
	}
	start := bytesOf(text, s.offset)
	piece := text[start:]
	if s.limit > 0 {
		piece = piece[:bytesOf(piece, s.limit)]
	}
	if s.budget > 0 && tokens.Estimate(piece) > s.budget {
		piece = piece[:max(fitting(piece, s.budget), bytesOf(piece, 1))]
	}
	page := Page{Value: quoted.Append(nil, piece)}
	if start+len(piece) < len(text) {
		page.Next = s.offset + utf8.RuneCount(piece)
	}
	return page, nil
}

// bytesOf is how many bytes the first n characters take.
func bytesOf(text []byte, n int) int {
	i := 0
	for ; n > 0 && i < len(text); n-- {
		_, size := utf8.DecodeRune(text[i:])
		i += size
	}
	return i
}
