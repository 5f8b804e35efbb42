package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// command runs a command of the program with the configuration, and returns what it says on
// standard error.
func command(t *testing.T, path string, args ...string) (said string) {
	t.Helper()
	cmd := exec.Command(program(t), append(args, "--config", path)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if out, err := cmd.Output(); err != nil {
		t.Fatalf("toolfit %v: %v\n%s%s", args, err, out, &stderr)
	}
	return stderr.String()
}

// sockets are the sockets beside the configuration.
func sockets(t *testing.T, path string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".toolfit-*.sock"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestAKilledGatewayLeavesNothingInTheWayOfTheNext(t *testing.T) {
	path := write(t, lines("mcpServers:", "  odd: "+fake("raw")))
	first := run(t, path)
	if said := command(t, path, "tools"); !strings.Contains(said, "using the gateway at "+first.url) {
		t.Errorf("a command says %q", said)
	}
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	first.waitExit(t)
	if len(sockets(t, path)) != 1 {
		t.Fatal("a killed gateway removes its socket: this tests nothing")
	}
	if said := command(t, path, "tools"); strings.Contains(said, "using the gateway") {
		t.Errorf("a command says %q while nothing runs", said)
	}
	second := run(t, path)
	if said := command(t, path, "tools"); !strings.Contains(said, "using the gateway at "+second.url) {
		t.Errorf("a command says %q", said)
	}
}

func TestASecondGatewayLeavesTheCommandsToTheFirst(t *testing.T) {
	path := write(t, lines("mcpServers:", "  odd: "+fake("raw")))
	first, second := run(t, path), run(t, path)
	if !strings.Contains(second.said.String(), "another gateway is running with this configuration") {
		t.Errorf("the second says %s", second.said)
	}
	for _, r := range []*running{second, first} {
		if said := command(t, path, "tools"); !strings.Contains(said, "using the gateway at "+first.url) {
			t.Errorf("a command says %q", said)
		}
		if err := r.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		r.waitExit(t)
	}
	if left := sockets(t, path); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestAGatewayIsFoundWhereverItsStoreLies(t *testing.T) {
	folder := filepath.Join(t.TempDir(), strings.Repeat("very-long-name/", 12)) // longer than the path of a socket may be
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "toolfit.yaml")
	rewrite(t, path, lines("mcpServers:", "  odd: "+fake("raw")))
	g := run(t, path)
	if said := command(t, path, "tools"); !strings.Contains(said, "using the gateway at "+g.url) {
		t.Errorf("a command says %q; the gateway says %s", said, g.said)
	}
}

func TestAnAgentOnStdioOutlivesARestartOfTheGateway(t *testing.T) {
	path := write(t, lines("mcpServers:", "  odd: "+fake("raw")))
	first := run(t, path)
	agent := dialPipe(t, path)
	if result, err := agent.request("tools/list", "{}"); err != nil || !strings.Contains(result, "odd__odd") {
		t.Fatalf("%s, %v", result, err)
	}
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	first.waitExit(t)
	if result, err := agent.request("tools/list", "{}"); err == nil || !strings.Contains(err.Error(), "the gateway at "+first.url) {
		t.Errorf("without a gateway: %s, %v", result, err)
	}
	run(t, path)
	if result, err := agent.request("tools/list", "{}"); err != nil || !strings.Contains(result, "odd__odd") {
		t.Errorf("after the restart: %s, %v", result, err)
	}
}

// TestQuestionsReachAnAgentOnStdioThroughTheGateway: the agent talks to toolfit stdio, that to
// the gateway, and the gateway to a server that asks for what it needs.
func TestQuestionsReachAnAgentOnStdioThroughTheGateway(t *testing.T) {
	path := write(t, lines("mcpServers:", "  new: {url: "+everythingServer(t, false)+"}", "  old: {url: "+everythingServer(t, true)+"}"))
	run(t, path)
	for era, revision := range eras {
		t.Run(era, func(t *testing.T) {
			s := connectAs(t, overStdio(t, path), revision, answering())
			names(t, s) // waits for the first listing
			for _, c := range []struct {
				tool string
				args map[string]any
				want string
			}{
				{"new__test_input_required_result_elicitation", map[string]any{}, "ann"},
				{"new__test_input_required_result_sampling", map[string]any{}, "Paris"},
				{"old__test_elicitation", map[string]any{"message": "who?"}, "accept"},
				{"old__test_sampling", map[string]any{"prompt": "where?"}, "Paris"},
			} {
				if text := callText(t, s, c.tool, c.args); !strings.Contains(text, c.want) {
					t.Errorf("%s: %q", c.tool, text)
				}
			}
		})
	}
}
