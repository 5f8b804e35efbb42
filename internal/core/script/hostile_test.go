package script

import (
	"errors"
	"testing"
)

func TestAScriptReachesNothing(t *testing.T) {
	run(t, []example{
		{"by constructors", `return Object.keys((() => {}).constructor.constructor("return this")()).concat(Object.keys(globalThis))`, `[]`},
		{"by the constructors of our functions",
			`const g = shop.f.constructor("return this")(); return g === globalThis && sleep.constructor("return globalThis")() === g`, `true`},
		{"by eval", `return [typeof eval("shop.f"), eval("typeof begin"), (0, eval)("typeof pending"), new Function("return typeof limits")()]`,
			`["function","undefined","undefined","undefined"]`},
		{"by modules",
			`const no = []; for (const name of ["std", "os", "fs", "node:fs", "./x.js", "/etc/passwd"])
				try { await import(name) } catch (e) { no.push(e.name) } return no.join()`,
			`"ReferenceError,ReferenceError,ReferenceError,ReferenceError,ReferenceError,ReferenceError"`},
		{"by names of other hosts",
			`return ["process", "require", "std", "os", "scriptArgs", "print", "fetch", "Worker", "WebAssembly", "Deno", "Bun", "gc",
				"performance", "setTimeout", "queueMicrotask"].filter(n => n in globalThis)`, `[]`},
		{"what is gone stays gone",
			`return ["Atomics", "SharedArrayBuffer", "WeakRef",
				"FinalizationRegistry"].filter(n => n in globalThis || eval("typeof " + n) != "undefined")`, `[]`},
		{"a clock",
			`const D = (new Date()).constructor;
			return [D === Date, D.now(), Object.getPrototypeOf(new Date()).constructor === Date,
				Date.prototype.constructor.now() === D.now(), new (class extends Date {})().getTime()]`,
			`[true,1793534400000,true,true,1793534400000]`},
		{"by callers",
			`function f() { return [typeof f.caller, f.arguments] } try { return f() } catch (e) { return e.name }`, `["undefined",null]`},
		{"by the stack", `try { null.x } catch (e) { return Object.getOwnPropertyNames(e).filter(n => typeof e[n] == "function") }`, `[]`},
		{"by getting out of its function",
			`}); globalThis.out = 1; (async function () { return [typeof out, typeof begin]`, `["number","undefined"]`},
		{"by a revealed constructor",
			`const p = shop.f({ value: 1 }); return [p.constructor === Promise, p instanceof Promise, await p]`, `[true,true,1]`},
	})
}

// A script that breaks everything it can reach gets calls, answers, log and result as if it had
// not, as long as its own statements need nothing of that: await needs the constructor of promises.
func TestAScriptCannotBreakOurFunctions(t *testing.T) {
	spoil := `const bad = () => { throw new Error("spoiled") }, define = Reflect.defineProperty, log = console.log;
const iterator = Object.getPrototypeOf([][Symbol.iterator]()), { shop: s, search: find, sleep: nap, tools: all } = globalThis;
const todo = [];
for (const o of [globalThis, iterator, Object.getPrototypeOf(iterator), ...Object.getOwnPropertyNames(globalThis).flatMap(n => {
  const v = globalThis[n];
  return typeof v === "function" && v.prototype ? [v, v.prototype] : typeof v === "object" && v && n !== "globalThis" ? [v] : [];
})]) for (const k of Reflect.ownKeys(o)) if (o !== Promise.prototype || k !== "constructor") todo.push(o, k);
for (let i = 0; i < todo.length; i += 2) define(todo[i], todo[i + 1], { __proto__: null, get: bad, set: bad, configurable: true });
`
	inherit := `for (const k of ["value", "get", "set", "writable", "enumerable", "configurable", "seq", "now", "err", "name", "code", "hint",
  "content", "message", "stack", "raw", "do", "server", "tool", "args", "source", "calls", "resolve", "reject", "place", "limit"])
  Object.defineProperty(Object.prototype, k, { __proto__: null, get() { throw new Error(k) }, set() { throw new Error(k) } });
const { log } = console, s = shop, all = tools, nap = sleep, find = search;
`
	use := `log("text", 1);
let text = await s.f({ value: "x" });
text += (await nap(1)).do;
text += (await find("q", 2)).do;
text += (await all.g.raw()).tool;
try { await s.f({ error: { __proto__: null, message: "no" } }) } catch (e) { text += e.message }
return text`
	nothing := `const s = shop, all = tools, nap = sleep, find = search, { log } = console;`
	for name, before := range map[string]string{"nothing": nothing, "what there is": spoil, "what objects inherit": inherit} {
		t.Run(name, func(t *testing.T) {
			turns, err := play(t.Context(), newRunner(t, Options{}), job(before+use))
			if got := ended(turns, err); got != `"xsleepsearchgno"` || printed(turns) != "text 1\n" {
				t.Errorf("got %s (%v), printed %q", got, errors.Unwrap(err), printed(turns))
			}
		})
	}
}

// The engine's own JSON uses a list that inherits: whoever breaks that is told so, at least.
func TestAScriptThatBreaksTheEngineFails(t *testing.T) {
	run(t, []example{
		{"a setter of an index",
			`Object.defineProperty(Object.prototype, "0", { get() {}, set() { throw new Error("spoiled") } }); return { a: 1 }`,
			`Error: spoiled at 0`},
	})
}
