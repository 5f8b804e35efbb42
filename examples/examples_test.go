// The examples, run as programs.
package examples_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/env"
)

// built is the folder of the examples as programs.
func built(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", dir+string(filepath.Separator), "./...").CombinedOutput(); err != nil {
		t.Fatalf("build the examples: %v\n%s", err, out)
	}
	return dir
}

const workshop = `environment workshop (Workshop)
profile default (Workshop)
agent foreman (primary)
agent apprentice (sub)
logs from debug: 2
logs from warn: 1
session "a test that runs", 1 in all
`

const counter = `environment counter (Counter)
profile default (Counter)
agent default (primary)
logs from debug: 0
logs from warn: 0
session "a test that runs", 1 in all
`

const todo = `environment todo (To do)
profile default (To do)
agent default (primary)
session "a test that runs", 1 in all
`

func TestExamples(t *testing.T) {
	dir := built(t)
	program := func(name string) string { return filepath.Join(dir, name) }
	t.Run("over stdio, written by hand", func(t *testing.T) {
		asks(t, exec.Command(program("env-client-test"), program("env-mcp-server")), workshop)
	})
	t.Run("over stdio, derived", func(t *testing.T) {
		asks(t, exec.Command(program("env-client-test"), program("env-mcp-server-from-env")), counter)
	})
	t.Run("over stdio, in 40 lines", func(t *testing.T) {
		asks(t, exec.Command(program("env-client-test"), program("env-in-40-lines")), todo)
	})
	t.Run("over HTTP, at both places", func(t *testing.T) {
		url := listening(t, program("env-mcp-server-http"))
		for _, path := range []string{"", "/", "/mcp"} {
			client := exec.Command(program("env-client-test"))
			client.Env = append(os.Environ(), "ENV_MCP_HTTP_URL="+url+path)
			asks(t, client, workshop)
		}
	})
	t.Run("a server that is not there is told", func(t *testing.T) {
		out, err := exec.Command(program("env-client-test"), program("nothing")).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "start ") {
			t.Errorf("got %v: %s", err, out)
		}
	})
	t.Run("own tools are there beside the protocol's", func(t *testing.T) { adds(t, program("env-mcp-server-from-env")) })
}

func asks(t *testing.T, client *exec.Cmd, want string) {
	t.Helper()
	if out, err := client.CombinedOutput(); err != nil || string(out) != want {
		t.Errorf("got %v:\n%s", err, out)
	}
}

// listening starts the HTTP example on a free port and returns its address.
func listening(t *testing.T, program string) string {
	t.Helper()
	server := exec.Command(program)
	server.Env = append(os.Environ(), "PORT=0")
	said, err := server.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		server.Process.Signal(os.Interrupt)
		late := time.AfterFunc(30*time.Second, func() { server.Process.Kill() })
		defer late.Stop()
		if err := server.Wait(); err != nil {
			t.Errorf("the server ended: %v", err)
		}
	})
	line, err := bufio.NewReader(said).ReadString('\n')
	var url string
	if _, scanErr := fmt.Sscanf(line, "listening on %s", &url); err != nil || scanErr != nil {
		t.Fatalf("the server said %q", line)
	}
	return url
}

func adds(t *testing.T, program string) {
	c, err := env.Start(t.Context(), exec.Command(program))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var out struct{ Count int }
	for range 2 {
		if err := c.Call(t.Context(), "add", map[string]int{"n": 21}, &out); err != nil {
			t.Fatal(err)
		}
	}
	if logs, err := c.Logs(t.Context(), env.LogQuery{}); err != nil || out.Count != 42 || len(logs) != 2 {
		t.Errorf("got %d, %v, %v", out.Count, logs, err)
	}
}

func TestTheGuideShowsTheExampleAsItIs(t *testing.T) {
	source, err := os.ReadFile("env-in-40-lines/main.go")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../docs/environments.md")
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(source), "\n"); n > 42 || !strings.Contains(string(page), "```go\n"+string(source)+"```") {
		t.Errorf("docs/environments.md does not show the %d lines of examples/env-in-40-lines/main.go", n)
	}
}
