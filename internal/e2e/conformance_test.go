package e2e

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/testparts"
)

// everythingServer builds and starts the official SDK's server that can do everything, and
// returns its URL. It has sessions: it is of the legacy era.
func everythingServer(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "everything.exe") // one name for all systems
	build := exec.Command("go", "build", "-o", path, "github.com/modelcontextprotocol/go-sdk/conformance/everything-server")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the everything-server: %v\n%s", err, out)
	}
	addr := freeAddress(t)
	server := exec.Command(path, "-http="+addr, "-stateless=false")
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		server.Process.Kill()
		server.Wait()
	})
	eventually(t, "the everything-server listens", func() bool {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			return false
		}
		conn.Close()
		return true
	})
	return "http://" + addr
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// TestConformance runs the official suites against a gateway in front of the official
// server. The scenarios call tools by fixed names, so the profile shows bare ones.
func TestConformance(t *testing.T) {
	node := testparts.Need(t)
	g := serve(t, write(t, lines(
		"mcpServers:",
		"  up: {url: "+everythingServer(t)+"}",
		"profiles:",
		"  default: {names: bare}",
	)))
	for _, suite := range []struct {
		name, script string
		args         []string
	}{
		{"suite 0.1.16, all scenarios", "conformance-0.1/dist/index.js", []string{"--suite", "all"}},
		{"suite 0.2.0-alpha.12, requirements of 2025-11-25", "@modelcontextprotocol/conformance/dist/index.js", []string{"--requirements", "2025-11-25"}},
	} {
		t.Run(suite.name, func(t *testing.T) {
			args := append([]string{"server", "--url", g.url + "/mcp", "-o", t.TempDir()}, suite.args...)
			command := node.Script(suite.script, args...)
			cmd := exec.Command(command[0], command[1:]...)
			cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(command[0])+string(os.PathListSeparator)+os.Getenv("PATH"))
			out, err := cmd.CombinedOutput()
			_, summary, found := strings.Cut(string(out), "=== SUMMARY ===")
			if err != nil || !found || strings.Contains(summary, "✗") {
				t.Fatalf("%v\n%s", err, out)
			}
			for line := range strings.Lines(summary) {
				if strings.HasPrefix(line, "Total:") {
					t.Log(strings.TrimSpace(line))
				}
			}
		})
	}
}
