package record_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/gateway/record"
	"github.com/toolfit/toolfit/internal/state/store"
)

func TestLastKnowsTheNewestFirst(t *testing.T) {
	l := record.New(&sink{}, &record.Options{Keep: 3})
	defer closeLog(t, l)
	expect(t, "at first", joined(l.Last(5)), "")
	add(t, l, 1, 2)
	expect(t, "not yet full", joined(l.Last(5)), "2 1")
	add(t, l, 3, 7)
	expect(t, "more than are kept", joined(l.Last(5)), "7 6 5")
	expect(t, "fewer", joined(l.Last(2)), "7 6")
	expect(t, "none", joined(l.Last(-1)), "")
}

// events reads what is in the channel, a gap as "-n".
func events(ch <-chan store.Call) string {
	var out []string
	for len(ch) > 0 {
		c := <-ch
		if n, gap := record.Lost(c); gap {
			out = append(out, fmt.Sprint(-n))
			continue
		}
		out = append(out, c.ID)
	}
	return strings.Join(out, " ")
}

func TestSlowSubscriberSeesTheGap(t *testing.T) {
	l := record.New(&sink{}, nil)
	defer closeLog(t, l)
	slow, end := l.Subscribe(3)
	defer end()
	quick, endQuick := l.Subscribe(100)
	defer endQuick()
	add(t, l, 1, 8)
	expect(t, "slow", events(slow), "1 2 3")
	add(t, l, 9, 10)
	expect(t, "slow, afterwards", events(slow), "-5 9 10")
	add(t, l, 11, 11)
	expect(t, "slow, without a gap", events(slow), "11")
	expect(t, "quick", events(quick), "1 2 3 4 5 6 7 8 9 10 11")
}

func TestSubscriptionEnds(t *testing.T) {
	l := record.New(&sink{}, nil)
	one, endOne := l.Subscribe(0)
	two, endTwo := l.Subscribe(0)
	endOne()
	endOne()
	add(t, l, 1, 1)
	if _, open := <-one; open {
		t.Fatal("an ended subscription got a record")
	}
	expect(t, "the other", events(two), "1")
	closeLog(t, l)
	if _, open := <-two; open {
		t.Fatal("close left a subscription open")
	}
	endTwo()
	three, _ := l.Subscribe(0)
	if _, open := <-three; open {
		t.Fatal("a subscription began after close")
	}
}

func TestIDsSortByTimeAndDifferByProcess(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	clock := &now
	newLog := func(seed byte) *record.Log {
		l := record.New(&sink{}, &record.Options{Now: func() time.Time { return *clock }, Rand: bytes.NewReader(bytes.Repeat([]byte{seed}, 8))})
		t.Cleanup(func() { closeLog(t, l) })
		return l
	}
	one, two := newLog(1), newLog(2)
	var ids []string
	for _, step := range []time.Duration{0, 0, time.Microsecond, time.Hour, -time.Minute, 100 * 365 * 24 * time.Hour} {
		*clock = clock.Add(step)
		ids = append(ids, one.NewID())
	}
	if !slices.IsSorted(ids) || len(slices.Compact(slices.Clone(ids))) != len(ids) {
		t.Fatalf("not in order: %q", ids)
	}
	if a, b := one.NewID(), two.NewID(); a[:2] != "c_" || len(a) != 21 || a[13:] == b[13:] {
		t.Fatalf("%q and %q", a, b)
	}
}

func TestFirstIDDividesIDsByTime(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)
	l := record.New(&sink{}, &record.Options{Now: func() time.Time { return now }})
	defer closeLog(t, l)
	if id := l.NewID(); id < record.FirstID(now) || id >= record.FirstID(now.Add(time.Microsecond)) {
		t.Errorf("%s is not between %s and %s", id, record.FirstID(now), record.FirstID(now.Add(time.Microsecond)))
	}
	first, last := record.FirstID(time.Time{}), record.FirstID(time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC))
	if now := record.FirstID(now); first >= now || last <= now {
		t.Errorf("times before 1970 and far ahead: %s, %s", first, last)
	}
}

func BenchmarkAdd(b *testing.B) {
	for _, durable := range []bool{false, true} {
		b.Run(fmt.Sprintf("durable=%v", durable), func(b *testing.B) {
			l := record.New(discard{}, &record.Options{Durable: durable})
			defer l.Close(context.Background())
			call := store.Call{ID: "c_1", At: time.Now(), Principal: "p", Server: "s", Tool: "s__t", Outcome: "ok", Level: "info"}
			ctx := context.Background()
			b.ReportAllocs()
			b.SetParallelism(16)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if err := l.Add(ctx, call); err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
}

type discard struct{}

func (discard) AppendCalls(context.Context, []store.Call) error { return nil }

func BenchmarkNewID(b *testing.B) {
	l := record.New(discard{}, nil)
	defer l.Close(context.Background())
	var n atomic.Int64
	b.ReportAllocs()
	for b.Loop() {
		n.Add(int64(len(l.NewID())))
	}
}

func TestASubscriberThatHasTakenAllHearsOfAGapAtOnce(t *testing.T) {
	l := record.New(&sink{}, nil)
	defer closeLog(t, l)
	slow, end := l.Subscribe(3)
	defer end()
	add(t, l, 1, 8)
	l.Drained(slow) // it is not
	expect(t, "what was sent", events(slow), "1 2 3")
	l.Drained(slow)
	expect(t, "the gap", events(slow), "-5")
	l.Drained(slow)
	expect(t, "told once", events(slow), "")
}
