package clientfile

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/state/config"
)

// writeFile writes a file into a new folder; no text, no file.
func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if text != "" {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

func wantFile(t *testing.T, path, want string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".toolfit-*"))
	if len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestRead(t *testing.T) {
	path := writeFile(t, "mcp.json", `{"servers": {
  "My Files": {"command": "npx", "args": ["${workspaceFolder}", "${env:A}-${B:-c}"], "gallery": true},
  "My/Files": {"url": "${env:BASE}/mcp", "headers": {"Authorization": "Bearer ${input:git-token}"}},
  "a__b_": {"command": "x"}, "云": {"command": "x"}, "bad": {"args": []}
}}`)
	in, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	var ids []tool.ServerID
	for _, s := range in.Servers {
		ids = append(ids, s.ID)
		if err := tool.CheckServerID(s.ID); err != nil {
			t.Error(err)
		}
	}
	if !slices.Equal(ids, []tool.ServerID{"My-Files", "My-Files-2", "a-b", "云"}) {
		t.Errorf("names %q", ids)
	}
	if !slices.Equal(in.Servers[0].Args, []string{"${workspaceFolder}", "${A}-${B:-c}"}) || in.Servers[1].URL != "${BASE}/mcp" ||
		in.Servers[1].Headers["Authorization"] != "Bearer ${GIT_TOKEN}" {
		t.Errorf("got %+v", in.Servers)
	}
	want := []string{
		"My Files: ignored gallery",
		"My Files is named My-Files here",
		"My-Files: ${workspaceFolder} is known only to the editor; write the path instead",
		"My/Files is named My-Files-2 here",
		"My-Files-2: ${input:git-token} is ${GIT_TOKEN} here; set that environment variable",
		"a__b_ is named a-b here",
		"bad is left out: " + path + ":4: servers.bad: needs one of command, url or builtin",
	}
	if !slices.Equal(in.Notes, want) {
		t.Errorf("notes\n%q\nwant\n%q", in.Notes, want)
	}
	target := writeFile(t, "toolfit.yaml", "")
	for _, s := range in.Servers {
		if err := config.AddServer(target, s); err != nil {
			t.Error(err)
		}
	}
}

func TestReadRefusesOtherFiles(t *testing.T) {
	if _, err := Read(writeFile(t, "x.json", `{"a": 1}`)); !fault.Is(err, fault.BadConfig) {
		t.Errorf("no servers: %v", err)
	}
	if _, err := Read(writeFile(t, "x.json", "")); !fault.Is(err, fault.NotFound) {
		t.Errorf("no file: %v", err)
	}
}

func TestReadReadsYAMLToo(t *testing.T) {
	in, err := Read(writeFile(t, "toolfit.yaml", "mcpServers: {a: {command: x, idle: 5m}}\n"))
	if err != nil || len(in.Notes) != 0 || len(in.Servers) != 1 || in.Servers[0].Command != "x" {
		t.Errorf("got %+v, %q, %v", in.Servers, in.Notes, err)
	}
}

func TestVariablesThatCodexPassesOnAreInherited(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(path, []byte("[mcp_servers.s]\ncommand = \"x\"\nenv_vars = [\"GITHUB_TOKEN\"]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := Read(path)
	if err != nil || len(in.Servers) != 1 || !slices.Equal(in.Servers[0].Inherit, []string{"GITHUB_TOKEN"}) {
		t.Errorf("got %+v, %v, %v", in.Servers, in.Notes, err)
	}
}

func TestBackslashesInTOMLThatAreNoEscapesNameTheFix(t *testing.T) {
	path := writeFile(t, "config.toml", "[mcp_servers.a]\ncommand = \"C:\\srv\\x.exe\"\n")
	if _, err := Read(path); err == nil || !strings.Contains(err.Error(), `write \\ for a backslash`) {
		t.Errorf("got %v", err)
	}
}
