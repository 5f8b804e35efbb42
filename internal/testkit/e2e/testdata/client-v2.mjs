// The TypeScript SDK's client, version 2: lists, calls, and answers a question of the
// server's. The second argument is how it finds the revision.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const [url, mode, tool, asking] = process.argv.slice(2);
const client = new Client(
  { name: "v2", version: "1" },
  { versionNegotiation: { mode: mode === "modern" ? { pin: "2026-07-28" } : mode }, capabilities: { elicitation: {} } },
);
client.setRequestHandler("elicitation/create", async () => ({ action: "accept", content: { name: "ann", username: "ann", email: "ann@example.com" } }));
await client.connect(new StreamableHTTPClientTransport(new URL(url)));
const { tools } = await client.listTools();
const plain = await client.callTool({ name: tool, arguments: tool === "plain" ? { text: "plain text" } : {} });
const asked = asking ? (await client.callTool({ name: asking, arguments: { message: "who?" } })).content[0].text : "";
console.log(JSON.stringify({ tools: tools.length, plain: plain.content[0].text, asked, version: client.getNegotiatedProtocolVersion?.() ?? "" }));
await client.close();
