// Clients of both TypeScript SDKs that list and call again and again until standard input ends. Each
// request is a line of what became of it. What only reads is tried once more after an error; what acts is not.
import { Client as Client1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as Transport1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { Client as Client2, StreamableHTTPClientTransport as Transport2 } from "@modelcontextprotocol/client";

const [url, key, ...kinds] = process.argv.slice(2);
const http = { requestInit: { headers: { Authorization: `Bearer ${key}` } } };
const answer = async () => ({ action: "accept", content: { name: "ann" } });
const options = { timeout: 20_000 };
let over = false;
process.stdin.on("end", () => (over = true)).resume();

async function connect(kind) {
  const capabilities = { elicitation: {} };
  if (kind === "v1") {
    const client = new Client1({ name: kind, version: "1" }, { capabilities });
    client.setRequestHandler(ElicitRequestSchema, answer);
    await client.connect(new Transport1(new URL(url), http));
    return { list: () => client.listTools({}, options), call: (params) => client.callTool(params, undefined, options), close: () => client.close() };
  }
  const mode = kind === "modern" ? { pin: "2026-07-28" } : kind;
  const client = new Client2({ name: kind, version: "1" }, { versionNegotiation: { mode }, capabilities });
  client.setRequestHandler("elicitation/create", answer);
  await client.connect(new Transport2(new URL(url), http));
  return { list: () => client.listTools({}, options), call: (params) => client.callTool(params, options), close: () => client.close() };
}

async function once(client, tool, n, noted) {
  if (tool === "list") {
    return (await client.list()).tools.length > 5 ? "" : "few tools";
  }
  const result = await client.call({ name: tool, arguments: { n, ms: 20 }, _meta: { "toolfit/session": n } });
  const said = result.content?.map((c) => c.text).join(" ") ?? "";
  noted.lost = said.includes("not on record");
  return result.isError || !/^(done|hello)/.test(said) ? `result: ${said}` : "";
}

async function use(kind, number) {
  const client = await connect(kind);
  for (let i = 0; !over; i++) {
    for (const tool of ["list", "old__look", "old__hold", "new__look", "new__hold", "new__ask"]) {
      const n = `${kind}-${number}-${i}-${tool}`;
      const from = Date.now();
      const errors = [];
      const noted = { lost: false };
      for (const tries = tool === "list" || tool.endsWith("look") ? 2 : 1; errors.length < tries; ) {
        const error = await once(client, tool, n, noted).catch((e) => `${e}`);
        if (error === "") break;
        errors.push(error);
      }
      console.log(JSON.stringify({ kind, tool, n, from, to: Date.now(), errors, lost: noted.lost }));
      await new Promise((done) => setTimeout(done, 20));
    }
  }
  await client.close();
}

await Promise.all(kinds.map(use));
process.exit(0); // a stream may wait to be taken up again
