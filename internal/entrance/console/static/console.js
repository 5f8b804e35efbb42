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

// A double click sends once: the second answer would hide the first, such as a key that is shown only there.
const twice = 2000;
const sent = new WeakMap();
document.addEventListener("submit", (e) => {
  if (e.defaultPrevented || e.target.method !== "post") return;
  if (e.timeStamp - sent.get(e.target) < twice) e.preventDefault();
  else sent.set(e.target, e.timeStamp);
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

// Times in the person's own zone and the page's language: without the date today, without the year this year, and in words
// where the page wants to know how long ago. The title has all of it.
const written = (parts) => new Intl.DateTimeFormat(root.lang, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23", ...parts });
const ofToday = written({});
const ofYear = written({ month: "short", day: "numeric" });
const ofAll = written({ year: "numeric", month: "short", day: "numeric" });
const exact = written({ year: "numeric", month: "short", day: "numeric", timeZoneName: "longOffset" });
const inWords = new Intl.RelativeTimeFormat(root.lang, { numeric: "auto" });
function clockOf(at, now) {
  if (at.toDateString() === now.toDateString()) return ofToday.format(at);
  return (at.getFullYear() === now.getFullYear() ? ofYear : ofAll).format(at);
}
function agoOf(at, now) {
  const minutes = Math.floor((now - at) / 60_000);
  if (minutes < -1 || minutes >= 24 * 60) return clockOf(at, now);
  if (minutes < 1) return inWords.format(0, "second");
  return minutes < 60 ? inWords.format(-minutes, "minute") : inWords.format(-Math.floor(minutes / 60), "hour");
}
function localTimes(within) {
  const now = new Date();
  for (const el of within.querySelectorAll("time[datetime]")) {
    const at = new Date(el.dateTime);
    const text = "ago" in el.dataset ? agoOf(at, now) : clockOf(at, now);
    if (el.textContent !== text) el.textContent = text;
    el.title = exact.format(at);
  }
}
// Fields of filters for times are in the person's own zone, too. They are sent with it.
for (const field of document.querySelectorAll("input[data-at]")) {
  const at = new Date(field.dataset.at);
  field.value = new Date(at - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}
document.addEventListener("formdata", (e) => {
  for (const field of e.target.querySelectorAll(".filter input[type=datetime-local]"))
    if (field.value) e.formData.set(field.name, new Date(field.value).toISOString().replace(".000", ""));
});
localTimes(document);
document.addEventListener("htmx:load", (e) => localTimes(e.detail.elt));

// What takes the place of a form that was sent takes its focus; browsers complain of an autofocus that comes later.
document.addEventListener("htmx:load", (e) => { if ("fresh" in e.detail.elt.dataset) e.detail.elt.focus(); });
setInterval(() => { if (!document.hidden) localTimes(document); }, 30_000);

// Keys: / looks for the search, g and a letter goes to a page.
let leading = 0;
document.addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || e.target.closest("input, select, textarea, [contenteditable], dialog")) return;
  if (e.key === "/") {
    const search = document.querySelector("input[type=search]");
    if (search) { e.preventDefault(); search.focus(); }
  } else if (e.key === "g") {
    leading = e.timeStamp;
  } else if (leading && e.timeStamp - leading < 1500) {
    leading = 0;
    const link = [...document.querySelectorAll(".nav a")].find((a) => a.dataset.key === e.key);
    if (link) { e.preventDefault(); link.click(); }
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
// A row that was chosen by keys gets the focus back. Whoever has left the end of an output reads what is above.
function inUse(region) {
  const at = document.activeElement;
  const chosen = window.getSelection();
  return (region.contains(at) && !("row" in at.dataset) && at.matches("a, button, input, select, textarea, summary, :focus-visible"))
    || (chosen && !chosen.isCollapsed && region.contains(chosen.anchorNode))
    || [...region.querySelectorAll(".stderr")].some((el) => el.scrollTop !== 0);
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
  const at = ofToday.format(new Date(fresh));
  const shown = stale.querySelector("time");
  if (shown.textContent !== at) shown.textContent = at; // it is read aloud when it changes
}, 1000);
