package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/base/sandbox"
	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

// npx starts a real server, which may use two folders by its own arguments and one of them by its sandbox.
func TestAServerOfNpxIsKeptInItsSandbox(t *testing.T) {
	if _, err := sandbox.Way(false); err != nil {
		t.Skip(err)
	}
	node := testparts.Need(t)
	testparts.NeedProgram(t, "npx", "it comes with Node.js")
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	data, home := filepath.Join(root, "data"), filepath.Join(root, "home")
	secret := filepath.Join(home, ".ssh", "id")
	for path, text := range map[string]string{filepath.Join(data, "note"): "a note", secret: "PRIVATE KEY"} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	server, err := json.Marshal(map[string]any{
		"command": "npx", "args": []string{"--no", "--", "mcp-server-filesystem", data, home}, "cwd": node.Dir(),
		"env":     map[string]string{"HOME": home},
		"sandbox": map[string]any{"preset": "npx", "read": []string{node.Dir()}, "write": []string{data}, "net": false},
	})
	if err != nil {
		t.Fatal(err)
	}
	path := write(t, lines("mcpServers:", "  files: "+string(server)))
	call := func(tool, file string, more ...string) string {
		_, out := toolfit(t, append([]string{"call", "--config", path, "files__" + tool, "path=" + file}, more...)...)
		return out
	}

	if got := call("read_text_file", filepath.Join(data, "note")); !strings.Contains(got, "a note") {
		t.Errorf("what is named is not read: %s", got)
	}
	written := filepath.Join(data, "new")
	call("write_file", written, "content=x")
	if text, err := os.ReadFile(written); err != nil || string(text) != "x" {
		t.Errorf("what is named is not written: %q, %v", text, err)
	}
	if got := call("read_text_file", secret); !strings.Contains(got, "EACCES") || strings.Contains(got, "PRIVATE") {
		t.Errorf("a secret is read: %s", got)
	}
	call("write_file", filepath.Join(home, "new"), "content=x")
	if _, err := os.Stat(filepath.Join(home, "new")); err == nil {
		t.Error("a file is written that is not named")
	}

	s := connect(t, overHTTP(serve(t, path)), nil)
	if got := callText(t, s, "files__read_text_file", map[string]any{"path": filepath.Join(data, "note")}); !strings.Contains(got, "a note") {
		t.Errorf("through a gateway: %s", got)
	}
	if _, out := toolfit(t, "doctor", "--config", path); !strings.Contains(out, "; sandbox: files by Landlock, network by a") {
		t.Errorf("the doctor says %s", out)
	}
}
