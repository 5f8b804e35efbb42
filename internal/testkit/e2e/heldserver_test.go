package e2e

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// heldServer is a server over HTTP whose calls end when they are told to, or after as many
// milliseconds as they say. It counts what it is asked, and shares nothing with our own code.
type heldServer struct {
	*httptest.Server
	modern bool

	mu    sync.Mutex
	seen  map[string]int           // requests by method, tool and the argument n
	open  map[string]chan struct{} // by n: closed when its calls may end
	tasks map[string]string        // n by task
}

func newHeldServer(t *testing.T, modern bool) *heldServer {
	t.Helper()
	s := &heldServer{modern: modern, seen: map[string]int{}, open: map[string]chan struct{}{}, tasks: map[string]string{}}
	s.Server = httptest.NewServer(s)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

// heldTools are its tools. All take n, a name for the call, and ms.
const heldTools = `{"name":"hold","inputSchema":{"type":"object"}},` +
	`{"name":"look","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}},` +
	`{"name":"put","inputSchema":{"type":"object"},"annotations":{"idempotentHint":true}},` +
	`{"name":"measure","inputSchema":{"type":"object"},` +
	`"outputSchema":{"type":"object","properties":{"n":{"type":"string"}},"required":["n"]}},` +
	`{"name":"ask","inputSchema":{"type":"object"}},` +
	`{"name":"job","inputSchema":{"type":"object"},"execution":{"taskSupport":"optional"}},` +
	`{"name":"must","inputSchema":{"type":"object"},"execution":{"taskSupport":"required"}}`

const (
	clientCapabilities = "io.modelcontextprotocol/clientCapabilities"
	tasksExtension     = "io.modelcontextprotocol/tasks"
)

const heldQuestion = `{"method":"elicitation/create","params":{"mode":"form","message":"who?",` +
	`"requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}}`

// heldMessage is what it is sent.
type heldMessage struct {
	ID     json.RawMessage
	Method string
	Params struct {
		Name      string
		TaskID    string
		Task      json.RawMessage
		Arguments struct {
			N  string
			MS int
		}
		InputResponses map[string]json.RawMessage
		Meta           map[string]json.RawMessage `json:"_meta"`
	}
}

func (s *heldServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var m heldMessage
	body, _ := io.ReadAll(r.Body)
	if json.Unmarshal(body, &m) != nil || m.Method == "" {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	if m.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	result := s.answer(r, &m)
	if result == "" {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	if s.modern && result[:12] != `{"resultType` {
		result = `{"resultType":"complete","ttlMs":0,"cacheScope":"private",` + result[1:]
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}

func (s *heldServer) answer(r *http.Request, m *heldMessage) string {
	switch m.Method {
	case "initialize":
		if s.modern {
			return ""
		}
		return `{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"tasks":{"cancel":{},"requests":{"tools":{"call":{}}}}},` +
			`"serverInfo":{"name":"held","version":"1"}}`
	case "server/discover":
		if !s.modern {
			return ""
		}
		return `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}}`
	case "tools/list":
		return `{"tools":[` + heldTools + `]}`
	case "tools/call":
		return s.call(r, m)
	case "tasks/get", "tasks/result", "tasks/cancel":
		return s.task(m)
	}
	return ""
}

func (s *heldServer) call(r *http.Request, m *heldMessage) string {
	n := m.Params.Arguments.N
	_, answered := m.Params.InputResponses["who"]
	tasks := m.Params.Task != nil || s.modern && strings.Contains(string(m.Params.Meta[clientCapabilities]), tasksExtension)
	if tasks && (m.Params.Name == "job" || m.Params.Name == "must") {
		s.count("job " + n)
		return s.makeTask(m)
	}
	switch {
	case m.Params.Name == "ask" && !answered:
		s.count("ask " + n)
		s.wait(r, n, m.Params.Arguments.MS)
		return `{"resultType":"input_required","inputRequests":{"who":` + heldQuestion + `}}`
	case m.Params.Name == "ask":
		s.count("answer " + n)
		s.wait(r, n+" answered", m.Params.Arguments.MS/10)
		return text("hello " + string(m.Params.InputResponses["who"]))
	}
	s.count(m.Params.Name + " " + n)
	s.wait(r, n, m.Params.Arguments.MS)
	return text("done " + n)
}

// text is a result.
func text(said string) string {
	quoted, _ := json.Marshal(said) // a string
	return fmt.Sprintf(`{"content":[{"type":"text","text":%s}],"structuredContent":{"n":%s}}`, quoted, quoted)
}

func (s *heldServer) makeTask(m *heldMessage) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := fmt.Sprintf("task-%d", len(s.tasks))
	s.tasks[id] = m.Params.Arguments.N
	if s.modern {
		return `{"resultType":"task",` + s.describe(id, "working") + `}`
	}
	return `{"task":{` + s.describe(id, "working") + `}}`
}

// describe is a task in the words of both eras.
func (s *heldServer) describe(id, status string) string {
	return fmt.Sprintf(`"taskId":%q,"status":%q,"createdAt":"2026-07-28T00:00:00Z","lastUpdatedAt":"2026-07-28T00:00:00Z",`+
		`"ttl":600000,"ttlMs":600000,"pollInterval":200,"pollIntervalMs":200`, id, status)
}

func (s *heldServer) task(m *heldMessage) string {
	id := m.Params.TaskID
	s.mu.Lock()
	n, known := s.tasks[id]
	s.mu.Unlock()
	if !known {
		return ""
	}
	s.count(m.Method + " " + n)
	status := "working"
	select {
	case <-s.gate(n):
		status = "completed"
	default:
	}
	switch {
	case m.Method == "tasks/result":
		return text("done " + n)
	case s.modern && status == "completed":
		return `{` + s.describe(id, status) + `,"result":` + text("done "+n) + `}`
	}
	return `{` + s.describe(id, status) + `}`
}

// gate is closed when the calls of that name may end.
func (s *heldServer) gate(n string) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[n] == nil {
		s.open[n] = make(chan struct{})
	}
	return s.open[n]
}

// let lets the calls of that name end.
func (s *heldServer) let(n string) { close(s.gate(n)) }

// wait holds a call until it may end, or for so many milliseconds if it says how many.
func (s *heldServer) wait(r *http.Request, n string, ms int) {
	long := time.NewTimer(time.Duration(cmp.Or(ms, 3_600_000)) * time.Millisecond)
	defer long.Stop()
	select {
	case <-s.gate(n):
	case <-long.C:
	case <-r.Context().Done():
	}
}

func (s *heldServer) count(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen[what]++
}

// saw is how often something came: "hold n", "ask n", "answer n", "job n", "tasks/get n".
func (s *heldServer) saw(what string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen[what]
}
