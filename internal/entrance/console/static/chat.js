// A chat that is shown while it happens: what the agent says and calls comes as the events of
// the chat completions API. When it is over, the page is what the gateway has stored. Text of
// others is set as text, never as HTML. Without this the form works too, and the page comes
// when the answer is whole.
const form = document.getElementById("say");
const turns = document.getElementById("turns");
const ending = document.getElementById("ending");
const [send, stop] = [document.getElementById("send"), document.getElementById("stop")];
const text = form.elements.text;
const part = (id) => document.getElementById(id).content.firstElementChild.cloneNode(true);

// What hides or turns text around is shown by its number, as on all pages.
const hidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff\u{e0000}-\u{e007f}]/gu;
const plain = (s) => s.replace(hidden, (c) => "\\u" + c.codePointAt(0).toString(16).padStart(4, "0"));

const tones = { running: "calm", success: "good", failed: "bad", skipped: "calm" };
const word = (status) => document.querySelector(`#words [data-status="${CSS.escape(status)}"]`)?.textContent ?? status;

let leaving = null; // stops the answer that is under way

function atEnd() { return innerHeight + scrollY > document.documentElement.scrollHeight - 120; }
function follow(change) {
  const near = atEnd();
  change();
  if (near) scrollTo(0, document.documentElement.scrollHeight);
}

function tell(message, tone) {
  const p = document.createElement("p");
  p.className = "notice " + tone;
  p.textContent = plain(message);
  ending.replaceChildren(p);
}

// An answer grows piece by piece: paragraphs and calls, in the order in which they happen.
class Answer {
  constructor(name) {
    this.turn = part("agent-turn");
    this.turn.querySelector("h2").textContent = name;
    this.turn.classList.add("working");
    this.calls = new Map();
    this.piece = null;
    turns.append(this.turn);
  }
  say(more) {
    if (!this.piece) {
      more = more.replace(/^\n+/, "");
      if (!more) return;
      this.piece = part("piece");
      this.turn.append(this.piece);
    }
    this.piece.append(plain(more));
  }
  call(report) {
    this.piece = null;
    let shown = this.calls.get(report.id);
    if (!shown || (report.status === "running" && shown.dataset.over)) { // an id may come again in a later round
      shown = part("call");
      shown.classList.add("live");
      this.calls.set(report.id, shown);
      this.turn.append(shown);
    }
    if (report.status !== "running") shown.dataset.over = "yes";
    const badge = shown.querySelector(".badge");
    badge.className = "badge " + (tones[report.status] ?? "warn");
    badge.textContent = word(report.status);
    shown.querySelector(".tool").textContent = plain(report.tool);
    shown.querySelector("small").textContent = report.status === "running" ? "" : report.duration_ms + " ms";
    const [given, got] = shown.querySelectorAll("pre");
    if (report.arguments !== undefined) given.textContent = plain(JSON.stringify(report.arguments, null, 2));
    got.textContent = plain(report.error || report.result || "");
  }
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
    for (const line of lines) if (line.startsWith("data: ")) yield line.slice(6);
  }
}

// One answer, from the question to its end. It returns what is to be said of the end.
async function answered(question, signal) {
  const metadata = form.elements.session.value ? { session: form.elements.session.value } : undefined;
  const response = await fetch(form.dataset.stream, {
    method: "POST", signal, headers: { "Content-Type": "application/json", "HX-Request": "true" },
    body: JSON.stringify({ model: form.elements.agent.value, stream: true, metadata, messages: [{ role: "user", content: question }] }),
  });
  if (!response.headers.get("Content-Type")?.startsWith("text/event-stream")) {
    const failure = await response.json().catch(() => null);
    if (!failure?.error) location.reload(); // the sign-in has ended
    return { message: failure?.error?.message ?? "", tone: "bad" };
  }
  const answer = new Answer(form.elements.agent.selectedOptions[0].textContent);
  let note = null;
  for await (const data of events(response.body)) {
    if (data === "[DONE]") return note;
    const event = JSON.parse(data);
    if (event.error) return { message: event.error.message, tone: "bad" };
    follow(() => {
      const more = event.toolfit;
      if (more?.session) keep(more.session);
      if (more?.call) answer.call(more.call);
      if (more?.limit) note = { message: form.dataset.limit + " " + more.limit, tone: "warn" };
      answer.say(event.choices?.[0]?.delta?.content ?? "");
    });
  }
  return { message: form.dataset.broken, tone: "bad" };
}

// Calls that run when a person stops the answer have no end that this page hears of.
function interrupt() {
  for (const call of turns.querySelectorAll(".call.live:not([data-over])")) {
    call.querySelector(".badge").className = "badge warn";
    call.querySelector(".badge").textContent = word("lost");
  }
}

// The session has an address from its first event on, so that a reload goes on with it.
function keep(session) {
  if (form.elements.session.value === session) return;
  form.elements.session.value = session;
  history.replaceState(null, "", turns.dataset.said + encodeURIComponent(session));
}

function busy(yes) {
  stop.hidden = !yes;
  send.hidden = yes;
  form.elements.agent.disabled = yes;
  turns.setAttribute("aria-busy", String(yes));
}

async function ask(question) {
  const control = new AbortController();
  leaving = control;
  busy(true);
  ending.replaceChildren();
  turns.querySelector(".start")?.remove();
  const said = part("person");
  said.firstElementChild.textContent = plain(question);
  turns.append(said);
  scrollTo(0, document.documentElement.scrollHeight);
  let note;
  try {
    note = await answered(question, control.signal);
  } catch (error) {
    note = control.signal.aborted ? { message: form.dataset.stopped, tone: "warn" } : { message: form.dataset.broken, tone: "bad" };
  }
  leaving = null;
  turns.querySelector(".working")?.classList.remove("working");
  const session = form.elements.session.value;
  if (control.signal.aborted) interrupt(); // the end is still being stored
  else if (session) await window.htmx.ajax("GET", turns.dataset.said + encodeURIComponent(session) + "/turns", { target: "#turns", swap: "innerHTML" });
  if (note) tell(note.message, note.tone);
  busy(false);
  scrollTo(0, document.documentElement.scrollHeight);
  text.focus();
}

form.addEventListener("submit", (e) => {
  e.preventDefault();
  const question = text.value.trim();
  if (!question || leaving) return;
  text.value = "";
  ask(question);
});
text.addEventListener("keydown", (e) => {
  if (e.key !== "Enter" || e.shiftKey || e.isComposing) return; // an Enter that ends a composed word sends nothing
  e.preventDefault();
  form.requestSubmit();
});
stop.addEventListener("click", () => leaving?.abort());
addEventListener("pagehide", () => leaving?.abort()); // a page that is left may live on, to be shown when somebody goes back
if (turns.querySelector(".turn")) scrollTo(0, document.documentElement.scrollHeight);
