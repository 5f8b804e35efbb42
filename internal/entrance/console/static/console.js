// What every page does beside htmx: the menu, the keys, copying, questions before changes,
// and telling when what is shown has grown old. Pages work without it.
const root = document.documentElement;

// The menu on phones.
const menu = document.querySelector("button.menu");
function openMenu(open) {
  root.classList.toggle("menu-open", open);
  menu.setAttribute("aria-expanded", String(open));
}
menu?.addEventListener("click", () => openMenu(!root.classList.contains("menu-open")));
document.addEventListener("keydown", (e) => {
  if (e.key !== "Escape" || !root.classList.contains("menu-open")) return;
  openMenu(false);
  menu.focus();
});

// A choice that is sent at once. Who goes through the choices by keys has made one with Enter,
// or by going on.
let stepping = false; // while a key that was pressed in a choice does its work, and no longer
let waiting = null;
const sendWaiting = () => { waiting?.form.requestSubmit(); waiting = null; };
for (const pressed of ["keydown", "keypress"]) document.addEventListener(pressed, (e) => {
  if (!e.target.matches("select[data-submit]")) return;
  if (e.key === "Enter") return sendWaiting();
  stepping = true;
  setTimeout(() => { stepping = false; });
});
document.addEventListener("change", (e) => {
  if (!e.target.matches("[data-submit]")) return;
  if (stepping) waiting = e.target;
  else e.target.form.requestSubmit();
});
document.addEventListener("focusout", (e) => { if (e.target === waiting) sendWaiting(); });

// Questions before what cannot be undone.
document.addEventListener("submit", (e) => {
  const question = e.target.dataset.confirm;
  if (question && !window.confirm(question)) e.preventDefault();
});

// Copying: the text beside the button.
function offerCopies(within) {
  if (!navigator.clipboard) return; // pages that came over plain HTTP cannot copy
  for (const button of within.querySelectorAll("button.copy[hidden]")) button.hidden = false;
}
document.addEventListener("click", async (e) => {
  const button = e.target.closest?.("button.copy");
  if (!button) return;
  const source = button.parentElement.querySelector("pre, input");
  await navigator.clipboard.writeText(source.value ?? source.textContent);
  if (button.textContent === "✓") return; // it says so still
  const label = button.textContent;
  button.textContent = "✓";
  setTimeout(() => { button.textContent = label; }, 1200);
});
offerCopies(document);
document.addEventListener("htmx:afterSettle", (e) => offerCopies(e.target));

// Times in the person's own zone; those of today without the date.
function localTimes(within) {
  for (const el of within.querySelectorAll("time[datetime]")) {
    const at = new Date(el.dateTime);
    const today = at.toDateString() === new Date().toDateString();
    const clock = at.toTimeString().slice(0, 8);
    el.textContent = today ? clock : at.toLocaleDateString("sv") + " " + clock;
  }
}
localTimes(document);
document.addEventListener("htmx:load", (e) => localTimes(e.detail.elt));

// Keys: / looks for the search, g and a letter goes to a page.
let leading = 0;
document.addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || e.target.closest("input, select, textarea, [contenteditable]")) return;
  if (e.key === "/") {
    const search = document.querySelector("input[type=search]");
    if (search) { e.preventDefault(); search.focus(); }
  } else if (e.key === "g") {
    leading = e.timeStamp;
  } else if (leading && e.timeStamp - leading < 1500) {
    leading = 0;
    for (const link of document.querySelectorAll(".nav a")) if (link.dataset.key === e.key) link.click();
  }
});

// A live part says when it was last good. It is not exchanged under somebody's hands; where
// that takes long, it grows stale.
const stale = document.getElementById("stale");
const patience = 20_000;
const silence = 45_000; // the gateway says something every 30 s, else the connection is dead
let told = 0; // when rows last came in by themselves; while they do not, they are asked for
let fresh = Date.now();
const heard = () => { fresh = Date.now(); };
const live = (el) => "live" in el.dataset;
// A click into a table gives it the focus, which is not yet a use of what is in it.
function inUse(region) {
  const at = document.activeElement;
  const chosen = window.getSelection();
  return (region.contains(at) && at.matches("a, button, input, select, textarea, summary, :focus-visible"))
    || (chosen && !chosen.isCollapsed && region.contains(chosen.anchorNode));
}
document.addEventListener("htmx:beforeRequest", (e) => {
  if (!live(e.target)) return;
  const connected = "ws" in e.target.dataset && Date.now() - told < silence;
  if (document.hidden || connected) heard();
  if (document.hidden || connected || inUse(e.target)) e.preventDefault();
});
const notice = document.getElementById("notice");
const asks = (e) => e.detail.requestConfig.elt; // who asked; it may have been exchanged since
let complained = false; // the notice says why something could not be had
document.addEventListener("htmx:afterRequest", (e) => {
  if (!e.detail.successful) return;
  const fault = e.detail.xhr.getResponseHeader("HX-Retarget");
  if (!fault && live(asks(e))) heard();
  if (!fault && complained) notice.replaceChildren();
  complained = Boolean(fault);
});
// A live part grows stale; whoever has asked for something is told that nothing came.
function complain(e) {
  if (live(asks(e))) return;
  const said = document.createElement("p");
  said.className = "notice bad";
  said.textContent = notice.dataset.lost + (e.detail.xhr.status ? " HTTP " + e.detail.xhr.status : "");
  notice.replaceChildren(said);
  notice.scrollIntoView({ block: "nearest" });
  complained = true;
}
document.addEventListener("htmx:sendError", complain);
document.addEventListener("htmx:responseError", complain);
// Another tab may have chosen another language.
document.addEventListener("htmx:beforeSwap", (e) => {
  const language = e.detail.xhr.getResponseHeader("Content-Language");
  if (live(e.target) && language && language !== root.lang) { e.detail.shouldSwap = false; location.reload(); }
});
document.addEventListener("htmx:wsOpen", () => { told = Date.now(); heard(); });
document.addEventListener("htmx:wsClose", () => { told = 0; });
const maxRows = 200; // older rows are on the next page
document.addEventListener("htmx:wsAfterMessage", () => {
  told = Date.now();
  heard();
  const rows = [...document.querySelectorAll("#calls > tr")];
  const below = new Set();
  for (const row of rows.toReversed()) { // what comes again after a break is here already
    if (below.has(row.id)) row.remove();
    below.add(row.id);
  }
  for (const row of document.querySelectorAll("#calls > tr:nth-child(n + " + (maxRows + 1) + ")")) row.remove();
});
setInterval(() => {
  if (document.hidden) return;
  stale.hidden = Date.now() - fresh < patience || !document.querySelector("[data-live]"); // a run that has ended is live no more
  const at = new Date(fresh).toLocaleTimeString();
  const shown = stale.querySelector("time");
  if (shown.textContent !== at) shown.textContent = at; // it is read aloud when it changes
}, 1000);
