package store_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/state/store"
)

// filterSample gives each of the calls that are filtered something of its own.
func filterSample(i int, c *store.Call) {
	c.Principal = fmt.Sprint("p", i%2)
	c.Server = tool.ServerID(fmt.Sprint("s", i%3))
	c.Tool = tool.Canonical(c.Server, fmt.Sprint("t", i%5))
	c.Session = ""
	c.Agent = ""
	c.Rule = ""
	if i%4 == 0 {
		c.Session = fmt.Sprint("ses_", i%8)
		c.Agent = fmt.Sprint("a", i%12)
	}
	if i%7 == 0 {
		c.Rule = "r"
	}
	if i%10 == 3 {
		c.Outcome = "error"
		c.Level = "error"
	}
	if i%10 == 6 {
		c.Level = "warn"
	}
	c.Profile = fmt.Sprint("f", i%6)
	c.MCPSession = fmt.Sprint("m", i%9)
	c.Trace = fmt.Sprint("trace", i%11)
	c.Code, c.Repairs = "", ""
	if i%10 == 3 {
		c.Code = "upstream_timeout"
	}
	if i%13 == 0 {
		c.Repairs = `[{"field":"/n","kind":"number"}]`
	}
	c.BytesFull, c.BytesSent = 100, int64(100-i%2)
	c.Duration = time.Duration(i) * time.Millisecond
	c.TokensFull = int64(10 * i)
}

func testFilter(t *testing.T, open func() *store.Store) {
	s := open()
	ctx := t.Context()
	const n = 200
	appendSamples(t, s, n, filterSample)
	id := func(i int) string { return sampleCall(i).ID }
	at := func(i int) time.Time { return sampleCall(i).At }
	all := func(int) bool { return true }
	yes, no := true, false
	cases := []struct {
		name   string
		filter store.CallFilter
		match  func(i int) bool
	}{
		{"nothing set finds 100", store.CallFilter{}, all},
		{"by principal", store.CallFilter{Principal: "p1"}, func(i int) bool { return i%2 == 1 }},
		{"by server", store.CallFilter{Server: "s2", Limit: 1000}, func(i int) bool { return i%3 == 2 }},
		{"by tool", store.CallFilter{Tool: "s1__t4", Limit: 1000}, func(i int) bool { return i%15 == 4 }},
		{"by all at once", store.CallFilter{Principal: "p0", Server: "s1", Tool: "s1__t4", Limit: 2}, func(i int) bool { return i%30 == 4 }},
		{"by an unknown principal", store.CallFilter{Principal: "p' OR 1=1"}, func(int) bool { return false }},
		{"before an id", store.CallFilter{Before: id(20)}, func(i int) bool { return i < 20 }},
		{"after an id", store.CallFilter{After: id(120)}, func(i int) bool { return i > 120 }},
		{"between two ids", store.CallFilter{After: id(7), Before: id(20)}, func(i int) bool { return i > 7 && i < 20 }},
		{"by outcome", store.CallFilter{Outcome: "error"}, func(i int) bool { return i%10 == 3 }},
		{"by session", store.CallFilter{Session: "ses_4"}, func(i int) bool { return i%8 == 4 }},
		{"by agent", store.CallFilter{Agent: "a8"}, func(i int) bool { return i%12 == 8 }},
		{"by rule", store.CallFilter{Rule: "r"}, func(i int) bool { return i%7 == 0 }},
		{"from debug on", store.CallFilter{Level: "debug"}, all},
		{"from info on", store.CallFilter{Level: "info", Limit: 1000}, all},
		{"from warn on", store.CallFilter{Level: "warn"}, func(i int) bool { return i%10 == 3 || i%10 == 6 }},
		{"from error on", store.CallFilter{Level: "error"}, func(i int) bool { return i%10 == 3 }},
		{"since a time, which is part of it", store.CallFilter{Since: at(150)}, func(i int) bool { return i >= 150 }},
		{"until a time, which is part of it", store.CallFilter{Until: at(50)}, func(i int) bool { return i <= 50 }},
		{"one moment", store.CallFilter{Since: at(50), Until: at(50)}, func(i int) bool { return i == 50 }},
		{"a span that ends before it begins", store.CallFilter{Since: at(50), Until: at(49)}, func(int) bool { return false }},
		{"the year 1 to the year 9999", store.CallFilter{
			Since: time.Date(1, 1, 2, 0, 0, 0, 0, time.UTC), Until: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)}, all},
		{"session and all that may go with it", store.CallFilter{Session: "ses_0", Agent: "a0", Principal: "p0", Level: "info", Since: at(20)},
			func(i int) bool { return i%24 == 0 && i >= 20 }},
		{"level, agent and principal", store.CallFilter{Level: "warn", Agent: "a4", Principal: "p0"}, func(i int) bool { return i%60 == 16 }},
		{"by profile", store.CallFilter{Profile: "f5"}, func(i int) bool { return i%6 == 5 }},
		{"by MCP session", store.CallFilter{MCPSession: "m2"}, func(i int) bool { return i%9 == 2 }},
		{"by trace", store.CallFilter{Trace: "trace10"}, func(i int) bool { return i%11 == 10 }},
		{"by code", store.CallFilter{Code: "upstream_timeout"}, func(i int) bool { return i%10 == 3 }},
		{"repaired", store.CallFilter{Repaired: &yes}, func(i int) bool { return i%13 == 0 }},
		{"not repaired", store.CallFilter{Repaired: &no, Limit: 1000}, func(i int) bool { return i%13 != 0 }},
		{"cut", store.CallFilter{Cut: &yes, Limit: 1000}, func(i int) bool { return i%2 == 1 }},
		{"whole", store.CallFilter{Cut: &no, Limit: 1000}, func(i int) bool { return i%2 == 0 }},
		{"as slow or slower", store.CallFilter{Slower: 180 * time.Millisecond}, func(i int) bool { return i >= 180 }},
		{"as large or larger", store.CallFilter{Larger: 1900}, func(i int) bool { return i >= 190 }},
		{"rule and level", store.CallFilter{Rule: "r", Level: "error"}, func(i int) bool { return i%70 == 63 }},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var want []string
			for i := range n {
				if c.match(i) {
					want = append(want, id(i))
				}
			}
			limit := c.filter.Limit
			if limit == 0 {
				limit = 100
			}
			oldest := want[:min(limit, len(want))]
			newest := slices.Clone(want[len(want)-min(limit, len(want)):])
			slices.Reverse(newest)
			for oldestFirst, want := range map[bool][]string{false: newest, true: oldest} {
				c.filter.Oldest = oldestFirst
				got, err := s.Calls(ctx, c.filter)
				check(t, err)
				equal(t, ids(got), want)
			}
		})
	}
	whole, err := s.Calls(ctx, store.CallFilter{Limit: 1000})
	check(t, err)
	equal(t, pagedCalls(t, s, false), ids(whole))
	slices.Reverse(whole)
	equal(t, pagedCalls(t, s, true), ids(whole))
}

// pagedCalls reads all calls in small pages.
func pagedCalls(t *testing.T, s *store.Store, oldest bool) (all []string) {
	t.Helper()
	f := store.CallFilter{Limit: 7, Oldest: oldest}
	for {
		page, err := s.Calls(t.Context(), f)
		check(t, err)
		if len(page) == 0 {
			return all
		}
		all = append(all, ids(page)...)
		if last := page[len(page)-1].ID; oldest {
			f.After = last
		} else {
			f.Before = last
		}
	}
}

func testWrongLevel(t *testing.T, open func() *store.Store) {
	if _, err := open().Calls(t.Context(), store.CallFilter{Level: "loud' OR ''='"}); !fault.Is(err, fault.BadRequest) {
		t.Fatalf("got %v, want a bad request", err)
	}
}

func testSavings(t *testing.T, open func() *store.Store) {
	s := open()
	ctx := t.Context()
	day := time.Date(2026, 3, 4, 23, 59, 59, 0, time.UTC)
	call := func(at time.Time, n int64, c store.Call) store.Call {
		c.ID = string(store.AppendCallTime(nil, at)) + fmt.Sprint(n)
		c.At = at
		c.BytesIn = n
		c.BytesFull = 10 * n
		c.BytesSent = 2 * n
		c.TokensIn = 3 * n
		c.TokensFull = 30 * n
		c.TokensSent = 6 * n
		return c
	}
	check(t, s.AppendCalls(ctx, []store.Call{
		call(day.Add(-time.Hour), 1000, store.Call{Tool: "a__old"}),
		call(day, 1, store.Call{Tool: "a__x", Profile: "p", Rule: "r"}),
		call(day.Add(time.Second), 2, store.Call{Tool: "a__x", Profile: "q", Shadow: "s", TokensShadow: 5}),
		call(day.Add(2*time.Second), 1<<50, store.Call{Tool: "b__y", Profile: "q", Rule: "r"}),
	}))
	sum := func(key string, calls, n int64) store.Saving {
		return store.Saving{Key: key, Calls: calls, BytesIn: n, BytesFull: 10 * n, BytesSent: 2 * n, TokensIn: 3 * n, TokensFull: 30 * n,
			TokensSent: 6 * n}
	}
	shadow := sum("s", 1, 2)
	shadow.TokensSent = 5
	shadow.Shadow = true
	for by, want := range map[store.SavingKey][]store.Saving{
		store.ByTool:    {sum("a__x", 2, 3), sum("b__y", 1, 1<<50)},
		store.ByProfile: {sum("p", 1, 1), sum("q", 2, 2+1<<50)},
		store.ByRule:    {sum("", 1, 2), sum("r", 2, 1+1<<50), shadow},
		store.ByDay:     {sum("2026-03-04", 1, 1), sum("2026-03-05", 2, 2+1<<50)},
	} {
		got, err := s.Savings(ctx, by, day)
		check(t, err)
		equal(t, got, want)
	}
	got, err := s.Savings(ctx, store.ByTool, time.Time{})
	check(t, err)
	equal(t, len(got), 3)
	if _, err := s.Savings(ctx, "message", day); !fault.Is(err, fault.BadRequest) {
		t.Fatalf("got %v, want a bad request", err)
	}
}
