package script

import (
	"context"
	"errors"
	"runtime"
	"runtime/metrics"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
)

// bombs are scripts that want more than they may have. Each ends with a fault, with an error, or
// with little: want is a part of how it ends, where there is one way.
var bombs = []struct{ name, code, want string }{
	{"a loop", `for (;;);`, "time"},
	{"a GiB of text", `return "x".repeat((1 << 30) - 1).length`, "memory"},
	{"doubling a string", `let s = "x"; for (;;) s += s`, ""},
	{"doubling, flattened", `let s = "x"; for (;;) { s += s; s.charCodeAt(1) }`, "memory"},
	{"50 M elements", `const a = []; for (let i = 0; i < 5e7; i++) a.push(i); return a.length`, "memory"},
	{"join of holes", `return Array(1e8).join().length`, ""},
	{"join of more holes", `return Array(1e9).join("x").length`, ""},
	{"a backtracking regex", `return /^(a+)+$/.test("a".repeat(50) + "!")`, "time"},
	{"one with look-ahead", `return /^(?=(a+)+b)(x|a|aa)*$/.test("a".repeat(60))`, ""},
	{"a regex with back references", `return /(x+x+)+\1y/.test("x".repeat(100))`, "time"},
	{"deep arrays to JSON", `let a = []; for (let i = 0; i < 2e5; i++) a = [a]; return a`, ""},
	{"deep JSON", `return JSON.parse("[".repeat(1e6) + "]".repeat(1e6))`, ""},
	{"deep result", `let a = []; for (let i = 0; i < 600; i++) a = [a]; return a`, "nested deeper"},
	{"indexOf of a length", `return Array.prototype.indexOf.call({ length: 1e9 }, 1)`, "time"},
	{"includes of a length", `return Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1)`, "time"},
	{"fill of a length", `Array.prototype.fill.call({ length: 1e9 }, 1)`, ""},
	{"reverse of a length", `Array.prototype.reverse.call({ length: 2 ** 53 - 1 })`, "time"},
	{"a comparator that loops", `[3, 2, 1].sort(() => { for (;;); })`, "time"},
	{"a sort of much", `const a = Array.from({ length: 1e6 }, () => ({})); for (;;) a.sort(() => Math.random() - 0.5)`, ""},
	{"getters of getters", `const o = { get x() { return o.x + 1 } }; return o.x`, "stack overflow"},
	{"a getter in the result", `return { get x() { for (;;); } }`, "time"},
	{"toJSON without an end", `const o = { toJSON() { return { o: { toJSON: o.toJSON } } } }; return o`, ""},
	{"toJSON of growing text", `let s = "x"; return { a: { toJSON() { for (;;) s += s } } }`, ""},
	{"a proxy of all keys", `return new Proxy({}, { ownKeys() { return Array.from({ length: 1e7 }, (_, i) => "k" + i) } })`, ""},
	{"proxies of proxies", `let p = {}; for (let i = 0; i < 1e5; i++) p = new Proxy(p, {}); return p.x`, ""},
	{"a proxy as error", `throw new Proxy({}, { get() { for (;;); } })`, "longer"},
	{"an error whose getters throw",
		`throw { get message() { throw 1 }, get stack() { throw 2 }, toString() { throw 3 }, toJSON() { throw 4 } }`, "cannot be shown"},
	{"a flood of promises", `for (;;) Promise.resolve().then(() => {})`, ""},
	{"endless microtasks", `const f = () => Promise.resolve().then(f); f(); await new Promise(() => {})`, ""},
	{"endless awaits", `for (;;) await null`, "time"},
	{"an endless generator", `function* g() { for (;;) yield "x".repeat(100) } return [...g()]`, "memory"},
	{"an endless async generator", `async function* g() { for (;;) yield 1 } for await (const x of g());`, "time"},
	{"a flood of log", `for (;;) console.log("x".repeat(1000))`, "time"},
	{"a large log", `console.log("ä".repeat(1e7)); return 1`, "1"},
	{"a cyclic log", `const a = []; a.push(a); for (let i = 0; i < 12; i++) a.push(a, [a]); console.log(a); return 1`, "1"},
	{"a huge result", `return "ä".repeat(1.2e6)`, "2097152 bytes"},
	{"a larger one", `return "x".repeat(2e7)`, "returned more than"},
	{"huge arguments", `await shop.f({ s: "x".repeat(1e7) })`, "2097152 bytes"},
	{"huge arguments in bytes", `await shop.f({ s: "世".repeat(1e6) })`, "2097152 bytes"},
	{"many large arguments", `for (let i = 0; i < 50; i++) shop.f({ s: "x".repeat(1e5) }); await sleep(1)`, "2097152 bytes"},
	{"a thousand calls", `await Promise.all(Array.from({ length: 1000 }, () => shop.f()))`, "can make 100 calls"},
	{"calls in a loop", `for (;;) try { shop.f() } catch {}`, ""},
	{"a huge name", `await shop["x".repeat(3e6)]()`, ""},
	{"powers", `return String(2n ** (2n ** 40n)).length`, ""},
	{"large powers", `let n = 3n; for (;;) n *= n`, ""},
	{"digits of a large power", `return String(7n ** 10000000n).length`, ""},
	{"a typed array", `return new Uint8Array(2 ** 31).length`, ""},
	{"many typed arrays", `const a = []; for (;;) a.push(new Float64Array(1e5))`, "memory"},
	{"a resizable buffer", `const b = new ArrayBuffer(1, { maxByteLength: 2 ** 40 }); b.resize(2 ** 39)`, ""},
	{"deep recursion", `const f = () => f() + 1; return f()`, "stack overflow"},
	{"recursion through natives", `const f = () => [1].map(f); return f()`, "stack overflow"},
	{"recursion through sort, replace and JSON",
		`const f = () => "x".replace(/x/, () => JSON.stringify({ toJSON: () => [2, 1].sort(f) })); return f()`, ""},
	{"recursion through proxies", `const p = new Proxy({}, { get: (t, k, r) => r[k] }); return p.x`, "stack overflow"},
	{"recursion through async", `const f = async () => { await f() }; await f()`, ""},
	{"recursion through bind", `let f = () => 1; for (let i = 0; i < 1e6; i++) f = f.bind(null); return f()`, ""},
	{"a deep expression", `return eval("(".repeat(1e5) + "1" + ")".repeat(1e5))`, ""},
	{"deep source", `return eval("[".repeat(1e5))`, ""},
	{"all kinds of deep source",
		`const kinds = [["function f(){", "}"], ["a=>"], ["{", "}"], ["!"], ["- "], ["a?a:"], ["new "], ["2**"], ["if(1)"], ["[", "]"],
			["(", ")"], ["({a:", "})"], ["class A{static{", "}}"], ["x=["], ["async()=>{", "}"], ["a.b("], ["for(;;)"], ["do "], ["try{"],
			["switch(1){case 1:"], ["label:"], ["await "], ["typeof "]];
		let n = 0; for (const [a, b] of kinds)
			try { new Function(a.repeat(30000) + "1" + (b ?? "").repeat(30000)) } catch { n++ } return n > 9`, ""},
	{"all kinds of deep regexes",
		`let n = 0; for (const [a, b] of [["(?:", ")"], ["(?=", ")"], ["(?<!", ")"], ["(", ")"], ["[", "]"], ["a|"], ["(?:a*", ")*"]])
			try { new RegExp(a.repeat(30000) + (b ?? "").repeat(30000), "v").test("a") } catch { n++ } return n > 2`, ""},
	{"deep data in the log",
		`let a = []; for (let i = 0; i < 1e5; i++) a = [a]; let m = new Map(); for (let i = 0; i < 1e4; i++) m = new Map([[m, m]]);
			console.log(a, m); return 1`, "1"},
	{"prepareStackTrace", `Error.prepareStackTrace = () => { for (;;); }; Error.stackTraceLimit = Infinity; throw new Error("x")`, ""},
	{"a deep prototype chain", `let o = {}; for (let i = 0; i < 1e5; i++) o = Object.create(o); for (let i = 0; i < 1e5; i++) o.x`, ""},
	{"a wide object", `const o = {}; for (let i = 0;; i++) o["k" + i] = i`, "memory"},
	{"replaceAll that grows", `let s = "x"; for (;;) s = s.replaceAll("x", "xx")`, ""},
	{"split of much", `for (;;) "x".repeat(1e7).split("")`, ""},
	{"padStart", `return "x".padStart(2 ** 30 - 1, "ab").length`, ""},
	{"normalize", `return "ﷺ".repeat(3e6).normalize("NFKD").length`, ""},
	{"URI", `return encodeURIComponent("世".repeat(5e6)).length`, ""},
	{"Array.from a length", `return Array.from({ length: 1e9 }).length`, ""},
	{"concat of itself", `let a = [1]; for (;;) a = a.concat(a)`, ""},
	{"flat of a cycle", `const a = []; a.push(a, a); return a.flat(Infinity)`, ""},
	{"symbols", `const a = []; for (;;) a.push(Symbol("x"))`, ""},
	{"functions", `for (let i = 0;; i++) globalThis["f" + i] = new Function("return " + i)`, ""},
	{"the date of a loop", `const t = Date.now(); while (Date.now() < t + 1);`, "time"},
	{"swallowed errors", `for (;;) try { for (;;) "x".repeat(1e9) } catch {}`, "time"},
	{"memory and then a loop", `const a = []; try { for (;;) a.push("x".repeat(1e5) + a.length) } catch {} for (;;);`, "time"},
}

// deep are what a loop makes deeper than any stack, and what a native function then does with it.
var deep = []struct{ from, more, use string }{
	{"[1]", "[x]", "String(x)"}, {"[1]", "[x]", "x.flat(Infinity)"}, {"[1]", "[x]", "[...x, ...x].sort()"},
	{"[1]", "[x]", "x.toLocaleString()"},
	{"class {}", "class extends x {}", "new x()"}, {"() => 1", "x.bind()", "x()"}, {"() => 1", "x.bind()", "({}) instanceof x"},
	{"() => 1", "new Proxy(x, {})", "x()"}, {"{}", "new Proxy(x, {})", "x.y"}, {"{}", "new Proxy(x, {})", "Array.isArray(x)"},
	{"{}", "new Proxy(x, {})", "x instanceof Map"}, {"{}", "new Proxy(x, {})", "Object.setPrototypeOf(x, null)"},
	{"{}", "({ __proto__: x })", "x.y"},
	{"[1].values()", "x.map(y => y)", "[...x]"}, {"[1].values()", "x.flatMap(y => [y])", "x.toArray()"},
	{"'['", "x + '['", "JSON.parse(x + ']'.repeat(x.length), (k, v) => v)"},
	{"Promise.resolve(1)", "(y => new Promise(ok => ok(y)))(x)", "await x"}, {"1", "(y => ({ then(ok) { ok(y) } }))(x)", "await x"},
	{"function* () {}", "(y => function* () { yield* y() })(x)", "[...x()]"}, {"'a'", "'(?:' + x + ')*'", "new RegExp(x).test('b')"},
	{"new Error()", "new Error('', { cause: x })", "(() => { throw x })()"}, {"{}", "({ x })", "JSON.stringify(x)"},
	{"{}", "({ get y() { return this.z }, z: x })", "x.y.y.y"},
}

// small are limits for tests that take their time.
var small = Options{CPU: time.Second, Time: time.Second, Output: 2 << 20, Answer: 2 << 20, Log: 64 << 10, Children: 4}

// starts is what a child may take to start on a busy machine.
const starts = 2 * time.Second

// raced says that the race detector is at work: in the child too, whose limits do not fit that.
var raced bool

func TestBombsEndAndHarmNobodyElse(t *testing.T) {
	if raced {
		t.Skip("with the race detector the engine takes more of everything than it may")
	}
	r := newRunner(t, small)
	others := newRunner(t, Options{})
	heap, stop := watchHeap(), make(chan struct{})
	var beside sync.WaitGroup
	beside.Go(func() { // another caller's scripts
		for n := 0; ; n++ {
			select {
			case <-stop:
				t.Logf("%d other scripts ran meanwhile", n)
				return
			default:
			}
			if got := ended(play(t.Context(), others, job(`return (await shop.f({ value: [1, 2] })).length`))); got != "2" {
				t.Errorf("another script: %s", got)
				return
			}
		}
	})
	t.Run("all", func(t *testing.T) {
		for _, b := range bombs {
			t.Run(b.name, func(t *testing.T) {
				t.Parallel()
				explode(t, r, b.code, b.want)
			})
		}
		for _, d := range deep {
			t.Run(d.use+" of "+d.more, func(t *testing.T) {
				t.Parallel()
				explode(t, r, "let x = "+d.from+"; for (let i = 0; i < 20000; i++) x = "+d.more+"; "+d.use, "")
			})
		}
	})
	close(stop)
	beside.Wait()
	if grown := heap(); grown > 20<<20 {
		t.Errorf("the parent's heap grew by %d MB", grown>>20)
	} else {
		t.Logf("the parent's heap grew by %d KB", grown>>10)
	}
}

func explode(t *testing.T, r *Runner, code, want string) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := r.room.Wait(ctx, "bombs"); err != nil { // so that the wait for a place is not measured
		t.Fatal(err)
	}
	r.room.Leave("bombs")
	began := time.Now()
	turns, err := play(ctx, r, job(code))
	took := time.Since(began)
	got := ended(turns, err)
	t.Logf("%4d ms  %.150s", took.Milliseconds(), got)
	slow := took > small.Time && strings.Contains(got, "longer") // the machine was too busy to get that far
	if err != nil && !fault.Is(err, fault.TooLarge) || !strings.Contains(got, want) && !slow {
		t.Errorf("got %.300s (%v), want %q", got, errors.Unwrap(err), want)
	}
	if took > small.Time+time.Second+starts {
		t.Errorf("took %s", took)
	}
	for i, turn := range turns {
		if len(turn.Log) > small.Log+len(logFull) {
			t.Errorf("turn %d prints %d bytes", i, len(turn.Log))
		}
	}
}

// watchHeap returns a function that tells how much the heap grew at most since.
func watchHeap() func() int64 {
	now := func() int64 {
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		metrics.Read(sample)
		return int64(sample[0].Value.Uint64())
	}
	runtime.GC()
	before, most := now(), int64(0)
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				most = max(most, now()-before)
			}
		}
	}()
	return func() int64 {
		close(stop)
		<-done
		return most
	}
}
