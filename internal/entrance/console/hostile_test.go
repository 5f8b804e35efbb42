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
	"time"

	"github.com/toolfit/toolfit/internal/base/doctree"
	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/fit"
	"github.com/toolfit/toolfit/internal/core/scan"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/gateway/call"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
	"github.com/toolfit/toolfit/schema"
)

// bad is text that tries to be more than text: script, HTML, a way out of attributes and of
// code, and characters that turn the text around or hide.
const bad = `"'><script>pwned()</script><img src=x onerror=pwned()>` + "`{{.}}</pre></textarea></select>\u202eevil\u2066\u200b\x00\xff"

// badJSON is a JSON text full of it.
var badJSON, _ = json.Marshal(map[string]any{bad: []any{bad, map[string]string{"</pre><script>": bad}}, "type": "object",
	"properties": map[string]any{bad: map[string]any{"type": "string", "description": bad, "enum": []string{bad}}, "j": map[string]any{"description": bad, "default": bad}, "s": map[string]any{"type": "string", "default": bad, "pattern": bad}, "rows": map[string]any{"title": bad, "description": bad, "type": "array", "items": map[string]any{"type": "string", "examples": []string{bad}}},
		"map": map[string]any{"additionalProperties": map[string]any{"type": "string"}}, "parts": map[string]any{"properties": map[string]any{bad: map[string]any{"type": "array", "items": map[string]any{"enum": []string{bad, "x"}}}}},
		"either": map[string]any{"oneOf": []any{map[string]any{"title": bad, "type": "string"}, map[string]any{"type": "boolean"}}}}})

// evil is a gateway all of whose texts are bad.
type evil struct{ evilResults }

func (evil) server() restapi.Server {
	now := time.Now()
	return restapi.Server{
		ID: bad, Source: "store", Kind: bad, State: "down", Reason: bad, Warning: bad, Info: badJSON, Held: []string{bad}, Era: "legacy",
		ListedAt: &now, Stderr: []string{bad, bad}, Sandbox: bad, Notes: []string{bad}, Capabilities: badJSON,
	}
}
func (e evil) SeenServers(access.Principal) []restapi.Server { return []restapi.Server{e.server()} }
func (e evil) SeenServer(access.Principal, tool.ServerID) (restapi.Server, error) {
	return e.server(), nil
}

func (evil) ServerSettings(_ access.Principal, id tool.ServerID) (restapi.ServerSettings, error) {
	settings := restapi.ServerSettings{Config: badConfig}
	if id == "filed" {
		settings.File, settings.Problem = bad, bad
		settings.Lines = []doctree.Line{{Number: 7, Text: bad}}
	}
	return settings, nil
}

// badConfig is full of it, too, in the keys of a configuration.
var badConfig, _ = json.Marshal(map[string]any{"command": bad, "args": []string{bad}, "cwd": bad, "base": bad, "env": map[string]string{bad: bad},
	"headers": map[string]string{bad: bad}, bad: badJSON})

func (e evil) ReadPasted(_ access.Principal, text string, _ []string) ([]restapi.PastedServer, []string, error) {
	if text == "wrong" {
		return nil, nil, e.fault()
	}
	s := restapi.PastedServer{Name: bad, Config: badConfig, Shown: badConfig, Notes: []string{bad}, Secrets: []string{bad}}
	other := s
	other.Problem = fault.As(e.fault())
	return []restapi.PastedServer{s, other}, []string{bad}, nil
}

var badFindings = []scan.Finding{{Kind: scan.Hidden, Where: bad, Quote: bad, Message: bad}}

func (evil) HeldOf(access.Principal, tool.ServerID) ([]catalog.Held, error) {
	return []catalog.Held{{Name: bad, Was: badJSON, Now: json.RawMessage(bad), Findings: badFindings}, {Name: bad, Now: badJSON}, {Name: bad, Out: true, Now: badJSON}}, nil
}
func (e evil) AddServer(context.Context, access.Principal, []byte) (restapi.Server, error) {
	return restapi.Server{}, e.fault()
}
func (e evil) RemoveServer(context.Context, access.Principal, tool.ServerID) (string, error) {
	return "", e.fault()
}
func (e evil) ChangeServer(context.Context, access.Principal, tool.ServerID, []byte) (restapi.Server, error) {
	return restapi.Server{}, e.fault()
}
func (e evil) RestartServer(context.Context, access.Principal, tool.ServerID) (restapi.Server, error) {
	return restapi.Server{}, e.fault()
}
func (e evil) EnableServer(context.Context, access.Principal, tool.ServerID) (restapi.Server, error) {
	return restapi.Server{}, e.fault()
}
func (e evil) DisableServer(context.Context, access.Principal, tool.ServerID) (restapi.Server, error) {
	return restapi.Server{}, e.fault()
}
func (e evil) RefreshServer(context.Context, access.Principal, tool.ServerID) (restapi.Server, error) {
	return restapi.Server{}, e.fault()
}
func (e evil) ApproveHeld(context.Context, access.Principal, tool.ServerID, ...string) (int, error) {
	return 0, e.fault()
}
func (e evil) KeepOutHeld(context.Context, access.Principal, tool.ServerID, ...string) (int, error) {
	return 0, e.fault()
}
func (evil) fault() error { return fault.New(fault.NotFound, "%s", bad).WithHint("%s", bad) }

func (evil) PageTools(access.Principal, restapi.ToolQuery) (restapi.ToolPage, error) {
	row := restapi.ToolRow{Name: bad, Own: bad, Server: bad, Description: bad, Marks: []catalog.Mark{"app", bad}, Why: bad, Rule: bad}
	return restapi.ToolPage{
		Groups:  []restapi.ToolGroup{{Server: bad, Rows: []restapi.ToolRow{row}}, {Server: bad}},
		Servers: []tool.ServerID{bad}, Count: map[catalog.Mark]int{"app": 1}, ToolSums: restapi.ToolSums{Total: 1000, Hidden: 1},
	}, nil
}
func (evil) History(context.Context, access.Principal, string, string) (restapi.ToolHistory, error) {
	return restapi.ToolHistory{Versions: []restapi.ToolVersion{
		{Hash: bad, Definition: badJSON, State: "held", By: bad}, {Hash: "h", Definition: json.RawMessage(bad), State: bad, By: bad},
	}}, nil
}
func (evil) ToolNames(access.Principal) ([]restapi.ToolName, error) {
	return []restapi.ToolName{{Name: bad, Description: bad}}, nil
}
func (evil) FindTools(context.Context, access.Principal, string, call.Query) (*call.Found, error) {
	return &call.Found{Tools: []call.FoundTool{{Name: bad, Server: bad, Text: bad}}, Note: bad}, nil
}
func (evil) ShowTool(_ context.Context, _ access.Principal, _, name string) (restapi.OneTool, error) {
	o := &fit.Override{
		Name: bad, Description: new(string), Rename: map[string]string{bad: bad}, Describe: map[string]string{bad: bad}, Hide: []string{bad},
		Fix: map[string]json.RawMessage{bad: badJSON},
	}
	why := catalog.Reason("")
	if name == "away" { // without a form to try it
		why = bad
	}
	return restapi.OneTool{
		Marks: []catalog.Mark{"app", bad}, Why: why, Rule: bad, Override: o, Original: json.RawMessage(bad),
		Tool:        restapi.Tool{Name: bad, Server: bad, Canonical: bad, Description: bad, Definition: badJSON, Result: &call.ResultType{Type: bad, Seen: 3}},
		InputSchema: badJSON, Findings: badFindings,
		Fitted: map[schema.Dialect]schema.Fitted{
			schema.OpenAI: {Name: bad, Dialect: schema.OpenAI, Tool: badJSON, Report: []schema.Change{{Pointer: bad, Kind: bad, Action: bad}}},
			schema.Gemini: {Name: bad, Dialect: schema.Gemini, Error: &schema.Error{Pointer: bad, Message: bad}},
		},
	}, nil
}
func (evil) CurlTool(context.Context, access.Principal, string, json.RawMessage, url.Values) (string, error) {
	return bad, nil
}
func (evil) CallTool(_ context.Context, _ access.Principal, _ string, _ json.RawMessage, _ url.Values, f *restapi.Follower) (restapi.CallAnswer, error) {
	if f != nil {
		f.Began(bad)
		text, _ := json.Marshal(map[string]any{"progress": 1, "total": 3, "message": bad})
		f.Progress(text)
	}
	return restapi.CallAnswer{ID: bad, Result: badJSON, Fitted: &restapi.Fitted{Arguments: badJSON, Repairs: []fit.Repair{{Field: bad, Kind: bad, From: bad, To: bad}}}, Ref: bad, Rule: bad}, nil
}

func (evil) AppOf(access.Principal, string, tool.Name) string { return bad }
func (e evil) ReadApp(context.Context, access.Principal, string, string) (restapi.AppPage, error) {
	return restapi.AppPage{}, e.fault()
}
func (e evil) ReadForApp(context.Context, access.Principal, string, string, string) (json.RawMessage, error) {
	return nil, e.fault()
}
func (evil) CallForApp(context.Context, access.Principal, restapi.AppCall) (json.RawMessage, bool, error) {
	return nil, true, nil
}

func (evil) call() restapi.Call {
	repairs, _ := json.Marshal([]fit.Repair{{Field: bad, Kind: bad, From: bad, To: bad}})
	return restapi.Call{
		ID: bad, Principal: bad, Profile: bad, Session: bad, Agent: bad, Server: bad, Tool: bad, Upstream: bad, Outcome: "error", Code: bad, Message: bad,
		Level: "error", Rule: bad, Ref: bad, Policy: bad, MCPSession: bad, Trace: bad, Repairs: repairs, Arguments: &store.Arguments{Sent: badJSON, Fitted: json.RawMessage(bad)},
	}
}
func (e evil) ListCalls(_ context.Context, _ access.Principal, q url.Values, _ int) (restapi.CallPage, error) {
	one := e.call()
	if q.Has("waiting") {
		one = e.waiting()
	}
	return restapi.CallPage{Calls: []restapi.Call{one}, Next: bad}, nil
}
func (evil) waiting() restapi.Call {
	return restapi.Call{
		ID: bad, Principal: bad, Profile: bad, Server: bad, Tool: bad, Message: bad, Level: "info",
		Waits: restapi.Waits{State: store.InputRequired, For: bad, Questions: []restapi.Question{{Key: bad, Method: bad, Params: badJSON}}},
	}
}
func (e evil) ReadCall(_ context.Context, _ access.Principal, id string) (restapi.Call, error) {
	switch id {
	case "open":
		return e.waiting(), nil
	case "canceled":
		one := e.waiting()
		one.Waits = restapi.Waits{State: bad, Result: badJSON, Failure: fault.As(e.fault())}
		return one, nil
	}
	return e.call(), nil
}
func (e evil) CancelCall(context.Context, access.Principal, string) (restapi.Call, error) {
	return restapi.Call{}, e.fault()
}
func (e evil) WatchCalls(access.Principal, url.Values) (*restapi.CallWatch, error) {
	return nil, e.fault()
}
func (evil) ExportCalls(http.ResponseWriter, *http.Request, access.Principal) {}
func (evil) ReadResult(context.Context, access.Principal, string) (restapi.Result, json.RawMessage, error) {
	return restapi.Result{Arguments: badJSON, Result: json.RawMessage(bad)}, badJSON, nil
}
func (evil) ListKeys(context.Context, access.Principal) ([]restapi.Key, error) {
	return []restapi.Key{{ID: bad, Name: bad, Role: "admin", Profile: bad, Profiles: []string{bad, bad}, Variable: bad}, {ID: "x", Name: bad, Profiles: []string{bad}}}, nil
}
func (evil) CreateKey(context.Context, access.Principal, restapi.KeyConfig) (restapi.NewKey, error) {
	return restapi.NewKey{Key: restapi.Key{Name: bad}, Text: bad, Warning: bad}, nil
}
func (evil) RotateKey(context.Context, access.Principal, string, restapi.KeyRotation) (restapi.NewKey, error) {
	return restapi.NewKey{Key: restapi.Key{Name: bad, OldUntil: time.Now()}, Text: bad}, nil
}
func (e evil) DeleteKey(context.Context, access.Principal, string) (string, error) {
	return "", e.fault()
}
func (evil) ListPeople(context.Context, access.Principal, string) ([]restapi.Person, error) {
	return []restapi.Person{{ID: bad, Name: bad, Kind: bad, Issuer: bad, Subject: bad, Role: "admin", Profile: bad}}, nil
}
func (e evil) DisablePerson(context.Context, access.Principal, string) (restapi.Person, error) {
	return restapi.Person{}, e.fault()
}
func (e evil) EnablePerson(context.Context, access.Principal, string) (restapi.Person, error) {
	return restapi.Person{}, e.fault()
}
func (evil) connection() restapi.Connection {
	return restapi.Connection{Server: bad, As: "user", Owner: bad, Name: bad, Issuer: "https://" + bad, State: "needs_login",
		Reason: bad, Page: bad}
}
func (e evil) ListConnections(context.Context, access.Principal, bool) ([]restapi.Connection, error) {
	own := e.connection()
	own.Owner = "a"
	left := e.connection()
	left.Removed = true
	return []restapi.Connection{e.connection(), own, left}, nil
}
func (e evil) ReadConnection(context.Context, access.Principal, tool.ServerID) (restapi.Connection, error) {
	return e.connection(), nil
}
func (e evil) EndConnection(context.Context, access.Principal, tool.ServerID, string) error {
	return e.fault()
}
func (evil) SignInAt(context.Context, access.Principal, tool.ServerID) (string, error) {
	return "https://" + url.PathEscape(bad) + "/", nil
}
func (e evil) BeginConnection(context.Context, access.Principal, tool.ServerID) (string, error) {
	return "", e.fault()
}
func (e evil) FinishConnection(context.Context, access.Principal, tool.ServerID, url.Values) error {
	return e.fault()
}
func (e evil) KeepToken(context.Context, access.Principal, tool.ServerID, string) error {
	return e.fault()
}
func (e evil) ListValues(context.Context, access.Principal) ([]restapi.Value, error) {
	return []restapi.Value{{Name: bad, Servers: []tool.ServerID{bad}}, {Name: bad, Servers: []tool.ServerID{bad}, Given: true}}, nil
}
func (e evil) SetValue(context.Context, access.Principal, string, string) error { return e.fault() }
func (e evil) RemoveValue(context.Context, access.Principal, string) error      { return e.fault() }

func (evil) ListAudit(context.Context, access.Principal, url.Values) (restapi.AuditPage, error) {
	text, err := json.Marshal(bad)
	r := store.AuditRecord{Actor: store.Actor{Kind: bad, ID: bad, Name: bad + bad}, Action: bad, Subject: bad, Before: text, After: []byte(bad)}
	return restapi.AuditPage{Records: []store.AuditRecord{r}, Next: bad}, err
}

func (evil) ListPolicy(context.Context, access.Principal) (restapi.PolicyList, error) {
	some := []string{bad, bad}
	return restapi.PolicyList{ByDefault: 3, Rules: []restapi.PolicyRule{
		{Name: bad, Says: bad, Watch: true, Profiles: some, Tools: some, When: bad, Say: bad, Hits: 7, Days: make([]int64, 7)},
		{Name: bad, Says: "deny", Days: make([]int64, 7)},
	}}, nil
}
func (e evil) ExplainPolicy(_ context.Context, _ access.Principal, q restapi.PolicyQuestion) (restapi.PolicyAnswer, error) {
	if q.Profile == "wrong" {
		return restapi.PolicyAnswer{}, e.fault()
	}
	return restapi.PolicyAnswer{
		Tool: bad, Profile: bad, Verdict: bad, Rule: bad, Told: bad, Note: bad, Fitted: &restapi.Fitted{Arguments: badJSON},
		Rules: []restapi.RuleOutcome{{Name: bad, Says: bad, Watch: true, Outcome: bad, Error: bad}},
	}, nil
}

func (evil) DoorFor(access.Principal) restapi.Door {
	return restapi.Door{URL: "https://h/" + bad, Profiles: []string{bad, "b"}, Keys: true, SignIn: true}
}
func (evil) SeenClients(access.Principal) restapi.ClientList {
	one := restapi.SeenClient{Name: bad, Version: bad, Era: "modern", Profile: bad, Caller: bad, Who: bad, Calls: 2}
	return restapi.ClientList{Clients: []restapi.SeenClient{one}, Replica: bad}
}
func (evil) FoundServers(access.Principal) []restapi.FoundServer {
	s := config.Server{ID: bad, Command: bad, Args: []string{bad}, Env: map[string]string{bad: bad}}
	return []restapi.FoundServer{{Client: "Cursor", Path: bad, Config: s}}
}
func (e evil) ImportFound(context.Context, access.Principal, []string) error {
	return e.fault()
}
func (evil) DemoServers(access.Principal) []tool.ServerID         { return []tool.ServerID{bad} }
func (e evil) AddDemo(context.Context, access.Principal) error    { return e.fault() }
func (e evil) RemoveDemo(context.Context, access.Principal) error { return e.fault() }

// emptyEvil is a gateway without servers, on a machine whose clients have bad ones.
type emptyEvil struct{ evil }

func (emptyEvil) SeenServers(access.Principal) []restapi.Server { return nil }

func newEvil() *Console {
	return New(Parts{
		Results:  evilResults{},
		Models:   func(access.Principal) []string { return []string{bad} },
		Activity: evilOverview{}, Decisions: evilOverview{}, Runs: evilOverview{}, Rules: evil{}, Servers: evil{}, ServerChanges: evil{}, Approvals: evil{}, Tools: evil{}, ToolNames: evil{}, ToolCaller: evil{}, Apps: evil{}, AppRequests: evil{}, Calls: evil{}, CallFeed: evil{}, CallChanges: evil{}, Keys: evil{}, KeyChanges: evil{}, Policy: evil{}, People: evil{}, Audit: evil{}, Connections: evil{}, SignIns: evil{}, Values: evil{}, Clients: evil{}, FirstRun: evil{},
		Profiles: func() []string { return []string{bad} },
		Check:    func(*http.Request) error { return nil },
		Admit: func(*http.Request) (access.Principal, error) {
			return access.Principal{ID: "a", Name: bad, Role: access.Admin, Profile: access.AnyProfile}, nil
		},
		Address: func(r *http.Request) (string, string) { return "http", r.Host },
	})
}

func TestNothingThatStrangersWroteIsMoreThanText(t *testing.T) {
	c := newEvil()
	q := "?" + url.Values{"server": {bad}, "tool": {bad}, "agent": {bad}, "session": {bad}, "outcome": {"ok"}, "policy": {bad}, "code": {bad}, "mcp_session": {bad}, "trace": {bad}, "cursor": {bad}, "q": {bad}, "profile": {bad}, "said": {bad}, "text": {bad}}.Encode()
	posted := url.Values{"json": {bad}, "a:s": {bad}, "r:rows": {"0"}, "a:rows/0": {bad}, "r:map": {"0", "1"}, "k:map/0": {bad}, "a:map/0": {bad}, "v:either": {"0"}, "a:either": {bad}, "j:parts": {"1"}, "a:parts": {bad}, "a:j": {bad}, "a:" + bad: {bad}, "profile": {bad}, "view": {bad}, "tool": {bad}, "held": {bad}, "name": {bad}, "kind": {bad}, "text": {bad}, "command": {bad}, "use": {"0"}, "name.0": {bad}, "who": {bad}, "groups": {bad}, "arguments": {bad}, "back": {bad}, "key": {bad}}
	for _, lang := range []string{"en", "zh"} {
		for _, request := range []string{
			"GET /", "GET /?range=7d&by=outcome&sort=time", "GET /?range=" + url.QueryEscape(bad), "GET /overview/live", "GET /servers", "GET /servers/live", "GET /servers/x", "GET /servers/filed", "GET /servers/x/live", "GET /servers/x/edit", "GET /servers/add" + q, "GET /servers/add/form", "GET /servers?added=" + url.QueryEscape(bad), "GET /tools", "GET /tools" + q, "GET /tools/x", "GET /tools/x?for=gemini", "GET /tools/away", "GET /tools/x/versions/h", "GET /tools?rows=1&is=app", "GET /tools/x" + q,
			"GET /tools/x?from=x", "POST /tools/x/try", "POST /tools/x/lines", "GET /calls", "GET /calls" + q, "GET /calls/rows", "GET /calls/x", "GET /calls/waiting", "GET /calls/open", "GET /calls/timeline", "GET /calls/timeline" + q, "GET /calls/compare?a=x&b=y", "GET /calls/compare?id=x", "GET /calls?" + url.Values{"slower": {bad}, "since": {bad}}.Encode(), "GET /calls/open/now", "GET /calls/canceled", "POST /calls/x/cancel", "GET /keys", "GET /keys?rotate=x", "POST /keys", "POST /keys/x/rotate", "POST /keys/x/delete",
			"POST /servers", "POST /servers/add", "POST /servers/add/form", "POST /servers/x/edit", "POST /servers/x/restart", "POST /servers/x/disable", "POST /servers/x/enable", "POST /servers/x/refresh", "POST /servers/x/remove", "POST /servers/x/approve", "GET /none/" + url.PathEscape(bad),
			"GET /connections", "GET /connections?all=true", "POST /connections/x/end", "GET /connect/x", "GET /connect/x/begin", "GET /connect/x/callback" + q, "POST /connect/x/token",
			"GET /audit", "GET /audit?" + url.Values{"actor": {bad}, "what": {bad}}.Encode(),
			"GET /policy", "POST /policy/explain", "GET /find", "GET /find" + q, "GET /find?q=script", "GET /help/" + url.PathEscape(bad),
			"POST /values/x", "POST /values/x/remove",
			"GET /clients", "GET /clients" + q, "GET /clients?by=key&client=zed", "GET /clients/live" + q, "POST /clients/key", "GET /first/live", "POST /first/import", "POST /first/demo", "POST /first/demo/remove",
		} {
			for _, htmx := range []string{"", "true"} {
				method, path, _ := strings.Cut(request, " ")
				r := httptest.NewRequest(method, path, strings.NewReader(posted.Encode()))
				r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
				r.Header.Set("Accept-Language", lang)
				r.Header.Set("HX-Request", htmx)
				w := httptest.NewRecorder()
				c.ServeHTTP(w, r)
				checkTame(t, request+" "+lang, w.Body.String())
			}
		}
	}
	c.Servers = emptyEvil{}
	for _, lang := range []string{"en", "zh"} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("Accept-Language", lang)
		w := httptest.NewRecorder()
		c.ServeHTTP(w, r)
		checkTame(t, "the first run "+lang, w.Body.String())
	}
	var b strings.Builder
	if err := c.pages["en-US"]["calls"]().ExecuteTemplate(&b, "new", newRows{Calls: []restapi.Call{evil{}.call()}, Gap: true}); err != nil {
		t.Fatal(err)
	}
	checkTame(t, "live rows", b.String())
}

// kept are the places where a text must stay as it is, since it is sent back: attributes that
// are not shown, and inputs.
var kept = regexp.MustCompile(` (?:value|placeholder|href|action|hx-[a-z]+|ws-connect|name|id|data-src|data-arguments|data-result)="[^"]*"|<textarea[^>]*>[^<]*</textarea>`)

// checkTame holds that no text has become anything else.
func checkTame(t *testing.T, where, page string) {
	t.Helper()
	ours := strings.NewReplacer(`<script src="/-/`, "", "</script>\n", "").Replace(page)
	ours = kept.ReplaceAllString(ours, "")
	for _, wrong := range []string{"<script", "</script", "<img", "</pre></textarea>", "onerror=pwned()>", "\u202e", "\u2066", "ZgotmplZ", "internal error", "javascript:"} {
		if strings.Contains(ours, wrong) {
			at := strings.Index(ours, wrong)
			t.Errorf("%.60s: %q is in the page: …%s…", where, wrong, ours[max(0, at-120):min(len(ours), at+60)])
			return
		}
	}
}
