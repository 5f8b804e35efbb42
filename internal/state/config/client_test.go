package config

import (
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"testing"

	"github.com/toolfit/toolfit/internal/core/policy"
	"github.com/toolfit/toolfit/internal/core/project"
)

const clientFile = `{
  // settings of an editor
  "theme": "dark", "listen": 7,
  "mcpServers": {
    "files": {"command": "npx", "args": ["-y", "x", 1, true,], "env": {"A": "${env:TOKEN}"}, "autoApprove": ["*"], "timeout": 60},
    /* 云 */ "云": {"transport": "streamableHttp", "serverUrl": "https://example.com/mcp", "headers": {"X": "//not a comment"}, "env": {"B": "c"}, "disabled": true},
  },
}
`

func TestParseClientFile(t *testing.T) {
	cfg := parse(t, "etc/mcp.json", clientFile, "TOKEN", "s3cret")
	files := defaultServer("files", 5)
	files.Command, files.Args, files.Cwd = "npx", []string{"-y", "x", "1", "true"}, "etc"
	files.Env = map[string]string{"A": "s3cret"}
	cloud := defaultServer("云", 6)
	cloud.URL, cloud.Type, cloud.Cwd, cloud.Disabled = "https://example.com/mcp", "streamable-http", "etc", true
	cloud.Headers = map[string]string{"X": "//not a comment"}
	if want := []Server{files, cloud}; !reflect.DeepEqual(cfg.Servers, want) {
		t.Errorf("got  %+v\nwant %+v", cfg.Servers, want)
	}
	if cfg.Listen != "127.0.0.1:8420" || !slices.Equal(cfg.Secrets, []string{"s3cret", "//not a comment"}) {
		t.Errorf("got %+v", cfg)
	}
}

func TestClientFilesKeepServersInSeveralPlaces(t *testing.T) {
	for name, text := range map[string]string{
		"mcpServers":           `{"mcpServers": {"a": {"command": "x"}}}`,
		"servers":              `{"inputs": [], "servers": {"a": {"command": "x", "type": "stdio"}}}`,
		"mcp.servers":          `{"mcp": {"servers": {"a": {"command": "x"}}}}`,
		"mcp.mcpServers":       `{"mcp": {"mcpServers": {"a": {"command": "x"}}}}`,
		"servers is not one":   `{"servers": 3, "mcp": {"servers": {"a": {"command": "x"}}}}`,
		"Windows line endings": "{\r\n\"mcpServers\": {\r\n\"a\": {\"command\": \"x\"}}}",
		"byte order mark":      "\ufeff" + `{"mcpServers": {"a": {"command": "x"}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			cfg := parse(t, "mcp.json", text)
			if len(cfg.Servers) != 1 || cfg.Servers[0].Command != "x" {
				t.Errorf("got %+v", cfg.Servers)
			}
		})
	}
	if cfg := parse(t, "mcp.json", " // nothing\n"); len(cfg.Servers) != 0 {
		t.Errorf("got %+v", cfg.Servers)
	}
}

func TestClientFileProblems(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"text that is no JSON names the line", "{\n\"a\": 1\n\"b\": 2}", `mcp.json:3: it is not JSON: unexpected '"' at byte 10`},
		{"an unclosed comment is no JSON", "{ /* ", "mcp.json:1: the JSON ends too early"},
		{"a list at the top", "[]", "mcp.json:1: expected a mapping, got a list"},
		{"a wrong type names the field", `{"mcpServers": {"a": {"command": ["x"]}}}`,
			"mcp.json:1: mcpServers.a.command: expected text, got a list"},
		{"a duplicate names the first", "{\"mcpServers\": {\"a\": {\"command\": \"x\"},\n\"a\": {}}}",
			"mcp.json:2: mcpServers.a: is given twice, first in line 1; keep one"},
		{"a question names the fix", `{"servers": {"a": {"command": "x", "args": ["${input:api-key}"]}}}`,
			"mcp.json:1: servers.a.args[0]: ${input:api-key} is a question that VS Code asks; write ${API_KEY} and set that environment variable"},
		{"an unknown transport names the known", `{"servers": {"a": {"url": "http://h", "type": "ssee"}}}`,
			`mcp.json:1: servers.a.type: expected stdio or http or streamable-http or sse; did you mean "sse"?`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { wantProblem(t, "mcp.json", tt.text, tt.want) })
	}
}

// TestSchemaKnowsTheSameKeys holds the published schema to the decoder.
func TestSchemaKnowsTheSameKeys(t *testing.T) {
	type part struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Closed     *bool                      `json:"additionalProperties"`
	}
	var doc struct {
		part
		Defs map[string]json.RawMessage `json:"$defs"`
	}
	text, err := os.ReadFile("config.schema.json")
	if err == nil {
		err = json.Unmarshal(text, &doc)
	}
	if err != nil {
		t.Fatal(err)
	}
	c := &draft{Config: defaults("")}
	for name, fields := range map[string][]field{
		"": c.fields(), "server": new(Server).fields(), "api": (&Server{API: &API{}}).apiFields(), "profile": c.profileFields(&Profile{}),
		"override": c.overrideFields(&Override{}), "fallback": new(Fallback).fields(),
		"result": c.resultFields(new(project.Rule)), "kept": c.StoredResults.fields(1), "safety": new(Safety).fields(),
		"tools": new(Profile).toolFields(), "rule": c.policyFields(new(policy.Rule), new(*node)),
		"records": c.Records.fields(), "sessions": c.Sessions.fields(1), "limits": c.Limits.fields(),
		"rate": c.Rate.fields(), "breaker": new(Breaker).fields(), "embeddings": c.Embeddings.fields(), "telemetry": c.Telemetry.fields(),
		"recall": c.recallFields(new(Recall)), "recallUpstream": new(RecallUpstream).fields(), "recallAction": new(RecallAction).fields(),
		"model": new(Model).fields(), "agent": c.agentFields(new(Agent)), "capabilities": new(Capabilities).fields(),
	} {
		got := doc.part
		if name != "" {
			got = part{}
			if err := json.Unmarshal(doc.Defs[name], &got); err != nil {
				t.Fatal(err)
			}
		}
		var keys []string
		for key := range got.Properties {
			keys = append(keys, key)
		}
		want := keysOf(fields)
		slices.Sort(keys)
		slices.Sort(want)
		if !slices.Equal(keys, want) {
			t.Errorf("%q: schema has %q, decoder has %q", name, keys, want)
		}
		if got.Closed == nil || *got.Closed {
			t.Errorf("%q: schema lets unknown keys through", name)
		}
	}
}

func TestSchemaKnowsTheSameDialects(t *testing.T) {
	text, err := os.ReadFile("config.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Defs struct {
			Dialect struct{ Enum []string }
		} `json:"$defs"`
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	if got := doc.Defs.Dialect.Enum; !slices.Equal(got, dialects()) {
		t.Errorf("the schema has %q, the package schema %q", got, dialects())
	}
}
