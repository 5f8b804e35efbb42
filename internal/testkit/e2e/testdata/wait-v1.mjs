// The TypeScript SDK's client, version 1, and tools that take longer than it waits: it collects
// their results with fetch_result, and as tasks.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { CallToolResultSchema, ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const [url, ms, timeout] = process.argv.slice(2);
const options = timeout ? { timeout: Number(timeout) } : undefined; // none: its own
const client = new Client({ name: "v1", version: "1" }, { capabilities: { elicitation: {} } });
client.setRequestHandler(ElicitRequestSchema, async () => ({ action: "accept", content: { name: "ann" } }));
await client.connect(new StreamableHTTPClientTransport(new URL(url)));
await client.listTools(); // from here on it checks results by outputSchema

async function call(name, n) {
  const said = await client.callTool({ name, arguments: { n, ms: Number(ms) } }, undefined, options);
  const ref = said.content[0].text.match(/c_\w+/)?.[0];
  let result;
  do {
    result = await client.callTool({ name: "fetch_result", arguments: { ref, wait: "30s" } }, undefined, options && { timeout: 40_000 });
  } while (result.content[0].text.includes("Call fetch_result again"));
  return { isError: said.isError ?? false, said: said.content[0].text, code: said._meta?.["toolfit/error"]?.code ?? "", result: result.content[0].text };
}

async function task(name, n) {
  const events = [];
  for await (const m of client.experimental.tasks.callToolStream({ name, arguments: { n, ms: Number(ms) } }, CallToolResultSchema, { ...options, task: { ttl: 600_000 } })) {
    events.push(m.type === "taskStatus" ? m.task.status : m.type);
    if (m.type === "error") throw m.error;
    if (m.type === "result") return { events: [...new Set(events)], result: m.result.content[0].text };
  }
}

const [plain, structured, asTask, asked] = await Promise.all([call("hold", "v1 plain"), call("measure", "v1 structured"), task("hold", "v1 task"), task("ask", "v1 asked")]);
console.log(JSON.stringify({ plain, structured, task: asTask, asked }));
await client.close();
