// The TypeScript SDK's client, version 2, that can show pages: for each it asks the third argument to sign in. The
// second argument is how it finds the revision, the fourth its token.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const [url, mode, person, token] = process.argv.slice(2);
const client = new Client(
  { name: "v2", version: "1" },
  { versionNegotiation: { mode: mode === "modern" ? { pin: "2026-07-28" } : mode }, capabilities: { elicitation: { url: {} } } },
);
const shown = [];
client.setRequestHandler("elicitation/create", async (request) => {
  shown.push(request.params.url);
  await fetch(person);
  return { action: "accept" };
});
await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { Authorization: `Bearer ${token}` } } }));
const result = await client.callTool({ name: "who", arguments: {} });
console.log(JSON.stringify({ shown, text: result.content[0].text }));
await client.close();
