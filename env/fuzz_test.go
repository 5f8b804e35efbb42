package env

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/fit"
	"github.com/toolfit/toolfit/internal/mcp"
)

// FuzzCall holds that any params of tools/call get an answer that is JSON, and that what is
// not refused fits the tool's own output schema.
func FuzzCall(f *testing.F) {
	for _, seed := range []string{
		`{"name":"env/query_logs","arguments":{"limit":1,"since":"2026-01-02T03:04:05Z"}}`,
		`{"name":"env_create_session","arguments":{"id":"ses_a","metadata":{"a":{"b":[1e400]}}}}`,
		`{"name":"env/list_sessions","arguments":{"metadata":{"a":null},"cursor":"MSBh"}}`,
		`{"name":"env/update_session","arguments":"{\"id\":\"ses_a\"}"}`,
		"{\"name\":\"env/get_profile\",\"arguments\":{\"id\":\"\xff\"}}",
		`{"name":"env/get_agent","arguments":{"id":"默认","id":1}}`,
	} {
		f.Add(seed)
	}
	opts := &Options{
		ListProfiles: func(context.Context) ([]Profile, error) {
			return []Profile{{ID: "p", PrimaryAgents: []AgentSpec{{ID: "a"}}}}, nil
		},
		QueryLogs: func(context.Context, LogQuery) ([]LogEntry, error) {
			return []LogEntry{{Message: "m"}}, nil
		},
		Sessions: NewMemorySessions(&MemoryOptions{Max: 100}),
	}
	server, err := NewServer(nil, opts)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, params string) {
		if rawjson.Check([]byte(params)) != nil || !strings.HasPrefix(params, "{") {
			return // the wire lets no such thing through
		}
		raw, err := server.serve(t.Context(), &mcp.Request{Method: "tools/call", Params: json.RawMessage(params), Client: mcp.Deaf})
		if err != nil {
			return
		}
		if !json.Valid(raw) {
			t.Fatalf("%s is no JSON", raw)
		}
		if rawjson.Get(raw, "isError") != nil {
			return
		}
		name, _ := rawjson.String(rawjson.Get([]byte(params), "name"))
		output, err := fit.Compile(named(server.protocol, name).OutputSchema, nil)
		if err == nil {
			err = output.Check(t.Context(), rawjson.Get(raw, "structuredContent"))
		}
		if err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
	})
}

// answering is a link to a server that always says the same.
type answering struct{ raw string }

func (a answering) ask(_ context.Context, method string, _ json.RawMessage) (json.RawMessage, error) {
	if method == "tools/list" {
		return json.RawMessage(`{"tools":[{"name":"env/get_description"},{"name":"env/query_logs"},{"name":"env/get_session"}]}`), nil
	}
	return json.RawMessage(a.raw), nil
}

func (answering) Close() error { return nil }

// FuzzClient holds that no answer of a server breaks the client, and that what it took can be
// written again.
func FuzzClient(f *testing.F) {
	for _, seed := range []string{
		`{"structuredContent":{"id":"x","capabilities":{"logs":1,"a":{}},"profiles":null}}`,
		`{"content":[{"type":"text","text":"{\"logs\":[{\"timestamp\":\"2026-01-02T03:04:05Z\"}]}"}]}`,
		`{"content":[{"type":"text","text":"{\"error\":\"Session not found: \"}"}],"isError":true}`,
		`{"content":[{"type":"text","text":"{\"error\":{\"message\":\"MCP error -1: Agent not found: a\"}}"}],"isError":true}`,
		`{"content":{}}`, `[]`, `null`, ``, "\xff", `{"structuredContent":{"id":"s","metadata":{"a":1,"a":2,"\ud800":3}}}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		c := newClient(answering{raw})
		d, err := c.Description(t.Context())
		if err == nil {
			if _, err := rawjson.Marshal(d); err != nil {
				t.Errorf("%+v: %v", d, err)
			}
		}
		c.Logs(t.Context(), LogQuery{})
		c.GetSession(t.Context(), "ses_1")
	})
}

// FuzzCursor holds that a cursor is refused, or names the place that it was made from.
func FuzzCursor(f *testing.F) {
	f.Add("MSBzZXNfYQ")
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		place, err := readCursor(text)
		if err != nil || text == "" {
			return
		}
		again, err := readCursor(place.cursor())
		if err != nil || newestFirst(place, again) != 0 {
			t.Errorf("%q: %v, %v", text, again, err)
		}
	})
}

// FuzzTasks holds that any params of the methods around tasks get JSON or an error of the protocol, in
// both eras.
func FuzzTasks(f *testing.F) {
	for i, seed := range []string{
		`{"name":"form","task":{"ttl":1e400}}`, `{"name":"form","task":[]}`, `{"name":"form","inputResponses":{"q1":{}},"requestState":"{}"}`,
		`{"taskId":"asks","inputResponses":{"q1":{"action":"accept","content":{"id":"无"}}}}`, `{"taskId":"asks","inputResponses":{"q1":null}}`,
		`{"taskId":"done"}`, `{"taskId":"done","inputResponses":[]}`, `{"cursor":"x"}`, `{"taskId":{}}`,
	} {
		f.Add(i%6, true, seed)
		f.Add(i%6, false, seed)
	}
	server, err := NewServer(nil, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(server.Close)
	form := NewTool("form", "", func(ctx context.Context, _ noArguments) (any, error) {
		return Ask(ctx, Form[byID]("Which?"))
	})
	form.Task = TaskOptional
	if err := server.AddTool(form); err != nil {
		f.Fatal(err)
	}
	can := json.RawMessage(`{"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}`)
	session := &mcp.Session{Version: mcp.Latest, Capabilities: can}
	f.Fuzz(func(t *testing.T, which int, modern bool, params string) {
		if rawjson.Check([]byte(params)) != nil || !strings.HasPrefix(params, "{") {
			return // the wire lets no such thing through
		}
		methods := []string{"tools/call", "tasks/get", "tasks/update", "tasks/cancel", "tasks/result", "tasks/list"}
		req := &mcp.Request{Method: methods[uint(which)%6], Params: json.RawMessage(params), Client: mcp.Deaf, Session: session}
		if modern {
			req.Session = nil
			req.Meta = &mcp.Meta{Version: mcp.ModernVersion, Capabilities: can}
		}
		for _, id := range []string{"asks", "done"} {
			task, err := server.tasks.add(t.Context(), req, server.tasks.ttl)
			if err != nil {
				t.Fatal(err)
			}
			delete(server.tasks.byID, task.id)
			task.id = id
			server.tasks.byID[id] = task
			if id == "asks" && req.Method != "tasks/result" { // which would wait
				task.put([]Question{{Method: "elicitation/create", Params: json.RawMessage("{}")}})
			} else {
				task.end(taskCompleted, json.RawMessage("{}"), nil)
			}
		}
		raw, err := server.serve(t.Context(), req)
		for _, task := range server.tasks.byID {
			server.tasks.remove(task)
		}
		var known *mcp.Error
		if err != nil && !errors.As(err, &known) || err == nil && !json.Valid(raw) {
			t.Errorf("got %s, %v", raw, err)
		}
	})
}
