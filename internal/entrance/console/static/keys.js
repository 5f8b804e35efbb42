// Keys for lists: j and k go from row to row, and once one has the focus, the arrows do; Enter opens it, x ticks its box.
// ? tells all keys. The focus is the real one, on what a row leads to.
const kinds = "tbody tr, .cards > li, .found > li, .hits > li, .tree .node, .held > label, .case";
const rowsIn = (within) => [...within.querySelectorAll(kinds)].filter((row) => row.checkVisibility() && targetOf(row));
const targetOf = (row) => row.querySelector("a[href]") ?? row.querySelector("summary, input:not([type=hidden]), button, select");
const rowOf = (el) => el.closest(kinds);
const main = document.getElementById("main");

// While a row was chosen so, live parts may be exchanged: the row gets the focus back.
function focusRow(row) {
  const el = targetOf(row);
  el.focus({ focusVisible: true });
  el.dataset.row = "";
  el.addEventListener("blur", () => { delete el.dataset.row; }, { once: true });
  row.scrollIntoView({ block: "nearest" });
}
const chosen = () => document.activeElement?.dataset?.row !== undefined;

function move(step) {
  const rows = rowsIn(main);
  const here = rows.indexOf(rowOf(document.activeElement));
  const seen = rows.findIndex((row) => row.getBoundingClientRect().top > 48); // below the bar
  const next = here < 0 ? Math.max(seen, 0) : here + step;
  if (rows[next]) focusRow(rows[next]);
}

document.addEventListener("keydown", (e) => {
  const typing = e.target.closest("input:not([type=checkbox], [type=radio]), select, textarea, [contenteditable]");
  if (e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey || typing || document.querySelector("dialog[open]")) return;
  if (e.key === "j" || e.key === "ArrowDown" && chosen()) move(1);
  else if (e.key === "k" || e.key === "ArrowUp" && chosen()) move(-1);
  else if (e.key === "x") rowOf(document.activeElement)?.querySelector("input[type=checkbox]")?.click();
  else if (e.key === "?") document.getElementById("shortcuts").showModal();
  else return;
  e.preventDefault();
});

// What opens a dialog, as an entry of the palette does.
document.addEventListener("click", (e) => {
  const opener = e.target.closest?.("[data-opens]");
  if (opener) document.getElementById(opener.dataset.opens).showModal();
});

// The same row is the one that leads to the same; where it has gone, the one in its place.
const sameAs = (el) => rowOf(el)?.id || el.getAttribute("href") || el.id;
let lost = null;
document.addEventListener("htmx:beforeSwap", (e) => {
  const el = document.activeElement;
  if (!chosen() || !e.detail.target.contains(el)) return;
  lost = { is: sameAs(el), place: rowsIn(e.detail.target).indexOf(rowOf(el)), region: e.detail.target.id };
});
document.addEventListener("htmx:afterSwap", () => {
  if (!lost || !lost.region) return;
  const rows = rowsIn(document.getElementById(lost.region) ?? main);
  const row = rows.find((one) => sameAs(targetOf(one)) === lost.is) ?? rows[Math.min(lost.place, rows.length - 1)];
  lost = null;
  if (row && document.activeElement === document.body) focusRow(row);
});
