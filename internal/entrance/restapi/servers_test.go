package restapi_test

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/program/app"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
)

const addExtra = `{"name":"extra","builtin":"demo-shop"}`

func TestServersAreAddedAndRemoved(t *testing.T) {
	g := newGateway(t)
	cases := []struct {
		name, who, method, path, body string
		status                        int
		has                           string
	}{
		{"a caller adds nothing", "ann", "POST", "/servers", addExtra, 403, `"code":"forbidden"`},
		{"a viewer adds nothing", "eye", "POST", "/servers", addExtra, 403, `"code":"forbidden"`},
		{"no body", "root", "POST", "/servers", "", 400, `"code":"bad_config"`},
		{"no object", "root", "POST", "/servers", "[]", 400, `"code":"bad_config"`},
		{"a wrong key is named", "root", "POST", "/servers", `{"name":"x","comand":"y"}`, 400, `did you mean \"command\"?`},
		{"secrets need a key to encrypt them", "root", "POST", "/servers",
			`{"name":"x","url":"http://127.0.0.1:1","headers":{"A":"Bearer abc"}}`, 400, `TOOLFIT_SECRET_KEY`},
		{"a server of the file", "root", "POST", "/servers", `{"name":"shop","builtin":"demo-shop"}`, 409, `edit the file`},
		{"a new server", "root", "POST", "/servers", addExtra, 201, `"source":"store"`},
		{"a server of the store", "root", "POST", "/servers", addExtra, 409, `delete it first`},
		{"it can be asked for", "root", "GET", "/servers/extra", "", 200, `"kind":"builtin"`},
		{"it is listed", "root", "POST", "/servers/extra/refresh", "", 200, `"state":"up"`},
		{"a viewer sees it", "eye", "GET", "/servers", "", 200, `"id":"extra"`},
		{"a caller of another profile does not", "ann", "GET", "/servers/extra", "", 404, `"code":"not_found"`},
		{"a caller removes nothing", "ann", "DELETE", "/servers/extra", "", 403, `"code":"forbidden"`},
		{"a server of the file is not removed", "root", "DELETE", "/servers/shop", "", 409, `toolfit remove shop`},
		{"a server of the store is", "root", "DELETE", "/servers/extra", "", 200, `"deleted":"extra"`},
		{"once", "root", "DELETE", "/servers/extra", "", 404, `"code":"not_found"`},
		{"it is gone", "root", "GET", "/servers/extra", "", 404, `"code":"not_found"`},
		{"nothing refreshes it", "root", "POST", "/servers/extra/refresh", "", 404, `"code":"not_found"`},
		{"nothing approves it", "root", "POST", "/servers/extra/approve", "", 404, `"code":"not_found"`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			status, body := g.ask(t, c.who, c.method, "/api/v1"+c.path, c.body)
			if status != c.status || !strings.Contains(body, c.has) {
				t.Errorf("HTTP %d, want %d with %s: %.300s", status, c.status, c.has, body)
			}
			checkForm(t, status, body)
		})
	}
}

func TestStoredServersAreChangedAndTheirSecretsStay(t *testing.T) {
	path := filepath.Join(t.TempDir(), "toolfit.yaml")
	key := map[string]string{"TOOLFIT_SECRET_KEY": "a key of more than 16 letters"}
	g := openPlain(t, path, configText, key)
	defer g.close()
	const before = `{"name":"web","url":"http://127.0.0.1:1/mcp","headers":{"Authorization":"Bearer hunter22"},"disabled":true}`
	for _, step := range []struct {
		name, method, path, body string
		status                   int
		has                      string
	}{
		{"it is added", "POST", "/servers", before, 201, `"state":"disabled"`},
		{"its secrets are not shown", "GET", "/servers/web/config", "", 200, `"Authorization":"Bearer •••"`},
		{"what is masked stays", "PUT", "/servers/web", `{"url":"http://127.0.0.1:1/other","headers":{"Authorization":"Bearer •••"},"disabled":true}`, 200, `"id":"web"`},
		{"the new is shown", "GET", "/servers/web/config", "", 200, `127.0.0.1:1/other`},
		{"but not at another host", "PUT", "/servers/web", `{"url":"http://127.0.0.1:2/","headers":{"Authorization":"Bearer •••"}}`, 400, "was for another host"},
		{"a wrong key is named", "PUT", "/servers/web", `{"url":"http://127.0.0.1:1/","comand":"x"}`, 400, `unknown key`},
		{"its name stays", "PUT", "/servers/web", `{"name":"other","url":"http://127.0.0.1:1/x","headers":{"Authorization":"Bearer •••"},"disabled":true}`, 200, `"id":"web"`},
		{"it is switched on", "POST", "/servers/web/enable", "", 200, `"id":"web"`},
		{"and off", "POST", "/servers/web/disable", "", 200, `"state":"disabled"`},
		{"what is off is not restarted", "POST", "/servers/web/restart", "", 409, "server web is disabled"},
		{"nor listed", "POST", "/servers/web/refresh", "", 409, "enable it first"},
		{"one of the file is not changed", "PUT", "/servers/shop", `{"builtin":"demo-shop"}`, 409, "edit the file"},
		{"nor switched off", "POST", "/servers/shop/disable", "", 409, "edit the file"},
		{"one that is not there", "PUT", "/servers/none", `{"builtin":"demo-shop"}`, 404, "there is no server"},
		{"nor restarted", "POST", "/servers/none/restart", "", 404, "there is no server"},
		{"any can be restarted", "POST", "/servers/shop/restart", "", 200, `"id":"shop"`},
	} {
		status, body := g.ask(step.method, step.path, step.body)
		if status != step.status || !strings.Contains(body, step.has) || strings.Contains(body, "hunter22") {
			t.Errorf("%s: HTTP %d, want %d with %s: %.400s", step.name, status, step.status, step.has, body)
		}
	}
	rows, err := g.Store.ServerConfigs(t.Context())
	if err != nil || len(rows) != 1 || !strings.Contains(string(rows[0].Config), "Bearer hunter22") {
		t.Errorf("the secret is gone: %v, %s", err, rows[0].Config)
	}
	status, body := g.ask("GET", "/audit?limit=50", "")
	if status != 200 || strings.Count(body, `"server.save"`) < 4 || strings.Contains(body, "hunter22") {
		t.Errorf("the audit log: HTTP %d, %.600s", status, body)
	}
}

func TestConfigurationsAreForThoseWhoReadEverything(t *testing.T) {
	g := newGateway(t)
	for who, want := range map[string]int{"ann": 403, "eye": 200, "root": 200} {
		if status, body := g.ask(t, who, "GET", "/api/v1/servers/shop/config", ""); status != want {
			t.Errorf("%s: HTTP %d, want %d: %s", who, status, want, body)
		}
		for _, path := range []string{"restart", "disable", "enable"} {
			if status, _ := g.ask(t, who, "POST", "/api/v1/servers/shop/"+path, ""); (status == 403) != (who != "root") {
				t.Errorf("%s of %s: HTTP %d", path, who, status)
			}
		}
	}
}

func TestCallerSeesOnlyWhatConcernsItsUse(t *testing.T) {
	g := newGateway(t)
	g.ask(t, "root", "GET", "/api/v1/tools", "") // waits for the first lists
	_, body := g.ask(t, "ann", "GET", "/api/v1/servers", "")
	var answer struct{ Servers []restapi.Server }
	if err := json.Unmarshal([]byte(body), &answer); err != nil || len(answer.Servers) != 1 || answer.Servers[0].ID != "shop" {
		t.Fatalf("%v: %s", err, body)
	}
	_, body = g.ask(t, "ann", "GET", "/api/v1/tools", "")
	var tools struct{ Tools []restapi.Tool }
	if err := json.Unmarshal([]byte(body), &tools); err != nil || len(tools.Tools) != answer.Servers[0].Tools+1 { // and fetch_result
		t.Errorf("%v: %d tools are listed and %d counted", err, len(tools.Tools), answer.Servers[0].Tools)
	}
}

// plainGateway is one without keys, whose callers are local.
type plainGateway struct {
	*app.App
	t    *testing.T
	path string
	log  *lines
}

// lines is a log.
type lines struct {
	mu sync.Mutex
	strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Builder.Write(p)
}

func (l *lines) has(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(l.String(), text)
}

var secret = access.NewLocalSecret()

func openPlain(t *testing.T, path, text string, env map[string]string) *plainGateway {
	t.Helper()
	lookup := func(name string) (string, bool) { v, ok := env[name]; return v, ok }
	cfg, err := config.Parse(path, []byte(text), lookup)
	if err != nil {
		t.Fatal(err)
	}
	log := &lines{}
	a, err := app.New(t.Context(), cfg, &app.Options{LocalSecret: secret, Env: lookup, Logger: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	return &plainGateway{a, t, path, log}
}

func (g *plainGateway) close() {
	g.t.Helper()
	if err := g.Close(); err != nil {
		g.t.Error(err)
	}
}

func (g *plainGateway) ask(method, path, body string) (int, string) {
	r := httptest.NewRequest(method, "/api/v1"+path, strings.NewReader(body))
	r.Host, r.RemoteAddr = "localhost", "127.0.0.1:5"
	r.Header.Set("Authorization", "Bearer "+string(secret))
	w := httptest.NewRecorder()
	g.Handler().ServeHTTP(w, r)
	data, _ := io.ReadAll(w.Body) // a recorder's body can always be read
	return w.Code, string(data)
}

func (g *plainGateway) want(method, path, body string, status int, has string) {
	g.t.Helper()
	if got, answer := g.ask(method, path, body); got != status || !strings.Contains(answer, has) {
		g.t.Errorf("%s %s: HTTP %d, want %d with %s: %.400s", method, path, got, status, has, answer)
	}
}

const (
	noServers = "store: t.db\n"
	withExtra = "store: t.db\nmcpServers: {extra: {builtin: demo-cloud}}\n"
)

func TestStoredServersOutliveTheProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "toolfit.yaml")
	g := openPlain(t, path, noServers, nil)
	g.want("POST", "/servers", addExtra, 201, `"source":"store"`)
	g.close()

	g = openPlain(t, path, noServers, nil)
	g.want("GET", "/servers", "", 200, `"id":"extra","source":"store"`)
	g.want("GET", "/tools?q=list_orders", "", 200, `extra__list_orders`)
	g.close()
}

func TestFileWinsOverTheStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "toolfit.yaml")
	g := openPlain(t, path, noServers, nil)
	defer g.close()
	g.want("POST", "/servers", addExtra, 201, `"source":"store"`)
	reload := func(text string) {
		t.Helper()
		cfg, err := config.Parse(path, []byte(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		g.Reload(cfg)
	}
	reload(withExtra)
	g.want("GET", "/servers/extra", "", 200, `"source":"file"`)
	g.want("GET", "/servers/extra", "", 200, `"warning":"the store has a server of this name too; the file wins"`)
	g.want("POST", "/servers/extra/refresh", "", 200, `"state":"up"`)
	g.want("GET", "/tools?q=envQuery", "", 200, `extra__envQuery`)
	if !g.log.has("the file wins") {
		t.Error("the log does not say so")
	}
	reload(noServers)
	g.want("GET", "/servers/extra", "", 200, `"source":"store"`)
	reload(withExtra)
	g.want("DELETE", "/servers/extra", "", 200, `"warning":"the file has a server of this name, which stays"`)
	g.want("GET", "/servers/extra", "", 200, `"source":"file"`)
	g.want("DELETE", "/servers/extra", "", 409, `"code":"conflict"`)
	reload(noServers)
	g.want("GET", "/servers", "", 200, `"servers":[]`)
}

func TestReloadKeepsStoredServers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "toolfit.yaml")
	g := openPlain(t, path, noServers, nil)
	defer g.close()
	g.want("POST", "/servers", addExtra, 201, `"source":"store"`)
	cfg, err := config.Parse(path, []byte(noServers+"hosts: [a.example.com]\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if change := g.Reload(cfg); len(change.Removed)+len(change.Added)+len(change.Changed) > 0 {
		t.Errorf("a reload of the file changed servers: %+v", change)
	}
	g.want("GET", "/servers", "", 200, `"id":"extra"`)
}

func TestStoredSecretsAreEncryptedAndRedacted(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "go away, "+r.Header.Get("X-Key"), http.StatusForbidden)
	}))
	defer upstream.Close()
	env := map[string]string{"TOOLFIT_SECRET_KEY": "a key of sixteen or more"}
	path := filepath.Join(t.TempDir(), "toolfit.yaml")
	g := openPlain(t, path, noServers, env)
	g.want("POST", "/servers", `{"name":"web","url":"`+upstream.URL+`","headers":{"X-Key":"hush-hush-42"}}`, 201, `"kind":"http"`)
	if status, body := g.ask("POST", "/servers/web/refresh", ""); status != 502 || strings.Contains(body, "hush-hush-42") {
		t.Errorf("HTTP %d %s", status, body)
	}
	if _, body := g.ask("GET", "/servers", ""); strings.Contains(body, "hush-hush-42") {
		t.Errorf("the list shows the secret: %s", body)
	}
	if g.log.has("hush-hush-42") {
		t.Error("the log shows the secret")
	}
	g.close()

	// With another key the server is shown with the reason, and can be deleted.
	g = openPlain(t, path, noServers, nil)
	g.want("GET", "/servers", "", 200, `"state":"down","reason":"server web is stored encrypted`)
	g.want("POST", "/servers", `{"name":"web","builtin":"demo-shop"}`, 409, `"code":"conflict"`)
	g.want("DELETE", "/servers/web", "", 200, `"deleted":"web"`)
	g.want("GET", "/servers", "", 200, `"servers":[]`)
	g.close()
}
