package console

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/integration/recall"
	"github.com/toolfit/toolfit/internal/state/access"
)

// planted is text that tries to be more than text.
const planted = `"'><script>pwned()</script><img src=x onerror=pwned()>` + "`{{.}}</pre></textarea></select>\u202eevil\u2066\u200b\x00\xff"

var plantedJSON, _ = json.Marshal(map[string]any{planted: []any{planted, map[string]string{"</pre><script>": planted}}})

// evilResults are results, rules, proposals and prompts all of whose texts are planted.
type evilResults struct{}

func (evilResults) ListResults(context.Context, access.Principal, restapi.ResultQuery) (restapi.ResultList, error) {
	return restapi.ResultList{Next: planted, Results: []restapi.ResultHead{{Ref: planted, Call: planted, Server: planted, Tool: planted, Profile: planted, Rule: planted, TokensFull: 2, TokensSent: 1}}}, nil
}
func (evilResults) StoredResult(context.Context, access.Principal, string) (restapi.Result, error) {
	return restapi.Result{Ref: planted, Call: planted, Tool: planted, Profile: planted, Rule: planted, Arguments: plantedJSON, Result: json.RawMessage(`{"structuredContent":` + string(plantedJSON) + `}`)}, nil
}
func (evilResults) TryRule(context.Context, access.Principal, restapi.Result, []byte) (restapi.Trial, error) {
	return restapi.Trial{Outcome: project.Failed, Reason: planted, Unseen: []string{planted}, Result: json.RawMessage(`{"content":[{"type":"text","text":` + string(planted2()) + `}]}`)}, nil
}
func planted2() []byte { text, _ := json.Marshal(planted); return text }
func (evilResults) ListRules(access.Principal) ([]restapi.Rule, error) {
	return []restapi.Rule{
		{ID: planted, Source: restapi.FromStore, Tool: planted, When: map[string]any{planted: planted}, Keep: planted, Mode: project.On, Profile: planted, Reason: planted, Undo: &restapi.RuleBefore{Mode: project.On, Text: planted}},
		{ID: planted, Source: restapi.FromFile, Tool: planted, JQ: planted, Mode: project.Shadow, Shape: "table", Budget: 5},
		{ID: "x", Source: restapi.FromBuiltin, Tool: planted, When: map[string]any{planted: planted}, Drop: planted, Mode: project.On},
	}, nil
}
func (evilResults) SaveRule(context.Context, access.Principal, string, []byte) (restapi.Rule, error) {
	return restapi.Rule{}, fault.New(fault.BadRequest, "%s", planted).WithHint("%s", planted)
}
func (evilResults) DeleteRule(context.Context, access.Principal, string) (string, error) {
	return "", fault.New(fault.NotFound, "%s", planted)
}
func (evilResults) Suggest(context.Context, access.Principal, restapi.SuggestQuery) (restapi.SuggestionList, error) {
	return restapi.SuggestionList{Suggestions: []restapi.Suggestion{{
		Tool: tool.Name(planted), When: map[string]any{planted: planted}, Keep: planted, Stage: "offer", Fields: []restapi.SuggestedPath{{Path: planted, Why: planted}},
	}}}, nil
}
func (evilResults) AcceptRule(context.Context, access.Principal, string, []byte) error { return nil }
func (evilResults) UndoRule(context.Context, access.Principal, string) error           { return nil }
func (evilResults) WritePrompt(_ context.Context, _ access.Principal, in restapi.PromptQuery) (restapi.Prompt, error) {
	if in.Profile == "none" {
		return restapi.Prompt{}, fault.New(fault.NotFound, "%s", planted)
	}
	return restapi.Prompt{Format: in.Format, Text: planted + string(plantedJSON), SetAside: []restapi.SetAside{{Name: planted, Reason: planted}}}, nil
}

func TestResultsThatStrangersWroteAreNoMoreThanText(t *testing.T) {
	c := New(Parts{
		Results: evilResults{}, Rules: evilResults{}, Suggestions: evilResults{}, Prompts: evilResults{},
		Profiles: func() []string { return []string{planted} },
		Recall:   func() *recall.Service { return nil },
		Check:    func(*http.Request) error { return nil },
		Admit: func(*http.Request) (access.Principal, error) {
			return access.Principal{ID: "a", Name: "ann", Role: access.Admin, Profile: access.AnyProfile}, nil
		},
		Address: func(r *http.Request) (string, string) { return "http", r.Host },
	})
	form := url.Values{"id": {planted}, "tool": {planted}, "when": {planted}, "way": {planted}, "expression": {planted}, "budget": {planted}, "shape": {planted}, "mode": {planted}, "profile": {planted}, "f": {planted, "1"}, "from": {"ticks"}}
	q := "?" + url.Values{"tool": {planted}, "rule": {planted}, "cursor": {planted}, "edit": {planted}, "kn_id": {planted}, "at_id": {planted}, "profile": {planted}, "format": {"json"}, "language": {planted}, "look": {"1"}}.Encode()
	for _, request := range []string{
		"GET /results", "GET /results" + q, "GET /results/x", "GET /results/x/full", "POST /results/x/try", "POST /results/x/rule", "GET /results/rules", "GET /results/rules" + q, "POST /results/rules",
		"POST /results/rules/x/mode", "POST /results/rules/none/mode", "POST /results/rules/x/delete", "GET /results/suggestions", "GET /results/suggestions" + q, "POST /results/suggestions", "GET /results/suggestions/try" + q,
		"GET /prompt", "GET /prompt" + q, "GET /prompt/text?profile=none", "GET /recall" + q, "POST /recall/call",
	} {
		for _, htmx := range []string{"", "true"} {
			method, path, _ := strings.Cut(request, " ")
			r := httptest.NewRequest(method, path, strings.NewReader(form.Encode()))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Header.Set("HX-Request", htmx)
			w := httptest.NewRecorder()
			c.ServeHTTP(w, r)
			checkPlain(t, request, w.Body.String())
		}
	}
}

// sentBack are the places where a text must stay as it is.
var sentBack = regexp.MustCompile(` (?:value|placeholder|href|action|hx-[a-z]+|name|id|form|data-[a-z]+)="[^"]*"|<textarea[^>]*>[^<]*</textarea>|<script src="/-/[a-z.0-9-]+"[^>]*></script>`)

// checkPlain holds that no text has become anything else.
func checkPlain(t *testing.T, where, page string) {
	t.Helper()
	page = sentBack.ReplaceAllString(page, "")
	for _, wrong := range []string{"<script", "</script", "<img", "</pre></textarea>", "onerror=pwned()>", "\u202e", "\u2066", "ZgotmplZ", "internal error", "javascript:"} {
		if at := strings.Index(page, wrong); at >= 0 {
			t.Errorf("%.60s: %q is in the page: …%s…", where, wrong, page[max(0, at-150):min(len(page), at+60)])
			return
		}
	}
}

func FuzzIndented(f *testing.F) {
	f.Add(`{"a":[1,{"b":"x\"y"}],"c":{}}`, 1000)
	f.Add("[[[\"\\", 3)
	f.Fuzz(func(t *testing.T, value string, limit int) {
		limit = min(max(limit, 1), 1<<16)
		out := indented([]byte(value), limit)
		if len(out) > limit+128 {
			t.Errorf("%d bytes of %d", len(out), limit)
		}
		if len(out) < limit && json.Valid([]byte(value)) && !json.Valid(out) {
			t.Errorf("%s becomes %s", value, out)
		}
	})
}
