package script

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
)

// The test's own program is the child as well, and the parent that is killed.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == Argument {
		syscall.Exit(Main(os.Stdin, os.Stdout)) // os.Exit waits a second under the race detector
	}
	if os.Getenv(doomedVariable) != "" {
		doomed()
	}
	os.Exit(m.Run())
}

// newRunner makes one that keeps nothing warm, unless told otherwise.
func newRunner(t testing.TB, opts Options) *Runner {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if opts.Warm == 0 {
		opts.Warm = -1
	}
	r := New(exe, &opts)
	t.Cleanup(r.Close)
	return r
}

var noon = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// job is a script with the servers shop and ops.
func job(code string) Job {
	return Job{Who: "me", Code: code, Globals: map[string]string{"shop": "shop", "ops": "my-ops"}, Seed: "seed", Now: noon}
}

// play runs a script to its end. Calls are answered one after the other, the oldest first.
func play(ctx context.Context, r *Runner, j Job) (turns []Turn, err error) {
	p, turn, err := r.Start(ctx, j)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	var open []Call
	for n := 1; ; n++ {
		turns = append(turns, turn)
		open = append(open, turn.Calls...)
		if turn.Done {
			return turns, nil
		}
		if turn, err = p.Answer(ctx, reply(open[0], n)); err != nil {
			return turns, err
		}
		open = open[1:]
	}
}

// reply answers a call with what its arguments have under value or error, or else with the call.
func reply(c Call, n int) Answer {
	var args struct {
		Value json.RawMessage
		Error *Thrown
	}
	json.Unmarshal(c.Args, &args)
	if args.Value == nil {
		args.Value, _ = json.Marshal(c)
	}
	return Answer{Seq: c.Seq, Value: args.Value, Err: args.Error, Now: noon.Add(time.Duration(n) * time.Second)}
}

// ended is how a script ended, in words.
func ended(turns []Turn, err error) string {
	if err != nil {
		return "fault: " + err.Error()
	}
	last := turns[len(turns)-1]
	if e := last.Err; e != nil {
		return fmt.Sprintf("%s: %s at %d", e.Name, e.Message, e.Line)
	}
	if last.Result == nil {
		return "undefined"
	}
	return string(last.Result)
}

// printed is all that was printed.
func printed(turns []Turn) (log string) {
	for _, turn := range turns {
		log += turn.Log
	}
	return log
}

type example struct{ name, code, want string }

// run runs scripts, and compares how they end.
func run(t *testing.T, examples []example) {
	t.Helper()
	r := newRunner(t, Options{})
	for _, c := range examples {
		t.Run(c.name, func(t *testing.T) {
			j := job(c.code)
			j.Input = json.RawMessage(`{"n": 9007199254740993, "list": [1, 0.5, -12345678901234567890, 1e30, 0.12345678901234567890],
				"id": "12345678901234567890"}`)
			if got := ended(play(t.Context(), r, j)); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestWhatAScriptReturns(t *testing.T) {
	run(t, []example{
		{"a value", `return { a: [1, "x", null, true], b: undefined }`, `{"a":[1,"x",null,true]}`},
		{"nothing", `1`, `undefined`},
		{"null", `return null`, `null`},
		{"a date", `return new Date(0)`, `"1970-01-01T00:00:00.000Z"`},
		{"what is not a number", `return [NaN, Infinity, -0]`, `[null,null,0]`},
		{"half a character", `return "a\ud800b世"`, `"a\ud800b世"`},
		{"a line comment at the end", `return 1 // so`, `1`},
		{"a cycle", `const a = {}; a.a = a; return a`, `TypeError: the script returned what is not JSON: circular reference at 0`},
		{"a function",
			`return shop.list`, `TypeError: the script returned a function, which is not JSON: call it, return what it gives at 0`},
		{"promises", `return [shop.f()]`, `TypeError: the script returned what is not JSON: a promise is not a value yet: await it first at 0`},
		{"a promise", `return shop.f({ value: 1 })`, `1`},
		{"large integers, from the input", `return [input, typeof input.n, typeof input.list[0]]`,
			`[{"n":9007199254740993,"list":[1,0.5,-12345678901234567890,1e+30,0.12345678901234568],"id":"12345678901234567890"},"bigint","number"]`},
		{"large integers, from and to a tool",
			`return await shop.f({ value: { n: input.n + 1n, m: [2 ** 40] } })`, `{"n":9007199254740994,"m":[1099511627776]}`},
		{"large integers, in the script's own JSON", `return JSON.stringify({ n: input.n })`, `"{\"n\":9007199254740993}"`},
	})
}

func TestWhatAScriptThrows(t *testing.T) {
	run(t, []example{
		{"by mistake", "let a\na.b", `TypeError: cannot read property 'b' of undefined at 2`},
		{"on its first line", "null.x", `TypeError: cannot read property 'x' of null at 1`},
		{"on purpose", "\n\nthrow new RangeError('no')", `RangeError: no at 3`},
		{"in a function", "function f() {\n  throw new Error('no')\n}\nf()", `Error: no at 2`},
		{"after a call", "await shop.f()\nthrow new Error('no')", `Error: no at 2`},
		{"a syntax error", "let a = 1\nlet b = ;", `SyntaxError: unexpected token in expression: ';' at 2`},
		{"a text", "throw 'no'", `: no at 0`},
		{"an object", "throw { a: 1 }", `: {"a":1} at 0`},
		{"nothing", "throw undefined", `: undefined at 0`},
		{"what a tool gave", "\nawait shop.f({ error: { name: 'ToolError', message: 'no' } })", `ToolError: no at 2`},
		{"a promise of nobody", `await new Promise(() => {})`,
			`Error: the script cannot go on: it waits for a promise that nothing resolves, or had no memory to resolve it at 0`},
		{"after it ended", `shop.f().then(() => shop.f()); return 1`, `1`},
		{"a statement of modules", `import x from "y"`, `SyntaxError: expecting '(' at 1`},
	})
}

func TestErrorsOfCallsAreCaughtWithEverything(t *testing.T) {
	code := `try {
  await shop.f({ error: { name: "ToolError", message: "no", code: "denied", hint: "ask", content: [9007199254740993n] } })
} catch (e) {
  console.log(e instanceof Error, String(e), e.code, e.hint, typeof e.content[0])
  throw e
}`
	turns, err := play(t.Context(), newRunner(t, Options{}), job(code))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := printed(turns), "true ToolError: no denied ask bigint\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	got, _ := json.Marshal(turns[1].Err)
	want := `{"name":"ToolError","message":"no","code":"denied","hint":"ask",` +
		`"stack":"at \u003canonymous\u003e (script:2:15)","line":2,"content":[9007199254740993]}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestCalls(t *testing.T) {
	run(t, []example{
		{"a tool",
			`return await shop.list_orders({ state: "open" })`,
			`{"seq":1,"do":"call","server":"shop","tool":"list_orders","args":{"state":"open"}}`},
		{"a server with another name", `return (await ops.restart()).server`, `"my-ops"`},
		{"a tool by its name", `return await tools["odd-name"]()`, `{"seq":1,"do":"call","tool":"odd-name","args":{}}`},
		{"the whole result",
			`return await shop["a b"].raw({ x: 1 })`, `{"seq":1,"do":"call","server":"shop","tool":"a b","args":{"x":1},"raw":true}`},
		{"without arguments", `return (await shop.f(undefined)).args`, `{}`},
		{"search", `return [await search("open orders"), await search("x", 3)].map(c => [c.do, c.args])`,
			`[["search",{"query":"open orders"}],["search",{"query":"x","limit":3}]]`},
		{"describe", `const { do: d, args } = await describe("shop__f"); return [d, args]`, `["describe",{"name":"shop__f"}]`},
		{"sleep", `const { do: d, args } = await sleep(1.5); return [d, args]`, `["sleep",{"ms":1.5}]`},
		{"at once", `return (await Promise.all([3, 2, 1].map(value => shop.f({ value })))).join()`, `"3,2,1"`},
		{"a race", `return await Promise.race([shop.f({ value: 1 }), shop.f({ value: 2 })])`, `1`},
		{"for await", `const all = []; for await (const x of [shop.f({ value: 1 }), shop.f({ value: 2 })]) all.push(x); return all`, `[1,2]`},
		{"a generator", `async function* pages() { for (let value = 0; value < 3; value++) yield await shop.f({ value }) }
			let sum = 0; for await (const n of pages()) sum += n; return sum`, `3`},
	})
}

func TestWrongArgumentsAreToldBeforeACall(t *testing.T) {
	shape := "TypeError: f takes one object with its arguments, as in f({ key: value }) at 1"
	run(t, []example{
		{"a text", `await shop.f("x")`, shape},
		{"a list", `await shop.f([1])`, shape},
		{"null", `await shop.f(null)`, shape},
		{"two", `await shop.f({}, {})`, shape},
		{"those of map", `await Promise.all([{}].map(shop.f))`, shape},
		{"a date", `await shop.f(new Date())`, shape},
		{"a function", `await shop.f(() => 1)`, shape},
		{"a cycle", `const a = {}; a.a = a; await shop.f(a)`, "TypeError: circular reference at 1"},
		{"a promise within", `await shop.f({ id: shop.g() })`, "TypeError: a promise is not a value yet: await it first at 1"},
		{"search of nothing", `await search()`, `TypeError: search takes a text, as in search("open orders") at 1`},
		{"describe of a function",
			`await describe(shop.f)`, `TypeError: describe takes the name of a tool, as in describe("shop__list_orders") at 1`},
		{"sleep of a text", `await sleep("1s")`, `TypeError: sleep takes milliseconds, as in sleep(500) at 1`},
	})
}

func TestWhatEveryValueIsAskedIsNoCall(t *testing.T) {
	r := newRunner(t, Options{})
	turns, err := play(t.Context(), r, job(`const log = [];
for (const s of [shop, tools]) {
  await s; s.then; s.toJSON; s[Symbol.iterator]; s[Symbol.toPrimitive]; s.constructor; s.hasOwnProperty("x"); s.__proto__;
  log.push(JSON.stringify(s), String(s), s + "", typeof s, s instanceof Object, Object.keys(s).length, s == s.valueOf(), "x" in s);
  try { [...s] } catch (e) { log.push(e.name) }
  s.x = 1; delete s.x; Object.prototype.toString.call(s); console.log(s, [s]);
}
shop.f; await shop.f; await shop.f.raw; shop.f.then; String(shop.f); JSON.stringify(shop.f);
return log.join()`))
	one := "{},[object Object],[object Object],object,true,0,true,false,TypeError"
	if got := ended(turns, err); got != fmt.Sprintf("%q", one+","+one) || len(turns) != 1 || len(turns[0].Calls) != 0 {
		t.Errorf("got %s, calls %+v", got, turns)
	}
}

func TestTheLog(t *testing.T) {
	for _, c := range []struct{ code, want string }{
		{`console.log("a", 1, null, undefined, true, 12n, Symbol("s"))`, `a 1 null undefined true 12 Symbol(s)`},
		{`console.info({ a: [1, "x"], f() {}, n: 1n, u: undefined })`, `{"a":[1,"x"],"f":"[function]","n":1}`},
		{`const a = { b: [] }; a.b.push(a, a.b); console.warn(a)`, `{"b":["[circular]","[circular]"]}`},
		{`const x = { n: 1 }; console.log([x, x])`, `[{"n":1},{"n":1}]`},
		{`console.error(new TypeError("no"), [new Error("in")])`, `TypeError: no ["Error: in"]`},
		{`console.debug(new Map([["k", { a: 1 }]]), new Set([1]), new Date(0), () => 1)`,
			`[["k",{"a":1}]] [1] "1970-01-01T00:00:00.000Z" [function]`},
		{`console.log({ toJSON() { throw new Error("no") } })`, `[cannot be shown: no]`},
		{`console.log(Promise.resolve(1))`, `[cannot be shown: a promise is not a value yet: await it first]`},
		{`console.log("\ud800", "世")`, `� 世`},
		{`console.log()`, ``},
	} {
		turns, err := play(t.Context(), newRunner(t, Options{}), job(c.code))
		if got := printed(turns); err != nil || got != c.want+"\n" {
			t.Errorf("%s\ngot  %s, %v\nwant %s", c.code, got, err, c.want)
		}
	}
}

func TestALongLogIsCutAndSaysSoOnce(t *testing.T) {
	r := newRunner(t, Options{Log: 10})
	turns, err := play(t.Context(), r, job(`console.log("ä"); await sleep(1);
		console.log("äää"); console.log("x"); await sleep(1); console.log("y")`))
	if err != nil || len(turns) != 3 || turns[0].Log != "ä\n" || turns[1].Log != "äää\n"+logFull || turns[2].Log != "" {
		t.Errorf("%+v, %v", turns, err)
	}
}

func TestLimitsThatAScriptCanCatch(t *testing.T) {
	r := newRunner(t, Options{Calls: 2, Answer: 100, Output: 1000})
	for _, c := range []struct{ code, want string }{
		{`await sleep(1); await sleep(1); try { await sleep(1) } catch (e) { return [e.name, e.message, e.code] }`,
			`["RangeError","a script can make 2 calls","limit_reached"]`},
		{`try { await shop.f({ value: "x".repeat(200) }) } catch (e) { return [e.name, e.message, e.code] }`,
			`["RangeError","the answer has 202 bytes; a script reads at most 100","too_large"]`},
		{`try { await shop.f({ x: "x".repeat(2000) }) } catch (e) { return [e.name, e.message] }`,
			`["RangeError","the arguments of calls at one time have at most 1000 bytes"]`},
	} {
		if got := ended(play(t.Context(), r, job(c.code))); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}

func TestWhatIsRefusedBeforeItRuns(t *testing.T) {
	r := newRunner(t, Options{Source: 100, Answer: 100})
	for _, j := range []Job{job(strings.Repeat(" ", 101)), {Code: "1", Input: json.RawMessage(`"` + strings.Repeat("x", 100) + `"`)}} {
		if _, _, err := r.Start(t.Context(), j); !fault.Is(err, fault.TooLarge) {
			t.Errorf("got %v", err)
		}
	}
}

func TestServersDoNotReplaceWhatScriptsNeed(t *testing.T) {
	j := job(`return [typeof JSON.parse, input, typeof search, typeof await tools.f()]`)
	for _, name := range []string{"JSON", "input", "search", "tools", "Promise"} {
		j.Globals[name] = "evil"
	}
	j.Input = json.RawMessage("1")
	if got := ended(play(t.Context(), newRunner(t, Options{}), j)); got != `["function",1,"function","object"]` {
		t.Error(got)
	}
}

// A name that is reserved is one that a script could not use, or that is taken.
func TestReservedNames(t *testing.T) {
	turns, err := play(t.Context(), newRunner(t, Options{}), Job{Code: `return Object.getOwnPropertyNames(globalThis).sort()`})
	if err != nil {
		t.Fatal(err)
	}
	var taken []string
	json.Unmarshal(turns[0].Result, &taken)
	for _, name := range append(taken, "class", "await", "let", "arguments") {
		if !Reserved(name) {
			t.Errorf("%s is not reserved", name)
		}
	}
	for _, name := range []string{"shop", "github", "Shop", "os", "std"} {
		if Reserved(name) {
			t.Errorf("%s is reserved", name)
		}
	}
	for _, gone := range []string{"WeakRef", "FinalizationRegistry", "Atomics", "SharedArrayBuffer", "performance", "setTimeout"} {
		if slices.Contains(taken, gone) {
			t.Errorf("a script has %s", gone)
		}
	}
}
