package env_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/env"
)

func TestBadInputIsRefused(t *testing.T) {
	s := legacy(t, &shop{}, nil)
	s.call("env/create_session", `{"id":"ses_a"}`)
	deep := strings.Repeat("[", 600) + strings.Repeat("]", 600)
	tests := []struct{ name, tool, args, want string }{
		{"limit 0", "query_logs", `{"limit":0}`, "limit"},
		{"limit 1001", "query_logs", `{"limit":1001}`, "limit"},
		{"limit -1", "query_logs", `{"limit":-1}`, "limit"},
		{"limit 1.5", "query_logs", `{"limit":1.5}`, "limit"},
		{"limit beyond every integer", "query_logs", `{"limit":1e400}`, "limit"},
		{"limit as a word", "query_logs", `{"limit":"many"}`, "limit"},
		{"limit twice", "query_logs", `{"limit":1,"limit":5000}`, "limit"},
		{"a level that is none", "query_logs", `{"level":"fatal"}`, "level"},
		{"a level of another type", "query_logs", `{"level":3}`, "level"},
		{"since is no time", "query_logs", `{"since":"yesterday"}`, "since: expected a time of RFC 3339"},
		{"since is a day", "query_logs", `{"since":"2026-01-02"}`, "since: expected a time of RFC 3339"},
		{"since is empty", "query_logs", `{"since":""}`, "since: expected a time of RFC 3339"},
		{"sessions until is empty", "list_sessions", `{"until":""}`, "until: expected a time of RFC 3339"},
		{"until is a day that does not exist", "query_logs", `{"until":"2026-02-30T00:00:00Z"}`, "until: expected a time of RFC 3339"},
		{"until is a number", "query_logs", `{"until":1}`, "until"},
		{"since after until", "query_logs", `{"since":"2026-01-02T00:00:01Z","until":"2026-01-02T00:00:00Z"}`, "is after until"},
		{"since after until in another zone", "query_logs", `{"since":"2026-01-02T00:00:00Z","until":"2026-01-02T00:00:00+08:00"}`,
			"is after until"},
		{"an unknown argument", "query_logs", `{"loudness":"info"}`, "loudness"},
		{"an unknown argument in Chinese", "get_description", `{"级别":1}`, "级别"},
		{"an id of another case", "get_profile", `{"ID":"day","x":1}`, "x"},
		{"no id", "get_profile", `{}`, "id"},
		{"an empty id", "get_agent", `{"id":""}`, "id"},
		{"an id that is null", "get_session", `{"id":null}`, "id"},
		{"an id that is a list", "get_session", `{"id":["a","b"]}`, "id"},
		{"a huge id", "get_session", `{"id":"` + strings.Repeat("长", 1000) + `"}`, "id"},
		{"a role that is none", "list_agents", `{"role":"boss"}`, "role"},
		{"an unknown profile", "get_profile", `{"id":"dusk"}`, "Profile not found: dusk"},
		{"an unknown agent", "get_agent", `{"id":"dusk"}`, "Agent not found: dusk"},
		{"an unknown session", "get_session", `{"id":"ses_none"}`, "Session not found: ses_none"},
		{"an update of an unknown session", "update_session", `{"id":"ses_none","title":"x"}`, "Session not found: ses_none"},
		{"an update of nothing", "update_session", `{"id":"ses_a"}`, "nothing to change"},
		{"an empty title", "update_session", `{"id":"ses_a","title":""}`, "title"},
		{"metadata that are a list", "update_session", `{"id":"ses_a","metadata":[1]}`, "metadata"},
		{"a session's id that is taken", "create_session", `{"id":"ses_a"}`, "exists already"},
		{"a session's id that is empty", "create_session", `{"id":""}`, "id"},
		{"a session's id that is too long", "create_session", `{"id":"` + strings.Repeat("a", 201) + `"}`, "id"},
		{"sessions limit 0", "list_sessions", `{"limit":0}`, "limit"},
		{"sessions since after until", "list_sessions", `{"since":"2026-01-02T00:00:01Z","until":"2026-01-02T00:00:00Z"}`,
			"is after until"},
		{"a cursor of nobody", "list_sessions", `{"cursor":"!!"}`, "cursor"},
		{"a cursor of somebody else", "list_sessions", `{"cursor":"YWJj"}`, "cursor"},
		{"arguments that are a list", "list_profiles", `[]`, ""},
		{"arguments that are a text", "list_profiles", `"{"`, ""},
		{"arguments nested in depth", "create_session", `{"title":` + deep[:400] + deep[len(deep)-400:] + `}`, "title"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := s.call("env/"+tt.tool, tt.args)
			if !a.IsError || len(a.Content) != 1 || a.StructuredContent != nil {
				t.Fatalf("got %+v", a)
			}
			var told struct{ Error string }
			if err := json.Unmarshal([]byte(a.Content[0].Text), &told); err != nil || told.Error == "" ||
				!strings.Contains(told.Error, tt.want) {
				t.Errorf("got %s, want %s in it", a.Content[0].Text, tt.want)
			}
		})
	}
}

func TestWrongRequestsAreErrorsOfTheProtocol(t *testing.T) {
	s := legacy(t, &shop{}, nil)
	tests := []struct {
		name, method, params string
		code                 int
	}{
		{"an unknown tool", "tools/call", `{"name":"env/reboot"}`, -32602},
		{"a tool without a name", "tools/call", `{}`, -32602},
		{"text that is not UTF-8", "tools/call", `{"name":"env/create_session","arguments":{"title":"` + "\xff" + `"}}`, -32602},
		{"a cursor", "tools/list", `{"cursor":"x"}`, -32602},
		{"a cursor of prompts", "prompts/list", `{"cursor":"x"}`, -32602},
		{"an unknown method", "resources/list", `{}`, -32601},
		{"an unknown prompt", "prompts/get", `{"name":"none"}`, -32602},
		{"a prompt without a required argument", "prompts/get", `{"name":"greet"}`, -32602},
		{"a prompt with an unknown argument", "prompts/get", `{"name":"greet","arguments":{"who":"x","why":"y"}}`, -32602},
		{"a prompt with a number", "prompts/get", `{"name":"greet","arguments":{"who":1}}`, -32602},
		{"a prompt with a list", "prompts/get", `{"name":"greet","arguments":["who"]}`, -32602},
		{"a prompt that refuses", "prompts/get", `{"name":"greet","arguments":{"who":"nobody"}}`, -32603},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if m := s.post(tt.method, tt.params); m.Error == nil || m.Error.Code != tt.code {
				t.Errorf("got %+v", m)
			}
		})
	}
}

func TestPrompts(t *testing.T) {
	s := legacy(t, &shop{}, nil)
	for params, want := range map[string]string{
		`{"name":"system"}`:                         `{"messages":[{"role":"user","content":{"type":"text","text":"You keep a shop."}}]}`,
		`{"name":"greet","arguments":{"who":"世界"}}`: `{"messages":[{"role":"user","content":{"type":"text","text":"Hello 世界"}}]}`,
	} {
		if m := s.post("prompts/get", params); string(m.Result) != want {
			t.Errorf("got %s, want %s", m.Result, want)
		}
	}
	const list = `{"prompts":[{"name":"system"},{"name":"greet","arguments":[{"name":"who","required":true}]}]}`
	if m := s.post("prompts/list", `{}`); string(m.Result) != list {
		t.Errorf("got %s", m.Result)
	}
}

func TestPromptsThatCannotBeToldApartAreToldAndNotListed(t *testing.T) {
	for want, prompts := range map[string][]env.Prompt{
		"two prompts with the ID a": {{ID: "a", Text: "1"}, {ID: "b"}, {ID: "a", Text: "2"}},
		"prompt 2 of 2 has no ID":   {{ID: "a"}, {Text: "which?"}},
	} {
		if m := legacy(t, plain{prompts: prompts}, nil).post("prompts/list", `{}`); m.Error == nil ||
			!strings.Contains(m.Error.Message, want) {
			t.Errorf("got %s, want %s", m.Result, want)
		}
	}
}

func TestTwoToolsOfOneNameAreToldAndNotMixed(t *testing.T) {
	say := (func() env.Tool { tools, _ := (&shop{}).Tools(t.Context()); return tools[1] })()
	reserved := say
	reserved.Name = "env_get_description"
	for _, tools := range [][]env.Tool{{say, say}, {reserved}} {
		if m := legacy(t, plain{tools: tools}, nil).post("tools/list", `{}`); m.Error == nil ||
			!strings.Contains(m.Error.Message, "two tools") {
			t.Errorf("got %s", m.Result)
		}
	}
}
