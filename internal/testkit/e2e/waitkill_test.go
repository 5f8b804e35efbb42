package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"runtime/pprof"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/program/app"
	"github.com/toolfit/toolfit/internal/state/config"
)

// gatewayEnv names the configuration of a gateway that is a child of the test: its calls are
// taken over sooner than the program's are.
const gatewayEnv = "E2E_GATEWAY"

// shortLease is how long the calls of such a gateway stay its own after it was killed.
const shortLease = time.Second

// gatewayChild serves until it is killed.
func gatewayChild() error {
	cfg, err := config.Load(os.Getenv(gatewayEnv), os.LookupEnv)
	if err != nil {
		return err
	}
	a, err := app.New(context.Background(), cfg, &app.Options{Version: "test", Lease: shortLease})
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "agents http://%s/mcp\n", l.Addr())
	go func() {
		for lines := bufio.NewScanner(os.Stdin); lines.Scan(); { // somebody wants to know what it holds
			for range 5 { // a stack shrinks by half each time
				debug.FreeOSMemory()
			}
			profile(lines.Text())
			fmt.Fprintln(os.Stderr, "collected")
		}
		os.Exit(0) // the test is over
	}()
	return a.Serve(context.Background(), l, nil)
}

// profile writes profiles where somebody wants them.
func profile(name string) {
	dir := os.Getenv("E2E_PROFILE")
	if dir == "" {
		return
	}
	for _, kind := range []string{"heap", "goroutine"} {
		f, err := os.Create(filepath.Join(dir, name+"."+kind))
		if err != nil {
			continue
		}
		pprof.Lookup(kind).WriteTo(f, 0)
		f.Close()
	}
}

// runChild starts a gateway of this test binary. It collects its garbage when it gets a line.
func runChild(t *testing.T, path string) (*running, io.Writer) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"=gateway", gatewayEnv+"="+path, "GORACE=atexit_sleep_ms=0")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	return runCommand(t, cmd), in
}

func (r *running) kill(t *testing.T) {
	t.Helper()
	if err := r.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	r.waitExit(t)
}

var handlePattern = regexp.MustCompile(`c_\w+`)

// handle is the handle of a call that goes on.
func handle(t *testing.T, result string, err error) string {
	t.Helper()
	id := handlePattern.FindString(result)
	if err != nil || id == "" {
		t.Fatalf("no handle: %s, %v", result, err)
	}
	return id
}

// collect asks for the result of a call until it has ended.
func collect(t *testing.T, url, id string) string {
	t.Helper()
	c, err := dialRaw(url+"/mcp", "")
	if err != nil {
		t.Fatal(err)
	}
	var result string
	eventually(t, id+" has ended", func() bool {
		result, err = c.request("tools/call", `{"name":"fetch_result","arguments":{"ref":"`+id+`","wait":"5s"}}`)
		return err != nil || !strings.Contains(result, "Call fetch_result again")
	})
	if err != nil {
		t.Fatalf("%s: %v", id, err)
	}
	return result
}

// modernTask sends a request of a modern client with tasks.
func modernTask(t *testing.T, url, method, name, params string) string {
	t.Helper()
	meta := strings.Replace(modernMeta, `{"elicitation":{}}`, `{"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}`, 1)
	resp, err := modernPost(t.Context(), url, method, name, `{"_meta":`+meta+`,`+params+`}`)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	result, err := resultOf(data)
	if err != nil {
		t.Fatalf("%s %s: %v", method, name, err)
	}
	return result
}

func taskStatus(t *testing.T, url, id string) string {
	t.Helper()
	var m struct{ Status string }
	if err := json.Unmarshal([]byte(modernTask(t, url, "tasks/get", id, `"taskId":"`+id+`"`)), &m); err != nil {
		t.Fatal(err)
	}
	return m.Status
}

const maybe = "may or may not have happened"

// walk is a call on its way through a kill.
type walk struct {
	name   string
	server string // old or new
	begin  func(w *world, server, n string) string
	killed func(w *world, s *heldServer, n, id string) // before the kill, when the call waits
	after  func(w *world, s *heldServer, n, id string) // after the restart
	want   string
	sent   string // what the server must have seen
	times  int
}

// world is a gateway with its servers.
type world struct {
	*testing.T
	url     string
	servers map[string]*heldServer
}

// detached makes a call that goes on after a second.
func detached(tool, more string) func(*world, string, string) string {
	return func(w *world, server, n string) string {
		w.Helper()
		c, err := dialRaw(w.url+"/mcp", "")
		if err != nil {
			w.Fatal(err)
		}
		result, err := c.request("tools/call", fmt.Sprintf(`{"name":"%s__%s","arguments":{"n":%q}%s}`, server, tool, n, more))
		return handle(w.T, result, err)
	}
}

// asTask makes a call of a modern client that has tasks.
func asTask(tool, args string) func(*world, string, string) string {
	return func(w *world, server, n string) string {
		w.Helper()
		name := server + "__" + tool
		return handle(w.T, modernTask(w.T, w.url, "tools/call", name, fmt.Sprintf(`"name":%q,"arguments":{"n":%q%s}`, name, n, args)), nil)
	}
}

// let lets the server end the call.
func let(_ *world, s *heldServer, n, _ string) { s.let(n) }

// asks waits until a call asks.
func asks(w *world, _ *heldServer, _, id string) {
	w.Helper()
	eventually(w.T, id+" asks", func() bool { return taskStatus(w.T, w.url, id) == "input_required" })
}

// says answers what a call asks.
func says(w *world, _ *heldServer, _, id string) {
	w.Helper()
	modernTask(w.T, w.url, "tasks/update", id, `"taskId":"`+id+`","inputResponses":{"who":{"action":"accept","content":{"name":"ann"}}}`)
}

var walks = []walk{
	{name: "sent to a server", server: "old", begin: detached("hold", ""), want: maybe, sent: "hold", times: 1},
	{name: "sent to a modern server", server: "new", begin: detached("hold", ""), want: maybe, sent: "hold", times: 1},
	{name: "sent by a client with tasks", server: "old", begin: asTask("hold", ""), want: maybe, sent: "hold", times: 1},
	{name: "a task from the beginning", server: "old", begin: detached("hold", `,"task":{}`), want: maybe, sent: "hold", times: 1},
	{name: "read-only", server: "old", begin: detached("look", ""), after: let, want: "done", sent: "look", times: 2},
	{name: "idempotent", server: "new", begin: detached("put", `,"task":{}`), after: let, want: "done", sent: "put", times: 2},
	{name: "answered before", server: "old", begin: detached("hold", ""), want: "done", sent: "hold", times: 1,
		killed: func(w *world, s *heldServer, n, id string) {
			s.let(n)
			if got := collect(w.T, w.url, id); !strings.Contains(got, "done "+n) {
				w.Errorf("before the kill: %s", got)
			}
		}},
	{name: "asks its client", server: "new", begin: asTask("ask", `,"ms":1500`), killed: asks, want: "ann", sent: "ask", times: 1,
		after: func(w *world, s *heldServer, n, id string) {
			if status := taskStatus(w.T, w.url, id); status != "input_required" {
				w.Errorf("it is %s", status)
			}
			s.let(n + " answered")
			says(w, s, n, id)
			says(w, s, n, id) // once more is ignored
			collect(w.T, w.url, id)
			if times := s.saw("answer " + n); times != 1 {
				w.Errorf("answered %d times", times)
			}
		}},
	{name: "answered by its client", server: "new", begin: asTask("ask", `,"ms":1500`), want: maybe, sent: "answer", times: 1,
		killed: func(w *world, s *heldServer, n, id string) {
			asks(w, s, n, id)
			says(w, s, n, id)
			eventually(w.T, "the server has the answer", func() bool { return s.saw("answer "+n) == 1 })
		}},
	{name: "a server's task", server: "old", begin: asTask("job", ""), killed: polled, after: let, want: "done", sent: "job", times: 1},
	{name: "a modern server's task", server: "new", begin: asTask("job", ""), killed: polled, after: let, want: "done", sent: "job", times: 1},
	{name: "a server's task, held for its client", server: "old", begin: detached("must", ""), killed: polled, after: let, want: "done",
		sent: "job", times: 1},
	{name: "canceled", server: "old", begin: detached("hold", ""), want: "canceled", sent: "hold", times: 1,
		killed: func(w *world, _ *heldServer, _, id string) {
			modernTask(w.T, w.url, "tasks/cancel", id, `"taskId":"`+id+`"`)
		},
		after: func(w *world, _ *heldServer, _, id string) {
			if status := taskStatus(w.T, w.url, id); status != "cancelled" {
				w.Errorf("it is %s", status)
			}
		}},
}

// polled waits until the server's task was looked at.
func polled(w *world, s *heldServer, n, _ string) {
	w.Helper()
	eventually(w.T, "the task is looked at", func() bool { return s.saw("tasks/get "+n) > 0 })
}

// TestWaitingCallsOutliveAKill brings a call into each of the states that it can wait in, kills the
// gateway, and looks what became of each: none is lost, none is sent twice.
func TestWaitingCallsOutliveAKill(t *testing.T) {
	w := &world{T: t, servers: map[string]*heldServer{"old": newHeldServer(t, false), "new": newHeldServer(t, true)}}
	path := write(t, lines("mcpServers:", "  old: {url: "+w.servers["old"].URL+"}", "  new: {url: "+w.servers["new"].URL+"}", "detach: 1s"))
	first, _ := runChild(t, path)
	w.url = first.url
	awaitTools(t, w.url)
	ids := make([]string, len(walks))
	var begun sync.WaitGroup
	for i, c := range walks {
		begun.Go(func() {
			ids[i] = c.begin(w, c.server, fmt.Sprint("n", i))
			if c.killed != nil {
				c.killed(w, w.servers[c.server], fmt.Sprint("n", i), ids[i])
			}
		})
	}
	begun.Wait()
	if t.Failed() {
		return
	}
	first.kill(t)
	second, _ := runChild(t, path)
	for i, c := range walks {
		t.Run(c.name, func(t *testing.T) {
			if ids[i] == "" {
				t.Fatal("it has no handle")
			}
			w := &world{T: t, url: second.url, servers: w.servers}
			s := w.servers[c.server]
			n := fmt.Sprint("n", i)
			if c.after != nil {
				c.after(w, s, n, ids[i])
			}
			if got := collect(t, second.url, ids[i]); !strings.Contains(got, c.want) {
				t.Errorf("%s became %s", ids[i], got)
			}
			if times := s.saw(c.sent + " " + n); times != c.times {
				t.Errorf("sent %d times", times)
			}
		})
	}
}

// awaitTools waits until the gateway knows the tools of both servers.
func awaitTools(t *testing.T, url string) {
	t.Helper()
	c, err := dialRaw(url+"/mcp", "")
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the tools are listed", func() bool {
		list, err := c.request("tools/list", "{}")
		return err == nil && strings.Contains(list, "old__hold") && strings.Contains(list, "new__hold")
	})
}

// TestNoHandleIsUnknownAfterAKill kills the gateway again and again, moments after handles have left it.
func TestNoHandleIsUnknownAfterAKill(t *testing.T) {
	rounds := 20
	if testing.Short() {
		rounds = 3
	}
	s := map[string]*heldServer{"old": newHeldServer(t, false), "new": newHeldServer(t, true)}
	path := write(t, lines("mcpServers:", "  old: {url: "+s["old"].URL+"}", "  new: {url: "+s["new"].URL+"}"))
	type left struct{ id, server, n string }
	var mu sync.Mutex
	var handles []left
	for round := range rounds {
		r, _ := runChild(t, path)
		if round == 0 {
			awaitTools(t, r.url)
		}
		got := make(chan struct{}, 100)
		var work sync.WaitGroup
		for i := range 6 {
			server := []string{"old", "new"}[i%2]
			c, err := dialRaw(r.url+"/mcp", "")
			if err != nil {
				t.Fatal(err)
			}
			work.Go(func() {
				for k := 0; ; k++ {
					n := fmt.Sprintf("r%d-%d-%d", round, i, k)
					result, err := c.request("tools/call", fmt.Sprintf(`{"name":"%s__hold","arguments":{"n":%q},"task":{}}`, server, n))
					if err != nil {
						return // it is dead
					}
					mu.Lock()
					handles = append(handles, left{handlePattern.FindString(result), server, n})
					mu.Unlock()
					got <- struct{}{}
				}
			})
		}
		for range rand.IntN(8) + 1 {
			<-got
		}
		time.Sleep(time.Duration(rand.IntN(3000)) * time.Microsecond)
		go func() {
			for range got { // whoever was quick
			}
		}()
		r.kill(t)
		work.Wait()
		close(got)
	}
	last, _ := runChild(t, path)
	for _, h := range handles {
		if h.id == "" {
			t.Errorf("%s has no handle", h.n)
			continue
		}
		if result := collect(t, last.url, h.id); !strings.Contains(result, maybe) {
			t.Errorf("%s, %s: %s", h.n, h.id, result)
		}
		if times := s[h.server].saw("hold " + h.n); times > 1 {
			t.Errorf("%s was sent %d times", h.n, times)
		}
	}
	t.Log(len(handles), "handles")
}
