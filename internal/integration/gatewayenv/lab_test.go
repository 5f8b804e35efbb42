//go:build unix

package gatewayenv_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/gateway/call"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/store"
)

var lab = flag.Bool("lab", false, "ask for the logs of a million calls")

// cpu is what the process has used so far.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // it cannot fail
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestLogsOfAMillionCallsAreThereAtOnce measures the whole tool, from arguments to result. On
// PostgreSQL the share of the database is in the plans that the store's own tests show.
func TestLogsOfAMillionCallsAreThereAtOnce(t *testing.T) {
	if !*lab {
		t.Skip("runs with -lab")
	}
	const n, most = 1_000_000, 50 * time.Millisecond
	each(t, func(t *testing.T, w *world) {
		w.many(t, n)
		tools, err := w.Tools()
		if err != nil {
			t.Fatal(err)
		}
		since, until := at(n/2).Format(time.RFC3339), at(n*9/10).Format(time.RFC3339)
		for _, args := range []string{
			`{}`, `{"limit":1000}`, `{"level":"info"}`, `{"level":"warn"}`, `{"level":"error"}`, `{"sessionId":"ses_77"}`, `{"agentId":"a3"}`, `{"agentId":"nobody"}`,
			`{"agentId":"a3","level":"error"}`, `{"agentId":"rare","level":"warn"}`, `{"agentId":"rare","level":"info"}`, `{"sessionId":"ses_77","agentId":"a3","level":"error"}`,
			`{"since":"` + since + `"}`, `{"until":"` + until + `"}`, `{"since":"` + since + `","until":"` + until +
				`","level":"error","agentId":"a3"}`,
		} {
			for _, who := range []access.Principal{access.Owner(), caller("k1", "default"), caller("nobody", "default")} {
				const rounds = 3
				from := cpu()
				for range rounds {
					if raw, err := tools["env_query_logs"](t.Context(), &call.Request{Principal: who, Profile: "default"},
						json.RawMessage(args)); err != nil || len(raw) == 0 {
						t.Fatal(err)
					}
				}
				used := (cpu() - from) / rounds
				if t.Logf("%-6s %-120s %v CPU", who.ID, args, used); used > most {
					t.Errorf("more than %v", most)
				}
			}
		}
	})
}

// many fills the store with calls of few callers, some agents and many sessions; one call in
// three is a warning or an error, which is as many as there can be.
func (w *world) many(t *testing.T, n int) {
	t.Helper()
	batch := make([]store.Call, 2000)
	for i := 0; i < n; i += len(batch) {
		for j := range batch {
			k := i + j
			batch[j] = store.Call{
				ID: string(store.AppendCallTime(nil, at(k))) + "0n0de0n0", At: at(k), Principal: fmt.Sprint("k", k%7), Profile: "default",
				Session: fmt.Sprint("ses_", k/50%4000),
				Agent:   fmt.Sprint("a", k%9), Server: "shop", Tool: "shop__fail", Upstream: "fail", Outcome: "ok",
				Level: []string{"info", "info", "info", "info", "warn", "error"}[k%6],
			}
			if k == 77 {
				batch[j].Agent = "rare"
			}
		}
		if err := w.store.AppendCalls(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
	}
}
