package store_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/state/store"
)

// activityRanges are the steps that people ask for, and how far back.
var activityRanges = []store.ActivityFilter{
	{Step: 15 * time.Second, Since: noon.Add(-15 * time.Minute)}, {Step: time.Minute, Since: noon.Add(-time.Hour)},
	{Step: 5 * time.Minute, Since: noon.Add(-6 * time.Hour)}, {Step: 20 * time.Minute, Since: noon.Add(-24 * time.Hour)},
	{Step: 2 * time.Hour, Since: noon.Add(-7 * 24 * time.Hour)}, {Step: 8 * time.Hour, Since: noon.Add(-30 * 24 * time.Hour)},
}

// busyCall is one of several calls at once, some time before noon: of few servers and tools, with each outcome.
func busyCall(ago time.Duration, n int) store.Call {
	at := noon.Add(-ago)
	return store.Call{
		ID: string(store.AppendCallTime(nil, at)) + fmt.Sprintf("%08d", n), At: at, Principal: fmt.Sprint("k", n%2),
		Server: tool.ServerID(fmt.Sprint("s", n%3)), Tool: tool.Name(fmt.Sprint("s", n%3, "__t", n%4)), Level: "info",
		Outcome: []string{"ok", "ok", "error", "tool_error", "canceled"}[n%5], Duration: time.Duration(n*n) * 13 * time.Millisecond,
		TokensFull: int64(10 * n), TokensSent: int64(n),
	}
}

// merged is an activity with one span for each time, server and outcome, in order.
func merged(a store.Activity) store.Activity {
	type key struct {
		at      time.Time
		server  tool.ServerID
		outcome string
	}
	spans := map[key]*store.Span{}
	for _, v := range a.Spans {
		k := key{v.At, v.Server, v.Outcome}
		if spans[k] == nil {
			spans[k] = &store.Span{At: v.At, Server: v.Server, Outcome: v.Outcome}
		}
		sum := spans[k]
		sum.Calls += v.Calls
		sum.Duration += v.Duration
		sum.TokensFull += v.TokensFull
		sum.TokensSent += v.TokensSent
		for i := range v.Under {
			sum.Under[i] += v.Under[i]
		}
	}
	a.Spans = nil
	for _, v := range spans {
		a.Spans = append(a.Spans, *v)
	}
	slices.SortFunc(a.Spans, func(x, y store.Span) int {
		return cmp.Or(x.At.Compare(y.At), cmp.Compare(x.Server, y.Server), cmp.Compare(x.Outcome, y.Outcome))
	})
	return a
}

// counted is the activity as the calls themselves say it.
func counted(t *testing.T, s *store.Store, f store.ActivityFilter) store.Activity {
	t.Helper()
	var a store.Activity
	tools := map[tool.Name]*store.ToolCount{}
	for cf := (store.CallFilter{Since: f.Since, Principal: f.Principal, Limit: 1000}); ; {
		page, err := s.Calls(t.Context(), cf)
		check(t, err)
		for _, c := range page {
			v := store.Span{
				At: c.At.Truncate(f.Step), Server: c.Server, Outcome: c.Outcome, Calls: 1, Duration: c.Duration, TokensFull: c.TokensFull,
				TokensSent: c.TokensSent,
			}
			for i, most := range store.Under() {
				if c.Duration < most {
					v.Under[i] = 1
				}
			}
			a.Spans = append(a.Spans, v)
			if tools[c.Tool] == nil {
				tools[c.Tool] = &store.ToolCount{Tool: c.Tool}
			}
			n := tools[c.Tool]
			n.Calls++
			n.Duration += c.Duration
			n.TokensFull += c.TokensFull
			n.TokensSent += c.TokensSent
			if v.Failed() {
				n.Errors++
			}
		}
		if len(page) < cf.Limit {
			break
		}
		cf.Before = page[len(page)-1].ID
	}
	for _, n := range tools {
		a.Tools = append(a.Tools, *n)
	}
	slices.SortFunc(a.Tools, func(x, y store.ToolCount) int { return cmp.Compare(x.Tool, y.Tool) })
	return merged(a)
}

func activity(t *testing.T, s *store.Store, f store.ActivityFilter) store.Activity {
	t.Helper()
	f.Since = f.Since.Truncate(f.Step)
	a, err := s.Activity(t.Context(), f)
	check(t, err)
	return merged(a)
}

func checkActivity(t *testing.T, s *store.Store) {
	t.Helper()
	for _, f := range activityRanges {
		f.Since = f.Since.Truncate(f.Step)
		if got, want := activity(t, s, f), counted(t, s, f); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("in spans of %s:\n got %v\nwant %v", f.Step, got, want)
		}
	}
}

func testActivity(t *testing.T, dsn string, _ rawFunc) {
	clock := new(fakeClock)
	s := open(t, dsn, clock.options())
	other := open(t, dsn, clock.options())
	ctx := t.Context()
	var all sync.WaitGroup
	for side := range 3 {
		all.Go(func() {
			random := rand.New(rand.NewPCG(3, uint64(side)))
			for range 8 {
				var batch []store.Call
				for _, far := range []time.Duration{10 * time.Minute, 2 * time.Hour, 30 * time.Hour, 40 * 24 * time.Hour} {
					for range 1 + random.IntN(8) {
						batch = append(batch, busyCall(time.Duration(random.Int64N(int64(far))), random.IntN(60)))
					}
				}
				if err := s.AppendCalls(ctx, batch); err != nil {
					t.Error(err)
				}
				if err := other.AppendCalls(ctx, batch[len(batch)/2:]); err != nil { // once more
					t.Error(err)
				}
			}
		})
	}
	for _, each := range []*store.Store{s, other} {
		all.Go(func() {
			for range 6 {
				if err := each.SumCalls(ctx); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	checkActivity(t, s)
	clock.pass(10 * time.Minute)
	check(t, s.SumCalls(ctx))
	checkActivity(t, other)

	before := activity(t, s, activityRanges[4])
	_, err := s.TrimCalls(ctx, noon.Add(time.Hour))
	check(t, err)
	equal(t, activity(t, s, activityRanges[4]), before)
	check(t, s.TrimActivity(ctx, noon.Add(-10*24*time.Hour)))
	equal(t, activity(t, other, activityRanges[4]), before)
	check(t, s.TrimActivity(ctx, noon.Add(8*24*time.Hour)))
	equal(t, activity(t, other, activityRanges[5]), store.Activity{})
}

func testOwnActivity(t *testing.T, dsn string, _ rawFunc) {
	clock := new(fakeClock)
	s := open(t, dsn, clock.options())
	ctx := t.Context()
	var calls []store.Call
	for i := range 40 {
		calls = append(calls, busyCall(time.Duration(i)*time.Minute, i))
	}
	check(t, s.AppendCalls(ctx, calls))
	check(t, s.SumCalls(ctx))
	f := store.ActivityFilter{Step: time.Minute, Since: noon.Add(-time.Hour).Truncate(time.Minute), Principal: "k1", Most: 20}
	equal(t, activity(t, s, f), counted(t, s, f))
	f.Most = 5
	got := activity(t, s, f)
	equal(t, got.From, calls[11].At) // k1 has every other call, the newest of them is the second
	f.Since = calls[9].At.Truncate(time.Minute)
	want := counted(t, s, f)
	want.From = got.From
	equal(t, got, want)
}

func testNarrowToTool(t *testing.T, dsn string, _ rawFunc) {
	clock := new(fakeClock)
	s := open(t, dsn, clock.options())
	ctx := t.Context()
	of := func(f store.CallFilter) (ids []string) {
		t.Helper()
		calls, err := s.Calls(ctx, f)
		check(t, err)
		for _, c := range calls {
			ids = append(ids, c.ID)
		}
		return ids
	}
	var calls []store.Call
	for i := range 300 {
		calls = append(calls, busyCall(time.Duration(i)*5*time.Minute, i))
		if i%50 == 7 {
			calls[i].Tool = "rare"
		}
	}
	check(t, s.AppendCalls(ctx, calls))
	for _, summed := range []bool{false, true} {
		if summed {
			clock.pass(time.Hour)
			check(t, s.SumCalls(ctx))
			late := busyCall(0, 301)
			late.Tool = "just now"
			late.At = noon.Add(59 * time.Minute)
			late.ID = string(store.AppendCallTime(nil, late.At)) + "00000301"
			check(t, s.AppendCalls(ctx, []store.Call{late}))
			calls = append(calls, late)
		}
		for _, name := range []string{"rare", "just now", "s1__t1"} {
			f := store.CallFilter{Tool: name, Limit: 3}
			for range 4 { // page by page
				near := f
				none, err := s.NarrowToTool(ctx, &near)
				check(t, err)
				want := of(f)
				if none && len(want) > 0 || !none && !slices.Equal(of(near), want) {
					t.Fatalf("summed %v, %s: none %v, %v instead of %v", summed, name, none, of(near), want)
				}
				if !none && near.Before == "" {
					t.Errorf("%s: no bound above", name)
				}
				if len(want) == 0 {
					break
				}
				f.Before = want[len(want)-1]
			}
		}
		none, err := s.NarrowToTool(ctx, &store.CallFilter{Tool: "nobody"})
		check(t, err)
		equal(t, none, true)
	}
	_, err := s.TrimCalls(ctx, noon.Add(55*time.Minute))
	check(t, err)
	none, err := s.NarrowToTool(ctx, &store.CallFilter{Tool: "rare"})
	check(t, err)
	equal(t, none, true)
}

// A clock that is ahead sums up to where others still add calls: these count all the same.
func testSumsOfClocksThatDiffer(t *testing.T, dsn string, _ rawFunc) {
	ahead, behind := new(fakeClock), new(fakeClock)
	ahead.pass(time.Hour)
	s := open(t, dsn, ahead.options())
	other := open(t, dsn, behind.options())
	ctx := t.Context()
	check(t, s.AppendCalls(ctx, []store.Call{busyCall(-57*time.Minute, 1)}))
	check(t, s.SumCalls(ctx))
	check(t, other.SumCalls(ctx)) // as each gateway does every minute
	for i := range 5 {
		call := busyCall(-time.Duration(i)*time.Minute, 2+i)
		check(t, other.AppendCalls(ctx, []store.Call{call}))
		behind.pass(time.Minute)
		check(t, other.SumCalls(ctx))
	}
	f := activityRanges[3]
	equal(t, activity(t, other, f), counted(t, other, f))
	checkSums(t, other)
	none, err := other.NarrowToTool(ctx, &store.CallFilter{Tool: "s2__t2"})
	check(t, err)
	equal(t, none, false)
}
