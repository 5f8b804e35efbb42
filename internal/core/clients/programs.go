package clients

import "strings"

// programs are the ways for those who write programs, and what fits every other client.
func (g Gateway) programs() []Guide {
	url := quoteCode(g.URL())
	return []Guide{
		{Name: "openai-responses", Title: "OpenAI Responses API", Kind: Code, Names: []string{"openai-mcp"}, Steps: []Step{{"Python", g.code(`import os
from openai import OpenAI

answer = OpenAI().responses.create(
    model="gpt-5",
    input="Which tools do you have?",
    tools=[{
        "type": "mcp",
        "server_label": "toolfit",
        "server_url": `+url+`,
`, `        "authorization": KEY,
`, `        "require_approval": "never",
    }],
)
print(answer.output_text)
`)}}},
		{Name: "openai-agents", Title: "OpenAI Agents SDK", Kind: Code, Steps: []Step{{"Python: pip install openai-agents", g.code(`import asyncio, os
from agents import Agent, Runner
from agents.mcp import MCPServerStreamableHttp

async def main():
    params = {"url": `+url, `, "headers": {"Authorization": "Bearer " + KEY}`, `}
    async with MCPServerStreamableHttp(name="toolfit", params=params) as tools:
        agent = Agent(name="helper", mcp_servers=[tools])
        print((await Runner.run(agent, "Which tools do you have?")).final_output)

asyncio.run(main())
`)}}},
		{Name: "python", Title: "Python", Kind: Code, Names: []string{"mcp"}, Steps: []Step{{"pip install \"mcp>=2\"", g.python(url)}}},
		{Name: "typescript", Title: "TypeScript", Kind: Code, Steps: []Step{{"npm install @modelcontextprotocol/sdk", g.typescript(url)}}},
		{Name: "http", Title: "HTTP", Kind: Code, Steps: []Step{{"mcp.json", g.json("mcpServers", "http", "${VAR}")}, {"URL", g.URL() + "\n"}}},
		{Name: "stdio", Title: "stdio", Kind: Code, Steps: []Step{{"mcp.json", g.bridge("mcpServers")}}},
	}
}

// code is Python, with the middle part only where a key is needed. KEY in it becomes the key.
func (g Gateway) code(before, middle, after string) string {
	if g.Variable == "" {
		return strings.Replace(strings.Replace(before, "import asyncio, os\n", "import asyncio\n", 1), "import os\n", "", 1) + after
	}
	return before + strings.ReplaceAll(middle, "KEY", g.inCode(`os.environ["`+g.Variable+`"]`)) + after
}

// inCode is the key in a program: its text, or what reads the variable.
func (g Gateway) inCode(variable string) string {
	if g.Key != "" {
		return quoteCode(g.Key)
	}
	return variable
}

// python is for version 2 of the SDK, where the key belongs to the HTTP client. The timeouts are those of the SDK's own.
func (g Gateway) python(url string) string {
	if g.Variable == "" {
		return `import asyncio
from mcp import Client

async def main():
    async with Client(` + url + `) as client:
        print([tool.name for tool in (await client.list_tools()).tools])

asyncio.run(main())
`
	}
	return `import asyncio, os
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

headers = {"Authorization": "Bearer " + ` + g.inCode(`os.environ["`+g.Variable+`"]`) + `}

async def main():
    async with httpx2.AsyncClient(headers=headers, timeout=httpx2.Timeout(30, read=300)) as http:
        async with Client(streamable_http_client(` + url + `, http_client=http)) as client:
            print([tool.name for tool in (await client.list_tools()).tools])

asyncio.run(main())
`
}

func (g Gateway) typescript(url string) string {
	options := ""
	if g.Variable != "" {
		options = ", {\n  requestInit: { headers: { Authorization: \"Bearer \" + " + g.inCode("process.env."+g.Variable) + " } },\n}"
	}
	return `import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const client = new Client({ name: "my-agent", version: "1.0.0" });
await client.connect(new StreamableHTTPClientTransport(new URL(` + url + `)` + options + `));
console.log((await client.listTools()).tools.map((tool) => tool.name));
`
}

// quoteCode is text in Python and TypeScript, which read what JSON writes.
func quoteCode(s string) string { return yaml(s) }
