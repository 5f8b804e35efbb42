// The package ext-tasks, on the TypeScript SDK's client, version 2, runs tools as tasks of either
// era, and answers their questions.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { createTaskSessionFromClient, resultFromTaskOutcome, toolDeclarationFromMcpTool } from "@modelcontextprotocol/ext-tasks/client";

const [url, era, calls] = process.argv.slice(2);
const modern = era === "modern";
const clientInfo = { name: "tasks", version: "1" };
const clientCapabilities = { elicitation: { form: {} }, ...(modern && { extensions: { "io.modelcontextprotocol/tasks": {} } }) };
const client = new Client(clientInfo, {
  capabilities: clientCapabilities,
  versionNegotiation: { mode: modern ? { pin: "2026-07-28" } : "legacy" },
});
await client.connect(new StreamableHTTPClientTransport(new URL(url)));

// The SDK's client knows no modern tasks, so they go past it.
let last = 0;
async function rawDispatch(message, options) {
  const res = await fetch(url, {
    method: "POST",
    body: JSON.stringify({ jsonrpc: "2.0", id: ++last, ...message }),
    headers: {
      "Content-Type": "application/json", Accept: "application/json, text/event-stream", "MCP-Protocol-Version": "2026-07-28",
      "Mcp-Method": message.method, "Mcp-Name": message.params.name ?? message.params.taskId, ...options?.headers,
    },
  });
  const { result, error } = await res.json();
  return error ? { kind: "error", error } : { kind: "result", result };
}
const { tools } = await client.listTools();
const declared = new Map(tools.map((tool) => [tool.name, toolDeclarationFromMcpTool(tool)]));
const session = createTaskSessionFromClient(client, {
  endpointId: "here",
  tools: { currentTool: (name) => declared.get(name) },
  onInputRequest: async () => ({ action: "accept", content: { name: "Ada", confirm: true } }),
  ...(modern && { rawDispatch, v2RequestFraming: { protocolVersion: "2026-07-28", clientInfo, clientCapabilities } }),
});
for (const [name, args] of JSON.parse(calls)) {
  let text;
  try {
    const execution = await session.callTool(name, args, { task: { preference: "prefer" } });
    const { outcome } = await execution.settle();
    text = outcome.status === "failed" ? "failed" : resultFromTaskOutcome(outcome).content[0].text;
  } catch (error) {
    text = String(error);
  }
  console.log(name + ": " + text);
}
await session.close();
await client.close();
