// The TypeScript SDK's client of skills: lists them, gets each by its URI, and reads all files, which it verifies by their digests.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { SkillsClient } from "@modelcontextprotocol/client/ext/skills";

const [url, mode, ...unlisted] = process.argv.slice(2);
const client = new Client({ name: "v2", version: "1" }, { versionNegotiation: { mode: mode === "modern" ? { pin: "2026-07-28" } : mode } });
await client.connect(new StreamableHTTPClientTransport(new URL(url)));
const skills = new SkillsClient(client);
const found = {};
const { skills: listed } = await skills.list();
for (const uri of [...listed.map((s) => s.uri), ...unlisted]) {
  const { skill } = await skills.get(uri);
  const files = skill.resources === "dynamic" ? [uri] : skill.resources.map((r) => r.uri);
  found[uri] = {};
  for (const file of files) {
    const { text, verified } = await skills.read(skill, file);
    found[uri][file] = `${verified} ${text ?? "bytes"}`;
  }
}
const directories = {};
for (const at of ["skill://files/git-workflow", "skill://old/git-workflow/references"]) {
  directories[at] = (await skills.readDirectory(at)).resources.map((r) => r.uri).sort();
}
const { resources } = await client.listResources();
const errors = [];
for (const uri of ["skill://files/nothing/SKILL.md", "skill://nobody/git-workflow/SKILL.md", "skill://git-workflow/SKILL.md"]) {
  errors.push(await skills.get(uri).then(() => "found", (e) => e.code));
}
console.log(JSON.stringify({ supported: skills.supported, found, directories, resources: resources.map((r) => r.uri).sort(), errors }));
await client.close();
