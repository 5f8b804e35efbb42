package mcp

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

const tasksMeta = `{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
	`"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}`

func TestOnlyClientsWithTasksListenToThem(t *testing.T) {
	f := newTestFront(t, nil)
	const message = `{"id":"l","method":"subscriptions/listen","params":{"_meta":META,"notifications":{"taskIds":["a","任务",1]}}}`
	got := readAnswer(t, f.modernPost(t, t.Context(), message))
	if !strings.HasPrefix(got[0], "400 ") || !strings.Contains(got[0], `"code":-32021`) ||
		!strings.Contains(got[0], `"data":{"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}`) {
		t.Errorf("got %q", got)
	}
	resp := f.modernPost(t, t.Context(), strings.Replace(message, "META", tasksMeta, 1))
	defer resp.Body.Close()
	ev, err := NewEvents(resp.Body, 1000).Next()
	if err != nil || !strings.Contains(string(ev.Data), `"notifications":{"taskIds":["a","任务"]}`) {
		t.Errorf("got %s, %v", ev.Data, err)
	}
	many := json.RawMessage(`{"notifications":{"resourceSubscriptions":["a"],"taskIds":[` + strings.Repeat(`"a",`, maxListened-1) + `"a"]}}`)
	if _, err := parseFilter(many); err == nil {
		t.Error("too many tasks were taken")
	}
}

func TestDeclares(t *testing.T) {
	for capabilities, want := range map[string]bool{
		``: false, `{}`: false, `null`: false, `{"tasks":{}}`: false, `{"extensions":[]}`: false,
		`{"extensions":{"io.modelcontextprotocol/tasks":true}}`: false, `{"extensions":{"io.modelcontextprotocol/tasks":null}}`: false,
		`{"extensions":{"io.modelcontextprotocol/tasks":{"a":1}}}`: true,
	} {
		if got := Declares(json.RawMessage(capabilities), ExtensionTasks); got != want {
			t.Errorf("%s: %v", capabilities, got)
		}
	}
}

func TestTasksAreOfferedWhereTheRevisionHasThem(t *testing.T) {
	legacy := `{"tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}`
	for _, c := range []struct{ has, version, want string }{
		{``, "2025-06-18", `{}`},
		{``, Latest, legacy + `}`},
		{`{"tools":{}}`, Latest, legacy + `,"tools":{}}`},
		{``, ModernVersion, `{"extensions":{"io.modelcontextprotocol/tasks":{}}}`},
		{`{"tools":{},"extensions":{"a/b":{}}}`, ModernVersion, `{"extensions":{"io.modelcontextprotocol/tasks":{},"a/b":{}},"tools":{}}`},
		{`{"extensions":null}`, ModernVersion, `{"extensions":{"io.modelcontextprotocol/tasks":{}}}`},
	} {
		i := Info{Name: "a", Tasks: true}
		if c.has != "" {
			i.Capabilities = json.RawMessage(c.has)
		}
		result := i.initializeResult(c.version)
		if c.version == ModernVersion {
			result = i.discoverResult()
		}
		if got := rawjson.Get(result, "capabilities"); string(got) != c.want {
			t.Errorf("%s in %s: %s", c.has, c.version, got)
		}
	}
}

func TestNotificationsOfExtensionsConcernAllReplicas(t *testing.T) {
	e := Entry{Handler: HandlerFunc(func(context.Context, *Request) (json.RawMessage, error) { return nil, nil })}
	for method, here := range map[string]bool{
		"notifications/moon/rose": false, "notifications/roots/list_changed": false, "notifications/progress": true, "notifications/initialized": true,
	} {
		if got := e.take(t.Context(), nil, Message{Method: method}); got != here {
			t.Errorf("%s: %v", method, got)
		}
	}
}
