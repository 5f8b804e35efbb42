//go:build unix

package upstream

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/config"
)

// modeVariable makes the test binary an MCP server that behaves as its value says.
const modeVariable = "UPSTREAM_TEST_MODE"

func TestMain(m *testing.M) {
	if mode := os.Getenv(modeVariable); mode != "" {
		serveBadly(mode)
		return
	}
	goleak.VerifyTestMain(m)
}

// serveBadly is a server on standard input and output. The mode says how it starts, the
// name of the tool how it answers a call.
func serveBadly(mode string) {
	s := &badServer{out: os.Stdout}
	switch mode {
	case "sleeper":
		time.Sleep(time.Hour)
	case "exit0":
		os.Exit(0)
	case "dies":
		fmt.Fprintln(os.Stderr, "no such database")
		os.Exit(3)
	case "garbage":
		fmt.Println("Welcome to my server!\n{\"half\": \n\x00\xff\n[1,2]\n\n{}")
	case "only garbage":
		fmt.Println("usage: server [options]")
		os.Exit(2)
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
		defer time.Sleep(time.Hour) // the end of the input does not end it either
	case "silent":
		io.Copy(io.Discard, os.Stdin)
		return
	}
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		m, err := mcp.Parse(line)
		if err != nil {
			fmt.Fprintln(os.Stderr, "cannot read:", err)
			os.Exit(4)
		}
		s.take(mode, m)
	}
}

type badServer struct {
	out  io.Writer
	late json.RawMessage // a request whose answer comes before the next one's
	ask  json.RawMessage // a call that waits for our client's answers
	got  []string
}

const okResult = `{"content":[{"type":"text","text":"ok"}]}`

func (s *badServer) answer(id json.RawMessage, result string) {
	fmt.Fprintf(s.out, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", id, result)
}

func (s *badServer) take(mode string, m mcp.Message) {
	switch {
	case m.Method == "server/discover" && mode == "dies of a question":
		os.Exit(5)
	case m.Method == "server/discover" && mode != "passes over", m.Method == "initialize" && mode == "init unknown":
		fmt.Fprintf(s.out, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`+"\n", m.ID)
	case m.Method == "initialize" && mode == "init error":
		fmt.Fprintf(s.out, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"no license"}}`+"\n", m.ID)
	case m.Method == "initialize" && mode == "init without version":
		s.answer(m.ID, `{"capabilities":{}}`)
	case mode == "tasks" && m.Method != "initialize" && (m.Method != "tools/call" || !strings.Contains(string(m.Params), "echo")):
		s.task(m)
	case m.Method == "initialize" && mode == "tasks":
		s.answer(m.ID, taskHello)
	case m.Method == "initialize":
		s.answer(m.ID, `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"bad","version":"1"}}`)
	case m.Method == "notifications/initialized" && mode == "deaf":
		time.Sleep(time.Hour)
	case m.Method == "tools/list":
		s.answer(m.ID, `{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}`)
	case m.Method == "tools/call":
		name, _ := rawjson.String(rawjson.Get(m.Params, "name"))
		s.call(name, m)
	case m.IsResponse() && s.ask != nil:
		if m.Error != nil {
			s.got = append(s.got, "refused")
		} else {
			s.got = append(s.got, string(m.Result))
		}
		if len(s.got) == 2 {
			slices.Sort(s.got) // they may come in any order
			s.answer(s.ask, `{"content":[{"type":"text","text":"`+strings.Join(s.got, " ")+`"}]}`)
			s.ask = nil
		}
	}
}

// task makes one task, whose result depends on an answer of the client.
func (s *badServer) task(m mcp.Message) {
	poll := ""
	if strings.Contains(string(m.Params), "slowly") {
		poll = `,"pollInterval":3600000`
	}
	switch {
	case m.Method == "tools/call":
		s.answer(m.ID, `{"task":{"taskId":"t1","status":"working"`+poll+`}}`)
	case m.Method == "tasks/get":
		if s.ask != nil && len(s.got) == 0 {
			s.got = append(s.got, "asked")
			fmt.Fprintln(s.out, `{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"Who?"}}`)
		}
		s.answer(m.ID, `{"taskId":"t1","status":"working","pollInterval":3600000}`)
	case m.Method == "tasks/result":
		s.ask = append(json.RawMessage(nil), m.ID...)
	case m.IsResponse() && s.ask != nil:
		s.answer(s.ask, `{"content":[],"who":`+cmp.Or(string(m.Result), `"nobody"`)+`}`)
	}
}

func (s *badServer) call(name string, m mcp.Message) {
	if s.late != nil {
		s.answer(s.late, `{"content":[{"type":"text","text":"too late"}]}`)
		s.late = nil
	}
	huge := ""
	if strings.HasPrefix(name, "huge") {
		huge = strings.Repeat("x", 20<<20)
	}
	switch name {
	case "echo":
		s.answer(m.ID, okResult)
	case "latin1":
		fmt.Fprintln(s.out, latinLog)
		s.answer(m.ID, latinResult)
	case "params":
		s.answer(m.ID, `{"content":[],"params":`+string(m.Params)+`}`)
	case "pid":
		s.answer(m.ID, strconv.Quote(strconv.Itoa(os.Getpid())))
	case "late":
		s.late = append(json.RawMessage(nil), m.ID...)
	case "never":
	case "twice":
		s.answer(m.ID, okResult)
		s.answer(m.ID, `{"content":[{"type":"text","text":"again"}]}`)
	case "invented":
		s.answer(json.RawMessage("987654"), `{"content":[]}`)
		s.answer(json.RawMessage(`"abc"`), `{"content":[]}`)
		s.answer(m.ID, okResult)
	case "huge, id first":
		s.answer(m.ID, `{"content":[{"type":"text","text":"`+huge+`"}]}`)
	case "not a number":
		s.answer(m.ID, `{"structuredContent":{"mean":NaN}}`)
	case "not a number, id last":
		fmt.Fprintf(s.out, `{"result":{"structuredContent":{"mean":NaN}},"jsonrpc":"2.0","id":%s}`+"\n", m.ID)
	case "log":
		fmt.Fprintf(s.out, `{"level":30,"id":%s,"msg":"request received"}`+"\n"+`got {"params":{},"jsonrpc":"2.0","id":%s}`+"\n", m.ID, m.ID)
		s.answer(m.ID, okResult)
	case "deep":
		s.answer(m.ID, `{"structuredContent":`+strings.Repeat("[", 10_000)+strings.Repeat("]", 10_000)+`}`)
	case "huge, id last":
		fmt.Fprintf(s.out, `{"result":{"content":[{"type":"text","text":"%s"}],"isError":false},"id":%s}`+"\n", huge, m.ID)
	case "huge, no id":
		fmt.Fprintf(s.out, "%s\n", huge)
	case "huge notification":
		fmt.Fprintf(s.out, `{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"%s","id":%s}}`+"\n", huge, m.ID)
		s.answer(m.ID, okResult)
	case "huge request":
		fmt.Fprintf(s.out, `{"jsonrpc":"2.0","id":%s,"method":"sampling/createMessage","params":{"data":"%s"}}`+"\n", m.ID, huge)
		s.answer(m.ID, okResult)
	case "die":
		fmt.Fprintln(os.Stderr, "panic: out of cheese")
		os.Exit(7)
	case "mute":
		os.Stdout.Close()
	case "text error":
		fmt.Fprintf(s.out, `{"jsonrpc":"2.0","id":%s,"error":"boom"}`+"\n", m.ID)
	case "noise":
		line := strings.Repeat("noise ", 200)
		for range 5000 {
			fmt.Fprintln(os.Stderr, line)
		}
		os.Stderr.WriteString(strings.Repeat("y", 1<<20)) // a line without end
		s.answer(m.ID, okResult)
	case "progress":
		token := rawjson.Get(m.Params, "_meta", "progressToken")
		for i := range 2000 {
			fmt.Fprintf(s.out, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":%d,"progressToken":%s,"extra":1.0}}`+"\n", i, token)
		}
		s.answer(m.ID, okResult)
	case "asks":
		s.ask = append(json.RawMessage(nil), m.ID...)
		fmt.Fprintln(s.out, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
		fmt.Fprintln(s.out, `{"jsonrpc":"2.0","id":"s1","method":"sampling/createMessage","params":{}}`)
	case "fork":
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), modeVariable+"=sleeper")
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr // the grandchild holds our pipes
		if err := cmd.Start(); err != nil {
			os.Exit(9)
		}
		s.answer(m.ID, strconv.Quote(strconv.Itoa(cmd.Process.Pid)))
	}
}

// clock stands still until it is moved on, to get past a backoff: how long the machine takes
// between two calls says nothing.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time          { return time.Unix(1000, 0).Add(time.Duration(c.ahead.Load())) }
func (c *clock) advance(d time.Duration) { c.ahead.Add(int64(d)) }

// patience is how long a test waits for what must come, however busy the machine is.
const patience = time.Minute

func badConfig(id, mode string) config.Server {
	return config.Server{
		ID: tool.ServerID(id), Command: os.Args[0], Env: map[string]string{modeVariable: mode, "GORACE": "atexit_sleep_ms=0"},
		Timeout: patience, Start: patience, Idle: time.Hour,
	}
}

func newPool(t *testing.T, opts *Options, servers ...config.Server) (*Pool, *clock) {
	t.Helper()
	c := &clock{}
	if opts == nil {
		opts = &Options{}
	}
	if opts.Now == nil {
		opts.Now = c.now
	}
	p := New(opts)
	p.quiet = patience
	t.Cleanup(p.Close)
	p.Apply(servers)
	return p, c
}

func callTool(ctx context.Context, p *Pool, server, name string) (string, error) {
	out, err := p.Call(ctx, Call{
		Server: tool.ServerID(server), Tool: name, Params: json.RawMessage(fmt.Sprintf(`{"name":%q,"arguments":{}}`, name)),
	})
	return string(out.Raw), err
}

func mustCall(t *testing.T, p *Pool, server, name, want string) {
	t.Helper()
	if got, err := callTool(t.Context(), p, server, name); err != nil || got != want {
		t.Fatalf("%s of %s: got %.200s, %v; want %s", name, server, got, err, want)
	}
}

func wantFault(t *testing.T, err error, code fault.Code, texts ...string) {
	t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) || f.Code != code {
		t.Fatalf("got %v; want a fault %s", err, code)
	}
	for _, text := range texts {
		if !strings.Contains(f.Error(), text) {
			t.Errorf("%q does not say %q", f.Error(), text)
		}
	}
}

// until waits for a condition, with a deadline.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within %s", what, patience)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func pidOf(t *testing.T, p *Pool, server, name string) int {
	t.Helper()
	raw, err := callTool(t.Context(), p, server, name)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := rawjson.String([]byte(raw))
	pid, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s is no process id", raw)
	}
	return pid
}

// alive tells whether a process exists and is no zombie, which only its parent can clear.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || !strings.Contains(string(stat), ") Z ")
}
