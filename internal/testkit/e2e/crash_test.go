package e2e

import (
	"fmt"
	"net/http"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/state/store"
)

func TestNoAcknowledgedCallIsLostWhenTheGatewayIsKilledUnderLoad(t *testing.T) {
	path := write(t, lines("mcpServers:", "  shop: {builtin: demo-shop}", "records: {durable: true}"))
	r := run(t, path)
	acknowledged := callUntilKilled(t, r)
	r.waitExit(t)

	recorded := recordedSessions(t, filepath.Join(filepath.Dir(path), "toolfit.db"))
	lost := 0
	for _, session := range acknowledged {
		if !recorded[session] {
			lost++
		}
	}
	if lost > 0 {
		t.Errorf("%d of %d acknowledged calls have no record", lost, len(acknowledged))
	}

	again := run(t, path)
	c, err := dialRaw(again.url+"/mcp", "")
	if err != nil {
		t.Fatalf("after the kill: %v", err)
	}
	if _, err := c.request("tools/call", `{"name":"shop__list_orders","arguments":{"limit":1}}`); err != nil {
		t.Errorf("after the kill: %v", err)
	}
}

// callUntilKilled calls from many clients, each call in a session of its own, kills the
// gateway in the middle, and returns the sessions whose calls were answered.
func callUntilKilled(t *testing.T, r *running) (acknowledged []string) {
	t.Helper()
	const clients, enough = 16, 400
	var mu sync.Mutex
	var work sync.WaitGroup
	loaded := make(chan struct{})
	pool := &http.Transport{MaxIdleConnsPerHost: clients}
	defer pool.CloseIdleConnections()
	for i := range clients {
		c, err := dialRaw(r.url+"/mcp", "")
		if err != nil {
			t.Fatal(err)
		}
		c.http = &http.Client{Transport: pool, Timeout: patience}
		work.Go(func() {
			for n := 0; ; n++ {
				session := fmt.Sprintf("ses_%d_%d", i, n)
				_, err := c.request("tools/call", `{"name":"shop__list_orders","arguments":{"limit":1},"_meta":{"toolfit/session":"`+session+`"}}`)
				if err != nil {
					return // it is dead
				}
				mu.Lock()
				if acknowledged = append(acknowledged, session); len(acknowledged) == enough {
					close(loaded)
				}
				mu.Unlock()
			}
		})
	}
	select {
	case <-loaded:
	case <-time.After(patience):
	}
	if err := r.Process.Kill(); err != nil {
		t.Error(err)
	}
	work.Wait()
	if len(acknowledged) < enough {
		t.Fatalf("only %d calls were answered in time", len(acknowledged))
	}
	return acknowledged
}

// recordedSessions opens the store as it was left and reads whose calls it holds.
func recordedSessions(t *testing.T, dsn string) map[string]bool {
	t.Helper()
	st, err := store.Open(t.Context(), dsn, nil)
	if err != nil {
		t.Fatalf("open the store after the kill: %v", err)
	}
	defer st.Close()
	recorded := map[string]bool{}
	for before := ""; ; {
		calls, err := st.Calls(t.Context(), store.CallFilter{Before: before, Limit: 1000})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range calls {
			recorded[c.Session] = true
			before = c.ID
		}
		if len(calls) < 1000 {
			return recorded
		}
	}
}
