//go:build unix

package console_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/gateway/record"
	"github.com/toolfit/toolfit/internal/state/store"
)

var keptResults = flag.Int("kept", 20_000, "how many kept results the pages are measured with")

// BenchmarkResultPages measures what pages about results cost with many kept results and
// with one of 5 MB: the time of the processor, not of the clock.
//
//	go test -run '^$' -bench ResultPages -benchtime 20x ./internal/entrance/console -kept 1000000
func BenchmarkResultPages(b *testing.B) {
	w := newWorld(b, demoConfig)
	w.keepMany(b, *keptResults)
	w.keep(b, "r_large", fiveMB(false))
	w.keep(b, "r_both", fiveMB(true))
	form := url.Values{"tool": {"shop__t"}, "way": {"keep"}, "expression": {"rows(id,name)"}, "from": {"ticks"}, "f": {"2", "3"}}
	for _, c := range []struct {
		method, path string
	}{
		{"GET", "/results"}, {"GET", "/results?tool=shop__t3"}, {"GET", "/results/" + w.kept()}, {"GET", "/results/rules"}, {"GET",
			"/results/r_large"}, {"GET", "/results/r_both"},
		{"POST", "/results/r_large/try"}, {"POST", "/results/r_both/try"}, {"GET", "/results/r_large/full"}, {"GET", "/prompt"}, {"GET",
			"/recall?kn_id=shop&at_id=orders"},
	} {
		b.Run(c.method+c.path, func(b *testing.B) {
			ask := func() {
				r := httptest.NewRequest(c.method, c.path, strings.NewReader(form.Encode()))
				r.Host, r.RemoteAddr = "127.0.0.1", "127.0.0.1:1"
				r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
				if c.method == "POST" {
					r.Header.Set("HX-Request", "true")
				}
				rec := httptest.NewRecorder()
				w.Config.Handler.ServeHTTP(rec, r)
				if rec.Code != 200 {
					b.Fatalf("HTTP %d: %.300s", rec.Code, rec.Body)
				}
			}
			ask() // what is made once is made
			measure(b, ask)
		})
	}
}

// keepMany keeps small results, with the records of their calls.
func (w *world) keepMany(t testing.TB, n int) {
	t.Helper()
	var calls []store.Call
	for i := range n {
		at := time.Now().Add(time.Duration(i-n) * 10 * time.Millisecond)
		c := store.Call{
			ID: fmt.Sprintf("%s%08d", record.FirstID(at),
				i), At: at, Principal: "local", Profile: "default", Server: "shop", Tool: "shop__t3", Outcome: "ok", Level: "info",
			Ref: fmt.Sprint("r_", i), TokensFull: 900, TokensSent: 90,
		}
		err := w.app.Store.SaveResult(t.Context(),
			store.Result{Ref: c.Ref, Owner: "local", Call: c.ID, Server: "shop", Tool: c.Tool, Profile: "default", Body: json.RawMessage(`{}`),
				At: at})
		if err != nil {
			t.Fatal(err)
		}
		if calls = append(calls, c); len(calls) == 2000 || i == n-1 {
			if err := w.app.Store.AppendCalls(t.Context(), calls); err != nil {
				t.Fatal(err)
			}
			calls = calls[:0]
		}
	}
}
