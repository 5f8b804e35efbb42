// The TypeScript SDK's client, version 2, calls the tools of the environment protocol in order.
// The third argument is how it finds the revision.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const mode = process.argv[4];
const client = new Client({ name: "v2", version: "1" }, { versionNegotiation: { mode: mode === "modern" ? { pin: "2026-07-28" } : mode } });
await client.connect(new StreamableHTTPClientTransport(new URL(process.argv[2])));
const { tools } = await client.listTools();
const answers = {};
for (const [name, args] of JSON.parse(process.argv[3])) {
  const { content, structuredContent, isError } = await client.callTool({ name, arguments: args });
  const same = !isError && JSON.stringify(JSON.parse(content[0].text)) === JSON.stringify(structuredContent);
  answers[name] = isError ? content[0].text : same ? "ok" : "text and structure differ";
}
console.log(JSON.stringify({ tools: tools.map((tool) => tool.name), answers }));
await client.close();
