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

	"github.com/toolfit/toolfit/internal/testparts"
)

// nodeClient runs a script of testdata with the installed packages around it and returns what it prints.
func nodeClient(t *testing.T, node testparts.Node, script, url string) map[string]any {
	t.Helper()
	code, err := os.ReadFile(filepath.Join("testdata", script))
	if err != nil {
		t.Fatal(err)
	}
	// Packages are looked for beside the script.
	f, err := os.CreateTemp(node.Dir(), "client-*.mjs")
	if err != nil {
		t.Fatal(err)
	}
	defer os.Remove(f.Name())
	f.Write(code)
	f.Close()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, node.Program(), f.Name(), url)
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
	g := serve(t, write(t, lines("mcpServers:", "  up: {url: "+everythingServer(t)+"}", "profiles:", "  default: {names: bare}")))

	t.Run("TypeScript SDK 1, with a question on the way", func(t *testing.T) {
		said := nodeClient(t, node, "client-v1.mjs", g.url+"/mcp")
		if said["tools"].(float64) < 20 || said["resources"].(float64) == 0 || said["prompts"].(float64) == 0 {
			t.Errorf("lists: %v", said)
		}
		if !strings.Contains(said["asked"].(string), "accept") {
			t.Errorf("the server heard: %v", said["asked"])
		}
	})
	t.Run("TypeScript SDK 2", func(t *testing.T) {
		if said := nodeClient(t, node, "client-v2.mjs", g.url+"/mcp"); said["tools"].(float64) < 20 || said["plain"] == "" {
			t.Errorf("%v", said)
		}
	})
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
