package e2e

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

// approvedCalls makes a person decide about calls of hold whose n says so.
const approvedCalls = `policy: [{name: careful, tools: ["*__hold"], when: 'args.n.contains("careful")', then: approve}]` + "\n"

// openApproval is the one question that is open.
func openApproval(t *testing.T, url string) (id string) {
	t.Helper()
	eventually(t, "somebody is asked", func() bool {
		resp, err := plainHTTP.Get(url + "/api/v1/approvals")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		var list struct{ Approvals []struct{ ID, State string } }
		if err := json.NewDecoder(resp.Body).Decode(&list); err != nil {
			t.Fatal(err)
		}
		for _, a := range list.Approvals {
			if a.State == "open" {
				id = a.ID
			}
		}
		return id != ""
	})
	return id
}

func approveOverREST(t *testing.T, url, id string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, url+"/api/v1/approvals/"+id, strings.NewReader(`{"decision":"approve"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+childSecret)
	resp, err := plainHTTP.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if said, _ := io.ReadAll(resp.Body); resp.StatusCode != http.StatusOK {
		t.Fatalf("%d %s", resp.StatusCode, said)
	}
}

// carefully has a call that somebody has to approve, between others.
func carefully(prefix string, lastMS int) (calls [][]any) {
	return [][]any{
		{"legacy__look", prefix + "-1", 1}, {"legacy__hold", prefix + "-2", 1}, {"modern__hold", prefix + "-careful", 1},
		{"legacy__hold", prefix + "-4", lastMS},
	}
}

// stopAtErrors is oneByOne that ends with the first error.
const stopAtErrors = `const did = []; for (const [tool, n, ms] of input) did.push((await tools[tool]({ n, ms })).n); return did.join()`

// checkOnce looks that each of the calls that act came once.
func checkOnce(t *testing.T, w *scriptWorld, calls [][]any) {
	t.Helper()
	for _, c := range calls {
		_, tool, _ := strings.Cut(c[0].(string), "__")
		what := tool + " " + c[1].(string)
		if times := w.saw(what); times != 1 && (tool == "hold" || times == 0) {
			t.Errorf("%s came %d times", what, times)
		}
	}
}

// doneAll is what a script returns whose calls were all made.
func doneAll(calls [][]any) string {
	var did []string
	for _, c := range calls {
		did = append(did, "done "+c[1].(string))
	}
	return strings.Join(did, ",")
}

// TestScriptsGoOnAfterAnApproval: at another gateway than the one that asked.
func TestScriptsGoOnAfterAnApproval(t *testing.T) {
	w := newScriptWorld(t, testparts.NeedPostgres(t).Schema(t), approvedCalls)
	a := w.gateway(t)
	b := w.gateway(t)
	pause := func(t *testing.T, prefix string) [][]any {
		t.Helper()
		calls := carefully(prefix, 1)
		said := runScript(dialScripts(t, a.url), stopAtErrors, calls)
		if !strings.Contains(said, "approval_required") || !strings.Contains(said, "make the same call again") {
			t.Fatalf("it says %s", said)
		}
		if w.saw("hold "+prefix+"-2") != 1 || w.saw("hold "+prefix+"-careful") != 0 {
			t.Fatal("it did not stop where it is to")
		}
		return calls
	}
	t.Run("given on the command line", func(t *testing.T) {
		calls := pause(t, "cli")
		command(t, w.path, "approvals", "approve", openApproval(t, b.url))
		if got := saidBy(t, runScript(dialScripts(t, b.url), stopAtErrors, calls)); got != doneAll(calls) {
			t.Errorf("it returned %s", got)
		}
		checkOnce(t, w, calls)
		if w.saw("look cli-1") != 1 {
			t.Error("what it had read was read again")
		}
	})
	t.Run("given over REST", func(t *testing.T) {
		calls := pause(t, "rest")
		approveOverREST(t, b.url, openApproval(t, b.url))
		if got := saidBy(t, runScript(dialScripts(t, b.url), stopAtErrors, calls)); got != doneAll(calls) {
			t.Errorf("it returned %s", got)
		}
		checkOnce(t, w, calls)
	})
	t.Run("and the gateway that goes on is killed", func(t *testing.T) {
		calls := carefully("killed", 0) // the last is held
		said := runScript(dialScripts(t, a.url), stopAtErrors, calls)
		if !strings.Contains(said, "approval_required") {
			t.Fatalf("it says %s", said)
		}
		approveOverREST(t, a.url, openApproval(t, a.url))
		id := beginScript["legacy client with tasks"](t, b.url, scriptArguments(stopAtErrors, calls))
		eventually(t, "the last call is at its server", func() bool { return w.saw("hold killed-4") == 1 })
		b.kill(t)
		if got := collect(t, a.url, id); !strings.Contains(got, maybe) {
			t.Errorf("it returned %s", got)
		}
		checkOnce(t, w, calls)
	})
}

// TestAScriptThatWaitsForAnApprovalOutlivesAKill: it has no client that would make the call again.
func TestAScriptThatWaitsForAnApprovalOutlivesAKill(t *testing.T) {
	postgresOrFile(t, true, func(t *testing.T, store string) {
		w := newScriptWorld(t, store, approvedCalls)
		first := w.gateway(t)
		calls := carefully("waits", 1)
		id := beginScript["legacy client with tasks"](t, first.url, scriptArguments(stopAtErrors, calls))
		question := openApproval(t, first.url)
		first.kill(t)
		second := w.gateway(t)
		approveOverREST(t, second.url, question)
		if got := saidBy(t, collect(t, second.url, id)); got != doneAll(calls) {
			t.Errorf("it returned %s", got)
		}
		checkOnce(t, w, calls)
	})
}

// questions are asked by a server of each era, between calls that act.
const questions = `const a = await legacy.hold({ n: input + "-1", ms: 1 });
	const b = await modern.ask({ n: input + "-2", ms: 10 });
	const c = await curious.ask({});
	const d = await modern.hold({ n: input + "-3", ms: 1 });
	return [a.n, b.n, c, d.n].join()`

// TestQuestionsInsideScripts: of servers of both eras, for clients of both eras.
func TestQuestionsInsideScripts(t *testing.T) {
	w := newScriptWorld(t, "", "")
	curious := newCurious(t)
	yaml, err := os.ReadFile(w.path)
	if err != nil {
		t.Fatal(err)
	}
	rewrite(t, w.path, strings.Replace(string(yaml), "mcpServers:\n", "mcpServers:\n  curious: {url: "+curious.url+"}\n", 1))
	r := w.gateway(t)
	for era, revision := range eras {
		t.Run(era+" client", func(t *testing.T) {
			s := connectAs(t, overHTTP(&gateway{url: r.url}), revision, answering())
			eventually(t, "the tools are listed", func() bool { return strings.Contains(strings.Join(names(t, s), " "), "curious__ask") })
			got := callText(t, s, "run_script", map[string]any{"code": questions, "input": era})
			first, last := "done "+era+"-1,hello ", `"ann"}},hello ann,done `+era+"-3"
			if !strings.HasPrefix(got, first) || !strings.HasSuffix(got, last) {
				t.Errorf("it returned %s", got)
			}
			for _, what := range []string{"hold " + era + "-1", "ask " + era + "-2", "answer " + era + "-2", "hold " + era + "-3"} {
				if times := w.saw(what); times != 1 {
					t.Errorf("%s came %d times", what, times)
				}
			}
		})
	}
}

// asksOnce asks between two calls that act.
const asksOnce = `const a = await legacy.hold({ n: input + "-1", ms: 1 }); const b = await modern.ask({ n: input + "-2", ms: 10 });
	const c = await legacy.hold({ n: input + "-3", ms: 300 }); return [a.n, b.n, c.n].join()`

// TestAnAnswerInsideAScriptGoesToAnyGateway: and if it comes twice, nothing is done twice.
func TestAnAnswerInsideAScriptGoesToAnyGateway(t *testing.T) {
	w := newScriptWorld(t, testparts.NeedPostgres(t).Schema(t), "")
	a := w.gateway(t)
	b := w.gateway(t)
	for name, at := range map[string][]string{"once": {b.url}, "twice": {a.url, b.url}, "twice at one": {b.url, b.url}} {
		t.Run(name, func(t *testing.T) {
			prefix := strings.ReplaceAll(name, " ", "-")
			args := scriptArguments(asksOnce, prefix)
			interim, err := modernCall(a.url, "run_script", args, "")
			if err != nil || !strings.Contains(interim, "input_required") {
				t.Fatalf("%s, %v", interim, err)
			}
			more := answers(interim, `{"action":"accept","content":{"name":"ann"}}`)
			said := make([]string, len(at))
			var work sync.WaitGroup
			for i, url := range at {
				work.Go(func() {
					result, err := modernCall(url, "run_script", args, more)
					if err != nil {
						result = err.Error()
					}
					said[i] = result
				})
			}
			work.Wait()
			if all := strings.Join(said, "\n"); !strings.Contains(all, "done "+prefix+"-3") {
				t.Errorf("no gateway went on:\n%s", all)
			}
			for _, what := range []string{"hold " + prefix + "-1", "ask " + prefix + "-2", "answer " + prefix + "-2", "hold " + prefix + "-3"} {
				if times := w.saw(what); times != 1 {
					t.Errorf("%s came %d times; the clients got\n%s", what, times, strings.Join(said, "\n"))
				}
			}
		})
	}
}
