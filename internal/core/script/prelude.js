// The world of a script beside the language itself, and the five functions by which its host
// drives it. The host has no function here: what a script begins or prints is taken from it
// after each turn. A script may replace whatever it can reach, so nothing below uses a method, an
// iterator or an inherited property after the script's first statement: what is needed is in a
// constant, objects of our own have no prototype, and lists are linked.
(function () {
"use strict";
const global = globalThis, evaluate = eval, String_ = String, BigInt_ = BigInt, Proxy_ = Proxy, Promise_ = Promise;
const Error_ = Error, TypeError_ = TypeError, RangeError_ = RangeError, Date_ = Date, Map_ = Map, Set_ = Set;
const { parse, stringify, rawJSON } = JSON;
const { apply, construct, defineProperty, ownKeys } = Reflect;
const { isArray } = Array, { isError } = Error, { isSafeInteger, isFinite } = Number, { freeze } = Object;
const { slice, toWellFormed } = String.prototype, forEachOfMap = Map.prototype.forEach, forEachOfSet = Set.prototype.forEach;
const textOfDate = Date.prototype.toString, textOfBig = BigInt.prototype.toString;

const pending = { __proto__: null }; // calls without an answer, by their number
let limits, seq = 0, open = 0, over = false, now = 0, log = "", printed = 0;
let first, last; // what the host has not taken yet

const plain = (value) => ({ __proto__: null, value, writable: true, configurable: true });
const fixed = (value) => ({ __proto__: null, value });
const define = (on, name, value) => defineProperty(on, name, plain(value));
const cut = (text, most) => text.length > most ? apply(slice, text, [0, most]) : text;

function emit(kind, head, body) {
  const item = { __proto__: null, kind, head, body, next: undefined };
  if (last === undefined) first = item;
  else last.next = item;
  last = item;
}

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

// show is a value as text for the log.
function show(value) {
  if (typeof value === "string") return value;
  if (typeof value === "function") return "[function]";
  if (typeof value !== "object" || value === null) return String_(value);
  try {
    if (isError(value)) return String_(value);
    let path; // the objects around the current one
    return stringify(value, function (key, inner) {
      if (typeof inner === "function") return "[function]";
      if (typeof inner === "symbol") return String_(inner);
      if (typeof inner !== "object" || inner === null) return inner;
      if (isError(inner)) return String_(inner);
      if (inner instanceof Map_ || inner instanceof Set_) inner = listOf(inner);
      while (path !== undefined && path.value !== this) path = path.outer;
      for (let p = path; p !== undefined; p = p.outer) if (p.value === inner) return "[circular]";
      path = { __proto__: null, value: inner, outer: path };
      return inner;
    }) ?? "undefined";
  } catch (e) {
    return "[cannot be shown: " + messageOf(e) + "]";
  }
}

function listOf(collection) {
  const list = [];
  const add = (value) => { defineProperty(list, list.length, { __proto__: null, value, enumerable: true, writable: true, configurable: true }); };
  if (collection instanceof Map_) apply(forEachOfMap, collection, [(value, key) => add([key, value])]);
  else apply(forEachOfSet, collection, [(value) => add(value)]);
  return list;
}

function messageOf(e) {
  try {
    const text = e.message;
    return typeof text === "string" ? text : String_(e);
  } catch {
    return "an error without a text";
  }
}

function print(...values) {
  if (printed > limits.log) return;
  let line = "";
  for (let i = 0; i < values.length; i++) line += (i > 0 ? " " : "") + show(values[i]);
  line = apply(toWellFormed, cut(line, limits.log), []) + "\n";
  printed += line.length;
  log += line;
}

// begin makes the promise of an answer. Its error has to point at the call, so the place is kept.
function begin(what, server, tool, args, raw) {
  if (over) throw new Error_("the script has ended");
  if (seq >= limits.calls) {
    throw failure("RangeError", "a script can make " + limits.calls + " calls, and this one has made them", "limit_reached", "", new Error_().stack);
  }
  if (args.length > limits.output) throw new RangeError_("the arguments are larger than " + limits.output + " bytes");
  const n = seq + 1, place = new Error_().stack;
  const promise = new Promise_((resolve, reject) => { pending[n] = { __proto__: null, resolve, reject, place }; });
  emit("call", stringify({ __proto__: null, seq: n, do: what, server, tool, raw }), args);
  seq = n; // last: whatever is above may fail for want of memory or stack
  open++;
  return promise;
}

function argumentsOf(name, list) {
  const value = list.length > 0 ? list[0] : undefined;
  if (list.length <= 1 && value === undefined) return "{}";
  const text = list.length === 1 && typeof value === "object" && value !== null && !isArray(value) ? stringify(value) : undefined;
  if (text === undefined || text[0] !== "{") {
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
  return new Proxy_(freeze({}), { __proto__: null, get(target, key) {
    return typeof key === "symbol" || key in common ? target[key] : method(name, key);
  } });
}

function failure(name, message, code, hint, place) {
  const e = new Error_(message);
  define(e, "name", name);
  define(e, "code", code);
  define(e, "hint", hint);
  define(e, "stack", place);
  return e;
}

// thrown tells the host what the script threw, which may be anything.
function thrown(e) {
  const member = (key, most) => {
    try {
      const text = e[key];
      return typeof text === "string" ? cut(text, most) : "";
    } catch {
      return "";
    }
  };
  let content;
  const object = typeof e === "object" && e !== null;
  try {
    if (object && e.content !== undefined) content = stringify(e.content);
  } catch { /* it has none that can be told */ }
  if (content !== undefined && content.length > limits.output) content = undefined;
  emit("thrown", stringify({
    __proto__: null, name: object ? member("name", 100) : "", message: object ? member("message", 16384) || cut(show(e), 16384) : cut(show(e), 16384),
    code: object ? member("code", 100) : "", hint: object ? member("hint", 4096) : "", stack: object ? member("stack", 4096) : "",
  }), content);
}

function result(value) {
  if (typeof value === "function") throw new TypeError_("the script returned a function, which is not JSON: call it, and return what it gives");
  let text;
  try {
    text = stringify(value);
  } catch (e) {
    throw new TypeError_("the script returned what is not JSON: " + messageOf(e));
  }
  if (text !== undefined && text.length > limits.output) {
    throw new RangeError_("the script returned more than " + limits.output + " bytes: return less");
  }
  emit("done", "", text);
}

async function run(code) {
  try {
    const promise = evaluate("(async function () {" + code + "\n})")();
    defineProperty(promise, "constructor", fixed(Promise_)); // so that await does not use its then
    result(await promise);
  } catch (e) {
    thrown(e);
  }
  over = true;
}

let a, b, c, d; // a small fast counter with four words of state (sfc32)
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
define(global, "tools", serverOf(""));
for (const name of ["Atomics", "SharedArrayBuffer", "WeakRef", "FinalizationRegistry"]) delete global[name];

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
  // start runs the script until it waits or ends; nothing of it has run before.
  start(options, code, input, big) {
    limits = parse(options);
    [a, b, c, d] = limits.seed;
    for (let i = 0; i < 12; i++) word();
    now = limits.now;
    for (const name in limits.globals) if (!(name in global)) define(global, name, serverOf(limits.globals[name]));
    define(global, "input", input === undefined ? undefined : decode(input, big));
    run(code);
  },
  answer(n, text, big, error, at) {
    const call = pending[n];
    now = at;
    delete pending[n];
    open--;
    try {
      const value = text === undefined ? undefined : decode(text, big);
      if (error === undefined) {
        call.resolve(value);
      } else {
        const { name, message, code, hint } = parse(error);
        const e = failure(name, message, code, hint, call.place);
        define(e, "content", value);
        call.reject(e);
      }
    } catch (e) {
      call.reject(e);
    }
  },
  // end closes a turn, and says whether the script has ended.
  end() {
    if (!over && open === 0) {
      thrown(new Error_("the script waits for a promise that nothing resolves: it has no open call"));
      over = true;
    }
    if (log !== "") emit("log", "", log);
    log = "";
    return over;
  },
  // take gives the parts of what there is, one after the other: a kind, its head and its body.
  take: (() => {
    let part = 0;
    return () => {
      part = (part + 1) % 3;
      if (part === 1) return first === undefined ? (part = 0, undefined) : first.kind;
      if (part === 2) return first.head;
      const { body } = first;
      first = first.next;
      if (first === undefined) last = undefined;
      return body;
    };
  })(),
};
})();
