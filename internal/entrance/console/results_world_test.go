package console_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/state/store"
)

// callModel calls a tool as a model does, and gives the ref of what was kept.
func (w *world) callModel(tool, args string) string {
	w.t.Helper()
	resp, err := http.Post(w.URL+"/api/v1/tools/"+tool+"/call?view=model", "application/json", strings.NewReader(args))
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	var answer restapi.CallAnswer
	if err != nil || resp.StatusCode != 200 || json.Unmarshal(body, &answer) != nil {
		w.t.Fatalf("HTTP %d, %v: %.300s", resp.StatusCode, err, body)
	}
	return answer.Ref
}

// kept is the ref of a result that the demo's rule has cut.
func (w *world) kept() string { return w.callModel("cloud__envQuery", `{"action":"list"}`) }

// resultPages are the pages about results, prompts and recall.
func resultPages(w *world) []string {
	return []string{
		"/results", "/results/" + w.kept(), "/results/rules", "/results/suggestions", "/results/suggestions?look=1",
		"/prompt", "/recall", "/recall?kn_id=shop&at_id=orders",
	}
}

// keep keeps a result of a shop's tool.
func (w *world) keep(t testing.TB, ref, body string) {
	t.Helper()
	err := w.app.Store.SaveResult(t.Context(),
		store.Result{Ref: ref, Owner: "local", Call: "c_" + ref, Server: "shop", Tool: "shop__t", Profile: "default",
			Body: json.RawMessage(body), At: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
}
