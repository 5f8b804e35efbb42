// The TypeScript SDK's client, version 2, calls every tool of the protocol under both names; one is listed.
// The third argument is how it finds the revision.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const mode = process.argv[4];
const client = new Client({ name: "v2", version: "1" }, { versionNegotiation: { mode: mode === "modern" ? { pin: "2026-07-28" } : mode } });
await client.connect(new StreamableHTTPClientTransport(new URL(process.argv[2])));
const { tools } = await client.listTools();
const answers = {};
for (const prefix of ["env/", "env_"]) {
  for (const [name, args] of JSON.parse(process.argv[3])) {
    if (tools.some((tool) => tool.name === prefix + name) !== (prefix === "env/")) throw new Error(prefix + name + " is listed under the wrong name");
    const { content, isError } = await client.callTool({ name: prefix + name, arguments: args });
    (answers[name] ??= []).push(isError ? content[0].text : "ok");
  }
}
console.log(JSON.stringify(answers));
await client.close();
