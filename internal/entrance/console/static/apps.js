// The host of apps (MCP Apps, 2026-01-26): pages of servers that show the result of a tool. Each is in a frame whose origin is
// opaque; it asks by messages, and gets what is here and no more. Whether it may call or read, the gateway decides.
const minHeight = 80;
const maxHeight = 1200;
const maxLinks = 5;
const dark = matchMedia("(prefers-color-scheme: dark)");
const theme = () => document.documentElement.dataset.theme || (dark.matches ? "dark" : "light");

function refuse(code, message) { throw Object.assign(new Error(message), { code }); }

// post asks the gateway for the app of a box.
async function post(box, what, fields) {
  const at = new URL(box.dataset.src, location.href);
  at.pathname += "/" + what;
  const response = await fetch(at, { method: "POST", body: new URLSearchParams(fields) });
  const answer = response.ok ? await response.json() : { error: "HTTP " + response.status };
  if (answer.error) refuse(-32000, answer.error);
  return answer;
}

// callTool asks the person first where the gateway wants that. Who has said no is not asked again.
async function callTool(box, params) {
  const fields = { tool: String(params.name), arguments: JSON.stringify(params.arguments ?? {}) };
  let answer = await post(box, "call", fields);
  if (answer.ask) {
    if ("refused" in box.dataset || !window.confirm(answer.ask)) {
      box.dataset.refused = "";
      refuse(-32000, "the person does not want this call");
    }
    answer = await post(box, "call", { ...fields, agreed: "1" });
  }
  return answer.result;
}

// offerLink shows a link, which only the person opens.
function offerLink(box, address) {
  const to = URL.canParse(address) ? new URL(address) : {};
  if (to.protocol !== "https:" && to.protocol !== "http:") refuse(-32602, "only http and https links can be opened");
  let list = box.querySelector(".links");
  if (!list) {
    list = document.createElement("p");
    list.className = "links";
    list.setAttribute("role", "status");
    list.append(box.dataset.links);
    box.append(list);
  }
  const link = document.createElement("a");
  Object.assign(link, { href: to.href, textContent: to.href, target: "_blank", rel: "noopener noreferrer" });
  list.append(" ", link);
  const links = list.querySelectorAll("a");
  if (links.length > maxLinks) links[0].remove();
  return {};
}

const noChat = () => refuse(-32000, "the console shows what a tool has returned; there is no conversation with a model here");

// requests are what an app may ask for.
const requests = {
  "ui/initialize": (box, _, frame) => ({
    protocolVersion: "2026-01-26",
    hostInfo: { name: "toolfit", version: document.querySelector(".brand small").textContent },
    hostCapabilities: { openLinks: {}, serverTools: {}, serverResources: {}, logging: {} },
    hostContext: {
      theme: theme(), displayMode: "inline", availableDisplayModes: ["inline"], platform: "web", locale: document.documentElement.lang,
      timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone, containerDimensions: { width: frame.clientWidth, maxHeight },
    },
  }),
  "tools/call": callTool,
  "resources/read": async (box, params) => (await post(box, "read", { uri: String(params.uri) })).result,
  "ui/open-link": (box, params) => offerLink(box, params.url),
  "ui/request-display-mode": () => ({ mode: "inline" }),
  "ui/message": noChat,
  "ui/update-model-context": noChat,
  "sampling/createMessage": noChat,
  ping: () => ({}),
};

// start runs the app of a box, and returns what ends it.
function start(box) {
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", "allow-scripts allow-forms"); // before it has a page
  frame.title = box.dataset.title;
  frame.height = 300;
  let ending = false;
  const send = (message) => frame.contentWindow?.postMessage({ jsonrpc: "2.0", ...message }, "*"); // an opaque origin has no name

  async function answer({ id, method, params }) {
    try {
      const known = Object.hasOwn(requests, method) ? requests[method] : () => refuse(-32601, "the console does not know " + method);
      send({ id, result: await known(box, params ?? {}, frame) });
    } catch (e) {
      send({ id, error: { code: e.code ?? -32603, message: e.message } });
    }
  }
  function hear(method, params) {
    if (method === "ui/notifications/initialized") {
      send({ method: "ui/notifications/tool-input", params: box.dataset.arguments ? { arguments: JSON.parse(box.dataset.arguments) } : {} });
      send({ method: "ui/notifications/tool-result", params: JSON.parse(box.dataset.result) });
    } else if (method === "ui/notifications/size-changed" && Number.isFinite(params?.height)) {
      frame.height = Math.round(Math.min(maxHeight, Math.max(minHeight, params.height)));
    }
  }
  function listen(e) {
    if (!frame.isConnected) return stop();
    const message = e.data;
    if (e.source !== frame.contentWindow || e.origin !== "null" || message?.jsonrpc !== "2.0") return;
    if (message.method === undefined) { if (ending) frame.remove(); } // its answer to the only request that it gets
    else if (message.id === undefined) hear(message.method, message.params);
    else answer(message);
  }
  const tellTheme = () => send({ method: "ui/notifications/host-context-changed", params: { theme: theme() } });
  function stop() {
    window.removeEventListener("message", listen);
    dark.removeEventListener("change", tellTheme);
  }
  window.addEventListener("message", listen);
  dark.addEventListener("change", tellTheme);
  frame.src = box.dataset.src;
  box.append(frame);
  return () => {
    ending = true;
    send({ id: 1, method: "ui/resource-teardown", params: {} });
    setTimeout(() => { frame.remove(); stop(); }, 500); // it has had its time
  };
}

const running = new WeakMap(); // what ends the app, by its box
document.addEventListener("click", (e) => {
  const button = e.target.closest?.(".app > button");
  if (!button) return;
  const box = button.parentElement;
  const end = running.get(box);
  if (end) {
    end();
    running.delete(box);
    box.querySelector(".links")?.remove();
  } else {
    delete box.dataset.refused;
    running.set(box, start(box));
  }
  button.setAttribute("aria-expanded", String(!end));
  [button.textContent, button.dataset.other] = [button.dataset.other, button.textContent];
});
