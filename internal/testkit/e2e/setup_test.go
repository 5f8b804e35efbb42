package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

func TestServersThatSetupTookOverAnswerThroughTheClientsNewEntry(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the files are elsewhere")
	}
	node := testparts.Need(t)
	home := filepath.Join(t.TempDir(), "home of 陈")
	put := func(name string, v any) string {
		path := filepath.Join(home, name)
		text, _ := v.(string)
		if text == "" {
			data, err := json.MarshalIndent(v, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			text = string(data)
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return text
	}
	server := func(command []string) map[string]any {
		return map[string]any{"command": command[0], "args": command[1:]}
	}
	everything := server(node.Command("mcp-server-everything"))
	files := server(node.Command("mcp-server-filesystem", home))
	files["env"] = map[string]string{"FILES_TOKEN": "hush-hush-0123456789"}
	before := map[string]string{}
	for name, servers := range map[string]any{
		".config/Claude/claude_desktop_config.json": map[string]any{"everything": everything},
		".cursor/mcp.json":                          map[string]any{"everything": everything, "files": files},
	} {
		before[name] = put(name, map[string]any{"mcpServers": servers})
	}
	l := listen(t)
	own := put(".config/toolfit/toolfit.yaml", "listen: "+l.Addr().String()+"\n")
	setup := func(args ...string) {
		t.Helper()
		cmd := exec.Command(program(t), append([]string{"setup"}, args...)...)
		cmd.Dir = home
		cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home+"/.config", "XDG_STATE_HOME="+home+"/.local/state")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("setup %v: %v\n%s", args, err, out)
		}
	}
	entry := func(name string) (e struct {
		URL     string
		Command string
		Args    []string
	}) {
		t.Helper()
		data, err := os.ReadFile(filepath.Join(home, name))
		var file struct{ MCPServers map[string]json.RawMessage }
		if err == nil {
			err = json.Unmarshal(data, &file)
		}
		if err == nil {
			err = json.Unmarshal(file.MCPServers["toolfit"], &e)
		}
		if err != nil || len(file.MCPServers) != 1 {
			t.Fatalf("%s: %v\n%s", name, err, data)
		}
		return e
	}

	setup("--yes", "--service", "none")
	serveOn(t, l, filepath.Join(home, ".config/toolfit/toolfit.yaml"))
	desktop := entry(".config/Claude/claude_desktop_config.json")
	for name, transport := range map[string]mcp.Transport{
		"a URL":     &mcp.StreamableClientTransport{Endpoint: entry(".cursor/mcp.json").URL, HTTPClient: plainStreams},
		"a command": &mcp.CommandTransport{Command: exec.Command(desktop.Command, desktop.Args...)},
	} {
		s := connect(t, transport, nil)
		if text := callText(t, s, "everything__echo", map[string]any{"message": "hello"}); !strings.Contains(text, "hello") {
			t.Errorf("by %s: %s", name, text)
		}
		if text := callText(t, s, "files__list_directory", map[string]any{"path": home}); !strings.Contains(text, ".cursor") {
			t.Errorf("by %s: %s", name, text)
		}
	}
	setup("--undo")
	before[".config/toolfit/toolfit.yaml"] = own
	for name, want := range before {
		if got, err := os.ReadFile(filepath.Join(home, name)); err != nil || string(got) != want {
			t.Errorf("%s is not what it was: %v\n%s", name, err, got)
		}
	}
}
