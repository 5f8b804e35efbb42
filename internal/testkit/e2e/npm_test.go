package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

// connect opens a session of the Go SDK's client.
func connect(t *testing.T, transport mcp.Transport, opts *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "e2e", Version: "1"}, opts).Connect(ctx, transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

// overHTTP is the SDK's transport to a gateway.
func overHTTP(g *gateway) mcp.Transport {
	return &mcp.StreamableClientTransport{Endpoint: g.url + "/mcp", HTTPClient: plainStreams}
}

// overStdio is the SDK's transport to toolfit stdio.
func overStdio(t *testing.T, path string) mcp.Transport {
	t.Helper()
	return &mcp.CommandTransport{Command: exec.Command(program(t), "stdio", "--config", path)}
}

func names(t *testing.T, s *mcp.ClientSession) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	list, err := s.ListTools(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, tool := range list.Tools {
		all = append(all, tool.Name)
	}
	return all
}

// callText calls a tool and returns the text of its result.
func callText(t *testing.T, s *mcp.ClientSession, tool string, args any) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	res, err := s.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	var text strings.Builder
	for _, c := range res.Content {
		if block, ok := c.(*mcp.TextContent); ok {
			text.WriteString(block.Text)
		}
	}
	if res.IsError {
		t.Fatalf("%s says: %s", tool, text.String())
	}
	return text.String()
}

// npmServers is a configuration with the three npm servers, and the folder that the first may read.
func npmServers(t *testing.T) (path, folder string) {
	t.Helper()
	node := testparts.Need(t)
	folder, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "note.txt"), []byte("read through the gateway"), 0o600); err != nil {
		t.Fatal(err)
	}
	path = write(t, lines("mcpServers:",
		"  files: "+entry(node.Command("mcp-server-filesystem", folder)),
		"  memory: "+entry(node.Command("mcp-server-memory"), "MEMORY_FILE_PATH", filepath.Join(folder, "memory.jsonl")),
		"  everything: "+entry(node.Command("mcp-server-everything", "stdio")),
	))
	return path, folder
}

func TestNpmServersAreListedAndCalledThroughTheGateway(t *testing.T) {
	path, folder := npmServers(t)
	transports := map[string]func(*testing.T) mcp.Transport{
		"http":  func(t *testing.T) mcp.Transport { return overHTTP(serve(t, path)) },
		"stdio": func(t *testing.T) mcp.Transport { return overStdio(t, path) },
	}
	for name, transport := range transports {
		t.Run(name, func(t *testing.T) {
			progress := make(chan *mcp.ProgressNotificationParams, 100)
			s := connect(t, transport(t), &mcp.ClientOptions{
				ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { progress <- r.Params },
			})
			all := names(t, s)
			for _, want := range []string{"files__read_text_file", "memory__create_entities", "memory__read_graph", "everything__echo"} {
				if !slices.Contains(all, want) {
					t.Errorf("%s is not listed in %v", want, all)
				}
			}
			if got := callText(t, s, "files__read_text_file", map[string]any{"path": filepath.Join(folder, "note.txt")}); !strings.Contains(got,
				"read through the gateway") {
				t.Errorf("files says %q", got)
			}
			callText(t, s, "memory__create_entities", map[string]any{"entities": []any{
				map[string]any{"name": "gateway-" + name, "entityType": "program", "observations": []string{"carries calls"}},
			}})
			if got := callText(t, s, "memory__read_graph", map[string]any{}); !strings.Contains(got, "gateway-"+name) {
				t.Errorf("memory says %q", got)
			}
			checkEverything(t, s, progress)
		})
	}
}

// checkEverything calls the server that has a bit of everything: an echo, and a tool that tells of its progress.
func checkEverything(t *testing.T, s *mcp.ClientSession, progress <-chan *mcp.ProgressNotificationParams) {
	t.Helper()
	if got := callText(t, s, "everything__echo", map[string]any{"message": "hello"}); !strings.Contains(got, "hello") {
		t.Errorf("echo says %q", got)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	params := &mcp.CallToolParams{Name: "everything__trigger-long-running-operation", Arguments: map[string]any{"duration": 0.4, "steps": 4}}
	params.SetProgressToken("mine")
	if _, err := s.CallTool(ctx, params); err != nil {
		t.Fatal(err)
	}
	for step := 1; step <= 4; step++ {
		select {
		case p := <-progress:
			if p.ProgressToken != "mine" || p.Progress != float64(step) {
				t.Errorf("progress %d is %+v", step, p)
			}
		case <-ctx.Done():
			t.Fatalf("progress %d did not arrive", step)
		}
	}
}

// loopbackOnly makes a Node server, which would listen on all addresses, listen on
// loopback alone, on a port that is free, and say which.
const loopbackOnly = `import net from "node:net"; const listen = net.Server.prototype.listen; ` +
	`net.Server.prototype.listen = function (port, ...rest) { ` +
	`this.once("listening", () => console.error("listens on " + this.address().port)); ` +
	`return listen.call(this, 0, "127.0.0.1", ...rest); };`

// everythingOn starts the npm server that has a bit of everything on a transport over HTTP
// and returns its port.
func everythingOn(t *testing.T, transport string) string {
	t.Helper()
	command := testparts.Need(t).Command("mcp-server-everything", transport)
	command = slices.Insert(command, 1, "--import", "data:text/javascript,"+loopbackOnly)
	return listening(t, exec.Command(command[0], command[1:]...))
}

// listening starts a server and returns the port that it says it listens on.
func listening(t *testing.T, cmd *exec.Cmd) (port string) {
	t.Helper()
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ports := make(chan string, 1)
	said := &safeBuffer{}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			said.Write(append(lines.Bytes(), '\n'))
			if m := regexp.MustCompile(`listens on (\d+)`).FindStringSubmatch(lines.Text()); m != nil {
				ports <- m[1]
			}
		}
	}()
	t.Cleanup(func() { cmd.Process.Kill(); <-drained; cmd.Wait() })
	select {
	case port = <-ports:
	case <-time.After(patience):
		t.Fatalf("the server did not start: %s", said)
	}
	return port
}

func TestEverythingIsCalledOverHTTP(t *testing.T) {
	for _, c := range []struct{ name, transport, path, kind string }{
		{"Streamable HTTP", "streamableHttp", "/mcp", ""},
		{"the oldest transport, named", "sse", "/sse", `, "type": "sse"`},
		{"the oldest transport, found out", "sse", "/sse", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			url := "http://127.0.0.1:" + everythingOn(t, c.transport) + c.path
			g := serve(t, write(t, lines("mcpServers:", `  everything: {"url": "`+url+`"`+c.kind+`}`)))
			progress := make(chan *mcp.ProgressNotificationParams, 100)
			s := connect(t, overHTTP(g), &mcp.ClientOptions{
				ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { progress <- r.Params },
			})
			if all := names(t, s); !slices.Contains(all, "everything__echo") {
				t.Fatalf("echo is not listed in %v: %+v", all, servers(t, g.url))
			}
			checkEverything(t, s, progress)
		})
	}
}

func TestTheInspectorListsAndCalls(t *testing.T) {
	path, folder := npmServers(t)
	g := serve(t, path)
	inspect := func(args ...string) string {
		t.Helper()
		command := testparts.Need(t).Command("mcp-inspector", append([]string{"--cli", g.url + "/mcp", "--transport", "http"}, args...)...)
		ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
		defer cancel()
		cmd := exec.CommandContext(ctx, command[0], command[1:]...)
		cmd.Env = append(os.Environ(), "HOME="+t.TempDir()) // it keeps a file there
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("inspector %v: %v\n%s", args, err, errorOutput(err))
		}
		return string(out)
	}
	var list struct{ Tools []struct{ Name string } }
	if out := inspect("--method", "tools/list"); json.Unmarshal([]byte(out), &list) != nil || len(list.Tools) < 20 {
		t.Errorf("tools/list gave %s", out)
	}
	out := inspect("--method", "tools/call", "--tool-name", "files__read_text_file", "--tool-arg", "path="+filepath.Join(folder, "note.txt"))
	if !strings.Contains(out, "read through the gateway") {
		t.Errorf("tools/call gave %s", out)
	}
}

func errorOutput(err error) []byte {
	if exit, ok := err.(*exec.ExitError); ok {
		return exit.Stderr
	}
	return nil
}
