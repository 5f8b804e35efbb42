package project

import (
	"math"
	"slices"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/project/columns"
	"github.com/toolfit/toolfit/internal/core/project/mask"
)

const (
	longChars  = 120 // texts are cut to this before columns that may matter go
	leastChars = 64  // and to this before rows go, so that names stay whole
	maxRounds  = 64  // of cutting one container; each removes a good part of the excess
	tableGain  = 4   // times that objects take what a table takes, at most
)

// trimmer cuts a JSON value to a budget: what says least about its rows goes first, and rows last.
type trimmer struct {
	state
	budget int
	write  func(value []byte) []byte // the value as it is sent; nil: as it is
	noted  bool                      // the note counts, and can say more

	full     state // before columns and texts are cut
	fullSize int   // tokens of that
	table    *columns.Table
	over     int  // tokens of the state, which are too many
	emptied  bool // nothing of the value is left

	spare []byte // what the next try is written to
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
	c.over = c.size(c.state)
	if c.over <= c.budget {
		return c.value
	}
	c.said.named = min(c.budget/100, mostNamed)
	if c.said.named == 0 {
		c.said.named = unnamed
	}
	c.state = c.masked(mask.Short(0, true))
	c.full = c.state
	c.fullSize = c.over
	c.table = columns.Read(c.value)
	if !c.noted { // nothing could say them
		c.table.Columns = c.table.Columns[c.table.Until(columns.Constant):]
	}
	steps := []func() bool{
		func() bool { return c.dropUntil(columns.Empty) },
		func() bool { return c.dropUntil(columns.Opaque) },
		func() bool { return c.settle() && c.shorten(longChars) },
		func() bool { return c.dropUntil(columns.Plain) && c.settle() && c.shorten(longChars) },
		func() bool { return c.over < tableGain*c.budget && c.thinList(true) },
		func() bool { return c.shorten(leastChars) },
		func() bool { return c.thinList(false) },
		func() bool { return c.dropUntil(columns.Rest) },
		c.thin,
		func() bool { return c.cutStrings(leastChars) },
		c.thin,
		c.dropMembers,
		func() bool { return c.cutStrings(1) },
	}
	if !slices.ContainsFunc(steps, func(step func() bool) bool { return step() }) {
		c.empty()
	}
	return c.value
}

// dropUntil drops columns up to the class, no more than are needed. After Empty ones, members without a value
// go as well from rows where others have one.
func (c *trimmer) dropUntil(class columns.Class) bool {
	to := c.cut
	first := to.columns
	last := c.table.Until(class)
	if last == first && (to.filled || class == columns.Empty) {
		return false
	}
	to.columns = last
	to.filled = class > columns.Empty
	if c.skips(to) {
		return false
	}
	weight := func(n int) (sum int) {
		for _, col := range c.table.Columns[last-n : last] {
			sum += col.Bytes
		}
		return sum
	}
	_, ok := c.most(0, max(last-first, 1), c.over, weight, func(n int) state {
		to.columns = last - n
		return c.without(to)
	})
	if ok {
		c.giveBack()
	}
	return ok
}

// giveBack puts columns back for which there is room, those first that are missed most.
func (c *trimmer) giveBack() {
	tries := 3
	for i := c.cut.columns - 1; i >= max(c.full.cut.columns, c.table.Until(columns.Empty)) && tries > 0; i-- {
		if room := c.budget - c.over; room < c.budget/20 || c.table.Columns[i].Bytes/3 > room {
			continue
		}
		tries--
		to := c.cut
		to.but = append(to.but[:len(to.but):len(to.but)], i)
		s := c.without(to)
		if size := c.size(s); size <= c.budget {
			c.state = s
			c.over = size
		}
	}
}

// skips reports whether a cut leaves so much that there is no need to try. The next step goes on from there.
func (c *trimmer) skips(to cut) bool {
	left := len(c.full.value)
	for _, col := range c.table.Columns[c.full.cut.columns:to.columns] {
		left -= col.Bytes
	}
	size := c.fullSize * max(left, 0) / len(c.full.value)
	if to.texts > 0 || size < c.budget+c.budget/3 {
		return false
	}
	c.cut = to
	c.over = size
	return true
}

// settle makes the columns that are gone final, so that all further tries are about less.
func (c *trimmer) settle() bool {
	to := c.cut
	to.texts = 0
	c.full = c.without(to)
	return true
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

// shorten cuts the longest texts, and no more of them than is needed.
func (c *trimmer) shorten(least int) bool {
	to := c.cut
	return c.mostChars(least, func(limit int) state {
		to.texts = limit
		return c.without(to)
	})
}

// cutStrings is shorten for any strings.
func (c *trimmer) cutStrings(least int) bool {
	return c.mostChars(least, func(limit int) state { return c.masked(mask.Short(limit, false)) })
}

// mostChars takes the longest strings that fit.
func (c *trimmer) mostChars(least int, with func(limit int) state) bool {
	steps := int(math.Sqrt(float64(32 * c.budget))) // the longer, the larger: up to 8 characters a token
	_, ok := c.most(0, steps, max(c.over, 2*c.budget), nil, func(n int) state { return with(least + n*n/4) })
	return ok
}

// thin shortens all lists to the same length, as little as is needed. Of a tree it leaves out as many of
// the deepest levels as lets most of it stay.
func (c *trimmer) thin() bool {
	c.spare = nil // what one level is written to must not be another's
	from := *c
	_, levels := c.table.Lists(0)
	for level := max(levels, 1); level > 0; level-- {
		at := from
		if level < levels {
			deeper, _ := c.table.Lists(level)
			at.state = from.masked(mask.Without(deeper, false, 0))
		}
		bulk, _ := mask.Survey(at.value)
		_, ok := at.most(1, max(bulk.Longest, 1)+1, from.over, nil, func(n int) state { return at.masked(mask.First(n)) })
		if level == max(levels, 1) || ok && (c.over > c.budget || len(at.value) > len(c.value)) {
			*c = at
		}
	}
	return c.over <= c.budget
}
