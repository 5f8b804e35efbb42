package project

import (
	"math"
	"slices"

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
	state
	budget int
	write  func(value []byte) []byte // the value as it is sent; nil: as it is
	noted  bool                      // the note counts, and can say more

	table   *columns.Table
	over    int   // tokens of the state, which are too many
	emptied bool  // nothing of the value is left
	long    state // before strings were cut

	spare []byte // what the next try is written to
}

// state is how far a value is cut.
type state struct {
	value []byte // compact
	tally *mask.Tally
	said  said
	gone  int // columns
}

// trimJSON cuts compact JSON to the budget without saying more than t counts.
func trimJSON(src []byte, budget int, t *mask.Tally) []byte {
	c := trimmer{state: state{value: src, tally: t.Clone()}, budget: budget}
	out := c.trim()
	*t = *c.tally
	return out
}

// trim returns what fits of the value.
func (c *trimmer) trim() []byte {
	if c.take(c.state) {
		return c.value
	}
	c.said.named = min(c.budget/100, mostNamed)
	if c.said.named == 0 {
		c.said.named = unnamed
	}
	c.state = c.masked(mask.Short(0, true))
	c.table = columns.Read(c.value)
	if !c.noted { // nothing could say them
		c.table.Columns = c.table.Columns[c.table.Until(columns.Constant):]
	}
	steps := []func() bool{
		func() bool { return c.dropUntil(columns.Empty) },
		func() bool { return c.take(c.masked(mask.Filled())) },
		func() bool { return c.dropUntil(columns.Opaque) },
		func() bool { return c.shorten(mask.Texts, longChars) },
		c.dropPlain,
		func() bool { return c.thinList(true) },
		func() bool { return c.shorten(mask.Texts, leastChars) },
		func() bool { return c.thinList(false) },
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

// size is how many tokens the state takes with the note about what is missing; beyond the budget, about.
func (c *trimmer) size(s state) int {
	text := s.value
	if c.write != nil {
		text = c.write(text)
	}
	room := c.budget
	if c.noted && s.tally.Left() {
		a := absent{fields: s.tally.Fields(), others: s.tally.Others, rows: s.tally.Rows, cut: s.tally.Cut, tokens: mostTokens, said: s.said}
		room -= refRoom + counted(noteBlock(appendNote(nil, &a, likeRef)))
	}
	return c.budget - room + tokens.Near(text, max(room, 0))
}

// counted is the number of tokens of a text. What no budget would hold is estimated.
func counted(text []byte) int { return tokens.Near(text, mostCounted) }

const mostCounted = 100_000

// masked is the state with a mask applied.
func (c *trimmer) masked(m *mask.Mask) state {
	s := c.state
	s.tally = c.tally.Clone()
	if cap(c.spare) < len(c.value) {
		c.spare = make([]byte, 0, len(c.value))
	}
	out, err := m.Apply(c.spare, c.value, s.tally)
	if err != nil { // it was checked before
		out = slices.Clone(c.value)
	}
	s.value = out
	c.spare = nil
	return s
}

// take goes on with a state, and reports whether it fits.
func (c *trimmer) take(s state) bool {
	c.state = s
	c.over = c.size(s)
	return c.over <= c.budget
}

// most takes the state with the largest n that fits, from low up to but not including high. When not even
// low fits it takes that. over is about how many tokens high would take. It aims at where the budget would
// end if all steps were of one size, which takes far fewer tries than halving.
func (c *trimmer) most(low, high, over int, with func(n int) state) (n int, ok bool) {
	best := with(low)
	size := c.size(best)
	for try := 1; size <= c.budget && high-low > 1 && c.budget-size > c.budget/nearly; try++ {
		n = low + (high-low)*(c.budget-size)/max(over-size, 1)
		if try%3 == 0 {
			n = (low + high) / 2
		}
		n = min(max(n, low+1), high-1)
		s := with(n)
		used := c.size(s)
		if used > c.budget {
			high = n
			over = used
			c.spare = s.value[:0]
			continue
		}
		low = n
		size = used
		c.spare = best.value[:0]
		best = s
	}
	c.state = best
	c.over = size
	return low, size <= c.budget
}

// nearly is the part of a budget that is not worth another try.
const nearly = 100

// dropUntil drops columns up to the class, no more than are needed.
func (c *trimmer) dropUntil(class columns.Class) bool {
	last := c.table.Until(class)
	if last == c.gone {
		return false
	}
	_, ok := c.most(0, last-c.gone, c.over, func(n int) state { return c.without(last - n) })
	return ok
}

// without is the state without the first columns.
func (c *trimmer) without(columns int) state {
	s := c.masked(mask.Without(c.table.Without(columns)))
	s.said = c.saying(columns)
	s.gone = columns
	return s
}

// dropPlain drops all other columns that may go, no more than are needed with texts as short as they are
// now; then texts take what is left.
func (c *trimmer) dropPlain() bool {
	if !c.dropUntil(columns.Plain) {
		return false
	}
	gone := c.gone
	c.state = c.long
	c.state = c.without(gone)
	return c.shorten(mask.Texts, longChars)
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
	c.long = c.state
	steps := int(math.Sqrt(float64(32 * c.budget))) // the longer, the larger: up to 8 characters a token
	_, ok := c.most(0, steps, c.over, func(n int) state { return c.masked(cut(least + n*n/4)) })
	return ok
}

// thin shortens all lists to the same length. Of a tree it leaves out as many of the deepest levels as
// lets most of it stay.
func (c *trimmer) thin() bool {
	var best state
	_, levels := c.table.Lists(0)
	for level := max(levels, 1); level > 0; level-- {
		at := *c
		if level < levels {
			deeper, _ := c.table.Lists(level)
			at.state = c.masked(mask.Without(deeper))
		}
		if at.thinAll() && len(at.value) > len(best.value) {
			best = at.state
		}
	}
	if best.value == nil {
		c.take(c.masked(mask.First(1)))
		return false
	}
	c.state = best
	return true
}

// thinAll shortens all lists to the same length, as little as is needed.
func (c *trimmer) thinAll() bool {
	bulk, err := mask.Survey(c.value)
	if err != nil {
		return false
	}
	_, ok := c.most(1, max(bulk.Longest, 1)+1, c.over, func(n int) state { return c.masked(mask.First(n)) })
	return ok
}
