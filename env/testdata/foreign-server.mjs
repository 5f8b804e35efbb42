// An environment as others write it: with the TypeScript SDK, under names with a slash alone,
// with answers that are text alone, and times in UTC alone. It finds the packages in the folder
// that it runs in. With the argument http it prints its address and serves there; without, it
// serves on standard input and output.
import { createRequire } from "node:module";
import { createServer } from "node:http";
import { randomUUID } from "node:crypto";

const load = createRequire(process.cwd() + "/");
const { McpServer } = load("@modelcontextprotocol/sdk/server/mcp.js");
const { StdioServerTransport } = load("@modelcontextprotocol/sdk/server/stdio.js");
const { StreamableHTTPServerTransport } = load("@modelcontextprotocol/sdk/server/streamableHttp.js");
const { z } = load("zod");

const profile = {
  id: "shift",
  displayName: "早班",
  primaryAgents: [{ id: "boss", role: "primary", promptId: "system" }],
  subAgents: [{ id: "hand", role: "sub", deniedTools: ["stop_*"] }],
};
const agents = [...profile.primaryAgents, ...profile.subAgents];
const logs = [
  { timestamp: "2026-01-02T03:04:05.678Z", level: "info", message: "on", context: { belt: 3 } },
  { timestamp: "2026-01-02T03:04:06Z", level: "error", message: "停了", sessionId: "ses_1", toolName: "stop_belt" },
];

const says = (value) => ({ content: [{ type: "text", text: JSON.stringify(value, null, 2) }] });
const refuses = (message) => ({ ...says({ error: message }), isError: true });
const finds = (found, message) => (found ? says(found) : refuses(message));

function environment() {
  const server = new McpServer({ name: "env-mcp", version: "1.0.0" });
  const add = (name, inputSchema, run) => server.registerTool("env/" + name, { inputSchema }, async (args) => run(args));
  add("get_description", {}, () => says({ id: "plant", displayName: "Plant", capabilities: { logs: true, mcpTools: { belts: 3 } } }));
  add("list_profiles", {}, () => says({ profiles: [profile] }));
  add("get_profile", { id: z.string() }, ({ id }) => finds(id === profile.id && profile, `Profile not found: ${id}`));
  add("list_agents", { role: z.enum(["primary", "sub"]).optional(), profileId: z.string().optional() }, ({ role }) =>
    says({ agents: agents.filter((a) => !role || a.role === role) }));
  add("get_agent", { id: z.string(), profileId: z.string().optional() }, ({ id }) => {
    const found = agents.find((a) => a.id === id);
    if (!found) throw new Error(`Agent not found: ${id}`); // the SDK makes an answer of it
    return says(found);
  });
  add("query_logs", {
    level: z.enum(["debug", "info", "warn", "error"]).optional(), since: z.string().datetime().optional(),
    until: z.string().datetime().optional(), limit: z.number().int().min(1).max(1000).optional(),
  }, ({ since }) => says({ logs: logs.filter((l) => !since || l.timestamp >= since) }));
  return server;
}

const open = new Map();

async function serve(request, response) {
  let body = "";
  for await (const chunk of request) body += chunk;
  const id = request.headers["mcp-session-id"];
  let transport = open.get(id);
  if (id && !transport) return response.writeHead(404).end();
  if (!transport) {
    transport = new StreamableHTTPServerTransport({ sessionIdGenerator: randomUUID, onsessioninitialized: (id) => open.set(id, transport) });
    await environment().connect(transport);
  }
  await transport.handleRequest(request, response, body ? JSON.parse(body) : undefined);
}

if (process.argv[2] === "http") {
  const web = createServer(serve).listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${web.address().port}`));
  process.stdin.on("end", () => process.exit(0)).resume();
} else {
  await environment().connect(new StdioServerTransport());
}
