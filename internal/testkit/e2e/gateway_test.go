package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/program/app"
	"github.com/toolfit/toolfit/internal/state/config"
)

// patience is how long a test waits for what must happen. It is long because machines are
// slow at times; nothing waits that long when all is well.
const patience = time.Minute

// fake is an entry of mcpServers: the test binary as a server of the kind.
func fake(kind string) string {
	return entry([]string{os.Args[0]}, childEnv, kind, "GORACE", "atexit_sleep_ms=0") // else it ends a second late under -race
}

// entry is an entry of mcpServers that runs the command, with pairs of environment variables.
func entry(command []string, env ...string) string {
	vars := map[string]string{}
	for i := 0; i < len(env); i += 2 {
		vars[env[i]] = env[i+1]
	}
	out, _ := json.Marshal(map[string]any{"command": command[0], "args": command[1:], "env": vars}) // strings only
	return string(out)
}

// write makes a configuration in a folder of its own and returns its path.
func write(t *testing.T, yaml string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "toolfit.yaml")
	rewrite(t, path, yaml)
	return path
}

func rewrite(t *testing.T, path, yaml string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
}

// gateway is one that serves, in this process.
type gateway struct {
	url  string
	stop func()
}

// serve runs a gateway in this process until the test ends or stop is called.
func serve(t *testing.T, path string) *gateway {
	t.Helper()
	return serveOn(t, listen(t), path)
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// serveOn is serve with a listener.
func serveOn(t *testing.T, l net.Listener, path string) *gateway {
	t.Helper()
	cfg, err := config.Load(path, os.LookupEnv)
	if err != nil {
		t.Fatal(err)
	}
	a, err := app.New(t.Context(), cfg, &app.Options{Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- a.Serve(ctx, l, nil) }()
	stop := sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("serve: %v", err)
		}
		if err := a.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	t.Cleanup(stop)
	return &gateway{url: "http://" + l.Addr().String(), stop: stop}
}

// running is the built program at work.
type running struct {
	*exec.Cmd
	url    string
	exited chan struct{} // closed when it has ended
	said   *safeBuffer
}

// run starts the built program as a server and waits until it says where it listens.
func run(t *testing.T, path string) *running {
	t.Helper()
	return runCommand(t, exec.Command(program(t), "serve", "--config", path, "--listen", "127.0.0.1:0"))
}

// runCommand is run for a command that starts the program.
func runCommand(t *testing.T, cmd *exec.Cmd) *running {
	t.Helper()
	r := &running{Cmd: cmd, exited: make(chan struct{}), said: &safeBuffer{}}
	stderr, err := r.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Start(); err != nil {
		t.Fatal(err)
	}
	urls := make(chan string, 1)
	go func() {
		defer close(r.exited)
		defer r.Wait()
		defer close(urls)
		lines := bufio.NewScanner(stderr)
		for lines.Scan() {
			r.said.Write(append(lines.Bytes(), '\n'))
			if m := regexp.MustCompile(`agents\s+(http://\S+)/mcp`).FindStringSubmatch(lines.Text()); m != nil {
				urls <- m[1]
			}
		}
	}()
	t.Cleanup(func() {
		r.Process.Kill() // it may have ended long ago
		<-r.exited
	})
	select {
	case url, ok := <-urls:
		if !ok {
			t.Fatalf("the gateway did not start: %s", r.said)
		}
		r.url = url
	case <-time.After(patience):
		t.Fatalf("the gateway did not start in time: %s", r.said)
	}
	return r
}

// waitExit waits until the program has ended.
func (r *running) waitExit(t *testing.T) {
	t.Helper()
	select {
	case <-r.exited:
	case <-time.After(patience):
		t.Fatalf("the gateway did not end: %s", r.said)
	}
}

type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// eventually waits until the condition holds. It asks again and again: what it waits for
// happens in other processes.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	late := time.After(patience)
	for !holds() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("not in time: %s", what)
		}
	}
}

// plainHTTP keeps no connections, so that no goroutine is left of it.
var plainHTTP = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}

// plainStreams is plainHTTP for clients whose streams stay open.
var plainStreams = &http.Client{Transport: plainHTTP.Transport}

// servers asks the REST API how the servers are.
func servers(t *testing.T, url string) map[string]restapi.Server {
	t.Helper()
	resp, err := plainHTTP.Get(url + "/api/v1/servers")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var answer struct{ Servers []restapi.Server }
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		t.Fatal(err)
	}
	all := map[string]restapi.Server{}
	for _, s := range answer.Servers {
		all[string(s.ID)] = s
	}
	return all
}

// lines joins the lines of a configuration.
func lines(all ...string) string { return strings.Join(all, "\n") + "\n" }
