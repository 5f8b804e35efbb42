package console_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/state/store"
)

func TestAPersonSavesARunOnItsPage(t *testing.T) {
	w := newWorld(t, demoConfig)
	p := w.person()
	if status, body := p.ask("GET", "/recipes", nil); status != 200 || !strings.Contains(body, "No recipes yet") {
		t.Errorf("HTTP %d", status)
	}
	err := w.app.Store.SaveScriptRun(t.Context(), store.ScriptRun{
		ID: "c_run", Owner: "agent", Profile: "default", Tool: "run_script", State: store.ScriptEnded, At: time.Now(), Expires: time.Now().Add(time.Hour),
		Body: []byte(`{"code":"return {a: '<b>',\n\tday: input.day}","input":{"day":"monday"},"seed":"s","began":"2026-11-01T00:00:00Z"}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.app.Store.AppendCalls(t.Context(), []store.Call{
		{ID: "c_run", At: time.Now(), Principal: "agent", Profile: "default", Tool: "run_script", Outcome: "ok", Level: "info"},
	}); err != nil {
		t.Fatal(err)
	}
	if _, body := p.ask("GET", "/calls/c_run", nil); !strings.Contains(body, `href="/recipes/save/c_run"`) {
		t.Error("the page of the call has no way to save it")
	}
	_, body := p.ask("GET", "/recipes/save/c_run", nil)
	for _, want := range []string{"&#34;day&#34;: {", "return {a: &#39;&lt;b&gt;&#39;,\n\tday: input.day}"} {
		if !strings.Contains(body, want) {
			t.Errorf("%s is missing: %s", want, body)
		}
	}
	form := url.Values{"run": {"c_run"}, "name": {"No"}, "description": {"Totals."}, "input": {`{"type":"object"}`}}
	if status, body := p.ask("POST", "/recipes", form); status != 200 || !strings.Contains(body, "is not a name for a recipe") || !strings.Contains(body, `value="No"`) {
		t.Errorf("HTTP %d: %s", status, body)
	}
	form.Set("name", "totals")
	if status, body := p.ask("POST", "/recipes", form); status != 200 || !strings.Contains(body, "Saved. Callers can use it now.") ||
		!strings.Contains(body, "recipes__totals") || strings.Contains(body, "<b>'") {
		t.Errorf("HTTP %d: %s", status, body)
	}
	p.header.Set("Accept-Language", "zh")
	if _, body := p.ask("GET", "/recipes", nil); !strings.Contains(body, "可用") || !strings.Contains(body, `href="/recipes/totals"`) {
		t.Errorf("%s", body)
	}
	if status, _ := p.ask("GET", "/servers/recipes", nil); status != 200 {
		t.Errorf("the page of the server: HTTP %d", status)
	}
	if status, body := p.ask("POST", "/recipes/totals/approve", url.Values{}); status != 200 || !strings.Contains(body, "已批准") {
		t.Errorf("HTTP %d", status)
	}
	if status, body := p.ask("POST", "/recipes/totals/delete", url.Values{}); status != 200 || !strings.Contains(body, "还没有配方") {
		t.Errorf("HTTP %d", status)
	}
}
