//go:build unix

package upstream

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

// taskHello is what a legacy server that makes tasks says first.
const taskHello = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"tasks":{"requests":{"tools":{"call":{}}}}}}`

// oldWeb is a legacy server over HTTP that answers all requests by a function. It forgets its sessions when it is told to.
type oldWeb struct {
	*httptest.Server
	hello string
	serve func(w http.ResponseWriter, r *http.Request, m mcp.Message)

	mu       sync.Mutex
	sessions int
	got      []mcp.Message
}

func newOldWeb(t *testing.T, hello string, serve func(w http.ResponseWriter, r *http.Request, m mcp.Message)) *oldWeb {
	s := &oldWeb{hello: hello, serve: serve}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *oldWeb) config() config.Server {
	return config.Server{ID: "old", URL: s.URL, Timeout: patience, Start: patience, Idle: time.Hour}
}

func (s *oldWeb) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	m, err := mcp.Parse(body)
	s.mu.Lock()
	if m.Method == "initialize" {
		s.sessions++
		w.Header().Set("Mcp-Session-Id", fmt.Sprint("s", s.sessions))
	}
	s.got = append(s.got, m)
	now := fmt.Sprint("s", s.sessions)
	s.mu.Unlock()
	switch {
	case r.Method == http.MethodDelete:
	case r.Method != http.MethodPost || err != nil:
		w.WriteHeader(http.StatusMethodNotAllowed)
	case m.Method == "server/discover":
		writeError(w, http.StatusOK, m.ID, mcp.CodeMethodNotFound)
	case m.Method == "initialize":
		writeJSON(w, m.ID, s.hello)
	case r.Header.Get("Mcp-Session-Id") != now:
		w.WriteHeader(http.StatusNotFound)
	case !m.IsRequest():
		w.WriteHeader(http.StatusAccepted)
	default:
		s.serve(w, r, m)
	}
}

func (s *oldWeb) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions++
}

func (s *oldWeb) last(method string) (params string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.got {
		if m.Method == method {
			params = string(m.Params)
		}
	}
	return params
}

func taskCall(server tool.ServerID, use TaskUse) Call {
	params := json.RawMessage(`{"name":"dig","_meta":{"progressToken":7},"arguments":{}}`)
	return Call{
		Server: server, Tool: "dig", Params: params, Meta: mcp.FindMeta(params), Caller: "ann", Session: "1", From: able, Task: use, TaskSupport: true,
	}
}

// modernTask and legacyTask are a task as servers of the era describe it.
func modernTask(kind, status, more string) string {
	return `{"resultType":"` + kind + `","taskId":"t/1 任务","status":"` + status + `","statusMessage":"digging","ttlMs":60000,"pollIntervalMs":5000` + more + `}`
}

func legacyTask(status, more string) string {
	return `{"taskId":"t/1 任务","status":"` + status + `","ttl":null,"pollInterval":500` + more + `}`
}

const taskID = "t/1 任务"

func TestModernServerMakesATask(t *testing.T) {
	t.Parallel()
	answers := map[string]string{
		"tools/call": modernTask("task", "working", ""), "tasks/update": `{"resultType":"complete"}`, "tasks/cancel": `{"resultType":"complete"}`,
		"tasks/get": modernTask("complete", "input_required", `,"inputRequests":{"who":{"method":"elicitation/create","params":{"message":"Who?"}}}`),
	}
	s := newModernWeb(t, func(w http.ResponseWriter, _ *http.Request, m mcp.Message) { writeJSON(w, m.ID, answers[m.Method]) })
	p, _ := newPool(t, nil, s.config())
	c := taskCall("new", MayTask)
	out, err := p.Call(t.Context(), c)
	if err != nil || out.Kind != TaskMade || string(out.Raw) != answers["tools/call"] {
		t.Fatalf("%+v, %v", out, err)
	}
	want := Task{ID: taskID, Status: TaskWorking, Message: "digging", Poll: 5 * time.Second, TTL: time.Minute, Era: mcp.Modern}
	if fmt.Sprint(*out.Task) != fmt.Sprint(want) {
		t.Errorf("made %+v", out.Task)
	}
	got, err := p.GetTask(t.Context(), c, taskID)
	if err != nil || got.Status != TaskAsks || string(got.Questions) != `{"who":{"method":"elicitation/create","params":{"message":"[server new] Who?"}}}` {
		t.Errorf("%+v, %v", got, err)
	}
	if err := p.AnswerTask(t.Context(), c, taskID, json.RawMessage(`{"who":{"action":"decline"}}`)); err != nil {
		t.Error(err)
	}
	if err := p.CancelTask(t.Context(), c, taskID); err != nil {
		t.Error(err)
	}
	for _, method := range []string{"tools/call", "tasks/get", "tasks/update", "tasks/cancel"} {
		header, body := s.last(method)
		if !strings.Contains(body, `"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}},"elicitation":`) {
			t.Errorf("%s does not declare tasks: %s", method, body)
		}
		if method != "tools/call" && header.Get(mcp.NameHeader) != mcp.EncodeHeader(taskID) {
			t.Errorf("%s names %q", method, header.Get(mcp.NameHeader))
		}
	}
	if _, body := s.last("tasks/update"); !strings.Contains(body, `"inputResponses":{"who":{"action":"decline"}},"taskId":"t/1 任务"`) {
		t.Error(body)
	}
	_, err = p.TaskResult(t.Context(), c, taskID)
	wantFault(t, err, fault.BadRequest, "server new speaks a revision of MCP without tasks/result")
}

func TestModernTaskEnds(t *testing.T) {
	t.Parallel()
	answer := ""
	s := newModernWeb(t, func(w http.ResponseWriter, _ *http.Request, m mcp.Message) { writeJSON(w, m.ID, answer) })
	p, _ := newPool(t, nil, s.config())
	for _, c := range []struct{ answer, result, err string }{
		{modernTask("complete", "completed", `,"result":{"content":[],"isError":true}`), `{"content":[],"isError":true}`, ""},
		{modernTask("task", "failed", `,"error":{"code":-32603,"message":"no ore","data":1.0}`), "", `no ore (code -32603)`},
		{modernTask("complete", "failed", ``), "", `digging (code -32603)`},
		{modernTask("complete", "cancelled", `,"result":{}`), "", ""},
	} {
		answer = c.answer
		got, err := p.GetTask(t.Context(), taskCall("new", NoTask), taskID)
		said := ""
		if got.Error != nil {
			said = got.Error.Error()
		}
		if err != nil || !got.Ended() || string(got.Result) != c.result || said != c.err {
			t.Errorf("%s: %+v, %v", c.answer, got, err)
		}
	}
}

// TestLegacyServerMakesATask follows one over HTTP, with a question on the stream of its result.
func TestLegacyServerMakesATask(t *testing.T) {
	t.Parallel()
	answered := make(chan string, 1)
	s := newOldWeb(t, taskHello, nil)
	s.serve = func(w http.ResponseWriter, _ *http.Request, m mcp.Message) {
		switch m.Method {
		case "tools/call":
			writeJSON(w, m.ID, `{"task":`+legacyTask("working", "")+`}`)
		case "tasks/get":
			writeJSON(w, m.ID, legacyTask("input_required", ""))
		case "tasks/result":
			const question = `{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"Who?","_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t/1 任务"}}}}`
			writeEvents(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tasks/status\",\"params\":{}}\n\n", "data: "+question+"\n\n")
			writeEvents(w, fmt.Sprintf("data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[],\"who\":%s,\"_meta\":{\"io.modelcontextprotocol/related-task\":{}}}}\n\n", m.ID, <-answered))
		case "tasks/cancel":
			writeError(w, http.StatusOK, m.ID, mcp.CodeInvalidParams) // it has ended
		}
	}
	hear := s.Config.Handler
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if m, _ := mcp.Parse(body); m.IsResponse() {
			answered <- string(m.Result)
		}
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		hear.ServeHTTP(w, r)
	})
	p, _ := newPool(t, nil, s.config())
	c := taskCall("old", NeedsTask)
	c.TaskSupport = false
	asked := ""
	c.Peer = asking{
		ask:  func(_, params string) (string, error) { asked = params; return `"me"`, nil },
		told: func(method, _ string) { t.Errorf("the caller hears %s", method) },
	}
	out, err := p.Call(t.Context(), c)
	if err != nil || out.Kind != TaskMade || out.Task.ID != taskID || out.Task.Poll != 500*time.Millisecond || out.Task.TTL != 0 {
		t.Fatalf("%+v, %v", out, err)
	}
	if got := s.last("tools/call"); !strings.HasPrefix(got, `{"task":{"ttl":3600000},"name":"dig","_meta":{"progressToken":`) || strings.Contains(got, `n":7`) {
		t.Errorf("sent %s", got)
	}
	got, err := p.GetTask(t.Context(), c, taskID)
	if err != nil || got.Status != TaskAsks || got.Questions != nil {
		t.Errorf("%+v, %v", got, err)
	}
	out, err = p.TaskResult(t.Context(), c, taskID)
	if err != nil || out.Kind != Complete || string(out.Raw) != `{"content":[],"who":"me","_meta":{}}` {
		t.Errorf("%+v, %v: %s", out, err, out.Raw)
	}
	if asked != `{"message":"[server old] Who?","_meta":{}}` {
		t.Errorf("asked %s", asked)
	}
	if err := p.CancelTask(t.Context(), c, taskID); err != nil {
		t.Error(err)
	}
	wantFault(t, p.AnswerTask(t.Context(), c, taskID, nothing), fault.BadRequest, "server old speaks a revision of MCP without tasks/update")
}

// TestTaskOverAPipe has the question of a task go to the caller of its result, though it is polled meanwhile.
func TestTaskOverAPipe(t *testing.T) {
	t.Parallel()
	cfg := badConfig("pipe", "tasks")
	cfg.Isolation = "session"
	p, _ := newPool(t, nil, cfg)
	c := taskCall("pipe", MayTask)
	c.From.Home = asking{ask: func(string, string) (string, error) { return "", errors.New("nobody is at home") }}
	c.Peer = asking{ask: func(string, string) (string, error) { return `"me"`, nil }}
	out, err := p.Call(t.Context(), c)
	if err != nil || out.Kind != TaskMade || out.Task.ID != "t1" || out.Task.Poll != time.Second {
		t.Fatalf("%+v, %v", out, err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		out, err = p.TaskResult(t.Context(), c, "t1")
	}()
	poll := taskCall("pipe", MayTask)
	poll.From.Home = c.From.Home
	until(t, "the task ends", func() bool {
		if _, err := p.GetTask(t.Context(), poll, "t1"); err != nil {
			t.Fatal(err)
		}
		select {
		case <-ended:
			return true
		default:
			return false
		}
	})
	if err != nil || string(out.Raw) != `{"content":[],"who":"me"}` {
		t.Errorf("%s, %v", out.Raw, err)
	}
}

// TestEverythingServerMakesATask is the reference server's own tool that runs only as a task, with its question.
func TestEverythingServerMakesATask(t *testing.T) {
	t.Parallel()
	command := testparts.Need(t).Command("mcp-server-everything", "stdio")
	p, _ := newPool(t, nil, config.Server{
		ID: "all", Command: command[0], Args: command[1:], Isolation: "session", Start: patience, Timeout: patience, Idle: time.Hour,
	})
	params := json.RawMessage(`{"name":"simulate-research-query","arguments":{"topic":"python","ambiguous":true}}`)
	c := Call{Server: "all", Tool: "simulate-research-query", Params: params, Session: "1", From: able, Task: NeedsTask}
	c.From.Home = mcp.Deaf
	c.Peer = asking{ask: func(_, params string) (string, error) {
		if !strings.HasPrefix(params, `{"message":"[server all] The research query`) || strings.Contains(params, "taskId") {
			t.Errorf("asked %s", params)
		}
		return `{"action":"accept","content":{"interpretation":"snake"}}`, nil
	}}
	out, err := p.Call(t.Context(), c)
	if err != nil || out.Kind != TaskMade {
		t.Fatalf("%+v, %v", out, err)
	}
	id := out.Task.ID
	until(t, "it asks", func() bool {
		got, err := p.GetTask(t.Context(), c, id)
		if err != nil || got.Ended() {
			t.Fatalf("%+v, %v", got, err)
		}
		return got.Status == TaskAsks
	})
	out, err = p.TaskResult(t.Context(), c, id)
	if err != nil || !strings.Contains(string(out.Raw), "python (snake)") || strings.Contains(string(out.Raw), id) {
		t.Errorf("%s, %v", out.Raw, err)
	}
	got, err := p.GetTask(t.Context(), c, id)
	if err != nil || got.Status != TaskCompleted {
		t.Errorf("%+v, %v", got, err)
	}
	if err := p.CancelTask(t.Context(), c, id); err != nil {
		t.Error(err)
	}
}

func TestNoTaskIsAskedForWhereNoneIsWanted(t *testing.T) {
	t.Parallel()
	plain := func(w http.ResponseWriter, _ *http.Request, m mcp.Message) { writeJSON(w, m.ID, okResult) }
	for _, c := range []struct {
		name, hello string
		use         TaskUse
		support     bool
		want        bool
	}{
		{"a caller without tasks", taskHello, NoTask, true, false},
		{"a tool without", taskHello, MayTask, false, false},
		{"an older revision", strings.Replace(taskHello, "2025-11-25", "2025-06-18", 1), MayTask, true, false},
		{"a server without", `{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"tasks":{"list":{}}}}`, NeedsTask, true, false},
		{"all with, and the server answers at once", taskHello, MayTask, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newOldWeb(t, c.hello, plain)
			p, _ := newPool(t, nil, s.config())
			call := taskCall("old", c.use)
			call.TaskSupport = c.support
			out, err := p.Call(t.Context(), call)
			if err != nil || out.Kind != Complete || string(out.Raw) != okResult || out.Task != nil {
				t.Errorf("%+v, %v", out, err)
			}
			if got := s.last("tools/call"); strings.Contains(got, `"task"`) != c.want {
				t.Errorf("sent %s", got)
			}
		})
	}
	s := newModernWeb(t, done)
	p, _ := newPool(t, nil, s.config())
	if _, err := p.Call(t.Context(), taskCall("new", NoTask)); err != nil {
		t.Error(err)
	}
	if _, body := s.last("tools/call"); strings.Contains(body, "tasks") {
		t.Errorf("sent %s", body)
	}
}

// TestAServerThatInsistsOnTasksIsBelieved holds that a refused call is sent once more, and that the next one needs no refusal.
func TestAServerThatInsistsOnTasksIsBelieved(t *testing.T) {
	t.Parallel()
	stubborn := false
	s := newModernWeb(t, func(w http.ResponseWriter, _ *http.Request, m mcp.Message) {
		if strings.Contains(string(m.Params), mcp.ExtensionTasks) && !stubborn {
			writeJSON(w, m.ID, modernTask("task", "working", ""))
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32021,"message":"m","data":{"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}}}`, m.ID)
	})
	p, _ := newPool(t, nil, s.config())
	for want := 2; want <= 3; want++ {
		out, err := p.Call(t.Context(), taskCall("new", NoTask))
		if err != nil || out.Kind != TaskMade || s.count("tools/call") != want {
			t.Fatalf("%+v, %v after %d calls", out, err, s.count("tools/call"))
		}
	}
	stubborn = true
	other := taskCall("new", NoTask)
	other.Tool = "other"
	for _, want := range []int{5, 6} {
		_, err := p.Call(t.Context(), other)
		if rpc := new(mcp.Error); !errors.As(err, &rpc) || rpc.Code != mcp.CodeMissingCapability || s.count("tools/call") != want {
			t.Errorf("%v after %d calls, want %d", err, s.count("tools/call"), want)
		}
	}
}

// TestALegacyRefusalIsNotRepeated holds that nothing would be different the second time.
func TestALegacyRefusalIsNotRepeated(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	s := newOldWeb(t, taskHello, func(w http.ResponseWriter, _ *http.Request, m mcp.Message) {
		calls.Add(1)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32021,"message":"m","data":{"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}}}`, m.ID)
	})
	p, _ := newPool(t, nil, s.config())
	if _, err := p.Call(t.Context(), taskCall("old", NoTask)); err == nil || calls.Load() != 1 {
		t.Errorf("%v after %d calls", err, calls.Load())
	}
}

// TestAPollTakesNoSlot asks about a task while the server's only slot is taken, and lets a poll hang.
func TestAPollTakesNoSlot(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	s := newModernWeb(t, func(w http.ResponseWriter, r *http.Request, m mcp.Message) {
		name, _ := rawjson.String(rawjson.Get(m.Params, "taskId"))
		switch {
		case m.Method == "tools/call", name == "hangs":
			select {
			case <-release:
			case <-r.Context().Done():
			}
			done(w, r, m)
		default:
			writeJSON(w, m.ID, modernTask("complete", "working", ""))
		}
	})
	cfg := s.config()
	cfg.Concurrency = 1
	cfg.Timeouts = []config.ToolTimeout{{Glob: "dig", Timeout: patience}}
	cfg.Timeout = 300 * time.Millisecond
	p, _ := newPool(t, nil, cfg)
	var calls sync.WaitGroup
	calls.Go(func() {
		if _, err := p.Call(t.Context(), taskCall("new", MayTask)); err != nil {
			t.Error(err)
		}
	})
	until(t, "the slot is taken", func() bool { return s.count("tools/call") == 1 })
	_, err := p.GetTask(t.Context(), taskCall("new", MayTask), "hangs")
	wantFault(t, err, fault.UpstreamTimeout, "server new did not answer tasks/get within 300ms")
	if _, err := p.GetTask(t.Context(), taskCall("new", MayTask), taskID); err != nil {
		t.Error(err)
	}
	close(release)
	calls.Wait()
}

// TestALostSessionIsToldOfItsTask holds that a task that is gone with its session is an error of the server.
func TestALostSessionIsToldOfItsTask(t *testing.T) {
	t.Parallel()
	s := newOldWeb(t, taskHello, func(w http.ResponseWriter, r *http.Request, m mcp.Message) {
		if m.Method == "tools/call" {
			writeJSON(w, m.ID, `{"task":`+legacyTask("working", "")+`}`)
			return
		}
		writeError(w, http.StatusOK, m.ID, mcp.CodeInvalidParams)
	})
	p, _ := newPool(t, nil, s.config())
	c := taskCall("old", MayTask)
	if _, err := p.Call(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	s.forget()
	_, err := p.GetTask(t.Context(), c, taskID)
	if rpc := new(mcp.Error); !errors.As(err, &rpc) || rpc.Code != mcp.CodeInvalidParams {
		t.Errorf("got %v", err)
	}
	_, err = p.TaskResult(t.Context(), c, taskID)
	if rpc := new(mcp.Error); !errors.As(err, &rpc) || rpc.Code != mcp.CodeInvalidParams {
		t.Errorf("got %v", err)
	}
}

// TestASessionWithAnOpenTaskIsNotIdle holds from one poll to the next, and not for ever.
func TestASessionWithAnOpenTaskIsNotIdle(t *testing.T) {
	t.Parallel()
	cfg := badConfig("pipe", "tasks")
	cfg.Idle = time.Second
	p, clock := newPool(t, nil, cfg)
	c := taskCall("pipe", MayTask)
	c.Params = json.RawMessage(`{"name":"slowly"}`)
	c.Meta = rawjson.Span{}
	out, err := p.Call(t.Context(), c)
	if err != nil || out.Task.Poll != maxPoll {
		t.Fatalf("%+v, %v", out, err)
	}
	s, _ := p.server("pipe")
	mustCall(t, p, "pipe", "echo", okResult) // whose use does not shorten it
	for range 3 {
		clock.advance(maxPoll)
		s.closeIdle(clock.now())
		if n := len(s.live()); n != 1 {
			t.Fatalf("%d sessions are left", n)
		}
		if _, err := p.GetTask(t.Context(), c, "t1"); err != nil {
			t.Fatal(err)
		}
	}
	s.endSession("", 0) // as if it were a caller's own
	if n := len(s.live()); n != 1 {
		t.Fatalf("%d sessions outlive their caller", n)
	}
	clock.advance(2 * maxPoll)
	s.closeIdle(clock.now())
	if n := len(s.live()); n != 0 {
		t.Errorf("%d sessions are left", n)
	}
}
