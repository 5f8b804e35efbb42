package policy

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestHowCallsAreCounted(t *testing.T) {
	const s = time.Second
	type step struct {
		at   time.Duration
		same string
		wait time.Duration // 0: it passes
	}
	for _, tc := range []struct {
		name  string
		most  int
		steps []step
	}{
		{"the one after the last has to wait for the first", 2, []step{{0, "", 0}, {4 * s, "", 0}, {5 * s, "", 5 * s}, {10*s - 1, "", 1}, {10 * s, "", 0}, {11 * s, "", 3 * s}}},
		{"calls that were refused do not count", 1, []step{{0, "", 0}, {9 * s, "", s}, {10 * s, "", 0}}},
		{"a clock that was set back a little makes callers wait", 1, []step{{8 * s, "", 0}, {0, "", 18 * s}}},
		{"a clock that was set back far forgets", 1, []step{{time.Hour, "", 0}, {0, "", 0}, {s, "", 9 * s}}},
		{"repeats are counted over any time without a pause", 3, []step{{0, "a", 0}, {9 * s, "a", 0}, {18 * s, "a", 0}, {27 * s, "a", s}, {27 * s, "a", s}}},
		{"another call starts anew", 2, []step{{0, "a", 0}, {0, "a", 0}, {0, "b", 0}, {0, "a", 0}, {0, "a", 0}, {0, "a", 10 * s}}},
		{"a pause starts anew", 2, []step{{0, "a", 0}, {s, "a", 0}, {11*s - 1, "a", 1}, {11 * s, "a", 0}, {12 * s, "a", 0}, {12 * s, "a", 10 * s}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			held := make([]Counted, 1)
			for i, step := range tc.steps {
				before := held[0]
				over, wait := CountCall([]Count{{Most: tc.most, Per: 10 * s, Same: step.same}}, held, int64(time.Hour+step.at))
				if wait != step.wait || (over == 0) != (wait > 0) {
					t.Errorf("step %d: over %d, wait %s, want %s", i, over, wait, step.wait)
				}
				if over == 0 {
					held[0] = before
				}
			}
		})
	}
}

func TestOneReachedLimitLeavesTheOthersUncounted(t *testing.T) {
	counts := []Count{{Most: 5, Per: time.Hour}, {Most: 1, Per: time.Minute}, {Most: 1, Per: time.Hour}}
	held := []Counted{{}, {Times: []int64{10}}, {Times: []int64{10}}}
	over, wait := CountCall(counts, held, 10)
	if over != 2 || wait != time.Hour || len(held[0].Times) != 0 {
		t.Errorf("over %d, wait %s, counted %d", over, wait, len(held[0].Times))
	}
}

// In no period are there more than the limit, nobody is refused without reason, and who waits as told passes.
func TestLimitsAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Count{Most: rapid.IntRange(1, 5).Draw(t, "most"), Per: 100}
		held := make([]Counted, 1)
		var passed []int64
		now := int64(1000)
		for range 60 {
			now += rapid.Int64Range(0, 60).Draw(t, "pause")
			recent := 0
			for _, at := range passed {
				if now-at < 100 {
					recent++
				}
			}
			over, wait := CountCall([]Count{c}, held, now)
			switch {
			case (over < 0) != (recent < c.Most):
				t.Fatalf("%d of %d in the period, over %d", recent, c.Most, over)
			case over < 0:
				passed = append(passed, now)
				continue
			}
			if earlier, _ := CountCall([]Count{c}, []Counted{held[0]}, now+int64(wait)-1); earlier < 0 {
				t.Fatal("it passes sooner than it was told")
			}
			now += int64(wait)
			if over, _ = CountCall([]Count{c}, held, now); over >= 0 {
				t.Fatal("it does not pass at the time that it was told")
			}
			passed = append(passed, now)
		}
	})
}
