// The TypeScript SDK's client, version 1, runs tools as tasks of revision 2025-11-25, and answers
// their questions.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { CallToolResultSchema, ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const client = new Client({ name: "tasks", version: "1" }, { capabilities: { elicitation: { form: {} } } });
client.setRequestHandler(ElicitRequestSchema, async () => ({ action: "accept", content: { name: "Ada", confirm: true } }));
await client.connect(new StreamableHTTPClientTransport(new URL(process.argv[2])));
for (const [name, args] of JSON.parse(process.argv[4])) {
  let last;
  for await (const message of client.experimental.tasks.callToolStream({ name, arguments: args }, CallToolResultSchema, { task: {} })) last = message;
  console.log(name + ": " + (last.result?.content[0].text ?? "failed"));
}
await client.close();
