package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/toolfit/toolfit/internal/program/app"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

// official builds a program of the official SDK and returns its path.
func official(t *testing.T, name string) string {
	t.Helper()
	path, err := buildOfficial(name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// officials are the programs of the official SDK that were built, by name.
var officials sync.Map

func buildOfficial(name string) (string, error) {
	made, _ := officials.LoadOrStore(name, sync.OnceValues(func() (string, error) {
		if _, err := build(); err != nil { // it makes the folder
			return "", err
		}
		path := filepath.Join(built, name+".exe") // one name for all systems
		out, err := exec.Command("go", "build", "-o", path, "github.com/modelcontextprotocol/go-sdk/conformance/"+name).CombinedOutput()
		if err != nil {
			return "", fmt.Errorf("build %s: %w\n%s", name, err, out)
		}
		return path, nil
	}))
	return made.(func() (string, error))()
}

// everythingServer starts the official SDK's server that can do everything, and returns its
// URL. With sessions it is of the legacy era, without them of the modern one.
func everythingServer(t *testing.T, sessions bool) string {
	t.Helper()
	program := official(t, "everything-server")
	for range 3 {
		addr := freeAddress(t)
		ended := make(chan struct{})
		server := exec.Command(program, "-http="+addr, fmt.Sprintf("-stateless=%v", !sessions))
		if err := server.Start(); err != nil {
			t.Fatal(err)
		}
		go func() { server.Wait(); close(ended) }()
		t.Cleanup(func() { server.Process.Kill(); <-ended })
		up := false
		eventually(t, addr+" listens", func() bool {
			c := &httpClient{http: plainHTTP, url: "http://" + addr}
			said, err := c.request("initialize", hello)
			up = err == nil && strings.Contains(said, "mcp-conformance-test-server")
			return up || hasEnded(ended)
		})
		if up {
			return "http://" + addr
		}
		t.Logf("%s was free a moment ago, and the server could not have it", addr)
	}
	t.Fatal("the server does not start")
	return ""
}

func hasEnded(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
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

// bare is a configuration whose one server's tools keep their names, as scenarios want it.
func bare(url string) string {
	return lines("mcpServers:", "  up: {url: "+url+"}", "profiles:", "  default: {names: bare}")
}

// suite runs the official suite. It returns what was printed and the folder of the results.
func suite(t *testing.T, node testparts.Node, script string, env []string, args ...string) (out, results string, err error) {
	t.Helper()
	results = t.TempDir()
	command := node.Script(script, append(args, "-o", results)...)
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(command[0])+string(os.PathListSeparator)+os.Getenv("PATH"))
	cmd.Env = append(cmd.Env, env...)
	printed, err := cmd.CombinedOutput()
	return string(printed), results, err
}

const (
	oldSuite = "conformance-0.1/dist/index.js"
	newSuite = "@modelcontextprotocol/conformance/dist/index.js"
)

// TestConformance runs the official suites against a gateway in front of the official
// server, in all pairs of eras.
func TestConformance(t *testing.T) {
	node := testparts.Need(t)
	for _, server := range []struct {
		name     string
		sessions bool
		legacy   string // what the server cannot do for legacy clients; "" for nothing
		modern   string // and for modern ones
	}{
		{"legacy server", true, "", "modern-client-legacy-server.yml"},
		{"modern server", false, "legacy-client-modern-server.yml", ""},
	} {
		t.Run(server.name, func(t *testing.T) {
			g := serve(t, write(t, bare(everythingServer(t, server.sessions))))
			if server.sessions {
				t.Run("suite 0.1.16, all scenarios", func(t *testing.T) {
					out, _, err := suite(t, node, oldSuite, nil, "server", "--url", g.url+"/mcp", "--suite", "all")
					_, summary, found := strings.Cut(out, "=== SUMMARY ===")
					if err != nil || !found || strings.Contains(summary, "✗") {
						t.Fatalf("%v\n%s", err, out)
					}
				})
			}
			t.Run("legacy client", func(t *testing.T) { conform(t, node, g, "2025-11-25", server.legacy) })
			t.Run("modern client", func(t *testing.T) { conform(t, node, g, "2026-07-28", server.modern) })
		})
	}
}

// conform runs the requirements of one revision. Every check must pass but those that the
// file names, and those must not. What is never scored counts here too, but for tasks, which
// the official server does not make (see TestTaskConformance), and headers, which a legacy server
// never asks for.
func conform(t *testing.T, node testparts.Node, g *gateway, revision, failures string) {
	out, results, err := suite(t, node, newSuite, nil, "server", "--url", g.url+"/mcp", "--requirements", revision)
	expected := expectedFailures(t, failures)
	if err != nil && len(expected) == 0 {
		t.Fatalf("%v\n%s", err, out)
	}
	passed, failed := checks(t, results)
	for name := range failed {
		scenario, _, _ := strings.Cut(name, ":")
		legacyHeaders := failures != "" && scenario == "http-custom-header-server-validation"
		switch {
		case expected[name] || expected[scenario]:
			expected[name] = false
			expected[scenario] = false
		case !strings.HasPrefix(scenario, "tasks-") && !legacyHeaders:
			t.Errorf("%s: %s", name, failed[name])
		}
	}
	for name, still := range expected {
		if still {
			t.Errorf("%s passes: take it out of %s", name, failures)
		}
	}
	if t.Log(passed, "checks passed,", len(failed), "did not"); passed == 0 {
		t.Fatalf("nothing was checked\n%s", out)
	}
}

// expectedFailures reads a file in the suite's own format: scenarios, or scenario:check.
func expectedFailures(t *testing.T, file string) map[string]bool {
	t.Helper()
	expected := map[string]bool{}
	if file == "" {
		return expected
	}
	text, err := os.ReadFile(filepath.Join("testdata", "conformance", file))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "- "); ok {
			expected[name] = true
		}
	}
	return expected
}

// checks reads the results of a run: how many checks passed, and why the others did not.
func checks(t *testing.T, results string) (passed int, failed map[string]string) {
	t.Helper()
	failed = map[string]string{}
	files, _ := filepath.Glob(filepath.Join(results, "*", "checks.json"))
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var all []struct{ ID, Status, ErrorMessage string }
		if err := json.Unmarshal(data, &all); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		scenario := strings.TrimPrefix(filepath.Base(filepath.Dir(file)), "server-")
		scenario = scenario[:len(scenario)-len("-2026-01-02T15-04-05-000Z")]
		for _, c := range all {
			switch c.Status {
			case "SUCCESS":
				passed++
			case "FAILURE":
				failed[scenario+":"+c.ID] = c.ErrorMessage
			}
		}
	}
	return passed, failed
}

// clientScenarios are those of the suite for clients, without the ones about OAuth.
var clientScenarios = []string{
	"initialize", "tools_call", "request-metadata", "http-standard-headers", "http-custom-headers", "http-invalid-tool-headers",
	"sep-2322-client-request-state", "json-schema-ref-no-deref", "json-schema-2020-12-preservation", "sse-retry",
	"elicitation-sep1034-client-defaults",
}

// TestClientConformance runs the suite for clients against our side towards servers: the
// official client goes through a gateway, whose server is the suite.
func TestClientConformance(t *testing.T) {
	node := testparts.Need(t)
	client := official(t, "everything-client")
	slots := make(chan struct{}, 2)
	t.Run("scenarios", func(t *testing.T) {
		for _, scenario := range clientScenarios {
			t.Run(scenario, func(t *testing.T) {
				t.Parallel()
				slots <- struct{}{}
				defer func() { <-slots }()
				env := []string{childEnv + "=conformance client", clientEnv + "=" + client, "GORACE=atexit_sleep_ms=0"}
				out, _, err := suite(t, node, newSuite, env, "client", "--command", os.Args[0], "--scenario", scenario, "--timeout", "90000")
				if err != nil || strings.Contains(out, "OVERALL: FAILED") {
					t.Fatalf("%v\n%s", err, out)
				}
			})
		}
	})
}

// clientEnv names the client that a gateway with the suite behind it serves.
const clientEnv = "E2E_CLIENT"

// conformanceClient is the client that the suite starts: a gateway, and the official client
// in front of it.
func conformanceClient(url string) error {
	dir, err := os.MkdirTemp("", "toolfit-e2e-client-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "toolfit.yaml")
	if err := os.WriteFile(path, []byte(bare(url)), 0o600); err != nil {
		return err
	}
	cfg, err := config.Load(path, os.LookupEnv)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	a, err := app.New(ctx, cfg, &app.Options{Version: "test"})
	if err != nil {
		return err
	}
	defer a.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	serving, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- a.Serve(serving, l, nil) }()
	a.Catalog.Ready(ctx, "default")
	client := exec.CommandContext(ctx, os.Getenv(clientEnv), "http://"+l.Addr().String()+"/mcp")
	client.Stderr = os.Stderr
	err = client.Run()
	stop()
	<-ended
	return err
}
