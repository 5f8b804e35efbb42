package restapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/state/store"
)

// keepRun stores a run of the principal's, with one picture that calls itself a page.
func (g *gateway) keepRun(t *testing.T, id, principal string) {
	t.Helper()
	err := g.app.Store.SaveRun(t.Context(), store.Run{
		ID: id, At: time.Now(), Name: "登录", Outcome: "failed", Duration: time.Second,
		Summary: json.RawMessage(`{"name":"登录","principal":"` + principal +
			`","profile":"default","files":["t.yaml"],"cases":1,"totals":{"tests":1,"failed":1}}`),
		Report: []byte(`{"results":[{"runId":"` + id + `","file":"t.yaml","name":"登录","started":"2026-01-01T00:00:00Z","duration":1,"metrics":{},"cases":[{"name":"<script>x</script>","status":"failed","attempts":1,"started":"2026-01-01T00:00:00Z","duration":1,
			"error":{"type":"ELEMENT_NOT_FOUND","message":"no","details":{"runId":"r"}},"steps":[{"text":"点击登录","action":"click","status":"failed","duration":1,"screenshot":{"type":"text/html","data":"aGk="}}]}]}],
			"sources":{"t.yaml":"- open http://127.0.0.1:1/\n"}}`),
	})
	if err != nil {
		t.Fatal(err)
	}
}

// principalOf is the id of a key.
func (g *gateway) principalOf(name string) string { return strings.Split(g.keys[name], "_")[1] }

func TestRunsAnswerAsTheDocumentSays(t *testing.T) {
	g := newGateway(t)
	g.keepRun(t, "run_1", g.principalOf("ann"))
	err := g.app.Store.SaveRun(t.Context(), store.Run{ID: "run_2", At: time.Now(), Outcome: "running",
		Summary: json.RawMessage(`{"files":["t.yaml"],"totals":{}}`)})
	if err != nil {
		t.Fatal(err)
	}
	doc, schemas := readDocument(t), newSchemas(t)
	for _, c := range []struct {
		method, path, target, body string
		status                     int
	}{
		{"GET", "/runs", "/runs?outcome=failed&limit=1", "", 200},
		{"GET", "/runs", "/runs?limit=0", "", 400},
		{"GET", "/runs", "/runs?cursor=nonsense", "", 400},
		{"GET", "/runs/{id}", "/runs/run_1", "", 200},
		{"GET", "/runs/{id}", "/runs/nope", "", 404},
		{"GET", "/runs/{id}/report", "/runs/run_1/report?format=pdf", "", 400},
		{"GET", "/runs/{id}/screenshots/{n}", "/runs/run_1/screenshots/2", "", 404},
		{"POST", "/runs", "/runs", `{}`, 400},
		{"POST", "/runs", "/runs", `{"steps":"dance"}`, 400},
		{"POST", "/runs", "/runs", `{"steps":"open /","workers":99}`, 400},
		{"POST", "/runs", "/runs", `{"again":"nope"}`, 404},
		{"POST", "/runs", "/runs", `{"again":"run_1"}`, 404}, // there is no browser here
		{"POST", "/runs", "/runs", `{"again":"run_2"}`, 409}, // it is under way
	} {
		status, body := g.ask(t, "root", c.method, "/api/v1"+c.target, c.body)
		if status != c.status {
			t.Errorf("%s %s: HTTP %d, want %d: %s", c.method, c.target, status, c.status, body)
			continue
		}
		status3 := map[bool]string{true: "200", false: "default"}[status == 200]
		schemas.check(t, doc.answerSchema(t, c.method, c.path, status3), body)
	}
	_, body := g.ask(t, "root", "GET", "/api/v1/runs/run_1", "")
	var run restapi.Run
	if err := json.Unmarshal([]byte(body), &run); err != nil || !strings.Contains(body, `"href":"/api/v1/runs/run_1/screenshots/1"`) ||
		strings.Contains(body, "aGk=") {
		t.Errorf("%v: %s", err, body)
	}
}

func TestACallerSeesItsOwnRunsAlone(t *testing.T) {
	g := newGateway(t)
	g.keepRun(t, "run_1", g.principalOf("ann"))
	for _, path := range []string{"/runs/run_1", "/runs/run_1/report", "/runs/run_1/screenshots/1"} {
		for who, want := range map[string]int{"ann": 200, "bob": 404, "eye": 200, "root": 200} {
			if status, body := g.ask(t, who, "GET", "/api/v1"+path, ""); status != want {
				t.Errorf("%s reads %s: HTTP %d: %s", who, path, status, body)
			}
		}
	}
	for who, want := range map[string]bool{"ann": true, "bob": false, "eye": true} {
		if _, body := g.ask(t, who, "GET", "/api/v1/runs", ""); strings.Contains(body, "run_1") != want {
			t.Errorf("%s lists %s", who, body)
		}
	}
	if status, _ := g.ask(t, "eye", "POST", "/api/v1/runs", `{"steps":"open /"}`); status != http.StatusForbidden {
		t.Errorf("a viewer starts a run: HTTP %d", status)
	}
}

func TestAPageOfRunsIsFullThoughOthersRanMore(t *testing.T) {
	g := newGateway(t)
	for i := range 6 {
		g.keepRun(t, fmt.Sprintf("run_ann%d", i), g.principalOf("ann"))
	}
	g.keepRun(t, "run_bob1", g.principalOf("bob"))
	g.keepRun(t, "run_bob2", g.principalOf("bob"))
	var seen int
	for cursor := ""; ; {
		_, body := g.ask(t, "bob", "GET", "/api/v1/runs?limit=1&cursor="+cursor, "")
		var page restapi.RunList
		if err := json.Unmarshal([]byte(body), &page); err != nil {
			t.Fatal(err)
		}
		if seen += len(page.Runs); page.Next == "" {
			break
		}
		if cursor = url.QueryEscape(page.Next); len(page.Runs) != 1 {
			t.Fatalf("a page that is not the last has %d runs", len(page.Runs))
		}
	}
	if seen != 2 {
		t.Errorf("bob sees %d runs", seen)
	}
}

func TestWhatATestedPageSentIsNeverRunAsAPageOfOurs(t *testing.T) {
	g := newGateway(t)
	g.keepRun(t, "run_1", "x")
	for path, kind := range map[string]string{"/report": "text/html; charset=utf-8", "/report?format=junit": "application/xml",
		"/screenshots/1": "image/png"} {
		req, err := http.NewRequestWithContext(t.Context(), "GET", g.URL+"/api/v1/runs/run_1"+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+g.keys["root"])
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.Header.Get("Content-Type") != kind || resp.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %v", path, resp.Header)
		}
	}
	if _, body := g.ask(t, "root", "GET", "/api/v1/runs/run_1/report", ""); strings.Contains(body, "<script") {
		t.Errorf("the report holds a script: %s", body)
	}
}

func TestARunTakesTextCommandsAndOneCommand(t *testing.T) {
	g := newGateway(t)
	for body, want := range map[string]int{ // there is no browser here, so steps that can be read come as far as that
		`{"steps":"click More"}`: 404, `{"steps":[{"action":"click","selector":"More"},"click Less"]}`: 404, `{"steps":{"action":"click","selector":"More"}}`: 404,
		`{"steps":7}`: 400, `{"steps":[{"action":"dance"}]}`: 400, `{"steps":{}}`: 400,
	} {
		if status, said := g.ask(t, "root", "POST", "/api/v1/runs", body); status != want {
			t.Errorf("%s: HTTP %d, want %d: %s", body, status, want, said)
		}
	}
}
