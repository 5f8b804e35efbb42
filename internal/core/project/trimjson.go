package project

import (
	"slices"
	"sort"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/project/columns"
	"github.com/toolfit/toolfit/internal/core/project/mask"
	"github.com/toolfit/toolfit/internal/core/tokens"
)

const (
	longChars  = 120 // texts are cut to this before columns that may matter go
	leastChars = 64  // and to this before rows go, so that names stay whole
	maxRounds  = 64  // of cutting one container; each removes a good part of the excess
)

// trimmer cuts a JSON value to a budget: what says least about its rows goes first, and rows last.
type trimmer struct {
	value  []byte // compact
	budget int
	tally  *mask.Tally
	write  func(value []byte) []byte // the value as it is sent; nil: as it is
	noted  bool                      // the note counts, and can say more
	said   said

	table   *columns.Table
	gone    int   // columns of the table
	emptied bool  // nothing of the value is left
	long    state // before strings were cut

	spare, joined []byte // what tries are written to
}

// trimJSON cuts compact JSON to the budget without saying more than t counts.
func trimJSON(src []byte, budget int, t *mask.Tally) []byte {
	c := trimmer{value: src, budget: budget, tally: t}
	return c.trim()
}

// trim returns what fits of the value.
func (c *trimmer) trim() []byte {
	if c.fits(c.value, c.tally, c.said, c.budget) {
		return c.value
	}
	c.said.named = min(c.budget/100, mostNamed)
	if c.said.named == 0 {
		c.said.named = unnamed
	}
	c.commit(mask.Short(0, true))
	c.table = columns.Read(c.value)
	if !c.noted { // nothing could say them
		c.table.Columns = c.table.Columns[c.table.Until(columns.Constant):]
	}
	steps := []func() bool{
		func() bool { return c.dropUntil(columns.Empty) },
		c.dropEmpty,
		func() bool { return c.dropUntil(columns.Opaque) },
		func() bool { return c.shorten(mask.Texts, longChars) },
		c.dropPlain,
		func() bool { return c.shorten(mask.Texts, leastChars) },
		c.thinList,
		c.thin,
		func() bool { return c.shorten(cutStrings, leastChars) },
		c.thin,
		c.dropMembers,
		func() bool { return c.shorten(cutStrings, 1) },
	}
	if !slices.ContainsFunc(steps, func(step func() bool) bool { return step() }) {
		c.empty()
	}
	return c.value
}

func cutStrings(limit int) *mask.Mask { return mask.Short(limit, false) }

// fits reports whether the value fits, with the note about what is missing.
func (c *trimmer) fits(value []byte, t *mask.Tally, s said, budget int) bool {
	text := value
	if c.write != nil {
		text = c.write(value)
	}
	if !tokens.Fits(text, budget) {
		return false
	}
	if !c.noted || !t.Left() {
		return true
	}
	a := absent{fields: t.Fields(), others: t.Others, rows: t.Rows, cut: t.Cut, tokens: mostTokens, said: s}
	note := appendNote(nil, &a, likeRef)
	if c.write == nil && value[0] == '{' {
		c.joined = appendAll(c.joined[:0], noted(value, note))
		return tokens.Fits(c.joined, budget-refRoom)
	}
	return tokens.Fits(text, budget-refRoom-counted(noteBlock(note)))
}

// counted is the number of tokens of a text. What no budget would hold is estimated.
func counted(text []byte) int {
	if n := tokens.Estimate(text); n > mostCounted {
		return n
	}
	n, err := tokens.Count(string(text))
	if err != nil {
		return len(text)
	}
	return n
}

const mostCounted = 100_000

// try applies a mask to the value. What it returns is valid until the next try.
func (c *trimmer) try(m *mask.Mask) ([]byte, *mask.Tally) {
	t := c.tally.Clone()
	if cap(c.spare) < len(c.value) {
		c.spare = make([]byte, 0, len(c.value)+len(c.value)/8)
	}
	out, err := m.Apply(c.spare[:0], c.value, t)
	if err != nil { // it was checked before
		return c.value, c.tally
	}
	c.spare = out
	return out, t
}

// commit keeps what try returned last.
func (c *trimmer) commit(m *mask.Mask) {
	out, t := c.try(m)
	c.value = out
	*c.tally = *t
	c.spare = nil
}

// dropUntil drops columns up to the class, no more than are needed.
func (c *trimmer) dropUntil(class columns.Class) bool {
	fits := func(n int) bool {
		out, t := c.try(mask.Without(c.table.Without(n)))
		return c.fits(out, t, c.saying(n), c.budget)
	}
	last := c.table.Until(class)
	if last == c.gone {
		return false
	}
	enough := fits(last)
	if enough {
		last = c.gone + 1 + sort.Search(last-c.gone-1, func(i int) bool { return fits(c.gone + 1 + i) })
	}
	c.commit(mask.Without(c.table.Without(last)))
	c.said = c.saying(last)
	c.gone = last
	return enough
}

// dropPlain drops all other columns that may go, no more than are needed with texts as short as they are
// now; then texts take what is left.
func (c *trimmer) dropPlain() bool {
	if !c.dropUntil(columns.Plain) {
		return false
	}
	c.value = c.long.value
	*c.tally = *c.long.tally
	c.commit(mask.Without(c.table.Without(c.gone)))
	return c.shorten(mask.Texts, longChars)
}

// dropEmpty drops members without a value from rows where others have one.
func (c *trimmer) dropEmpty() bool {
	c.commit(mask.Filled())
	return c.fits(c.value, c.tally, c.said, c.budget)
}

// saying is what the note says when the first columns are gone: those that are the same everywhere, as
// far as a twentieth of the budget carries.
func (c *trimmer) saying(n int) said {
	s := c.said
	s.same = nil
	s.paths = nil
	for _, col := range c.table.Columns[:min(n, c.table.Until(columns.Constant))] {
		path := pathOf(col.Path)
		member := append(rawjson.AppendString(nil, path), ':')
		cut := false
		if col.First[0] == '"' {
			member, cut = mask.AppendShort(member, col.First, leastChars)
		}
		if !cut {
			member = append(member, col.First...)
		}
		if len(s.same)+len(member) > c.budget/5 { // in bytes, of which a token takes three or four
			break
		}
		if len(s.same) > 0 {
			s.same = append(s.same, ',')
		}
		s.same = append(s.same, member...)
		s.paths = append(s.paths, path)
	}
	return s
}

// pathOf is a path as a mask writes it.
func pathOf(path []string) string {
	var out []byte
	for i, name := range path {
		if i > 0 {
			out = append(out, '/')
		}
		if name == "*" {
			out = append(out, '*')
		} else {
			out = append(out, keyOf(name)...)
		}
	}
	return string(out)
}

// shorten cuts the longest strings, and no more of them than is needed.
func (c *trimmer) shorten(cut func(limit int) *mask.Mask, least int) bool {
	fits := func(limit int) bool {
		out, t := c.try(cut(limit))
		return c.fits(out, t, c.said, c.budget)
	}
	if !fits(least) {
		c.long = state{c.value, c.tally.Clone(), c.said}
		c.commit(cut(least))
		return false
	}
	most := max(least, 8*c.budget)
	for most-least > max(4, least/32) {
		middle := (least + most) / 2
		if fits(middle) {
			least = middle
		} else {
			most = middle
		}
	}
	c.commit(cut(least))
	return true
}

// thin shortens all lists to the same length. Of a tree it leaves out as many of the deepest levels as
// lets most of it stay.
func (c *trimmer) thin() bool {
	var best state
	_, levels := c.table.Lists(0)
	for level := max(levels, 1); level > 0; level-- {
		at := trimmer{value: c.value, tally: c.tally, budget: c.budget, write: c.write, noted: c.noted, said: c.said}
		if level < levels {
			deeper, _ := c.table.Lists(level)
			at.value, at.tally = c.try(mask.Without(deeper))
		}
		if at.thinAll() && len(at.value) > len(best.value) {
			best = state{at.value, at.tally, c.said}
		}
	}
	if best.value == nil {
		c.commit(mask.First(1))
		return false
	}
	c.value = best.value
	*c.tally = *best.tally
	return true
}

// thinAll shortens all lists to the same length, as little as is needed.
func (c *trimmer) thinAll() bool {
	fits := func(rows int) bool {
		out, t := c.try(mask.First(rows))
		return c.fits(out, t, c.said, c.budget)
	}
	if !fits(1) {
		return false
	}
	rows := sort.Search(4*c.budget, func(n int) bool { return !fits(n + 1) })
	c.value, c.tally = c.try(mask.First(rows))
	return true
}
