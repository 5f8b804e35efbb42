package policy

import "time"

// Count is one of the limits that a call is counted for.
type Count struct {
	Key  string // calls with the same one are counted together
	Most int
	Per  time.Duration // how long a call counts
	// Same is what identifies the call where only calls in a row that are the same count, all until Per after the last; "": each
	// call counts.
	Same string
}

// Counted is what is remembered of the calls with a key. Times are in nanoseconds.
type Counted struct {
	Same  string
	Times []int64
	Until int64 // after that nothing counts any more
}

// CountCall counts a call for each limit, or for none if one is reached: then it returns the one with the longest wait, and
// what is held is to be dropped. Else over is -1.
func CountCall(counts []Count, held []Counted, now int64) (over int, wait time.Duration) {
	over = -1
	for i := range counts {
		if w := counts[i].wait(&held[i], now); w > wait {
			over, wait = i, w
		}
	}
	if over >= 0 {
		return over, wait
	}
	for i := range counts {
		h := &held[i]
		h.Times = append(h.Times, now)
		h.Until = now + counts[i].Per.Nanoseconds()
	}
	return -1, 0
}

// wait forgets what no longer counts, and returns after which time one more call is possible.
func (c *Count) wait(h *Counted, now int64) time.Duration {
	per := c.Per.Nanoseconds()
	over := func(t int64) bool { return now-t >= per || t-now >= per } // the second: the clock was set back
	if c.Same != h.Same || c.Same != "" && len(h.Times) > 0 && over(h.Times[len(h.Times)-1]) {
		*h = Counted{Same: c.Same}
	}
	for c.Same == "" && len(h.Times) > 0 && over(h.Times[0]) {
		h.Times = h.Times[1:]
	}
	n := len(h.Times)
	if n < c.Most {
		return 0
	}
	makesRoom := n - c.Most
	if c.Same != "" {
		makesRoom = n - 1
	}
	return time.Duration(h.Times[makesRoom] + per - now)
}
