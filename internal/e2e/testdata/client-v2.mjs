// The TypeScript SDK's client, version 2, in its default mode: lists and calls.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const client = new Client({ name: "v2", version: "1" });
await client.connect(new StreamableHTTPClientTransport(new URL(process.argv[2])));
const { tools } = await client.listTools();
const plain = await client.callTool({ name: "test_simple_text", arguments: {} });
console.log(JSON.stringify({ tools: tools.length, plain: plain.content[0].text }));
await client.close();
