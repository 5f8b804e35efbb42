// The world of a script beside the language itself, and the three functions by which its host
// drives it. The host has no function here: what a script begins or prints is told after each turn.
// A script may replace whatever it can reach. So nothing below uses a method, an iterator or an
// inherited property once a script runs: what is needed is in a constant, and objects of our own
// have no prototype.
(function () {
"use strict";
const global = globalThis, evaluate = eval, String_ = String, BigInt_ = BigInt, Proxy_ = Proxy, Promise_ = Promise;
const Error_ = Error, TypeError_ = TypeError, RangeError_ = RangeError, Date_ = Date, Map_ = Map, Set_ = Set;
const { parse, stringify, rawJSON } = JSON, { apply, construct, defineProperty, ownKeys } = Reflect;
const { isArray, from } = Array, { isError } = Error, { isSafeInteger, isFinite } = Number, { freeze, hasOwn } = Object;
const { slice, toWellFormed } = String.prototype, textOfDate = Date.prototype.toString, textOfBig = BigInt.prototype.toString;

const pending = { __proto__: null }; // calls without an answer, by their number
let limits, now = 0, seq = 0, open = 0, printed = 0;
let calls = "", log = "", ending = ""; // what the host was not told yet, as JSON, but for the log
let over = false;

const fixed = (value) => ({ __proto__: null, value });
const define = (on, name, value) => defineProperty(on, name, { __proto__: null, value, writable: true, configurable: true });
const cut = (text, most) => text.length > most ? apply(slice, text, [0, most]) : text;
const own = (object, name) => hasOwn(object, name) ? object[name] : undefined;

// Numbers that would lose digits are BigInts here, and digits again outside: in what the script
// writes by itself as well, for it did not ask for a BigInt.
defineProperty(BigInt.prototype, "toJSON", fixed(function () { return rawJSON(apply(textOfBig, this, [])); }));
defineProperty(Promise.prototype, "toJSON", fixed(function () { throw new TypeError_("a promise is not a value yet: await it first"); }));

function revive(key, value, context) {
  if (typeof value !== "number" || isSafeInteger(value)) return value;
  try {
    return BigInt_(context.source); // throws at a fraction or an exponent
  } catch {
    return value;
  }
}
const decode = (text, big) => big ? parse(text, revive) : parse(text);

// member is a text of something that may be anything, as what a script throws.
function member(object, name, most) {
  try {
    const text = object[name];
    return typeof text === "string" ? cut(text, most) : "";
  } catch {
    return "";
  }
}

// show is a value as text for the log.
function show(value) {
  if (typeof value === "string") return value;
  let path, shown = 0; // the objects around the current one, and how many there were
  const readable = function (key, inner) {
    if (typeof inner === "function") return "[function]";
    if (typeof inner === "symbol" || isError(inner)) return String_(inner);
    if (typeof inner !== "object" || inner === null) return inner;
    while (path !== undefined && path.value !== this) path = path.outer;
    for (let p = path; p !== undefined; p = p.outer) if (p.value === inner) return "[circular]";
    if (inner instanceof Map_ || inner instanceof Set_) inner = from(inner);
    path = { __proto__: null, value: inner, outer: path, depth: path === undefined ? 1 : path.depth + 1 };
    return path.depth > 50 || ++shown > 10000 ? "[and so on]" : inner;
  };
  try {
    if (typeof value === "object" && value !== null && !isError(value)) return stringify(value, readable) ?? "undefined";
    return typeof value === "function" ? "[function]" : String_(value);
  } catch (e) {
    return "[cannot be shown: " + member(e, "message", 1000) + "]";
  }
}

function print(...values) {
  if (printed > limits.Log) return;
  let line = "";
  for (let i = 0; i < values.length; i++) line += (i > 0 ? " " : "") + show(values[i]);
  line = apply(toWellFormed, cut(line, limits.Log), []) + "\n";
  printed += line.length;
  log += line;
}

// begin makes the promise of an answer. Its error has to point at the call, so the place is kept.
function begin(what, server, tool, args, raw) {
  const n = seq + 1, place = new Error_().stack;
  if (over) throw new Error_("the script has ended");
  if (n > limits.Calls) throw failure("RangeError", "a script can make " + limits.Calls + " calls", "limit_reached", "", place);
  const head = stringify({ __proto__: null, seq: n, do: what, server, tool, raw });
  const text = calls + (calls === "" ? "" : ",") + cut(head, head.length - 1) + ',"args":' + args + "}";
  if (text.length > limits.Output) throw new RangeError_("the arguments of calls at one time have at most " + limits.Output + " bytes");
  const promise = new Promise_((resolve, reject) => { pending[n] = { __proto__: null, resolve, reject, place }; });
  calls = text; // last: whatever is above may fail for want of memory or stack
  seq = n;
  open++;
  return promise;
}

function argumentsOf(name, list) {
  if (list.length === 0 || list.length === 1 && list[0] === undefined) return "{}";
  const value = list[0];
  const text = list.length === 1 && typeof value === "object" && !isArray(value) ? stringify(value) : "";
  if (typeof text !== "string" || text[0] !== "{") {
    throw new TypeError_(name + " takes one object with its arguments, as in " + name + "({ key: value })");
  }
  return text;
}

function method(server, tool) {
  const f = (...list) => begin("call", server, tool, argumentsOf(tool, list), false);
  defineProperty(f, "raw", fixed((...list) => begin("call", server, tool, argumentsOf(tool, list), true)));
  return f;
}

// What code asks of any value is no tool.
const common = { __proto__: null, then: true, toJSON: true };
for (const key of ownKeys(Object.prototype)) common[key] = true;

function serverOf(name) {
  const get = (target, key) => typeof key === "symbol" || key in common || key.length > 500 ? target[key] : method(name, key);
  return new Proxy_(freeze({}), { __proto__: null, get });
}

function failure(name, message, code, hint, place) {
  const e = new Error_(message);
  define(e, "name", name);
  define(e, "code", code);
  define(e, "hint", hint);
  define(e, "stack", place);
  return e;
}

function thrown(e) {
  const object = typeof e === "object" && e !== null;
  const text = (name, most) => object ? member(e, name, most) : "";
  let content = "";
  try {
    if (object && e.content !== undefined) content = ',"content":' + (stringify(e.content) ?? "null");
  } catch { /* there is none that can be told */ }
  const head = stringify({
    __proto__: null, name: text("name", 100), message: text("message", 16384) || cut(show(e), 16384),
    code: text("code", 100), hint: text("hint", 4096), stack: text("stack", 4096),
  });
  ending = ',"done":true,"err":' + cut(head, head.length - 1) + (content.length > limits.Output / 2 ? "" : content) + "}";
}

function returned(value) {
  if (typeof value === "function") throw new TypeError_("the script returned a function, which is not JSON: call it, return what it gives");
  let text;
  try {
    text = stringify(value);
  } catch (e) {
    const why = member(e, "message", 1000);
    if (e === null || why === "out of memory") throw e;
    throw new TypeError_("the script returned what is not JSON: " + why);
  }
  if (text !== undefined && text.length > limits.Output) throw new RangeError_("the script returned more than " + limits.Output + " bytes");
  ending = ',"done":true' + (text === undefined ? "" : ',"result":' + text);
}

async function run(code) {
  await undefined; // what start has to read does not count as memory of the script
  try {
    const promise = evaluate("(async function () {" + code + "\n})")();
    defineProperty(promise, "constructor", fixed(Promise_)); // so that await does not use its then
    returned(await promise);
  } catch (e) {
    thrown(e);
  }
  over = true;
}

let a, b, c, d; // the state of a small fast generator (sfc32)
function word() {
  const t = (a + b | 0) + d | 0;
  d = d + 1 | 0;
  a = b ^ b >>> 9;
  b = c + (c << 3) | 0;
  c = (c << 21 | c >>> 11) + t | 0;
  return t >>> 0;
}

function randomUUID() {
  let text = "";
  for (let i = 0, bits = 0; i < 32; i++, bits >>>= 4) {
    if (i % 8 === 0) bits = word();
    if (i === 8 || i === 12 || i === 16 || i === 20) text += "-";
    text += "0123456789abcdef"[i === 12 ? 4 : i === 16 ? bits & 3 | 8 : bits & 15];
  }
  return text;
}

function Clock(...parts) {
  if (new.target === undefined) return apply(textOfDate, new Date_(now), []);
  return construct(Date_, parts.length > 0 ? parts : [now], new.target);
}
define(Clock, "name", "Date");
defineProperty(Clock, "prototype", fixed(Date_.prototype));
define(Clock, "now", () => now);
define(Clock, "parse", Date_.parse);
define(Clock, "UTC", Date_.UTC);
define(Date_.prototype, "constructor", Clock);
define(global, "Date", Clock);
define(Math, "random", () => (word() * 2097152 + (word() >>> 11)) / 9007199254740992);
define(global, "crypto", freeze({ randomUUID }));
define(global, "console", { log: print, info: print, warn: print, error: print, debug: print });
for (const name of ["Atomics", "SharedArrayBuffer", "WeakRef", "FinalizationRegistry"]) delete global[name];

define(global, "tools", serverOf(""));
define(global, "search", (query, limit) => {
  if (typeof query !== "string") throw new TypeError_('search takes a text, as in search("open orders")');
  if (limit !== undefined && !isSafeInteger(limit)) throw new TypeError_("the limit of search is a number");
  return begin("search", "", "", stringify({ __proto__: null, query, limit }), false);
});
define(global, "describe", (name) => {
  if (typeof name !== "string") throw new TypeError_('describe takes the name of a tool, as in describe("shop__list_orders")');
  return begin("describe", "", "", stringify({ __proto__: null, name }), false);
});
define(global, "sleep", (ms) => {
  if (typeof ms !== "number" || !isFinite(ms) || ms < 0) throw new TypeError_("sleep takes milliseconds, as in sleep(500)");
  return begin("sleep", "", "", stringify({ __proto__: null, ms }), false);
});

return {
  start(text, big) {
    const job = decode(text, big);
    limits = job.options;
    now = job.now;
    [a, b, c, d] = job.seed;
    for (let i = 0; i < 12; i++) word();
    define(global, "input", own(job, "input"));
    for (const name in job.globals) if (!(name in global)) define(global, name, serverOf(job.globals[name]));
    run(job.code);
  },
  answer(text, big) {
    const message = decode(text, big), n = message.seq, call = pending[n], error = own(message, "err"), value = own(message, "value");
    now = message.now;
    delete pending[n];
    open--;
    if (error === undefined) return void call.resolve(value);
    const e = failure(own(error, "name") ?? "Error", error.message, own(error, "code"), own(error, "hint"), call.place);
    define(e, "content", own(error, "content"));
    call.reject(e);
  },
  // end closes a turn and tells it.
  end() {
    if (!over && open === 0) {
      thrown(new Error_("the script cannot go on: it waits for a promise that nothing resolves, or had no memory to resolve it"));
      over = true;
    }
    const turn = '{"calls":[' + calls + '],"log":' + stringify(log) + ending + "}";
    calls = log = ending = "";
    return turn;
  },
};
})();
