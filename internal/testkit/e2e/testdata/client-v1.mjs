// The TypeScript SDK's client, version 1: lists, calls, and answers a question of the server's.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const client = new Client({ name: "v1", version: "1" }, { capabilities: { elicitation: {} } });
client.setRequestHandler(ElicitRequestSchema, async () => ({ action: "accept", content: { username: "ann", email: "ann@example.com" } }));
await client.connect(new StreamableHTTPClientTransport(new URL(process.argv[2])));
const { tools } = await client.listTools();
const plain = await client.callTool({ name: "test_simple_text", arguments: {} });
const asked = await client.callTool({ name: "test_elicitation", arguments: { message: "who?" } });
const { resources } = await client.listResources();
const { prompts } = await client.listPrompts();
console.log(JSON.stringify({ tools: tools.length, plain: plain.content[0].text, asked: asked.content[0].text, resources: resources.length, prompts: prompts.length }));
await client.close();
