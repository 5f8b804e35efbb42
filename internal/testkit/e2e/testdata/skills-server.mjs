// A server of the TypeScript SDK, version 2, that has skills. The first argument is which: "files" and "old" have equal ones with
// other text, "old" speaks no modern revision, "hub" has another scheme and a skill that it does not list.
import { McpServer } from "@modelcontextprotocol/server";
import { SkillsExtension, memorySkillFiles, skillEntry } from "@modelcontextprotocol/server/ext/skills";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";

const which = process.argv[2];
const manifest = (name, text) => `---\nname: ${name}\ndescription: How ${which} does ${name}\nlicense: MIT\n---\n\n# ${text}\n`;

async function catalog() {
  return SkillsExtension.load(
    memorySkillFiles({
      "git-workflow/SKILL.md": manifest("git-workflow", `Branches of ${which}, 世界`),
      "git-workflow/references/GUIDE.md": `Rebase with ${which}.\r\n`,
      "git-workflow/assets/logo.bin": new Uint8Array([0, 1, 2, 255]),
      "acme/billing/refunds/SKILL.md": manifest("refunds", "Refunds"),
      "acme/billing/refunds/examples/email.md": "Dear customer\n",
    }),
    { pageSize: 1 },
  );
}

async function hub() {
  const files = { "SKILL.md": manifest("deploy", "Deploy"), "run.sh": "echo hub\n" };
  const listed = await skillEntry("deploy", files, { baseUri: "github://acme/tools/" });
  const hidden = { ...(await skillEntry("secret", { "SKILL.md": manifest("secret", "Unlisted") }, { baseUri: "github://acme/tools/" })), resources: "dynamic" };
  return new SkillsExtension({
    baseUri: "github://acme/tools/",
    source: {
      list: async () => ({ skills: [listed] }),
      get: async (uri) => [listed, hidden].find((s) => s.uri === uri),
      read: async (uri) => {
        if (uri === hidden.uri) return { text: manifest("secret", "Unlisted") };
        const text = files[uri.slice("github://acme/tools/deploy/".length)];
        return text === undefined ? undefined : { text };
      },
    },
  });
}

const skills = await (which === "hub" ? hub() : catalog());
function make() {
  const server = new McpServer({ name: which, version: "1" });
  skills.attach(server);
  return server;
}
if (which === "old") await make().connect(new StdioServerTransport());
else serveStdio(make, { legacy: "reject" });
