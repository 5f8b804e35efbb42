package fit

import "context"

// budget limits the work of one fit: in steps, so that the same arguments always get the same answer.
type budget struct {
	ctx  context.Context
	left int // steps; negative: the fit is over
	look int // below it, ctx is looked at; never negative
}

// lookEvery is how many steps pass between two looks at the context, about 0.1 ms.
const lookEvery = 1 << 12

// newBudget has enough steps for any honest value of that size.
func newBudget(ctx context.Context, size int) budget {
	left := 1<<20 + 64*size
	return budget{ctx: ctx, left: left, look: max(left-lookEvery, 0)}
}

// spend takes steps; false when none are left or the call was canceled.
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

// end lets nothing more be spent.
func (b *budget) end() {
	b.left = -1
	b.look = 0
}

// spent reports whether the fit is over before its work was done.
func (b *budget) spent() bool { return b.left < 0 }

// spendBytes takes the steps of going through so many bytes with few instructions for each.
func (b *budget) spendBytes(n int) bool { return b.spend(n >> 4) }
