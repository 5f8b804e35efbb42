// The page of one waiting call: shows the rows that the gateway sends and says what the
// person decides. Everything that comes from outside is set as text, never as HTML.

const byId = (id) => document.getElementById(id);
const [form, list, state, filter] = ["form", "list", "state", "filter"].map(byId);
const buttons = ["pick", "cancel", "switch", "refresh"].map(byId);

// Why the gateway closes the connection for good.
const endings = { 4001: "cancelled", 4002: "switched", 4003: "timedOut", 4004: "ended", 4403: "ended" };

let socket;
let envs = [];
let chosen = "";
let over = false;
let pause = 500;

function say(name, values = {}, bad = false) {
  state.textContent = state.dataset[name].replace(/\{(\w+)\}/g, (_, key) => values[key] ?? "");
  state.classList.toggle("bad", bad);
}

function send(message) {
  if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
}

function enable() {
  const open = !over && socket?.readyState === WebSocket.OPEN;
  for (const b of buttons) b.disabled = !open;
  if (chosen === "") byId("pick").disabled = true;
}

// finish shows how it ended; nothing can be done any more.
function finish(name, values) {
  over = true;
  list.replaceChildren();
  filter.disabled = true;
  enable();
  document.body.classList.add("over");
  say(name, values);
  state.classList.toggle("good", name === "picked");
}

function text(value) {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

function row(env) {
  const item = byId("row").content.cloneNode(true);
  const id = text(env.EnvId);
  const radio = item.querySelector("input");
  radio.value = id;
  radio.checked = id === chosen;
  radio.disabled = id === "";
  item.querySelector(".alias").textContent = text(env.Alias) || id;
  item.querySelector(".tag").hidden = env.IsDefault !== true;
  item.querySelector(".id").textContent = id;
  item.querySelector(".about").textContent =
    [env.Status, env.Region, env.PackageName, env.EnvType].map(text).filter(Boolean).join(" · ");
  const details = item.querySelector("details");
  details.addEventListener("toggle", () => {
    details.querySelector("pre").textContent = JSON.stringify(env, null, 2);
  }, { once: true });
  return item;
}

function matches(env, wanted) {
  return [env.EnvId, env.Alias, env.Region].some((v) => text(v).toLowerCase().includes(wanted));
}

function show() {
  const wanted = filter.value.trim().toLowerCase();
  const rows = envs.filter((env) => matches(env, wanted));
  const held = list.contains(document.activeElement);
  list.replaceChildren(...rows.map(row));
  if (held) list.querySelector("input:checked")?.focus(); // a new list takes nobody's place away
  if (envs.length === 0) say("empty");
  else if (rows.length < envs.length) say("shown", { m: rows.length, n: envs.length });
  else say("count", { n: envs.length });
  enable();
}

function hear(message) {
  switch (message.type) {
    case "envListRefreshed":
      if (Array.isArray(message.envs) && (message.success || message.envs.length > 0)) {
        envs = message.envs.filter((env) => env !== null && typeof env === "object");
        if (!envs.some((env) => env.EnvId === chosen)) chosen = "";
        show();
      }
      if (!message.success) say("failed", { error: text(message.error) }, true);
      break;
    case "success":
      finish("picked", { id: text(message.envId) });
  }
}

function connect() {
  const url = new URL("ws", location.href);
  url.protocol = url.protocol.replace("http", "ws");
  socket = new WebSocket(url);
  socket.addEventListener("open", () => {
    pause = 500;
    send({ type: "registerSession", sessionId: document.body.dataset.session });
    say("loading");
    enable();
  });
  socket.addEventListener("message", (event) => {
    let message;
    try {
      message = JSON.parse(event.data);
    } catch {
      return;
    }
    if (!over && message !== null && typeof message === "object") hear(message);
  });
  socket.addEventListener("close", (event) => {
    if (over) return;
    if (endings[event.code]) {
      finish(endings[event.code]);
      return;
    }
    if (Date.now() > Date.parse(document.body.dataset.until)) {
      finish("timedOut");
      return;
    }
    say("lost", {}, true);
    enable();
    setTimeout(connect, pause);
    pause = Math.min(pause * 2, 15000);
  });
}

list.addEventListener("change", (event) => {
  chosen = event.target.value;
  enable();
});
filter.addEventListener("input", show);
form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (chosen !== "") send({ type: "envId", data: chosen });
});
byId("refresh").addEventListener("click", () => {
  say("loading");
  send({ type: "refreshEnvList" });
});
byId("cancel").addEventListener("click", () => send({ type: "envId", data: "", cancelled: true }));
byId("switch").addEventListener("click", () => send({ type: "envId", data: "", switch: true }));

const until = byId("until");
const time = new Date(document.body.dataset.until).toLocaleTimeString(document.documentElement.lang, { timeStyle: "short" });
until.textContent = until.dataset.text.replace("{time}", time);
enable();
connect();
