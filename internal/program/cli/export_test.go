package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/state/store"
)

// keepCalls opens the store of the folder's configuration.
func keepCalls(t *testing.T) *store.Store {
	t.Helper()
	put(t, "toolfit.yaml", "store: t.db\nmcpServers: {shop: {builtin: demo-shop}}\n")
	st, err := store.Open(t.Context(), "t.db", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	return st
}

// callAt is a record whose id sorts by its time and number.
func callAt(at time.Time, n int, server string) store.Call {
	return store.Call{
		ID: fmt.Sprintf("c_%016x%06d", at.UnixMicro(), n), At: at, Principal: "local", Profile: "default",
		Server: tool.ServerID(server), Tool: tool.Name(server + "__t"), Upstream: "t", Outcome: "ok", Level: "info", Duration: time.Millisecond,
	}
}

func appendCalls(t *testing.T, st *store.Store, calls ...store.Call) {
	t.Helper()
	if err := st.AppendCalls(t.Context(), calls); err != nil {
		t.Fatal(err)
	}
}

// exportedIDs reads JSON Lines.
func exportedIDs(t *testing.T, out string) (ids []string) {
	t.Helper()
	for line := range strings.Lines(out) {
		var row struct {
			ID, Server, Outcome string
			Duration            float64 `json:"duration_ms"`
		}
		if err := json.Unmarshal([]byte(line), &row); err != nil || row.Outcome != "ok" || row.Duration != 1 {
			t.Fatalf("%v: %s", err, line)
		}
		ids = append(ids, row.ID)
	}
	return ids
}

func TestExportPrintsEveryRecordOnceTheOldestFirst(t *testing.T) {
	w := newWorld(t)
	st := keepCalls(t)
	const n = 2*exportPage + 345 // several pages
	begin := time.Now().Add(-time.Hour).Truncate(time.Microsecond)
	var calls []store.Call
	for i := range n {
		calls = append(calls, callAt(begin.Add(time.Duration(i)*time.Second), i, []string{"shop", "cloud"}[i%2]))
	}
	appendCalls(t, st, calls...)
	code, out, errs := w.run(t, "export")
	ids := exportedIDs(t, out)
	if code != 0 || len(ids) != n {
		t.Fatalf("%d: %d records, want %d: %s", code, len(ids), n, errs)
	}
	for i, id := range ids {
		if id != calls[i].ID {
			t.Fatalf("record %d is %s, want %s", i, id, calls[i].ID)
		}
	}
	if _, out, _ := w.run(t, "export", "--server", "cloud"); len(exportedIDs(t, out)) != n/2 {
		t.Errorf("%d records of one server, want %d", len(exportedIDs(t, out)), n/2)
	}
	if _, out, _ := w.run(t, "export", "--tool", "shop__t"); len(exportedIDs(t, out)) != n-n/2 {
		t.Errorf("%d records of one tool, want %d", len(exportedIDs(t, out)), n-n/2)
	}
	since := begin.Add((n - 10) * time.Second)
	if _, out, _ := w.run(t, "export", "--since", since.Format(time.RFC3339Nano)); len(exportedIDs(t, out)) != 10 {
		t.Errorf("%d records since a time, want 10", len(exportedIDs(t, out)))
	}
	if _, out, _ := w.run(t, "export", "--since", "30d"); len(exportedIDs(t, out)) != n {
		t.Errorf("%d records since a month, want all", len(exportedIDs(t, out)))
	}
}

func TestExportRefusesWhatItCannotRead(t *testing.T) {
	w := newWorld(t)
	if code, _, errs := w.run(t, "export", "--since", "yesterday"); code != 2 || !strings.Contains(errs, "24h") {
		t.Errorf("%d %s", code, errs)
	}
	if code, _, errs := w.run(t, "export"); code != 1 || !strings.Contains(errs, "no toolfit.yaml") {
		t.Errorf("%d %s", code, errs)
	}
	if code, _, errs := w.run(t, "export", "--url", "http://127.0.0.1:1"); code != 1 || !strings.Contains(errs, "no gateway answers") {
		t.Errorf("%d %s", code, errs)
	}
	keepCalls(t)
	if code, out, errs := w.run(t, "export"); code != 0 || out != "" {
		t.Errorf("an empty store: %d %s%s", code, out, errs)
	}
}

func TestExportFollowsNewRecordsAlsoOfLongCalls(t *testing.T) {
	w := newWorld(t)
	st := keepCalls(t)
	now := time.Now()
	appendCalls(t, st, callAt(now.Add(-time.Hour), 1, "shop"), callAt(now.Add(-time.Second), 2, "shop"))
	ctx, stop := context.WithCancel(t.Context())
	var out, errs safeBuffer
	ended := make(chan int, 1)
	go func() { ended <- w.runTo(ctx, &out, &errs, "export", "--follow") }()
	wait := func(n int) {
		t.Helper()
		late := time.After(patience)
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for strings.Count(out.String(), "\n") < n {
			select {
			case <-tick.C:
			case code := <-ended:
				t.Fatalf("it ended with %d: %s", code, errs.String())
			case <-late:
				t.Fatalf("%d records, want %d: %s", strings.Count(out.String(), "\n"), n, errs.String())
			}
		}
	}
	wait(2)
	appendCalls(t, st, callAt(time.Now(), 3, "shop"))
	wait(3)
	// A call that began before others whose records are there already.
	appendCalls(t, st, callAt(now.Add(-time.Minute), 4, "shop"), callAt(time.Now(), 5, "shop"))
	wait(5)
	stop()
	if code := <-ended; code != 0 {
		t.Errorf("stopped: exit code %d, %s", code, errs.String())
	}
	seen := map[string]bool{}
	for _, id := range exportedIDs(t, out.String()) {
		if seen[id] {
			t.Errorf("%s is printed twice", id)
		}
		seen[id] = true
	}
}
