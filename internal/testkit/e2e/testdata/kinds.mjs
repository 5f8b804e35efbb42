// A client of one of the TypeScript SDKs does everything several times, so that it meets every gateway behind a
// balancer. The first argument is the address, the second the kind of client: v1, legacy or modern.
import { Client as Client1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as Transport1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { CreateMessageRequestSchema, ElicitRequestSchema, ResourceUpdatedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { Client as Client2, StreamableHTTPClientTransport as Transport2 } from "@modelcontextprotocol/client";

const [url, kind] = process.argv.slice(2);
const capabilities = { elicitation: {}, sampling: {} };
const answer = async () => ({ action: "accept", content: { name: "ann" } });
const sample = async () => ({ model: "m", role: "assistant", content: { type: "text", text: "Paris" } });
let updated = () => {};

async function connect(path) {
  const first = kind === "v1";
  const mode = kind === "modern" ? { pin: "2026-07-28" } : kind;
  const client = first
    ? new Client1({ name: kind, version: "1" }, { capabilities })
    : new Client2({ name: kind, version: "1" }, { versionNegotiation: { mode }, capabilities });
  client.setRequestHandler(first ? ElicitRequestSchema : "elicitation/create", answer);
  client.setRequestHandler(first ? CreateMessageRequestSchema : "sampling/createMessage", sample);
  client.setNotificationHandler(first ? ResourceUpdatedNotificationSchema : "notifications/resources/updated", () => updated());
  await client.connect(first ? new Transport1(new URL(url + path)) : new Transport2(new URL(url + path)));
  const call = (name, args = {}, options) => (first ? client.callTool({ name, arguments: args }, undefined, options) : client.callTool({ name, arguments: args }, options));
  return { client, call, text: async (...args) => (await call(...args)).content.map((c) => c.text).join(" ") };
}

const { client, call, text } = await connect("/mcp");
const finder = await connect("/mcp/find");
const said = { list: [], call: [], elicitation: [], sampling: [], progress: [], cancel: [], fetch_result: [], find_tools: [], call_tool: [], subscribe: [] };
for (let i = 0; i < 4; i++) {
  said.list.push((await client.listTools()).tools.length > 5);
  said.call.push(await text("plain"));
  said.elicitation.push(await text("ask"));
  said.sampling.push(await text("sample"));
  let steps = 0;
  await call("count", {}, { onprogress: () => steps++ });
  said.progress.push(steps);
  const stop = new AbortController();
  setTimeout(() => stop.abort("enough"), 100);
  said.cancel.push(await call("wait", {}, { signal: stop.signal }).then(() => "answered", () => "canceled"));
  const ref = (await text("big")).match(/r_\w+/)?.[0];
  said.fetch_result.push((await text("fetch_result", { ref, fields: "items(note)" })).includes("note 2"));
  said.find_tools.push((await finder.text("find_tools", { query: "count slowly" })).includes("count"));
  said.call_tool.push(await finder.text("call_tool", { name: "plain", arguments: {} }));
  if (kind !== "modern") {
    const heard = new Promise((done, late) => {
      updated = () => done(true);
      setTimeout(() => late(new Error("never heard of the change")), 20_000);
    });
    await client.subscribeResource({ uri: "test://watched" });
    await call("touch");
    said.subscribe.push(await heard);
    await client.unsubscribeResource({ uri: "test://watched" });
  }
}
console.log(JSON.stringify(said));
process.exit(0);
