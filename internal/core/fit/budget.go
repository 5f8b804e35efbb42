package fit

import "context"

// budget limits the work of one fit. It counts steps, not time, so that the same arguments
// always get the same result.
type budget struct {
	ctx  context.Context
	left int // steps; negative: the fit is over
	look int // when left drops below this, ctx is checked; never negative
}

// lookEvery is the number of steps between two checks of the context, about 0.1 ms.
const lookEvery = 1 << 12

// newBudget returns enough steps for any honest value of that size.
func newBudget(ctx context.Context, size int) budget {
	left := 1<<20 + 64*size
	return budget{ctx: ctx, left: left, look: max(left-lookEvery, 0)}
}

// spend takes steps; false if none are left or the call was canceled.
func (b *budget) spend(steps int) bool {
	b.left -= steps
	return b.left >= b.look || b.more()
}

func (b *budget) more() bool {
	if b.left < 0 || b.ctx.Err() != nil {
		b.end()
		return false
	}
	b.look = max(b.left-lookEvery, 0)
	return true
}

// end stops the fit.
func (b *budget) end() {
	b.left = -1
	b.look = 0
}

// spent reports whether the fit ran out of steps.
func (b *budget) spent() bool { return b.left < 0 }

// spendBytes takes the steps for scanning n bytes.
func (b *budget) spendBytes(n int) bool { return b.spend(n >> 4) }
