// The overview: the values of a chart under the pointer, or under the arrow keys. They are read from the table below the charts, which
// has them for those who see no charts.
const tip = document.getElementById("tip");
const language = document.documentElement.lang;
let shown = null; // {name, at, keys}: of which chart, which of its spans, and whether keys have chosen it
let pointer = null; // where it was last

const rows = () => document.querySelectorAll("#numbers tbody tr");
const plotOf = (name) => document.querySelector(`.plot[data-chart="${name}"]`);

function line(name, value, layer) {
  const row = document.createElement("div");
  const term = document.createElement("dt");
  if (layer) term.append(Object.assign(document.createElement("i"), { className: layer }));
  term.append(name);
  row.append(term, Object.assign(document.createElement("dd"), { textContent: value }));
  return row;
}

// fill writes the values of a span: the sum, and of the layers what is not nothing.
function fill(name, row) {
  const values = document.createElement("dl");
  for (const head of document.querySelectorAll(`#numbers th[data-chart="${name}"]`)) {
    const value = row.cells[head.cellIndex].textContent;
    if (head.dataset.layer && value === "0") continue;
    values.append(line(head.lastChild.textContent, value, head.dataset.layer));
  }
  const when = document.createElement("p");
  when.textContent = row.cells[0].textContent;
  tip.replaceChildren(when, values);
}

function show(plot, at, keys) {
  const row = rows()[at];
  if (!row) return hide();
  shown = { name: plot.dataset.chart, at, keys };
  for (const cursor of document.querySelectorAll(".cursor")) cursor.setAttribute("x", 10 * at);
  fill(shown.name, row);
  tip.hidden = false;
  const box = plot.querySelector(".bars").getBoundingClientRect();
  const x = box.left + (at + 0.5) / rows().length * box.width;
  const left = x + 12 + tip.offsetWidth > innerWidth - 8 ? x - 12 - tip.offsetWidth : x + 12;
  tip.style.left = Math.max(8, left) + "px";
  tip.style.top = Math.max(8, Math.min(box.top, innerHeight - tip.offsetHeight - 8)) + "px";
}

function hide() {
  shown = null;
  tip.hidden = true;
  for (const cursor of document.querySelectorAll(".cursor")) cursor.setAttribute("x", -10);
}

// point shows the span at a place of the window.
function point(target, x) {
  const plot = target?.closest?.(".plot");
  if (!plot) return hide();
  const box = plot.querySelector(".bars").getBoundingClientRect();
  const n = rows().length;
  show(plot, Math.max(0, Math.min(n - 1, Math.floor((x - box.left) / box.width * n))));
}
for (const moved of ["pointermove", "pointerdown"]) document.addEventListener(moved, (e) => {
  pointer = { x: e.clientX, y: e.clientY };
  if (shown || e.target.closest?.(".plot")) point(e.target, e.clientX);
});
document.addEventListener("scroll", () => { if (shown) show(plotOf(shown.name), shown.at, shown.keys); }, { passive: true });

document.addEventListener("keydown", (e) => {
  const plot = e.target.closest?.(".plot");
  if (!plot || e.ctrlKey || e.metaKey || e.altKey) return;
  const last = rows().length - 1;
  const at = shown?.name === plot.dataset.chart ? shown.at : null;
  const to = { ArrowLeft: at === null ? last : at - 1, ArrowRight: at === null ? 0 : at + 1, Home: 0, End: last }[e.key];
  if (e.key === "Escape") hide();
  if (to === undefined) return;
  e.preventDefault();
  show(plot, Math.max(0, Math.min(last, to)), true);
});
document.addEventListener("focusout", (e) => { if (e.target.closest?.(".plot")) hide(); });

// The times along the axis, in the person's own zone.
function localAxis() {
  const days = { month: "short", day: "numeric" };
  const clock = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
  for (const text of document.querySelectorAll(".times text")) {
    const long = text.parentElement.dataset.form === "days";
    text.textContent = new Intl.DateTimeFormat(language, long ? days : clock).format(new Date(text.dataset.at));
  }
}
localAxis();

// When the live part is exchanged, the table stays open, the focus stays where it is, and the values stay shown: at once, so that nothing
// is undone that somebody does meanwhile.
let kept = {};
document.addEventListener("htmx:beforeSwap", () => {
  const focused = document.activeElement?.closest?.(".plot")?.dataset.chart;
  kept = { open: Boolean(document.getElementById("numbers")?.open), focused, shown };
});
document.addEventListener("htmx:afterSwap", () => {
  const numbers = document.getElementById("numbers");
  if (numbers) numbers.open = kept.open;
  localAxis();
  if (kept.focused) plotOf(kept.focused)?.focus({ preventScroll: true, focusVisible: true });
  const plot = kept.shown && plotOf(kept.shown.name);
  if (!plot) return hide();
  if (kept.shown.keys) return show(plot, kept.shown.at, true);
  point(document.elementFromPoint(pointer.x, pointer.y), pointer.x);
});
