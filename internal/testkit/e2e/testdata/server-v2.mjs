// A server of the TypeScript SDK, version 2: it asks for a name before it greets. Without an
// argument it speaks on its standard input and output, with one it listens and says where.
import { createServer } from "node:http";
import { McpServer, acceptedContent, createMcpHandler, inputRequired } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

function make() {
  const server = new McpServer({ name: "v2", version: "1" }, { capabilities: { tools: { listChanged: true } } });
  server.registerTool("plain", { inputSchema: z.object({ text: z.string() }) }, async ({ text }) => ({ content: [{ type: "text", text }] }));
  server.registerTool("greet", { inputSchema: z.object({}) }, async (_, ctx) => {
    const who = acceptedContent(ctx.mcpReq.inputResponses, "who");
    if (!who) {
      return inputRequired({
        inputRequests: {
          who: inputRequired.elicit({
            message: "Who are you?",
            requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
          }),
        },
      });
    }
    return { content: [{ type: "text", text: `Hello, ${who.name}!` }] };
  });
  return server;
}

if (process.argv[2]) {
  const handler = createMcpHandler(make, { legacy: "reject" });
  const server = createServer(async (req, res) => {
    const chunks = [];
    for await (const c of req) chunks.push(c);
    const body = chunks.length ? Buffer.concat(chunks) : undefined;
    const answer = await handler.fetch(new Request(`http://localhost${req.url}`, { method: req.method, headers: req.headers, body }));
    res.writeHead(answer.status, Object.fromEntries(answer.headers));
    if (answer.body) for await (const c of answer.body) res.write(c);
    res.end();
  });
  server.listen(0, "127.0.0.1", () => console.error("listens on " + server.address().port));
} else {
  serveStdio(make, { legacy: "reject" });
}
