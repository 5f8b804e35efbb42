package call

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/script"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/gateway/waiting"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/store"
)

// newScriptYard makes a yard in which scripts run. The configuration is added to that of the server s.
func newScriptYard(t *testing.T, text string) *yard {
	t.Helper()
	y := newYard(t, store.WaitingLimits{})
	y.allowScripts(t, text)
	y.send = func(_ context.Context, c upstream.Call) (upstream.Outcome, error) {
		n := rawjson.Get(c.Params, "arguments", "n")
		return upstream.Outcome{Raw: json.RawMessage(resultOf(`{"n":` + string(orNone(n)) + `}`))}, nil
	}
	return y
}

func (y *yard) allowScripts(t *testing.T, text string) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	runner := script.New(exe, &script.Options{Warm: -1})
	t.Cleanup(runner.Close)
	y.opts.Scripts = runner
	y.opts.ScriptRuns = y.store
	apply(t, y.Caller, "mcpServers: {s: {command: s}}\ndetach: 1s\nprofiles: {default: {code: on}}\n"+text)
}

// run runs a script; more are members of the params, beside the arguments.
func (y *yard) run(ctx context.Context, tasks TaskUse, code, more string) (*Result, error) {
	args := append(rawjson.AppendString([]byte(`{"code":`), code), '}')
	params, err := ParseParams(json.RawMessage(`{"name":"run_script","arguments":` + string(args) + more + `}`))
	if err != nil {
		y.t.Fatal(err)
	}
	req := Request{
		Principal: access.Principal{ID: "ann", Role: access.Caller}, Profile: "default", Params: params, Tasks: tasks,
		From: mcp.Speaker{Era: mcp.Modern, Capabilities: elicits}, Client: mcp.Deaf,
	}
	if tasks == AsTask {
		req.Front = y
	}
	return y.Do(ctx, req)
}

// returns is what a script returns, or the error.
func (y *yard) returns(code string) string {
	y.t.Helper()
	res, err := y.run(y.t.Context(), NoTask, code, "")
	if err != nil {
		return fault.As(err).Error()
	}
	return text(y.t, res.Raw)
}

func TestAScriptCallsTools(t *testing.T) {
	y := newScriptYard(t, "")
	for code, want := range map[string]string{
		`return (await s.look({n: 3})).n`:                                                "3",
		`return (await tools.s__look({n: 9007199254740993n})).n`:                         "9007199254740993",
		`return (await Promise.all([1, 2, 3].map(n => s.look({n})))).map(r => r.n)`:      "[1,2,3]",
		`return (await s.look.raw({n: 1})).content[0].type`:                              "text",
		`return (await search("look"))[0].name`:                                          "s__look",
		`return (await describe("s__look")).includes("declare const s:")`:                "true",
		`const at = Date.now(); await sleep(20); return Date.now() - at >= 15`:           "true",
		`try { await s.lok({}) } catch (e) { return [e.code, e.hint] }`:                  `["unknown_tool","did you mean s__look?"]`,
		`try { await s.look({n: "x"}) } catch (e) { return e.code }`:                     "bad_arguments",
		`try { await tools.run_script({code: "return 1"}) } catch (e) { return e.code }`: "unknown_tool",
		`try { await tools.find_tools({query: "x"}) } catch (e) { return e.code }`:       "unknown_tool",
		`return undefined`: "The script returned nothing.",
	} {
		if got := y.returns(code); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", code, got, want)
		}
	}
	res, err := y.run(t.Context(), NoTask, "console.log('seen', 1)\nawait s.look({n: 'x'})", "")
	if err != nil || !isToolError(res.Raw) || !strings.Contains(string(res.Raw), "(line 2)") || !strings.Contains(string(res.Raw), `Printed:\nseen 1`) {
		t.Errorf("%s, %v", res.Raw, err)
	}
}

// TestWhatAScriptCallsIsRecorded looks at the records, the stored results and what the model gets.
func TestWhatAScriptCallsIsRecorded(t *testing.T) {
	y := newScriptYard(t, "")
	y.send = func(context.Context, upstream.Call) (upstream.Outcome, error) {
		return upstream.Outcome{Raw: json.RawMessage(rows(400))}, nil
	}
	apply(t, y.Caller, "mcpServers: {s: {command: s}}\nprofiles: {default: {code: on, budget: 500}}\n")
	res, err := y.run(t.Context(), NoTask, `const r = await s.look({}); return {rows: r.rows.length, all: r}`, "")
	if err != nil {
		t.Fatal(err)
	}
	if rawjson.Get(res.Raw, "structuredContent", "_omitted") == nil || res.Ref == "" || len(res.Raw) > 6000 {
		t.Errorf("%d bytes with ref %q: %.300s", len(res.Raw), res.Ref, res.Raw)
	}
	inner, outer := y.records[0], y.records[1]
	if inner.Parent != outer.ID || inner.Tool != "s__look" || inner.Ref == "" || inner.BytesSent != int64(len(rows(400))) || outer.Parent != "" {
		t.Errorf("%+v\n%+v", inner, outer)
	}
	kept, err := y.store.Result(t.Context(), "ann", inner.Ref)
	if err != nil || string(kept.Body) != rows(400) {
		t.Errorf("%.100s, %v", kept.Body, err)
	}
	row, err := y.store.ScriptRun(t.Context(), "ann", outer.ID)
	var body RunBody
	if err != nil || json.Unmarshal(row.Body, &body) != nil || row.State != store.ScriptEnded || body.Log[0].Tool != "s__look" || body.Log[0].Call != inner.ID {
		t.Errorf("%+v, %v", body, err)
	}
}

// TestWhatIsNotCallableIsNotReachable: scripts see what their caller sees.
func TestWhatIsNotCallableIsNotReachable(t *testing.T) {
	for rule, code := range map[string]string{
		`profiles: {default: {code: on, tools: {deny: [s__act]}}}`:                                        "unknown_tool",
		"profiles: {default: {code: on}}\npolicy: [{name: no, tools: [s__act], then: deny}]":              "denied",
		"profiles: {default: {code: on}}\npolicy: [{name: no, when: 'args.n == 7', then: deny}]":          "denied",
		"profiles: {default: {code: on, default: deny}}\npolicy: [{name: a, tools: [x__*], then: allow}]": "denied",
	} {
		y := newScriptYard(t, "")
		apply(t, y.Caller, "mcpServers: {s: {command: s}}\n"+rule)
		for _, call := range []string{`s.act`, `tools["s__act"]`, `s["act"].raw`} {
			got := y.returns(`try { await ` + call + `({n: 7}); return "made" } catch (e) { return e.code ?? "no s" }`)
			if got != code && got != "no s" {
				t.Errorf("%s\n%s: %s", rule, call, got)
			}
		}
		if len(y.sent) > 0 {
			t.Errorf("%s: sent %s", rule, y.sent[0].Params)
		}
	}
}

func TestWhereThereAreNoScriptsTheErrorSaysHow(t *testing.T) {
	y := newYard(t, store.WaitingLimits{})
	y.send = nil
	if got := y.returns("return 1"); !strings.Contains(got, "profile default runs no scripts; code: on lets it") {
		t.Error(got)
	}
}

func TestAScriptHasEightCallsAtATime(t *testing.T) {
	y := newScriptYard(t, "")
	var now, most atomic.Int32
	gate := make(chan struct{})
	y.send = func(context.Context, upstream.Call) (upstream.Outcome, error) {
		if n := now.Add(1); n > most.Load() {
			most.Store(n)
			if n == maxParallel {
				close(gate)
			}
		}
		<-gate
		now.Add(-1)
		return upstream.Outcome{Raw: json.RawMessage(resultOf(`{}`))}, nil
	}
	got := y.returns(`const all = []; for (let n = 0; n < 40; n++) all.push(s.look({n})); return (await Promise.all(all)).length`)
	if got != "40" || most.Load() != maxParallel {
		t.Errorf("%s, %d at a time", got, most.Load())
	}
}

// TestAScriptGoesOnAfterAnApproval: what it did before is not done again, and a script that was changed begins anew.
func TestAScriptGoesOnAfterAnApproval(t *testing.T) {
	y := newScriptYard(t, "policy: [{name: ask, when: args.n == 2, then: approve}]\n")
	yes := false
	y.opts.Approve = func(context.Context, *Permission) (Approved, error) {
		if !yes {
			return Approved{}, fault.New(fault.ApprovalRequired, "open the page").WithHint("https://example.com/approvals/1")
		}
		return Approved{By: "eve"}, nil
	}
	code := `const id = crypto.randomUUID(); const a = await s.act({n: 1}); const b = await s.act({n: 2}); return [a.n, b.n, id, Date.now(), Math.random()].join()`
	for range 2 {
		if got := y.returns(code); !strings.Contains(got, "open the page") || !strings.Contains(got, "make the same call again") {
			t.Fatal(got)
		}
	}
	if len(y.sent) != 1 {
		t.Fatalf("sent %d", len(y.sent))
	}
	y.returns(code + " ") // another script
	yes = true
	if got := y.returns(code); !strings.HasPrefix(got, "1,2,") {
		t.Error(got)
	}
	if len(y.sent) != 3 { // two times n: 1, because of the other script, and n: 2
		t.Errorf("sent %d", len(y.sent))
	}
	y.returns(code)
	if len(y.sent) != 5 { // from the beginning
		t.Errorf("sent %d", len(y.sent))
	}
}

// asks is what a modern server answers that has a question.
func asks(state string) upstream.Outcome {
	return upstream.Outcome{Kind: upstream.InputRequired, Era: mcp.Modern, Raw: json.RawMessage(
		`{"resultType":"input_required","inputRequests":{"who":{"method":"elicitation/create","params":{"message":"Who?"}}},"requestState":"` + state + `"}`)}
}

// askTwice is a server that asks before it answers odd numbers.
func askTwice(_ context.Context, c upstream.Call) (upstream.Outcome, error) {
	n, _ := strconv.Atoi(string(rawjson.Get(c.Params, "arguments", "n")))
	said := rawjson.Get(c.Params, "inputResponses")
	if n%2 == 1 && said == nil {
		return asks("state" + strconv.Itoa(n)), nil
	}
	state, _ := rawjson.String(rawjson.Get(c.Params, "requestState"))
	who, _ := rawjson.String(rawjson.Get(said, "who", "content"))
	return upstream.Outcome{Raw: json.RawMessage(resultOf(fmt.Sprintf(`{"n":%d,"state":%q,"who":%q}`, n, state, who)))}, nil
}

const askingCode = `const r = await Promise.all([1, 2, 3].map(n => s.act({n}))); return r.map(x => x.n + x.state + x.who)`

// TestAScriptGoesOnWithAnswers has two calls that ask at the same time.
func TestAScriptGoesOnWithAnswers(t *testing.T) {
	y := newScriptYard(t, "")
	y.send = askTwice
	res, err := y.run(t.Context(), NoTask, askingCode, "")
	if err != nil || res.Kind != upstream.InputRequired {
		t.Fatalf("%+v, %v", res, err)
	}
	if rawjson.Get(res.Raw, "inputRequests", "1.who") == nil || rawjson.Get(res.Raw, "inputRequests", "3.who") == nil {
		t.Errorf("%s", res.Raw)
	}
	state := rawjson.Get(res.Raw, "requestState")
	res, err = y.run(t.Context(), NoTask, askingCode,
		`,"inputResponses":{"1.who":{"content":"ann"},"3.who":{"content":"bob"}},"requestState":`+string(state))
	if err != nil || text(t, res.Raw) != `["1state1ann","2","3state3bob"]` {
		t.Errorf("%+v, %v", res, err)
	}
	if len(y.sent) != 5 {
		t.Errorf("sent %d", len(y.sent))
	}
	res, err = y.run(t.Context(), NoTask, askingCode, `,"inputResponses":{},"requestState":`+string(state)) // it has ended
	if !fault.Is(err, fault.Conflict) || len(y.sent) != 5 {
		t.Errorf("%+v, %v", res, err)
	}
}

// TestADetachedScriptGoesOnWithAnswers is the same for a script that goes on without its request.
func TestADetachedScriptGoesOnWithAnswers(t *testing.T) {
	y := newScriptYard(t, "")
	y.send = askTwice
	if _, err := y.run(t.Context(), AsTask, askingCode, ""); err != ErrHandedOver {
		t.Fatal(err)
	}
	id := y.handles[0].ID
	w, err := y.calls.Wait(t.Context(), "ann", id, 5*time.Second)
	if err != nil || w.State != store.InputRequired {
		t.Fatalf("%+v, %v", w, err)
	}
	answers := map[string]json.RawMessage{"1.who": json.RawMessage(`{"content":"ann"}`), "3.who": json.RawMessage(`{"content":"bob"}`)}
	if _, err := y.calls.Answer(t.Context(), "ann", id, answers); err != nil {
		t.Fatal(err)
	}
	if w := y.ended(); !strings.Contains(string(w.Answer), `1state1ann`) || len(y.sent) != 5 {
		t.Errorf("sent %d: %s", len(y.sent), w.Answer)
	}
}

// TestAScriptIsRunAgainWhileItWaits: its engine does not wait for long, and what it returns is the same.
func TestAScriptIsRunAgainWhileItWaits(t *testing.T) {
	y := newScriptYard(t, "")
	y.idle = time.Millisecond
	y.send = func(_ context.Context, c upstream.Call) (upstream.Outcome, error) {
		time.Sleep(20 * time.Millisecond) // longer than the engine waits
		return upstream.Outcome{Raw: json.RawMessage(resultOf(string(rawjson.Get(c.Params, "arguments"))))}, nil
	}
	got := y.returns(`const seen = []; const id = Math.random();
		await Promise.all([3, 1, 2].map(async n => { seen.push((await s.act({n})).n) }));
		await s.look({n: 4}); return seen.length === 3 && id === id ? "good" : "bad"`)
	if got != "good" || len(y.sent) != 4 {
		t.Errorf("%s, sent %d", got, len(y.sent))
	}
}

// goesOnElsewhere runs a script as a task, closes its gateway once die is closed, and returns what the next one makes of it.
func (y *yard) goesOnElsewhere(code string, die <-chan struct{}) (store.Waiting, error) {
	var wg sync.WaitGroup
	wg.Go(func() { y.run(context.Background(), AsTask, code, "") })
	<-die
	y.calls.Close()
	wg.Wait()
	next := waiting.New(y.store, &waiting.Options{GoOn: y.GoOn, Lease: 400 * time.Millisecond})
	defer next.Close()
	ctx, stop := context.WithCancel(y.t.Context())
	wg.Go(func() { next.Run(ctx) })
	defer wg.Wait()
	defer stop()
	return next.Collect(y.t.Context(), "ann", y.handles[0].ID, 10*time.Second, mcp.Deaf)
}

// TestAScriptSurvivesItsGateway ends the gateway at each call of a script. Another goes on with it: calls that act are made once,
// or the script hears that they may have been.
func TestAScriptSurvivesItsGateway(t *testing.T) {
	const code = `const out = []; for (let n = 1; n <= 4; n++) {
		try { out.push((await (n % 2 ? s.look({n}) : s.act({n}))).n) } catch (e) { out.push(e.code) } }
		return out.join() + Math.floor(Math.random() * 0)`
	for at := 1; at <= 4; at++ {
		y := newScriptYard(t, "")
		die := make(chan struct{})
		var once sync.Once
		y.send = func(ctx context.Context, c upstream.Call) (upstream.Outcome, error) {
			n := string(rawjson.Get(c.Params, "arguments", "n"))
			if n == strconv.Itoa(at) {
				lost := false
				once.Do(func() { close(die); <-ctx.Done(); lost = true })
				if lost {
					return upstream.Outcome{}, ctx.Err() // nobody hears it
				}
			}
			return upstream.Outcome{Raw: json.RawMessage(resultOf(`{"n":` + n + `}`))}, nil
		}
		w, err := y.goesOnElsewhere(code, die)
		want := map[int]string{1: "1,2,3,40", 2: "1,unknown_outcome,3,40", 3: "1,2,3,40", 4: "1,2,3,unknown_outcome0"}[at]
		if err != nil || !strings.Contains(string(w.Answer), want) {
			t.Errorf("at %d: %s, %v", at, w.Answer, err)
		}
	}
}

// TestAScriptThatWentOnSurvivesItsGateway: the call that goes on with a paused script has another id than the script's run.
func TestAScriptThatWentOnSurvivesItsGateway(t *testing.T) {
	y := newScriptYard(t, "policy: [{name: ask, when: args.n == 2, then: approve}]\n")
	y.opts.Approve = func(context.Context, *Permission) (Approved, error) {
		return Approved{}, fault.New(fault.ApprovalRequired, "open the page")
	}
	const code = `await s.act({n: 1}); await s.act({n: 2}); return (await s.look({n: 3})).n`
	if got := y.returns(code); !strings.Contains(got, "open the page") {
		t.Fatal(got)
	}
	y.opts.Approve = func(context.Context, *Permission) (Approved, error) { return Approved{By: "eve"}, nil }
	die := make(chan struct{})
	var once sync.Once
	answer := y.send
	y.send = func(ctx context.Context, c upstream.Call) (upstream.Outcome, error) {
		if c.Tool == "look" {
			once.Do(func() { close(die); <-ctx.Done() })
		}
		return answer(ctx, c)
	}
	w, err := y.goesOnElsewhere(code, die)
	acts := 0
	for _, c := range y.sent {
		if c.Tool == "act" {
			acts++
		}
	}
	if err != nil || acts != 2 || !strings.Contains(string(w.Answer), `"text":"3"`) {
		t.Errorf("%d acts: %s, %v", acts, w.Answer, err)
	}
}

// TestAScriptThatDivergesSaysWhere changes the log of a paused script.
func TestAScriptThatDivergesSaysWhere(t *testing.T) {
	y := newScriptYard(t, "")
	y.send = askTwice
	res, err := y.run(t.Context(), NoTask, askingCode, "")
	if err != nil {
		t.Fatal(err)
	}
	row, err := y.store.ScriptRun(t.Context(), "ann", res.ID)
	if err != nil {
		t.Fatal(err)
	}
	row.Body = []byte(strings.ReplaceAll(string(row.Body), `"s.act"`, `"s.look"`))
	if err := y.store.SaveScriptRun(t.Context(), row); err != nil {
		t.Fatal(err)
	}
	if got := y.returns(askingCode); !strings.Contains(got, "call 1 was s.look, and is s.act now") {
		t.Error(got)
	}
}

// TestAScriptsHandleIsItsOwners: nobody else goes on with it.
func TestAScriptsHandleIsItsOwners(t *testing.T) {
	y := newScriptYard(t, "")
	y.send = askTwice
	res, err := y.run(t.Context(), NoTask, askingCode, "")
	if err != nil {
		t.Fatal(err)
	}
	params, _ := ParseParams(json.RawMessage(`{"name":"run_script","arguments":{"code":` + string(rawjson.AppendString(nil, askingCode)) +
		`},"inputResponses":{},"requestState":` + string(rawjson.Get(res.Raw, "requestState")) + `}`))
	res, err = y.Do(t.Context(), Request{
		Principal: access.Principal{ID: "bob", Role: access.Caller}, Profile: "default", Params: params,
		From: mcp.Speaker{Era: mcp.Modern, Capabilities: elicits}, Client: mcp.Deaf,
	})
	if !fault.Is(err, fault.Conflict) || len(y.sent) != 3 {
		t.Errorf("sent %d: %+v, %v", len(y.sent), res, err)
	}
}

// TestAScriptThatDoesNotWaitForItsCallsHasEnded: they are canceled, and what they note afterwards changes nothing.
func TestAScriptThatDoesNotWaitForItsCallsHasEnded(t *testing.T) {
	y := newScriptYard(t, "")
	y.send = func(ctx context.Context, _ upstream.Call) (upstream.Outcome, error) {
		<-ctx.Done()
		return upstream.Outcome{}, ctx.Err()
	}
	for range 20 {
		res, err := y.run(t.Context(), NoTask, `for (let n = 0; n < 20; n++) s.act({n}); return 1`, "")
		if err != nil || text(t, res.Raw) != "1" {
			t.Fatalf("%+v, %v", res, err)
		}
		if row, err := y.store.ScriptRun(t.Context(), "ann", res.ID); err != nil || row.State != store.ScriptEnded {
			t.Fatalf("it is %s, %v", row.State, err)
		}
	}
}

// TestOneCallGoesOnWithARun: answers that come twice do nothing twice. Soon after the first they do nothing at all, later they take the
// run over from a gateway that may have gone.
func TestOneCallGoesOnWithARun(t *testing.T) {
	for _, later := range []time.Duration{0, 2 * stillOn} {
		y := newScriptYard(t, "")
		y.send = askTwice
		code := `const out = []; for (const n of [1, 2, 4]) { try { out.push((await s.act({n})).n) } catch (e) { out.push(e.code) } } return out`
		res, err := y.run(t.Context(), NoTask, code, "")
		if err != nil {
			t.Fatal(err)
		}
		more := `,"inputResponses":{"1.who":{"content":"ann"}},"requestState":` + string(rawjson.Get(res.Raw, "requestState"))
		var second error
		var made atomic.Int32
		y.send = func(ctx context.Context, c upstream.Call) (upstream.Outcome, error) {
			if made.Add(1) == 1 { // the first is on its way when the answers come again
				now := y.opts.Now
				y.opts.Now = func() time.Time { return now().Add(later) }
				_, second = y.run(ctx, NoTask, code, more)
				y.opts.Now = now
			}
			return askTwice(ctx, c)
		}
		_, first := y.run(t.Context(), NoTask, code, more)
		if made.Load() != 3 || fault.Is(first, fault.Conflict) != (later > 0) || fault.Is(second, fault.Conflict) != (later == 0) {
			t.Errorf("after %s: made %d, %v and %v", later, made.Load(), first, second)
		}
	}
}
