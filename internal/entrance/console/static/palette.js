// The palette finds pages, servers, tools, calls and what can be done. The gateway makes the list; this goes through it
// while the field keeps the focus, and opens what is chosen. Without it, its button leads to a page that does the same.
const palette = document.getElementById("palette");
const field = palette.querySelector("[role=combobox]");
const list = document.getElementById("found");
const used = palette.querySelector("[name=recent]");
for (const key of document.querySelectorAll("kbd.mod")) if (/Mac|iP/.test(navigator.platform)) key.textContent = "⌘ K";
const options = () => [...list.querySelectorAll("[role=option]:not([aria-disabled])")];
let at = 0; // the chosen option
let late = false; // the list is not yet that of what was typed
let entered = false; // Enter was pressed meanwhile

// What was opened last comes first.
const store = "toolfit.recent";
function remembered() {
  try { return JSON.parse(localStorage.getItem(store)) ?? []; } catch { return []; }
}
function remember(path) {
  if (!path) return;
  const paths = [path, ...remembered().filter((p) => p !== path)].slice(0, 8);
  try { localStorage.setItem(store, JSON.stringify(paths)); } catch { /* the browser keeps nothing */ }
}

function choose(n) {
  const all = options();
  at = all.length ? (n + all.length) % all.length : 0;
  all.forEach((option, i) => option.setAttribute("aria-selected", String(i === at)));
  field.setAttribute("aria-expanded", String(all.length > 0));
  if (!all.length) return field.removeAttribute("aria-activedescendant");
  field.setAttribute("aria-activedescendant", all[at].id);
  all[at].scrollIntoView({ block: "nearest" });
}

function open() {
  if (palette.open) return;
  used.value = remembered().join(" ");
  field.value = "";
  late = true;
  entered = false;
  palette.showModal();
  field.dispatchEvent(new CustomEvent("look"));
}

document.addEventListener("keydown", (e) => {
  if (e.key.toLowerCase() !== "k" || !(e.ctrlKey || e.metaKey) || e.shiftKey || e.altKey) return;
  if (document.querySelector("dialog[open]:not(#palette)")) return;
  e.preventDefault();
  if (palette.open) palette.close();
  else open();
});
for (const link of document.querySelectorAll("a.find")) link.addEventListener("click", (e) => {
  if (e.ctrlKey || e.metaKey || e.shiftKey) return; // another tab
  e.preventDefault();
  open();
});

field.addEventListener("input", () => { late = true; entered = false; });
const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 };
field.addEventListener("keydown", (e) => {
  if (e.isComposing) return; // Enter and arrows choose a word of the input method
  if (e.key === "Enter") {
    e.preventDefault();
    if (late) entered = true;
    else options()[at]?.click();
  } else if (steps[e.key]) {
    e.preventDefault();
    const last = options().length - 1;
    const next = at + steps[e.key];
    choose(Math.abs(steps[e.key]) > 1 ? Math.min(Math.max(next, 0), last) : next);
  }
});
list.addEventListener("htmx:afterSwap", () => {
  late = false;
  choose(0);
  if (entered) options()[0]?.click();
});
list.addEventListener("pointermove", (e) => {
  const n = options().indexOf(e.target.closest("[role=option]:not([aria-disabled])"));
  if (n >= 0 && n !== at) choose(n);
});
list.addEventListener("click", (e) => {
  const option = e.target.closest("[role=option]:not([aria-disabled])");
  if (!option) return;
  remember(option.getAttribute("href"));
  palette.close(); // the focus goes back to where it was
});
palette.addEventListener("click", (e) => { if (e.target === palette) palette.close(); }); // beside it
