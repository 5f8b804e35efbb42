//go:build unix

package store

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

var lab = flag.Bool("lab", false, "measure a million calls instead of looking at the plans of a few")

// planCall is one of many calls: ten a second, most of them dull.
func planCall(i int) Call {
	at := time.Unix(1_800_000_000, 0).Add(time.Duration(i) * 100 * time.Millisecond)
	c := Call{
		ID: string(AppendCallTime(nil, at)) + "0n0de0n0", At: at, Principal: fmt.Sprint("k", i%7), Profile: "default",
		Session: fmt.Sprint("ses_", i/50%4000), Agent: fmt.Sprint("agent", i%9), MCPSession: "5f0c7d1e9a", Server: "cloud",
		Tool: tool.Name(fmt.Sprint("cloud__t", i%40)), Upstream: "t", Outcome: "ok", Level: "info", BytesFull: 50_000, BytesSent: 2000,
		TokensFull: 9000,
	}
	switch {
	case i%100 == 3:
		c.Outcome = "error"
		c.Level = "error"
		c.Message = "server cloud is down"
	case i%25 == 6:
		c.Level = "warn"
		c.Repairs = `[{"path":"/n"}]`
	}
	if i%5 == 0 {
		c.Rule = fmt.Sprint("rule", i%20)
		c.Ref = "r_7f3kq2"
	}
	if i == 77 { // what is rare is the hardest to find
		c.Agent = "rare"
		c.Rule = "rare"
		c.Principal = "rare"
		c.Server = "rare"
	}
	return c
}

type filterPlan struct {
	name   string
	filter CallFilter
	index  string
	common bool // another index finds them as soon, and PostgreSQL may choose it
}

// plans are filters and the index that each must use; "" leaves the choice of one to the database.
var plans = []filterPlan{
	{"nothing", CallFilter{}, "", false},
	{"session", CallFilter{Session: "ses_3"}, "calls_by_session", false},
	{"agent", CallFilter{Agent: "agent3"}, "calls_by_agent", true},
	{"rare agent", CallFilter{Agent: "rare"}, "calls_by_agent", false},
	{"unknown agent", CallFilter{Agent: "nobody"}, "calls_by_agent", false},
	{"rule", CallFilter{Rule: "rule5"}, "calls_by_rule", false},
	{"rare rule", CallFilter{Rule: "rare"}, "calls_by_rule", false},
	{"rule of the policy", CallFilter{Policy: "no-prod"}, "calls_by_policy", true},
	{"calls of a script", CallFilter{Parent: "c_7"}, "calls_by_parent", false},
	{"warnings", CallFilter{Level: "warn"}, "calls_with_warnings", false},
	{"errors", CallFilter{Level: "error"}, "calls_with_errors", false},
	{"server", CallFilter{Server: "cloud"}, "calls_by_server", true},
	{"rare server", CallFilter{Server: "rare"}, "calls_by_server", false},
	{"own calls of a server", CallFilter{Principal: "k3", Server: "cloud"}, "calls_by_server", true},
	{"unknown server", CallFilter{Server: "nobody"}, "calls_by_server", false},
	{"info", CallFilter{Level: "info"}, "", false},
	{"since", CallFilter{Since: planCall(9000).At}, "", false},
	{"until", CallFilter{Until: planCall(90).At}, "", false},
	{"a span", CallFilter{Since: planCall(500).At, Until: planCall(520).At}, "", false},
	{"principal", CallFilter{Principal: "k3"}, "calls_by_principal", true},
	{"session, agent, level and time", CallFilter{Session: "ses_3", Agent: "agent3", Level: "warn", Since: planCall(50).At},
		"calls_by_session", false},
	{"own errors", CallFilter{Principal: "k3", Level: "error"}, "calls_warned_by_principal", true},
	{"errors of an agent in a span", CallFilter{Agent: "agent5", Level: "error", Since: planCall(500).At, Until: planCall(9000).At},
		"calls_warned_by_agent", true},
	{"a rare principal's warnings", CallFilter{Principal: "rare", Level: "warn"}, "calls_warned_by_principal", true},
	{"a rare principal's errors", CallFilter{Principal: "rare", Level: "error"}, "calls_warned_by_principal", true},
	{"errors of an agent that has none", CallFilter{Agent: "nobody", Level: "error"}, "calls_warned_by_agent", true},
	{"an agent's calls from info on", CallFilter{Agent: "rare", Level: "info"}, "calls_by_agent", true},
	{"own calls from info on", CallFilter{Principal: "rare", Level: "info"}, "calls_by_principal", true},
	{"own calls by an agent", CallFilter{Principal: "k3", Agent: "agent3"}, "calls_by_own_agent", true},
	{"a rare principal's calls by a common agent", CallFilter{Principal: "rare", Agent: "agent3"}, "calls_by_own_agent", true},
	{"a common principal's calls by a rare agent", CallFilter{Principal: "k3", Agent: "rare"}, "calls_by_own_agent", true},
	{"own calls by an agent that others have", CallFilter{Principal: "nobody", Agent: "agent3", Level: "info"}, "calls_by_own_agent", true},
	{"own calls of a session", CallFilter{Principal: "k3", Session: "ses_3"}, "calls_by_session", true},
	{"a session of another", CallFilter{Principal: "nobody", Session: "ses_3", Agent: "agent3", Level: "error"}, "calls_by_session", true},
	{"own warnings of an agent in a span", CallFilter{Principal: "k3", Agent: "agent3", Level: "warn", Since: planCall(500).At,
		Until: planCall(9000).At}, "calls_warned_by_agent", true},
	{"own calls in a span", CallFilter{Principal: "k3", Level: "info", Since: planCall(500).At, Until: planCall(9000).At},
		"calls_by_principal", true},
	{"a rare principal's calls in a span", CallFilter{Principal: "rare", Since: planCall(500).At, Until: planCall(9000).At},
		"calls_by_principal", true},
	{"a rare principal's warnings by a common agent", CallFilter{Principal: "rare", Agent: "agent3", Level: "warn"},
		"calls_warned_by_agent", true},
}

// fillPlan stores the calls and lets the database look at them.
func fillPlan(t *testing.T, dsn string, n int) *Store {
	t.Helper()
	s, err := Open(t.Context(), dsn, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	batch := make([]Call, 2000)
	for i := 0; i < n; i += len(batch) {
		for j := range batch {
			batch[j] = planCall(i + j)
		}
		if err := s.AppendCalls(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// plan returns how the database reads the calls.
func plan(t *testing.T, s *Store, explain string, f CallFilter) string {
	t.Helper()
	query, args, err := f.query(&s.dialect)
	if err != nil {
		t.Fatal(err)
	}
	return planOf(t, s, explain, query, args)
}

// planOf returns how the database runs a statement.
func planOf(t *testing.T, s *Store, explain, query string, args []any) string {
	t.Helper()
	rows, err := s.write.Query(explain+" "+query, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for rows.Next() {
		row := make([]any, len(columns))
		last := new(sql.NullString)
		for i := range row {
			row[i] = new(any)
		}
		row[len(row)-1] = last
		if err := rows.Scan(row...); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&text, last.String)
	}
	return text.String()
}

func TestEveryFilterReadsAnIndexInItsOrder(t *testing.T) {
	s := fillPlan(t, filepath.Join(t.TempDir(), "toolfit.db"), 2000)
	for _, p := range plans {
		for _, p.filter.Oldest = range []bool{false, true} {
			text := plan(t, s, "EXPLAIN QUERY PLAN", p.filter)
			if !strings.Contains(text, "USING INDEX "+p.index) || strings.Contains(text, "TEMP B-TREE") {
				t.Errorf("%s: want index %s and no sorting:\n%s", p.name, p.index, text)
			}
		}
	}
}

func TestEveryFilterReadsAnIndexInItsOrderOnPostgres(t *testing.T) {
	s := fillPlan(t, testparts.NeedPostgres(t).Schema(t), 20_000)
	if _, err := s.write.Exec("ANALYZE calls"); err != nil {
		t.Fatal(err)
	}
	var mode string
	if err := s.read.QueryRow("SHOW plan_cache_mode").Scan(&mode); err != nil || mode != "force_custom_plan" {
		t.Errorf("plan_cache_mode is %q, %v: statements that are prepared would be planned for any value", mode, err)
	}
	for _, p := range plans {
		text := plan(t, s, "EXPLAIN", p.filter)
		if !p.common && !strings.Contains(text, p.index) || !strings.Contains(text, "Index") || strings.Contains(text, "Seq Scan") {
			t.Errorf("%s: want index %s:\n%s", p.name, p.index, text)
		}
	}
}

// cpu is what the process has used so far.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // it cannot fail
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func TestFiltersOverAMillionCalls(t *testing.T) {
	if !*lab {
		t.Skip("runs with -lab")
	}
	const n = 1_000_000
	t.Run("SQLite", func(t *testing.T) {
		s := fillPlan(t, filepath.Join(t.TempDir(), "toolfit.db"), n)
		for _, p := range labPlans() {
			const rounds = 5
			start := cpu()
			for range rounds {
				if _, err := s.Calls(context.Background(), p.filter); err != nil {
					t.Fatal(err)
				}
			}
			t.Logf("%-50s %v CPU", p.name, (cpu()-start)/rounds)
		}
		measureSavings(t, s)
		measureExport(t, s)
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		s := fillPlan(t, testparts.NeedPostgres(t).Schema(t), n)
		if _, err := s.write.Exec("ANALYZE calls"); err != nil {
			t.Fatal(err)
		}
		for _, p := range labPlans() {
			t.Logf("%-50s\n%s", p.name, plan(t, s, "EXPLAIN (ANALYZE, COSTS OFF)", p.filter))
		}
		measureSavings(t, s)
		measureExport(t, s)
	})
}

// measureSavings sums a day after the last call, and then reads.
func measureSavings(t *testing.T, s *Store) {
	t.Helper()
	s.opts.Now = func() time.Time { return planCall(1_000_000).At }
	start := time.Now()
	if err := s.SumCalls(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Logf("%-50s %v", "summing", time.Since(start))
	for name, since := range map[string]time.Time{"all": {},
		"half, from the middle of a span": planCall(500_000).At.Truncate(sumSpan).Add(sumSpan / 2)} {
		for _, by := range []SavingKey{ByTool, ByRule, ByDay} {
			start := time.Now()
			if _, err := s.Savings(t.Context(), by, since); err != nil {
				t.Fatal(err)
			}
			t.Logf("%-50s %v", fmt.Sprint("savings of ", name, " by ", by), time.Since(start))
		}
	}
}

// measureExport reads all calls as an export does: page by page.
func measureExport(t *testing.T, s *Store) {
	t.Helper()
	for name, f := range map[string]CallFilter{"all": {}, "of a server": {Server: string(planCall(0).Server)}, "of a rare server": {Server: "rare"}} {
		f.Limit = 200
		f.Arguments = true
		var first, slowest time.Duration
		var most uint64
		n := 0
		for start := time.Now(); ; {
			began := time.Now()
			page, err := s.Calls(t.Context(), f)
			if err != nil {
				t.Fatal(err)
			}
			slowest = max(slowest, time.Since(began))
			if n == 0 {
				first = time.Since(began)
			}
			n += len(page)
			if n%100_000 == 0 {
				var m runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&m)
				most = max(most, m.HeapAlloc)
			}
			if len(page) < f.Limit {
				t.Logf("%-50s %d in %v, first page %v, slowest %v, heap %.1f MB", "export "+name, n, time.Since(start), first, slowest,
					float64(most)/1e6)
				break
			}
			f.Before = page[len(page)-1].ID
		}
	}
}

// labPlans are the filters, those of a time also in the middle of a million calls.
func labPlans() (all []filterPlan) {
	for _, p := range plans {
		if !p.filter.Since.IsZero() {
			p.filter.Since = planCall(500_000).At
		}
		if !p.filter.Until.IsZero() {
			p.filter.Until = planCall(900_000).At
		}
		all = append(all, p)
		p.filter.Oldest = true
		p.name += ", the oldest first"
		all = append(all, p)
	}
	return all
}

func TestTheCallsOfAnIndexAreCountedInIt(t *testing.T) {
	s := fillPlan(t, filepath.Join(t.TempDir(), "toolfit.db"), 2000)
	for _, p := range plans {
		query, args, err := p.filter.leadQuery(&s.dialect, 100)
		if err != nil {
			t.Fatal(err)
		}
		text := planOf(t, s, "EXPLAIN QUERY PLAN", query, args)
		index := p.index
		if p.filter.Policy != "" {
			index = "" // all calls are counted
		}
		covered := strings.Contains(text, "USING COVERING INDEX "+index)
		if !covered && index != "calls_with_warnings" || // SQLite reads the level, which that lacks
			strings.Contains(text, "TEMP B-TREE") {
			t.Errorf("%s: want nothing but index %s:\n%s", p.name, index, text)
		}
	}
}
