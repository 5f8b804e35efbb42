package clientfile

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/base/shell"
	"github.com/toolfit/toolfit/internal/base/tool"
)

// summary is a server on one line.
func summary(s Pasted) string {
	parts := []string{string(s.ID)}
	switch {
	case s.API != nil && strings.HasPrefix(s.API.Spec, "data:"):
		document, _ := s.API.Inline()
		parts = append(parts, "description", string(document))
	case s.API != nil:
		parts = append(parts, "openapi", s.API.Spec)
	case s.URL != "":
		parts = append(parts, s.URL)
	default:
		parts = append(parts, shell.Join(append([]string{s.Command}, s.Args...)))
	}
	if s.Type != "" {
		parts = append(parts, s.Type)
	}
	if len(s.Env)+len(s.Headers) > 0 {
		parts = append(parts, strings.Trim(fmt.Sprint(s.Env, s.Headers), "map[] "))
	}
	return strings.Join(append(parts, s.Notes...), " | ")
}

func TestWhatPeoplePasteIsUnderstood(t *testing.T) {
	const files = `{"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "."]}`
	cursor := "cursor://anysphere.cursor-deeplink/mcp/install?name=weather&config=" + url.QueryEscape(base64.StdEncoding.EncodeToString([]byte(`{"url":"https://w.example/mcp"}`)))
	tests := []struct {
		name, text string
		want       []string
	}{
		{"a client's file", `{"mcpServers": {"files": ` + files + `, "git": {"url": "https://example.com/mcp", "headers": {"A": "b"}, "gallery": 1}}}`,
			[]string{"files | npx -y @modelcontextprotocol/server-filesystem .", "git | https://example.com/mcp | A:b | git: ignored gallery"}},
		{"VS Code", "// mine\n" + `{"servers": {"a": {"type": "stdio", "command": "x", "env": {"T": "${input:key}"}}}, "inputs": [],}`,
			[]string{"a | x | stdio | T:${KEY} | a: ${input:key} is ${KEY} here; set that environment variable"}},
		{"without the outer braces", `"mcpServers": {"files": ` + files + `},`, []string{"files | npx -y @modelcontextprotocol/server-filesystem ."}},
		{"one entry of it", `"files": ` + files + `,`, []string{"files | npx -y @modelcontextprotocol/server-filesystem ."}},
		{"several entries", `"a": {"command": "x"}, "b": {"url": "https://h/mcp"}`, []string{"a | x", "b | https://h/mcp"}},
		{"a server without a name", files, []string{"filesystem | npx -y @modelcontextprotocol/server-filesystem ."}},
		{"a server with its name inside", `{"name": "my server", "command": "x"}`, []string{"my-server | x | my server is named my-server here"}},
		{"in a block of code", "```json\n{\"mcpServers\": {\"a\": {\"command\": \"x\"}}}\n```", []string{"a | x"}},
		{"Codex", "[mcp_servers.a]\ncommand = \"x\"\nargs = [\"y\"]\n", []string{"a | x y"}},
		{"Codex, in a table", "[mcp_servers]\na = { command = \"x\" }\n", []string{"a | x"}},
		{"Goose", "extensions:\n  git:\n    name: Git\n    cmd: npx\n    args: [x]\n    enabled: true\n    envs: {T: v}\n  web: {uri: \"https://h/mcp\", type: streamable_http}\n",
			[]string{"git | npx x | T:v", "web | https://h/mcp | streamable-http"}},
		{"a list of servers", "mcpServers:\n  - name: a\n    command: x\n", []string{"a | x"}},
		{"YAML, one entry of it", "a:\n  command: x\n", []string{"a | x"}},
		{"a block of code in a letter", "Please add this:\r\n\r\n```json\r\n" + `{"mcpServers": {"a": {"command": "x"}}}` + "\r\n```\r\nThanks!", []string{"a | x"}},
		{"a description with a block of code", "openapi: 3.1.0\ninfo:\n  description: |\n    ```json\n    {}\n    ```\n",
			[]string{"api | description | openapi: 3.1.0\ninfo:\n  description: |\n    ```json\n    {}\n    ```"}},
		{"JSON with the quotes of a word processor", `{“mcpServers”: {“a”: {“command”: “x”}}}`, []string{"a | x"}},
		{"a command with such quotes", `npx -y a-mcp “My Files”`, []string{"a | npx -y a-mcp 'My Files'"}},
		{"such quotes within others", `npx a --say "a “b”"`, []string{"a | npx a --say 'a “b”'"}},
		{"an address in quotes", "“https://example.com/mcp”", []string{"example | https://example.com/mcp"}},
		{"a program in quotes", `"C:\Tools\my-mcp.exe" --x`, []string{`my | 'C:\Tools\my-mcp.exe' --x`}},
		{"variables on lines before", "export A='x y'\nexport B=$HOME\nnpx a\nnpx b", []string{"a | npx a | A:x y B:${HOME}", "b | npx b | A:x y B:${HOME}"}},
		{"PowerShell", "$env:A = \"x y\"; $env:B='2'\nnpx a `\n  --c d", []string{"a | npx a --c d | A:x y B:2"}},
		{"cmd of Windows", "set A=1&& npx a ^\r\n  --c d", []string{"a | npx a --c d | A:1"}},
		{"opencode", `{"mcp": {"a": {"type": "local", "command": ["npx", "-y", "x"], "environment": {"A": "{env:T}"}, "enabled": true}, ` +
			`"b": {"type": "remote", "url": "https://h/mcp", "headers": {"Authorization": "Bearer {env:T}"}}}}`,
			[]string{"a | npx -y x | A:${T}", "b | https://h/mcp | Authorization:Bearer ${T}"}},
		{"VS Code's settings", `{"mcp": {"servers": {"a": {"command": "x"}}}}`, []string{"a | x"}},
		{"YAML", "mcpServers:\n  a:\n    command: x\n", []string{"a | x"}},
		{"a command", "npx -y @modelcontextprotocol/server-github@latest", []string{"github | npx -y @modelcontextprotocol/server-github@latest"}},
		{"with variables", "$ A=1 B='x y' uvx mcp-server-fetch --token $TOKEN", []string{"fetch | uvx mcp-server-fetch --token '${TOKEN}' | A:1 B:x y"}},
		{"Docker, over several lines", "docker run -i --rm \\\n  -e KEY \\\n  ghcr.io/acme/weather-mcp:1.2", []string{"weather | docker run -i --rm -e KEY ghcr.io/acme/weather-mcp:1.2"}},
		{"a path of Windows", `C:\Tools\my-mcp.exe --x`, []string{`my | 'C:\Tools\my-mcp.exe' --x`}},
		{"several lines", "npx a-mcp\n# then\nhttps://mcp.linear.app/sse\n", []string{"a | npx a-mcp", "linear | https://mcp.linear.app/sse"}},
		{"the same twice", "npx a\nnpx a\n", []string{"a | npx a", "a-2 | npx a"}},
		{"an address", "https://mcp.example.com/mcp", []string{"example | https://mcp.example.com/mcp"}},
		{"an address of this machine", "http://127.0.0.1:3000/mcp", []string{"127.0.0.1 | http://127.0.0.1:3000/mcp"}},
		{"a description's address", "https://api.petstore.io/v3/openapi.json", []string{"petstore | openapi | https://api.petstore.io/v3/openapi.json"}},
		{"a description", `{"openapi":"3.1.0","info":{"title":"Pet Store"}}`, []string{`pet-store | description | {"openapi":"3.1.0","info":{"title":"Pet Store"}}`}},
		{"a description in YAML", "openapi: 3.1.0\ninfo:\n  title: 宠物\n", []string{"宠物 | description | openapi: 3.1.0\ninfo:\n  title: 宠物"}},
		{"Claude Code", `claude mcp add --transport http -s user linear https://mcp.linear.app/mcp --header "Authorization: Bearer $T"`,
			[]string{"linear | https://mcp.linear.app/mcp | Authorization:Bearer ${T}"}},
		{"Claude Code, a header before", `claude mcp add -t sse -H "Authorization: Bearer $T" linear https://mcp.linear.app/sse`,
			[]string{"linear | https://mcp.linear.app/sse | sse | Authorization:Bearer ${T}"}},
		{"Claude Code, a command", "claude mcp add weather -e KEY=1 --env B=2 -- npx -y weather-mcp --verbose", []string{"weather | npx -y weather-mcp --verbose | B:2 KEY:1"}},
		{"Claude Code, JSON", `claude mcp add-json w '{"command":"npx","args":["-y","pkg"]}'`, []string{"w | npx -y pkg"}},
		{"Codex by command", "codex mcp add docs --url https://docs.example/mcp --bearer-token-env-var TOKEN", []string{"docs | https://docs.example/mcp | Authorization:Bearer ${TOKEN}"}},
		{"VS Code by command", `code --add-mcp '{"name":"w","command":"x"}'`, []string{"w | x"}},
		{"Gemini", "gemini mcp add --trust --include-tools x,y w npx a", []string{"w | npx a"}},
		{"our own", "toolfit add files -- npx -y files", []string{"files | npx -y files"}},
		{"a link of Cursor", cursor, []string{"weather | https://w.example/mcp"}},
		{"a link of VS Code", "vscode:mcp/install?" + url.QueryEscape(`{"name":"w","command":"x"}`), []string{"w | x"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			found, notes, err := ReadPasted(tt.text)
			var got []string
			for _, s := range found {
				got = append(got, summary(s))
				if err := tool.CheckServerID(s.ID); err != nil {
					t.Error(err)
				}
			}
			if err != nil || len(notes) > 0 || !slices.Equal(got, tt.want) {
				t.Errorf("got\n%s\n%q, %v\nwant\n%s", strings.Join(got, "\n"), notes, err, strings.Join(tt.want, "\n"))
			}
		})
	}
}

func TestWhatIsNotUnderstoodSaysWhy(t *testing.T) {
	for text, want := range map[string]string{
		"": "there is no server in this text", "{}": "there is no server in this text", `{"a": {"b": 1}}`: "there is no server in this text",
		`{"mcpServers": {"a": {"args": []}}}`: "a is left out: pasted:1: mcpServers.a: needs one of command, url or builtin",
		"{\n\"a\": \n":                        "pasted:", "npx a | tee x": "is for a shell", "A=1": "there is no command", "ftp://example.com/x": "is not an http or https URL",
		"claude mcp add x": "behind the name", "export A=1": "there is no server in this text", "usage:\nnpx a\n": "there is no server in this text",
		strings.Repeat("npx a\n", 100_000): "there are more than 100 servers", "[" + strings.Repeat("{},", 100_000) + "{}]": "there are more than 100 servers",
		`{"mcpServers":{` + strings.Repeat(`"a":1,`, 100_000) + `"b":1}}`: "there are more than 100 servers",
	} {
		if found, _, err := ReadPasted(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %+v, %v, want %s", text, found, err, want)
		}
	}
	found, notes, err := ReadPasted(`{"mcpServers": {"a": {"command": "x"}, "b": {}}}`)
	if err != nil || len(found) != 1 || len(notes) != 1 || !strings.Contains(notes[0], "b is left out") {
		t.Errorf("of two, one is understood: %+v, %q, %v", found, notes, err)
	}
}

// FuzzReadPasted holds that every text is understood or refused, and that names are valid.
func FuzzReadPasted(f *testing.F) {
	for _, text := range []string{`{"mcpServers":{"a":{"command":"x"}}}`, "npx -y a", "https://h/mcp", "claude mcp add x -- y", "[mcp_servers.a]\nurl='x'", `"a":{"url":"http://h"}`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		found, _, err := ReadPasted(text)
		if err == nil && len(found) == 0 {
			t.Fatal("neither servers nor an error")
		}
		for _, s := range found {
			if err := tool.CheckServerID(s.ID); err != nil && s.ID != tool.Recipes {
				t.Fatal(err)
			}
			if _, err := s.Text(); err != nil {
				t.Fatal(err)
			}
		}
	})
}
