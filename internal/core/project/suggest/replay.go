package suggest

import (
	"github.com/toolfit/toolfit/internal/core/project/mask"
	"github.com/toolfit/toolfit/internal/core/tokens"
)

// replayed is what a mask would have done to the recorded calls.
type replayed struct {
	full, sent int
	hidden     int // values that were used later
	missed     int // conversations in which that happened
}

// noteTokens is the approximate cost of a note.
const noteTokens = 36

// replay applies a mask to the samples. A conversation misses a value that was used later and only
// occurs in what was removed.
func replay(m *mask.Mask, samples []sample) (r replayed) {
	missed := map[int]bool{}
	for _, s := range samples {
		full := tokens.Estimate(s.body)
		r.full += full
		var t mask.Tally
		out, err := m.Apply(nil, s.body, &t)
		if err != nil || !t.Left() { // it is sent whole
			r.sent += full
			continue
		}
		r.sent += tokens.Estimate(out) + noteTokens
		left := map[string]bool{}
		leaves(out, nil, func(_ [][]byte, leaf []byte) {
			s.uses(leaf, func(v string) { left[v] = true })
		})
		leaves(s.body, nil, func(_ [][]byte, leaf []byte) {
			s.uses(leaf, func(v string) {
				if !left[v] {
					missed[s.conversation] = true
					left[v] = true // once is enough
					r.hidden++
				}
			})
		})
	}
	r.missed = len(missed)
	return r
}

// heldOut counts conversations in which a mask learned from the others would have hidden something.
func heldOut(samples []sample, opts *Options) (missed int) {
	var halves [2][]sample
	for _, s := range samples {
		halves[s.conversation%2] = append(halves[s.conversation%2], s)
	}
	for i := range halves {
		if len(halves[i]) == 0 || len(halves[1-i]) == 0 {
			continue
		}
		if l, why := learn(halves[1-i], opts); why == "" {
			missed += replay(l.mask, halves[i]).missed
		}
	}
	return missed
}
