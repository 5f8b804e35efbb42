package e2e

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

// nodeScript puts a script of testdata beside the installed packages, where it finds them,
// and returns its path.
func nodeScript(t *testing.T, node testparts.Node, script string) string {
	t.Helper()
	code, err := os.ReadFile(filepath.Join("testdata", script))
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.CreateTemp(node.Dir(), "script-*.mjs")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(f.Name()) })
	f.Write(code)
	f.Close()
	return f.Name()
}

// nodeClient runs a script of testdata with the installed packages around it and returns what it prints.
func nodeClient(t *testing.T, node testparts.Node, script string, args ...string) map[string]any {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), nodePatience())
	defer cancel()
	cmd := exec.CommandContext(ctx, node.Program(), append([]string{nodeScript(t, node, script)}, args...)...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, stderr.String())
	}
	var said map[string]any
	if err := json.Unmarshal(out, &said); err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return said
}

func TestClientsOfOtherLanguages(t *testing.T) {
	node := testparts.Need(t)
	g := serve(t, write(t, bare(everythingServer(t, true))))

	t.Run("TypeScript SDK 1, with a question on the way", func(t *testing.T) {
		said := nodeClient(t, node, "client-v1.mjs", g.url+"/mcp")
		if said["tools"].(float64) < 20 || said["resources"].(float64) == 0 || said["prompts"].(float64) == 0 {
			t.Errorf("lists: %v", said)
		}
		if !strings.Contains(said["asked"].(string), "accept") {
			t.Errorf("the server heard: %v", said["asked"])
		}
	})
	for mode, version := range map[string]string{"legacy": "2025-11-25", "auto": "2026-07-28", "modern": "2026-07-28"} {
		t.Run("TypeScript SDK 2, mode "+mode+", with a question on the way", func(t *testing.T) {
			said := nodeClient(t, node, "client-v2.mjs", g.url+"/mcp", mode, "test_simple_text", "test_elicitation")
			if said["tools"].(float64) < 20 || said["plain"] == "" || said["version"] != version ||
				!strings.Contains(said["asked"].(string), "accept") {
				t.Errorf("%v", said)
			}
		})
	}
	t.Run("mcp-remote, stdio on its other side", func(t *testing.T) {
		command := node.Command("mcp-remote", g.url+"/mcp", "--allow-http")
		cmd := exec.Command(command[0], command[1:]...)
		cmd.Env = append(os.Environ(), "MCP_REMOTE_CONFIG_DIR="+t.TempDir())
		s := connect(t, &mcp.CommandTransport{Command: cmd}, nil)
		if all := names(t, s); len(all) < 20 {
			t.Errorf("%d tools", len(all))
		}
		if text := callText(t, s, "test_simple_text", map[string]any{}); text == "" {
			t.Error("no text")
		}
	})
}
