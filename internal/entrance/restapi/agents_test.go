package restapi_test

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/entrance/restapi"
)

func TestAgentsOfTheStoreAreChangedByAdministratorsAlone(t *testing.T) {
	g := newGateway(t)
	for _, who := range []string{"ann", "eye"} {
		if status, body := g.ask(t, who, "POST", "/api/v1/agents", `{"model":"m"}`); status != 403 {
			t.Errorf("%s: HTTP %d: %s", who, status, body)
		}
	}
	status, body := g.ask(t, "root", "POST", "/api/v1/agents",
		`{"name":"新","model":"m","profile":"orders","budget":700,"language":"zh","capabilities":{"enable_reflection":false}}`)
	var made restapi.Agent
	if err := json.Unmarshal([]byte(body), &made); err != nil || status != 201 || !strings.HasPrefix(made.ID, "agt_") ||
		made.Version != 1 || made.Capabilities.MaxToolCalls != 20 || made.Capabilities.Reflection {
		t.Fatalf("HTTP %d, %v: %s", status, err, body)
	}
	made.Description = "changed"
	text, err := json.Marshal(made) // as it was read
	if err != nil {
		t.Fatal(err)
	}
	status, body = g.ask(t, "root", "PUT", "/api/v1/agents/"+made.ID+"?version=1", string(text))
	if err := json.Unmarshal([]byte(body), &made); err != nil || status != 200 || made.Version != 2 || made.Description != "changed" {
		t.Errorf("HTTP %d, %v: %s", status, err, body)
	}
	if a := g.app.Config().AgentNamed(made.ID); a == nil || a.Description != "changed" || a.Budget != 700 || a.Language != "zh" {
		t.Errorf("not in force: %+v", a)
	}
	for _, c := range []struct {
		body string
		want string
	}{
		{`{"model":"m","name":"` + strings.Repeat("x", 51) + `"}`, "at most 50 characters"},
		{`{"model":"nope"}`, "there is no model"},
		{`{"model":"m","nmae":"x"}`, `did you mean \"name\"`},
		{`{"model":"m","budget":5}`, "from 100"}, {`{"model":"m","language":"fr"}`, "expected en or zh"},
		{`{"model":"m","capabilities":{"max_reflection_iterations":11}}`, "from 0 to 10"},
		{`[]`, "must be a JSON object"}, {``, "must be a JSON object"}, {`{"id":5}`, "id must be text"},
		{`{"id":"a b","model":"m"}`, "is not a valid id"},
	} {
		if status, body := g.ask(t, "root", "POST", "/api/v1/agents", c.body); status != 400 || !strings.Contains(body, c.want) {
			t.Errorf("%s: HTTP %d: %s", c.body, status, body)
		}
	}
	if status, body := g.ask(t, "root", "PUT", "/api/v1/agents/filed", `{"model":"m"}`); status != 409 ||
		!strings.Contains(body, "configuration file") {
		t.Errorf("HTTP %d: %s", status, body)
	}
}

func TestCallersSeeTheAgentsOfTheirProfile(t *testing.T) {
	g := newGateway(t)
	g.ask(t, "root", "POST", "/api/v1/agents", `{"id":"wide","model":"m","profile":"wide"}`)
	for who, want := range map[string]string{"ann": "filed", "eye": "filed wide", "root": "filed wide"} {
		_, body := g.ask(t, who, "GET", "/api/v1/agents", "")
		var list restapi.AgentList
		if err := json.Unmarshal([]byte(body), &list); err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, a := range list.Agents {
			ids = append(ids, a.ID)
		}
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("%s sees %s, want %s", who, got, want)
		}
	}
	for _, path := range []string{"/api/v1/agents/wide", "/api/v1/agents/wide/prompt"} {
		if status, _ := g.ask(t, "ann", "GET", path, ""); status != 404 {
			t.Errorf("%s: HTTP %d", path, status)
		}
	}
}

func TestSessionsBelongToTheirOwners(t *testing.T) {
	g := newGateway(t)
	if status, body := g.ask(t, "ann", "POST", "/api/v1/sessions", `{"id":"ses_ann","metadata":{"agent":"helper","n":1}}`); status != 201 {
		t.Fatalf("HTTP %d: %s", status, body)
	}
	if err := g.app.Store.AppendMessages(t.Context(), "ses_ann", json.RawMessage(`{"role":"user","content":"你好"}`),
		json.RawMessage(`{"role":"assistant","content":"hi"}`)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		who, method, path, body string
		status                  int
		want                    string
	}{
		{"ann", "GET", "/sessions/ses_ann/messages?limit=1", "", 200, `"message":{"role":"user","content":"你好"}}],"next":1`},
		{"ann", "GET", "/sessions/ses_ann/messages?after=1", "", 200, `"position":2`},
		{"ann", "GET", "/sessions/ses_ann/messages?after=x", "", 400, "after must be"},
		{"bob", "GET", "/sessions/ses_ann", "", 404, "no session"},
		{"bob", "POST", "/sessions/ses_ann/cancel", "", 404, "no session"},
		{"eye", "POST", "/sessions/ses_ann/cancel", "", 404, "no session"},
		{"ann", "POST", "/sessions/ses_ann/cancel", "", 409, "no answer is being made in session ses_ann"},
		{"bob", "GET", "/sessions/ses_ann/messages", "", 404, "no session"},
		{"bob", "GET", "/sessions", "", 200, `"sessions":[]`},
		{"eye", "GET", "/sessions?agent=helper", "", 200, "ses_ann"},
		{"eye", "GET", "/sessions?agent=other", "", 200, `"sessions":[]`},
		{"eye", "GET", "/sessions?metadata.n=1&since=2020-01-01T00:00:00Z", "", 200, "ses_ann"},
		{"eye", "GET", "/sessions?since=yesterday", "", 400, "since must be a time"},
		{"eye", "GET", "/sessions/ses_ann/messages", "", 200, "你好"},
		{"eye", "PATCH", "/sessions/ses_ann", `{"title":"x"}`, 404, "no session"},
		{"eye", "POST", "/sessions", `{}`, 403, "may not make"},
		{"ann", "PATCH", "/sessions/ses_ann", `{"directory":"/x"}`, 400, "nothing else"},
		{"ann", "PATCH", "/sessions/ses_ann", `{"metadata":{"n":2}}`, 200, `"n":2`},
		{"bob", "DELETE", "/sessions/ses_ann", "", 200, "ses_ann"}, // nothing is said about what is not there for bob
		{"ann", "GET", "/sessions/ses_ann", "", 200, `"agent":"helper"`},
		{"ann", "DELETE", "/sessions/ses_ann", "", 200, "ses_ann"},
		{"ann", "GET", "/sessions/ses_ann", "", 404, "no session"},
	} {
		if status, body := g.ask(t, c.who, c.method, "/api/v1"+c.path, c.body); status != c.status || !strings.Contains(body, c.want) {
			t.Errorf("%s %s %s: HTTP %d: %s", c.who, c.method, c.path, status, body)
		}
	}
}

func TestDocumentHasTheKeysOfAnAgentInTheFile(t *testing.T) {
	text, err := os.ReadFile("../../state/config/config.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Defs map[string]struct{ Properties map[string]any } `json:"$defs"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	for ours, theirs := range map[string]string{"AgentConfig": "agent", "Capabilities": "capabilities"} {
		properties, _ := newSchemas(t).defs[ours].(map[string]any)["properties"].(map[string]any)
		documented, want := slices.Sorted(maps.Keys(properties)), slices.Collect(maps.Keys(file.Defs[theirs].Properties))
		if ours == "AgentConfig" {
			want = append(want, "id")
		}
		slices.Sort(want)
		if !slices.Equal(documented, want) {
			t.Errorf("documented %v, in the file %v", documented, want)
		}
	}
}
