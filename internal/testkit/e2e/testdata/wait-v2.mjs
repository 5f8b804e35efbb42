// The TypeScript SDK's client, version 2, and tools that take longer than it waits: it collects
// their results with fetch_result, and as tasks by the package for tasks.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { createTaskSessionFromClient, resultFromTaskOutcome } from "@modelcontextprotocol/ext-tasks/client";

const [url, ms, timeout, mode] = process.argv.slice(2);
const options = timeout ? { timeout: Number(timeout) } : undefined; // none: its own
const clientInfo = { name: "v2", version: "1" };
const capabilities = { elicitation: {} };
const answer = async () => ({ action: "accept", content: { name: "ann" } });

async function connect() {
  const client = new Client(clientInfo, { versionNegotiation: { mode: mode === "modern" ? { pin: "2026-07-28" } : mode }, capabilities });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return client;
}
const client = await connect();
client.setRequestHandler("elicitation/create", answer);
await client.listTools(); // from here on it checks results by outputSchema

async function call(name, n) {
  const said = await client.callTool({ name, arguments: { n, ms: Number(ms) } }, options);
  const ref = said.content[0].text.match(/c_\w+/)?.[0];
  let result;
  do {
    result = await client.callTool({ name: "fetch_result", arguments: { ref, wait: "30s" } }, options && { timeout: 40_000 });
  } while (result.content[0].text.includes("Call fetch_result again"));
  return { isError: said.isError ?? false, said: said.content[0].text, code: said._meta?.["toolfit/error"]?.code ?? "", result: result.content[0].text };
}

// The package leaves modern requests to its host.
let id = 0;
async function rawDispatch(request) {
  const name = request.params.name ?? request.params.taskId;
  const answer = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream", "mcp-protocol-version": "2026-07-28", "mcp-method": request.method, "mcp-name": name },
    body: JSON.stringify({ jsonrpc: "2.0", id: ++id, ...request }),
  });
  const body = await answer.text();
  const message = JSON.parse(answer.headers.get("content-type").startsWith("text/event-stream") ? body.match(/data: (.*"id":.*)/)[1] : body);
  return message.error ? { kind: "error", error: message.error } : { kind: "result", result: message.result };
}

const tasking = await connect();
const { tools } = await tasking.listTools();
const session = createTaskSessionFromClient(tasking, {
  endpointId: "gateway",
  tools: { currentTool: (name) => ({ inputSchema: { type: "object" }, name, taskSupport: "optional", found: tools.some((t) => t.name === name) }) },
  onInputRequest: answer,
  ...(mode === "modern" ? { rawDispatch, v2RequestFraming: { protocolVersion: "2026-07-28", clientInfo, clientCapabilities: capabilities } } : {}),
});
// Of a legacy server's task the package only asks how it is. Such a server asks its client while
// that waits for the result, so there are no questions there.
async function task(name, n) {
  const events = [];
  const execution = await session.callTool(name, { n, ms: Number(ms) }, { task: { preference: mode === "modern" ? "allow" : "prefer" } });
  const { outcome } = await execution.settle({ onEvent: (e) => void events.push(e.type === "task" ? e.task.status : e.type) });
  return { events: [...new Set(events)], result: resultFromTaskOutcome(outcome).content[0].text };
}

const [plain, structured, asTask, asked] = await Promise.all([call("hold", mode + " plain"), call("measure", mode + " structured"), task("hold", mode + " task"), mode === "modern" && task("ask", mode + " asked")]);
console.log(JSON.stringify({ plain, structured, task: asTask, asked, version: client.getNegotiatedProtocolVersion?.() ?? "" }));
await session.close();
await Promise.all([client.close(), tasking.close()]);
