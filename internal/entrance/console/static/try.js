// Trying a tool: the form changes in place, a call shows what happens while it runs and can be canceled, and the lines for the
// same call elsewhere follow the form. What the form means is for the server to say. Without this every button loads the page.
const section = document.querySelector(".try");
const running = document.getElementById("running");
const same = section.querySelector(".same");
const form = () => document.getElementById("try-form");
const tried = () => document.getElementById("tried");
const store = "try:" + location.pathname + "?" + form().elements.profile.value;
const maxStored = 100_000;

let call = null; // ends the call that runs

const post = (address, body, more, signal) => fetch(address, { method: "POST", body, signal, headers: { "HX-Request": "true", ...more } });

// A part of the page as the server wrote it: all text of others in it is escaped.
function put(at, html) {
  window.htmx.swap(at, html, { swapStyle: "outerHTML" });
}

// An error that is no part of the page, a sign-in that has ended, or no answer of the gateway at all.
async function failed(response) {
  const target = response.headers.get("HX-Retarget");
  if (target) {
    window.htmx.swap(target, await response.text(), { swapStyle: "innerHTML" });
    document.querySelector(target).scrollIntoView({ block: "nearest" });
  } else if (response.headers.has("HX-Refresh")) location.reload();
  else lost(" HTTP " + response.status);
}

function lost(why = "") {
  const said = document.createElement("p");
  said.className = "notice bad";
  said.textContent = running.dataset.lost + why;
  tried().replaceChildren(said);
}

// The fields that the server makes of what was entered. Parts that are open stay open.
async function change(body) {
  const open = new Set([...form().querySelectorAll("details[open]")].map((part) => part.dataset.part));
  let response;
  try {
    response = await post(form().action, body);
  } catch {
    return lost();
  }
  if (!response.ok || response.headers.has("HX-Retarget") || response.status === 204) return failed(response);
  put(form(), await response.text());
  for (const part of form().querySelectorAll("details")) if (open.has(part.dataset.part)) part.open = true;
  form().querySelector("[data-focus]")?.focus();
  prepare();
}

function posted(button) {
  const data = new FormData(form());
  if (button) data.append("do", button);
  return new URLSearchParams(data);
}

// Rows that are there already go and move at once: the server reads them in the order of the page.
function moveRow(button) {
  const row = button.closest("li");
  const [what] = button.value.split(" ");
  const to = what === "up" ? row.previousElementSibling : what === "down" ? row.nextElementSibling : null;
  if (what === "remove") {
    const next = row.nextElementSibling ?? row.previousElementSibling;
    (next?.querySelector(".moves button:last-child") ?? row.closest("fieldset").querySelector('button[value^="add "]')).focus();
    row.remove();
  } else if (what === "up") to?.before(row);
  else to?.after(row);
  if (what !== "remove") button.focus();
  follow();
}

// The events of a stream, as they come.
async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const line of lines) if (line.startsWith("data: ")) yield JSON.parse(line.slice(6));
  }
}

function show(event) {
  running.querySelector("[role=status]").textContent = event.said ?? "";
  const bar = running.querySelector("progress");
  bar.hidden = event.share === undefined;
  bar.value = event.share ?? 0;
}

// The end of a call that was canceled: its record is written now.
function canceled(id) {
  const said = document.createElement("p");
  said.className = "notice warn";
  said.append(running.dataset.canceled + " ");
  if (id) said.append(Object.assign(document.createElement("a"), { href: running.dataset.calls + encodeURIComponent(id), textContent: running.dataset.record }));
  tried().replaceChildren(said);
}

async function run(address, body) {
  if (call) return;
  const control = new AbortController();
  call = control;
  const began = performance.now();
  const elapsed = running.querySelector(".elapsed");
  const tick = () => { elapsed.textContent = ((performance.now() - began) / 1000).toFixed(1) + " s"; };
  const clock = setInterval(tick, 100);
  tick();
  show({});
  for (const mark of form().querySelectorAll(".wrong")) mark.remove();
  for (const field of form().querySelectorAll("[aria-invalid]")) field.removeAttribute("aria-invalid");
  tried().replaceChildren();
  running.hidden = false;
  busy(true);
  let id = "";
  try {
    const response = await post(address, body, { Accept: "text/event-stream" }, control.signal);
    if (!response.headers.get("Content-Type")?.startsWith("text/event-stream")) await failed(response);
    else {
      let ended = false;
      for await (const event of events(response.body)) {
        if (event.call) {
          id = event.call;
          keep(event.arguments);
        }
        else if (event.tried) { ended = true; end(event); }
        else show(event);
      }
      if (!ended) throw new Error("the stream broke off");
    }
  } catch {
    if (control.signal.aborted) canceled(id);
    else lost();
  }
  clearInterval(clock);
  running.hidden = true;
  call = null;
  busy(false);
}

function end(event) {
  put(tried(), event.tried);
  if (event.form) {
    put(form(), event.form);
    form().querySelector("[aria-invalid]")?.focus();
  }
  if (event.lines) put(same.querySelector(".lines"), event.lines);
  prepare();
}

// Who cancels a call, or leaves the page meanwhile, has its arguments when they come back.
function keep(args) {
  try {
    if (args.length <= maxStored) sessionStorage.setItem(store, args);
  } catch { /* the browser keeps nothing */ }
}

function busy(yes) {
  for (const button of section.querySelectorAll("button.go, .again button")) button.disabled = yes;
}

// The lines follow the form while they are open.
let soon = 0;
function follow() {
  if (!same.open) return;
  clearTimeout(soon);
  const mine = soon = setTimeout(async () => {
    const response = await post(same.dataset.lines, posted()).catch(() => null);
    if (mine === soon && response?.ok && !response.headers.has("HX-Retarget")) put(same.querySelector(".lines"), await response.text());
  }, 300);
}

// What a new form needs: the button for the last arguments, if there are any.
function prepare() {
  let last = null;
  try { last = sessionStorage.getItem(store); } catch { /* the browser keeps nothing */ }
  form().querySelector(".last").hidden = !last || last === "{}";
  follow();
}

// The offset of the person's zone at a time, for times that must name one.
function offset(at) {
  const minutes = -at.getTimezoneOffset();
  if (!minutes) return "Z";
  const two = (n) => String(Math.floor(n)).padStart(2, "0");
  return (minutes < 0 ? "-" : "+") + two(Math.abs(minutes) / 60) + ":" + two(Math.abs(minutes) % 60);
}

section.addEventListener("submit", (e) => {
  e.preventDefault();
  const button = e.submitter;
  if (e.target.matches(".again")) run(e.target.action, new URLSearchParams(new FormData(e.target)));
  else if (button?.name !== "do") run(form().action, posted());
  else if (/^(remove|up|down) /.test(button.value)) moveRow(button);
  else change(posted(button.value));
});
section.addEventListener("keydown", (e) => {
  if (e.key !== "Enter" || e.isComposing || !e.target.matches("#try-form input, #try-form select")) return;
  e.preventDefault();
  form().requestSubmit(form().querySelector("button.go"));
});
section.addEventListener("change", (e) => {
  if (e.target.matches("[data-change]")) change(posted("show"));
});
// A zone is the person's own until they say otherwise.
const zoneOf = (input) => input.matches("[type=datetime-local], [type=time]") ? input.closest(".entry").querySelector(":scope > .zone") : null;
section.addEventListener("focusin", (e) => {
  const zone = zoneOf(e.target);
  if (zone && e.target.value && !("own" in zone.dataset)) zone.dataset.told = "";
});
section.addEventListener("input", (e) => {
  const zone = zoneOf(e.target);
  if (zone && !("told" in zone.dataset) && e.target.value) {
    const at = new Date(e.target.type === "time" ? Date.now() : e.target.value);
    if (!Number.isNaN(at.getTime())) zone.value = offset(at);
    zone.dataset.own = "";
  }
  if (e.target.matches(".zone")) e.target.dataset.told = "";
  follow();
});
section.addEventListener("click", (e) => {
  if (!e.target.matches?.(".last")) return;
  change(new URLSearchParams({ profile: form().elements.profile.value, view: form().elements.view.value, as: "json", json: sessionStorage.getItem(store), do: "form" }));
});
same.addEventListener("toggle", follow);
running.querySelector("button").addEventListener("click", () => call?.abort());
addEventListener("pagehide", () => call?.abort()); // who leaves the page cancels the call
prepare();
