package project

import (
	"slices"
	"sort"

	"github.com/toolfit/toolfit/internal/core/project/mask"
	"github.com/toolfit/toolfit/internal/core/tokens"
)

// state is how far a value is cut.
type state struct {
	value []byte // compact
	tally *mask.Tally
	said  said
	cut   cut
}

// cut is what may go from rows before rows go.
type cut struct {
	columns int   // how many of the table
	but     []int // of these, that stay
	filled  bool  // members without a value go
	texts   int   // characters of each that stay; 0: all
}

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
func (c *trimmer) masked(m *mask.Mask) state { return c.apply(c.state, m) }

func (c *trimmer) apply(s state, m *mask.Mask) state {
	if cap(c.spare) < len(s.value) {
		c.spare = make([]byte, 0, len(s.value))
	}
	s.tally = s.tally.Clone()
	out, err := m.Apply(c.spare, s.value, s.tally)
	if err != nil { // it was checked before
		out = slices.Clone(s.value)
	}
	s.value = out
	c.spare = nil
	return s
}

// without is the full state after a cut.
func (c *trimmer) without(to cut) state {
	s := c.apply(c.full, mask.Without(c.table.Without(to.columns, to.but...), to.filled, to.texts))
	s.said = c.saying(to.columns)
	s.cut = to
	return s
}

// most takes the state with the largest n that fits, from low up to but not including high. When not even
// low fits it takes that. over is about how many tokens high would take. It aims at where the budget would
// end by the weights up to each n (nil: n itself), which takes far fewer tries than halving.
func (c *trimmer) most(low, high, over int, weight func(n int) int, with func(n int) state) (n int, ok bool) {
	if weight == nil {
		weight = func(n int) int { return n }
	}
	best := with(low)
	size := c.size(best)
	for try := 1; size <= c.budget && high-low > 1 && c.budget-size > c.budget/nearly; try++ {
		n = (low + high) / 2
		if try%3 > 0 {
			aim := weight(low) + (weight(high)-weight(low))*(c.budget-size)/max(over-size, 1)
			n = low + sort.Search(high-low-1, func(i int) bool { return weight(low+1+i) > aim })
		}
		n = max(n, low+1)
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
const nearly = 50
