package e2e

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

// beginScript has a client of each kind begin a script that goes on without its request, and return its handle.
var beginScript = map[string]func(t *testing.T, url, args string) string{
	"legacy client": func(t *testing.T, url, args string) string {
		result, err := dialScripts(t, url).request("tools/call", `{"name":"run_script","arguments":`+args+`}`)
		return handle(t, result, err)
	},
	"legacy client with tasks": func(t *testing.T, url, args string) string {
		result, err := dialScripts(t, url).request("tools/call", `{"name":"run_script","arguments":`+args+`,"task":{}}`)
		return handle(t, result, err)
	},
	"modern client with tasks": func(t *testing.T, url, args string) string {
		return handle(t, modernTask(t, url, "tools/call", "run_script", `"name":"run_script","arguments":`+args), nil)
	},
}

// The calls of the scripts below: those of hold act.
var killedCalls = []string{"legacy__look", "legacy__hold", "modern__hold", "modern__put", "legacy__hold", "modern__look"}

const oneByOne = `const did = [];
	for (const [tool, n, ms] of input) {
		try { did.push((await tools[tool]({ n, ms })).n) } catch (e) { did.push(e.code) }
	}
	return did.join()`

const allAtOnce = `const did = await Promise.all(input.map(([tool, n, ms]) => tools[tool]({ n, ms }).then(r => r.n, e => e.code)));
	return did.join()`

// killedScript is one on its way through a kill.
type killedScript struct {
	name string
	id   string   // its handle
	n    []string // of its calls
	held []bool   // which of them are at their servers when the gateway is killed
}

func (s *killedScript) input() (all [][]any) {
	for i, tool := range killedCalls {
		ms := 1
		if s.held[i] {
			ms = 0 // until it is let
		}
		all = append(all, []any{tool, s.n[i], ms})
	}
	return all
}

func (s *killedScript) call(i int) string {
	_, tool, _ := strings.Cut(killedCalls[i], "__")
	return tool + " " + s.n[i]
}

func (s *killedScript) acts(i int) bool { return strings.HasSuffix(killedCalls[i], "hold") }

// killedScripts are one for each call at which the gateway is killed, and one whose calls are all on their way.
func killedScripts(prefix string) (all []*killedScript) {
	for k := range len(killedCalls) + 1 {
		s := &killedScript{name: fmt.Sprintf("at call %d", k+1)}
		for i := range killedCalls {
			s.n = append(s.n, fmt.Sprintf("%s-%d-%d", prefix, k+1, i+1))
			s.held = append(s.held, i == k || k == len(killedCalls))
		}
		if k == len(killedCalls) {
			s.name = "with all calls on their way"
		}
		all = append(all, s)
	}
	return all
}

// check looks at the result, and at what the servers got.
func (s *killedScript) check(t *testing.T, w *scriptWorld, url string) {
	t.Helper()
	got := saidBy(t, collect(t, url, s.id))
	var want []string
	for i := range killedCalls {
		switch {
		case s.held[i] && s.acts(i):
			want = append(want, "unknown_outcome")
		default:
			want = append(want, "done "+s.n[i])
		}
		if times := w.saw(s.call(i)); times < 1 || times > 2 || s.acts(i) && times != 1 {
			t.Errorf("%s came %d times", s.call(i), times)
		}
	}
	if got != strings.Join(want, ",") {
		t.Errorf("it returned %s\nwant %s", got, strings.Join(want, ","))
	}
}

// TestScriptsOutliveAKill kills the gateway at each call of a script, and with many calls on their way. Another goes on: calls that
// act come to their server once, and the script hears which of them it knows nothing about. Without -long PostgreSQL, where the other
// gateway runs already, has one kind of client.
func TestScriptsOutliveAKill(t *testing.T) {
	postgresOrFile(t, false, func(t *testing.T, store string) {
		for client, begin := range beginScript {
			if store != "" && !*longCalls && client != "modern client with tasks" {
				continue
			}
			t.Run(client, func(t *testing.T) {
				w := newScriptWorld(t, store, "")
				first := w.gateway(t)
				var second *running
				if store != "" {
					second = w.gateway(t)
				}
				scripts := killedScripts("kill")
				killAt(t, w, first, os.Kill, scripts, begin)
				if second == nil {
					second, _ = runChild(t, w.path)
				}
				for _, s := range scripts {
					t.Run(s.name, func(t *testing.T) { s.check(t, w, second.url) })
				}
			})
		}
	})
}

// TestScriptsOutliveAnOrderlyEnd is the same for a gateway that is told to end.
func TestScriptsOutliveAnOrderlyEnd(t *testing.T) {
	w := newScriptWorld(t, "", "")
	first := run(t, w.path) // a child of the test ends as if it were killed
	knowsTools(t, first.url)
	scripts := killedScripts("end")
	killAt(t, w, first, syscall.SIGTERM, scripts, beginScript["modern client with tasks"])
	second, _ := runChild(t, w.path)
	for _, s := range scripts {
		t.Run(s.name, func(t *testing.T) { s.check(t, w, second.url) })
	}
}

// killAt ends a gateway when all the scripts are where they are to be, lets their calls end, and looks that no process is left.
func killAt(
	t *testing.T, w *scriptWorld, r *running, how os.Signal, scripts []*killedScript, begin func(t *testing.T, url, args string) string,
) {
	t.Helper()
	for _, s := range scripts {
		code := oneByOne
		if s.held[0] && s.held[1] {
			code = allAtOnce
		}
		s.id = begin(t, r.url, scriptArguments(code, s.input()))
	}
	for _, s := range scripts {
		for i := range s.held {
			if s.held[i] {
				eventually(t, s.call(i)+" is at its server", func() bool { return w.saw(s.call(i)) == 1 })
			}
		}
	}
	children := childrenOf(r)
	if len(children) == 0 {
		t.Error("no script has a process of its own")
	}
	if err := r.Process.Signal(how); err != nil {
		t.Fatal(err)
	}
	r.waitExit(t)
	for _, id := range children {
		eventually(t, "the process of the script has ended", func() bool { return gone(id) })
	}
	for _, s := range scripts {
		for i := range s.held {
			if s.held[i] {
				w.let(s.n[i])
			}
		}
	}
}

// TestAGatewayThatWasSuspendedDoesNothingTwice: it does not know yet that another goes on with its script.
func TestAGatewayThatWasSuspendedDoesNothingTwice(t *testing.T) {
	w := newScriptWorld(t, testparts.NeedPostgres(t).Schema(t), "")
	first := w.gateway(t)
	second := w.gateway(t)
	calls := [][]any{{"legacy__hold", "sleepy-1", 0}, {"modern__hold", "sleepy-2", 0}, {"legacy__hold", "sleepy-3", 1}}
	id := beginScript["legacy client with tasks"](t, first.url, scriptArguments(oneByOne, calls))
	eventually(t, "the first call is at its server", func() bool { return w.saw("hold sleepy-1") == 1 })
	signal := func(s os.Signal) {
		if err := first.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
	}
	signal(syscall.SIGSTOP)
	eventually(t, "the other gateway goes on", func() bool { return w.saw("hold sleepy-2") == 1 })
	w.let("sleepy-1") // the answer waits for the first gateway
	signal(syscall.SIGCONT)
	eventually(t, "the first gateway has noticed", func() bool { return len(childrenOf(first)) <= 2 }) // which it keeps warm
	w.let("sleepy-2")
	if got := saidBy(t, collect(t, second.url, id)); got != "unknown_outcome,done sleepy-2,done sleepy-3" {
		t.Errorf("it returned %s", got)
	}
	checkOnce(t, w, calls)
}
