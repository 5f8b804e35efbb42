package clientfile

import (
	"slices"
	"testing"
)

func TestRestorePutsBackServersAlone(t *testing.T) {
	const before = "{\n  \"n\": 1,\n  \"mcpServers\": {\n    \"a\": {\"command\": \"x\"}, // mine\n    \"b\": {}\n  }\n}\n"
	for name, c := range map[string]struct {
		path, now, want string // want is "" where it must not be done
	}{
		"another key has changed": {"c.json", "{\n  \"n\": 2,\n  \"mcpServers\": {\n    \"toolfit\": {\"url\": \"u\"}\n  }\n}\n",
			"{\n  \"n\": 2,\n  \"mcpServers\": {\n    \"a\": {\"command\": \"x\"}, // mine\n    \"b\": {}\n  }\n}\n"},
		"a server that stayed": {"c.json", `{"mcpServers": {"b": {}, "toolfit": {}}, "more": []}`,
			"{\"mcpServers\": {\n    \"a\": {\"command\": \"x\"}, // mine\n    \"b\": {}\n  }, \"more\": []}"},
		"a project is new": {"c.json", `{"mcpServers": {"toolfit": {}}, "projects": {"p": {"mcpServers": {"z": {}}}}}`,
			"{\"mcpServers\": {\n    \"a\": {\"command\": \"x\"}, // mine\n    \"b\": {}\n  }, \"projects\": {\"p\": {\"mcpServers\": {\"z\": {}}}}}"},
		"a server is new":          {"c.json", `{"mcpServers": {"c": {}, "toolfit": {}}}`, ""},
		"a server has changed":     {"c.json", `{"mcpServers": {"b": {"command": "y"}, "toolfit": {}}}`, ""},
		"all servers are gone":     {"c.json", `{"n": 1}`, ""},
		"the text cannot be read":  {"c.json", `{"n": `, ""},
		"the servers are a number": {"c.json", `{"mcpServers": 1}`, ""},
	} {
		got, ok := Restore(c.path, []byte(c.now), []byte(before), "toolfit")
		if ok != (c.want != "") || ok && string(got) != c.want {
			t.Errorf("%s: got %t\n%s", name, ok, got)
		}
	}
}

func TestRestoreInTOML(t *testing.T) {
	const before = "n = 1\n\n[mcp_servers.a]\ncommand = \"x\"\n[mcp_servers.a.env]\nA = \"1\"\n\n[mcp_servers.b]\nurl = \"u\"\n"
	const ours = "[mcp_servers.toolfit]\nurl = \"t\"\n"
	for name, c := range map[string]struct{ now, want string }{
		"a project was trusted since": {"n = 1\n\n[mcp_servers.b]\nurl = \"u\"\n\n" + ours + "\n[projects.p]\ntrust_level = \"trusted\"\n",
			"n = 1\n\n[mcp_servers.b]\nurl = \"u\"\n\n[projects.p]\ntrust_level = \"trusted\"\n\n" +
				"[mcp_servers.a]\ncommand = \"x\"\n\n[mcp_servers.a.env]\nA = \"1\"\n"},
		"a server is new":         {"n = 2\n[mcp_servers.c]\nurl = \"c\"\n" + ours, ""},
		"we are not there":        {"n = 2\n", ""},
		"the text cannot be read": {"n = \n" + ours, ""},
	} {
		got, ok := Restore("config.toml", []byte(c.now), []byte(before), "toolfit")
		if ok != (c.want != "") || ok && string(got) != c.want {
			t.Errorf("%s: got %t\n%s", name, ok, got)
		}
	}
	if got, ok := Restore("c.toml", []byte("n = 2\n"+ours), []byte("mcp_servers = {a = {url = \"x\"}}\n"), "toolfit"); ok {
		t.Errorf("servers without tables: %s", got)
	}
}

func TestSecretsOfAWholeFileAreFound(t *testing.T) {
	want := []string{"ghp_0123456789abcdef", "hunter2hunter2"}
	for path, text := range map[string]string{
		"a.json":       `{"account": {"accessToken": "hunter2hunter2"}, "mcpServers": {"a": {"args": ["--token", "ghp_0123456789abcdef", "x"], "env": {"LEVEL": "debug"}}}}`,
		"a.toml":       "[mcp_servers.a.env]\nA_TOKEN = \"ghp_0123456789abcdef\"\nPASSWORD = \"hunter2hunter2\"\nB = \"plain\"\n",
		"toolfit.yaml": "mcpServers:\n  a: {command: x, env: {A_TOKEN: ghp_0123456789abcdef, B: plain}, headers: {Authorization: Bearer hunter2hunter2}}\n",
	} {
		if got := Secrets(path, []byte(text)); !slices.Equal(got, want) {
			t.Errorf("%s: got %q", path, got)
		}
	}
	if got := Secrets("a.json", []byte("{")); got != nil {
		t.Errorf("got %q", got)
	}
}
