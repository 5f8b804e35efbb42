// The page of calls: filters that are kept in this browser, and new rows that wait while the list is paused or out of sight.

// Saved filters: a name and the query of an address each. What cannot be read counts as none.
const saved = document.querySelector(".saved");
const own = saved.querySelector(".own");
const keep = saved.querySelector(".keep");
const field = keep.querySelector("input");
const storedAs = "toolfit.calls.filters";
const most = 50;

function read() {
  try {
    const all = JSON.parse(localStorage.getItem(storedAs)) ?? [];
    return all.filter((f) => typeof f?.name === "string" && typeof f.query === "string").slice(0, most);
  } catch {
    return [];
  }
}

function write(all) {
  try { localStorage.setItem(storedAs, JSON.stringify(all.slice(0, most))); } catch { /* this browser keeps nothing */ }
  show();
}

function show() {
  const all = read();
  own.hidden = all.length === 0;
  own.replaceChildren(...all.map((f, i) => {
    const item = document.createElement("li");
    const link = document.createElement("a");
    link.href = saved.dataset.at + "?" + f.query;
    link.textContent = f.name;
    const remove = document.createElement("button");
    remove.type = "button";
    remove.className = "quiet";
    remove.textContent = "×";
    remove.setAttribute("aria-label", saved.dataset.delete + ": " + f.name);
    remove.addEventListener("click", () => {
      write(all.toSpliced(i, 1));
      saved.querySelector("summary").focus();
    });
    item.append(link, remove);
    return item;
  }));
}

// The filter of the address: neither the page within the list nor what was said.
function query() {
  const q = new URLSearchParams(location.search);
  for (const [name, value] of [...q]) if (!value || name === "cursor" || name === "said") q.delete(name);
  return q.toString();
}

function save() {
  const name = field.value.trim();
  if (!name) return field.focus();
  write([{ name, query: query() }, ...read().filter((f) => f.name !== name)]); // of too many the oldest go
  field.value = "";
}

keep.hidden = !query(); // without a filter there is nothing to save
keep.querySelector("button").addEventListener("click", save);
field.addEventListener("keydown", (e) => { if (e.key === "Enter") save(); });
document.addEventListener("click", (e) => { if (saved.open && !saved.contains(e.target)) saved.open = false; });
saved.addEventListener("keydown", (e) => {
  if (e.key !== "Escape") return;
  saved.open = false;
  saved.querySelector("summary").focus();
});
window.addEventListener("storage", show); // another tab has changed them
show();

// New rows come in at the top. While the list is paused, or its top is out of sight, they wait and are counted.
const button = document.getElementById("tail"); // null: this is not the first page
const held = []; // messages with rows, the oldest first: the message, and the ids of its rows
const mostRows = 200; // that the list has
const pageRows = 50; // that come first on a new connection, if there are so many
let waiting = 0; // rows that are not shown yet
let paused = false;
let joined = false; // the next rows are the first on a new connection

const away = () => document.getElementById("list").getBoundingClientRect().top < -40;
const idsOf = (messages) => new Set(messages.flatMap((m) => m.ids));

function label() {
  const text = paused ? button.dataset.go : button.dataset.pause;
  const count = waiting > 999 ? "999+" : waiting;
  button.textContent = waiting ? text + " · " + button.dataset.new.replace("%d", count) : text;
  button.setAttribute("aria-pressed", String(paused));
  button.classList.toggle("fresh", waiting > 0);
}

function release() {
  for (const { message } of held.splice(0)) htmx.swap(document.body, message, { swapStyle: "none" });
  waiting = 0;
  document.dispatchEvent(new CustomEvent("htmx:wsAfterMessage")); // rows that came twice, and those that are too many
  label();
}

function toggle() {
  paused = !paused;
  if (!paused) {
    if (away()) window.scrollTo({ top: 0 });
    release();
  }
  label();
}

document.addEventListener("htmx:wsOpen", () => { joined = true; });
document.addEventListener("htmx:wsBeforeMessage", (e) => {
  const message = e.detail.message;
  const ids = [...message.matchAll(/<tr id="(c-[^"]+)"/g)].map((m) => m[1]);
  if (!ids.length) return;
  const known = idsOf(held);
  const fresh = ids.filter((id) => !known.has(id) && !document.getElementById(id));
  // Between what is here and what came first on a new connection there may be others.
  if (joined && fresh.length >= pageRows && document.querySelector("#calls tr")) document.getElementById("gap").hidden = false;
  joined = false;
  if (!paused && !away()) return;
  e.preventDefault();
  document.dispatchEvent(new CustomEvent("htmx:wsAfterMessage")); // the connection is alive
  if (!fresh.length) return;
  waiting += fresh.length;
  held.push({ message, ids });
  while (idsOf(held.slice(1)).size >= mostRows) held.shift(); // the others fill the list
  label();
});
// Without a connection the whole list is asked for: not while it is paused.
document.addEventListener("htmx:beforeRequest", (e) => { if (paused && e.target.id === "list") e.preventDefault(); });
window.addEventListener("scroll", () => { if (held.length && !paused && !away()) release(); }, { passive: true });

if (button) {
  button.hidden = false;
  button.addEventListener("click", () => {
    if (!paused && waiting) return window.scrollTo({ top: 0 }); // they are above
    toggle();
  });
  document.addEventListener("keydown", (e) => {
    if (e.key !== "p" || e.ctrlKey || e.metaKey || e.altKey || e.target.closest("input, select, textarea, [contenteditable]")) return;
    toggle();
  });
  label();
}

// Two calls can be compared, neither one nor three.
const compare = document.querySelector(".listbar .compare");
const count = () => { if (compare) compare.disabled = document.querySelectorAll("#calls .pick :checked").length !== 2; };
document.addEventListener("change", count);
document.addEventListener("htmx:wsAfterMessage", count);
document.addEventListener("htmx:afterSettle", count);
count();
