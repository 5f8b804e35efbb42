//go:build unix

package console_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/state/store"
)

var records = flag.Int("records", 100_000, "how many calls the pages are measured with")

// BenchmarkPages measures what a page costs with 10,000 tools and many records: the time of
// the processor, not of the clock.
//
//	go test -run '^$' -bench Pages -benchtime 20x ./internal/entrance/console -records 1000000
func BenchmarkPages(b *testing.B) {
	w := newWorld(b, demoConfig)
	big := store.Server{ID: "gone", ListedAt: time.Now(), CheckedAt: time.Now()}
	for i := range 10_000 {
		big.Tools = append(big.Tools, store.Tool{Name: fmt.Sprint("tool_", i), Definition: json.RawMessage(fmt.Sprintf(
			`{"name":"tool_%d","description":"Does the thing number %d, with all that belongs to it.","inputSchema":{"type":"object","properties":{"id":{"type":"string"},"count":{"type":"integer"}},"required":["id"]}}`, i, i))})
	}
	if err := w.app.Store.SaveTools(b.Context(), big); err != nil {
		b.Fatal(err)
	}
	fill(b, w.app.Store, *records)
	w = open(b, w.cfg)                                        // the catalog reads what is stored when it begins
	if err := w.app.Store.SumCalls(b.Context()); err != nil { // as it does each minute
		b.Fatal(err)
	}
	some := func(n int) string { // the id of a call
		calls, err := w.app.Store.Calls(b.Context(), store.CallFilter{Limit: n})
		if err != nil || len(calls) < n {
			b.Fatalf("%d calls, %v", len(calls), err)
		}
		return calls[n-1].ID
	}
	for _, path := range []string{
		"/", "/?range=24h", "/?range=7d", "/?range=30d", "/?range=30d&by=outcome&sort=errors", "/calls?tool=cloud__none", "/calls?tool=cloud__t7", "/servers", "/tools", "/tools?server=gone&page=99", "/tools?is=read-only&is=idempotent", "/tools?q=thing+number+777", "/tools/gone__tool_7", "/calls", "/calls?outcome=error",
		"/calls?repaired=true", "/calls?cut=true", "/calls?slower=2s&larger=5000&profile=none", "/calls?trace=none&last=30d", "/calls/timeline?session=ses_3",
		"/calls/timeline", "/calls?tool=cloud__rare", "/calls?server=cloud", "/calls?outcome=canceled", "/calls?agent=nobody", "/calls?session=ses_3",
		"/tools?q=thing+number+777&server=cloud", "/environments/logs", "/environments/logs?level=error", "/environments/logs?agent=nobody", "/prompt?budget=4000", "/prompt",
		"/calls/" + some(1), "/calls/compare?a=" + some(1) + "&b=" + some(40), "/results", "/results/rules", "/results/suggestions", "/results/suggestions?look=1",
		"/servers/gone", "/servers/shop", "/servers/add", "/servers/add/form", "/find", "/find?q=thing+777", "/find?q=" + some(1)[:6], "/help/upstream_down",
		"/clients", "/clients/live", "/keys", "/people", "/audit", "/policy", "/approvals", "/connections", "/recipes", "/recall", "/chat", "/runs",
		"/environments", "/environments/sessions",
	} {
		b.Run(path, func(b *testing.B) {
			page := get(b, w, path) // what is made once is made
			measure(b, func() { get(b, w, path) })
			b.ReportMetric(float64(len(page))/1000, "kB")
		})
	}
}

func get(b *testing.B, w *world, path string) []byte {
	b.Helper()
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.Host, r.RemoteAddr = "127.0.0.1", "127.0.0.1:1"
	rec := httptest.NewRecorder()
	w.Config.Handler.ServeHTTP(rec, r)
	if rec.Code != 200 || strings.HasSuffix(path, "page=99") && !strings.Contains(rec.Body.String(), "gone__tool_98") {
		b.Fatalf("%s: HTTP %d: %.300s", path, rec.Code, rec.Body)
	}
	return rec.Body.Bytes()
}

// measure reports what the processor spends on us; clocks count what others do, too.
func measure(b *testing.B, once func()) {
	b.Helper()
	before := processorTime()
	for b.Loop() {
		once()
	}
	b.ReportMetric(float64((processorTime()-before).Microseconds())/1000/float64(b.N), "cpu-ms/op")
}

func processorTime() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u) // never fails for oneself
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// fill stores the calls of a month, of 2,000 tools. Some are rare.
func fill(b *testing.B, st *store.Store, n int) {
	b.Helper()
	batch := make([]store.Call, 2000)
	end := time.Now()
	for i := 0; i < n; i += len(batch) {
		for j := range batch {
			at := end.Add(time.Duration(i+j-n) * (30 * 24 * time.Hour / time.Duration(n)))
			c := store.Call{
				ID: string(store.AppendCallTime(nil, at)) + fmt.Sprintf("%06d", (i+j)%1_000_000), At: at, Principal: "local",
				Profile: "default", Server: "cloud", Session: fmt.Sprint("ses_", (i+j)/50%4000), Tool: tool.Name(fmt.Sprint("cloud__t", (i+j)*7919%2000)),
				Upstream: "t", Outcome: "ok", Level: "info", Duration: time.Duration(j%300) * time.Millisecond, TokensFull: 9000, TokensSent: 900,
			}
			if j == 7 {
				c.Outcome, c.Level = "error", "error"
			}
			if i == 0 && j == 9 {
				c.Tool = "cloud__rare"
			}
			batch[j] = c
		}
		if err := st.AppendCalls(b.Context(), batch); err != nil {
			b.Fatal(err)
		}
	}
}
