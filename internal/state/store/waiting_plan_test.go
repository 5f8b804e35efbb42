//go:build unix

package store

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

// fillWaiting stores calls of which one in ten is open.
func fillWaiting(t *testing.T, dsn string, n int) *Store {
	t.Helper()
	s, err := Open(t.Context(), dsn, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	for i := range n {
		w := Waiting{ID: fmt.Sprint("c_", i), Owner: fmt.Sprint("k", i%7), State: Completed, Created: planCall(i).At,
			Expires: time.Now().Add(time.Duration(i+60) * time.Second), Body: make([]byte, 300)}
		if i%10 == 0 {
			w.State = Working
			w.Replica = fmt.Sprint("replica", i%3)
			w.Lease = w.Expires
		}
		if err := s.AddWaiting(t.Context(), w, WaitingLimits{}); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

type waitingPlan struct {
	name, index, query string
	args               []any
	sorts              bool // few
}

// waitingPlans are the statements that read more than one row, and the index that each must use.
func waitingPlans(t *testing.T, s *Store) []waitingPlan {
	t.Helper()
	now := time.Now()
	row := s.opts.waitingRow(&Waiting{ID: "c_new", Owner: "k1", State: Working})
	all := []waitingPlan{
		{"add", "waiting_open", addWaiting, append(row, 100, 1000, micros(now)), false},
		{"renew", "waiting_open", renewWaiting, []any{micros(now), "replica1", micros(now)}, false},
		{"lost", "waiting_open", lostWaiting, []any{micros(now), 100}, true},
		{"trim", "waiting_by_expiry", trimWaiting, []any{micros(now)}, false},
	}
	for _, f := range []WaitingFilter{
		{}, {Open: true}, {Owner: "k1"}, {Owner: "k1", Open: true}, {Owner: "k1", Before: "1800000000000000.c"},
	} {
		query, args, err := f.query(&s.dialect, now)
		if err != nil {
			t.Fatal(err)
		}
		index := "waiting_by_time"
		if f.Owner != "" {
			index = "waiting_by_owner"
		}
		if f.Open {
			index = "waiting_open"
		}
		all = append(all, waitingPlan{fmt.Sprintf("list %+v", f), index, query, args, f.Open})
	}
	return all
}

func TestWaitingCallsAreFoundByAnIndex(t *testing.T) {
	s := fillWaiting(t, filepath.Join(t.TempDir(), "toolfit.db"), 500)
	for _, p := range waitingPlans(t, s) {
		text := planOf(t, s, "EXPLAIN QUERY PLAN", p.query, p.args)
		if !strings.Contains(text, "INDEX "+p.index) || !p.sorts && strings.Contains(text, "TEMP B-TREE") {
			t.Errorf("%s: want index %s and no sorting of many:\n%s", p.name, p.index, text)
		}
	}
}

func TestWaitingCallsAreFoundByAnIndexOnPostgres(t *testing.T) {
	s := fillWaiting(t, testparts.NeedPostgres(t).Schema(t), 5000)
	if _, err := s.write.Exec("ANALYZE waiting"); err != nil {
		t.Fatal(err)
	}
	for _, p := range waitingPlans(t, s) {
		text := planOf(t, s, "EXPLAIN", p.query, p.args)
		common := strings.HasPrefix(p.name, "list") // either of two indexes finds them as soon
		if !common && !strings.Contains(text, p.index) || strings.Contains(text, "Seq Scan") {
			t.Errorf("%s: want index %s:\n%s", p.name, p.index, text)
		}
	}
}
