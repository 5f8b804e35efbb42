package app

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/gateway/call"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/store"
)

const withRecipes = `
store: %q
mcpServers: {s: {url: %q}}
profiles:
  default: {}
  narrow: {tools: {deny: [s__meta]}}
  only: {servers: [recipes]}
  ruled: {servers: [s, recipes]}
policy: [{name: no-meta, tools: [s__meta], profiles: [ruled], then: deny}]
`

// ran stores a run of a script that has called tools as they are now.
func ran(t *testing.T, a *App, id, owner, input string, names ...tool.Name) {
	t.Helper()
	body := call.RunBody{Code: "return await s.meta(input)", Input: json.RawMessage(input), Seed: "x"}
	for _, name := range names {
		def, ok := a.Catalog.Definition(name)
		if !ok {
			t.Fatalf("there is no %s", name)
		}
		body.Log = append(body.Log, call.LoggedCall{Name: "s.x", Tool: name, Hash: tool.Hash(def.Raw), Done: true})
	}
	err := a.Store.SaveScriptRun(t.Context(), store.ScriptRun{
		ID: id, Owner: owner, Profile: "default", Tool: "run_script", Digest: id, State: store.ScriptEnded, At: time.Now(),
		Expires: time.Now().Add(time.Hour), Body: rawjson.Encode(body),
	})
	if err != nil {
		t.Fatal(err)
	}
}

// request sends a request to the REST API as somebody.
func request(t *testing.T, a *App, who access.Principal, method, path, body string) (int, string) {
	t.Helper()
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(t.Context(), method, "/api/v1"+path, strings.NewReader(body))
	a.API(func(*http.Request) (access.Principal, error) { return who, nil }).ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// shows tells whether somebody in a profile sees a tool.
func shows(t *testing.T, a *App, profile, name string) bool {
	t.Helper()
	v, err := a.Catalog.ViewFor(access.Owner(), profile)
	if err != nil {
		t.Fatal(err)
	}
	_, err = v.Find(name)
	return err == nil
}

const totals = `{"run":"c_run","name":"totals","description":"Totals of a day."}`

func TestARunBecomesAToolUntilOneOfItsToolsChanges(t *testing.T) {
	s := newTurningServer(t)
	a, _ := start(t, fmt.Sprintf(withRecipes, filepath.Join(t.TempDir(), "t.db"), s.URL))
	refresh(t, a)
	ran(t, a, "c_run", "agent", `{"day":"monday"}`, "s__meta", "s__same")
	status, answer := request(t, a, access.Owner(), "POST", "/recipes", totals)
	if status != 200 || !strings.Contains(answer, `"version":1`) || !strings.Contains(answer, `"state":"ready"`) ||
		!strings.Contains(answer, `"required":["day"]`) || !strings.Contains(answer, `"by":"local"`) {
		t.Fatalf("%d %s", status, answer)
	}
	for profile, want := range map[string]bool{"default": true, "narrow": false, "only": false, "ruled": false} {
		if shows(t, a, profile, "recipes__totals") != want {
			t.Errorf("%s shows it: %v", profile, !want)
		}
	}
	list := seen(t, a)
	for _, want := range []string{`"name":"recipes__totals"`, `"destructiveHint":true`, `"toolfit/recipe":{`, `{"name":"s__same","hash":"`} {
		if !strings.Contains(list, want) {
			t.Errorf("%s is missing: %s", want, list)
		}
	}
	if _, err := use(t, a, "recipes__totals", `{"day":"monday"}`); err == nil || !strings.Contains(err.Error(), "scripts are not run here") {
		t.Error(err) // it got as far as the engine
	}

	s.version.Store(2)
	refresh(t, a)
	if _, answer := request(t, a, access.Owner(), "GET", "/recipes", ""); !strings.Contains(answer, `"state":"held"`) ||
		!strings.Contains(answer, "s__meta has another definition now") {
		t.Error(answer)
	}
	_, err := use(t, a, "recipes__totals", `{"day":"monday"}`)
	if !fault.Is(err, fault.UnknownTool) || !strings.Contains(fault.As(err).Hint, "uses s__meta, which has changed") || shows(t, a, "default", "recipes__totals") {
		t.Errorf("%v: %s", err, fault.As(err).Hint)
	}
	if status, answer := request(t, a, access.Owner(), "POST", "/recipes", totals); status != 409 || !strings.Contains(answer, "since that run, s__meta") {
		t.Errorf("%d %s", status, answer)
	}
	if status, answer := request(t, a, access.Owner(), "POST", "/recipes/totals/approve", ""); status != 200 ||
		!strings.Contains(answer, `"version":2`) || !strings.Contains(answer, `"state":"ready"`) || !shows(t, a, "default", "recipes__totals") {
		t.Errorf("%d %s", status, answer)
	}
	if status, answer := request(t, a, access.Owner(), "DELETE", "/recipes/totals", ""); status != 200 || shows(t, a, "default", "recipes__totals") {
		t.Errorf("%d %s", status, answer)
	}
	if _, there := a.Config().ServerNamed(catalog.Recipes); there {
		t.Error("the server is there without a recipe")
	}
	found, err := a.Store.AuditRecords(t.Context(), store.AuditFilter{})
	if err != nil {
		t.Fatal(err)
	}
	var actions []string
	for _, r := range found {
		if r.Subject == "totals" {
			actions = append(actions, r.Action)
		}
	}
	if got := strings.Join(actions, " "); got != "recipe.delete recipe.save recipe.save" {
		t.Error(got)
	}
}

func TestOnlyPeopleSaveRecipes(t *testing.T) {
	s := newTurningServer(t)
	a, _ := start(t, fmt.Sprintf(withRecipes, filepath.Join(t.TempDir(), "t.db"), s.URL))
	refresh(t, a)
	ran(t, a, "c_run", "k1", "", "s__same")
	key := access.Principal{ID: "k1", Name: "ci", Kind: access.KindKey, Role: access.Admin, Profile: access.AnyProfile}
	as := func(change func(*access.Principal)) access.Principal {
		p := key
		change(&p)
		return p
	}
	refused := map[string]access.Principal{
		"whoever is here without a secret":    access.Local(),
		"the key that made the run":           key,
		"a person's token, which agents have": as(func(p *access.Principal) { p.ID, p.Kind = "u_1", access.KindUser }),
		"a program's token":                   as(func(p *access.Principal) { p.ID, p.Kind = "p_1", access.KindService }),
		"a viewer":                            as(func(p *access.Principal) { p.ID, p.Role = "k2", access.Viewer }),
		"an administrator of other profiles":  as(func(p *access.Principal) { p.ID, p.Profile = "k3", "narrow" }),
	}
	for who, p := range refused {
		if status, answer := request(t, a, p, "POST", "/recipes", totals); status != http.StatusForbidden {
			t.Errorf("%s: %d %s", who, status, answer)
		}
	}
	other := as(func(p *access.Principal) { p.ID = "k4" })
	if status, answer := request(t, a, other, "POST", "/recipes", totals); status != 200 {
		t.Fatalf("%d %s", status, answer)
	}
	for _, who := range []string{"a person's token, which agents have", "a program's token", "a viewer", "whoever is here without a secret"} {
		for path, method := range map[string]string{"/recipes/totals/approve": "POST", "/recipes/totals": "DELETE"} {
			if status, answer := request(t, a, refused[who], method, path, ""); status != http.StatusForbidden {
				t.Errorf("%s: %d %s", who, status, answer)
			}
		}
	}
	if status, _ := request(t, a, access.Local(), "GET", "/recipes", ""); status != http.StatusForbidden {
		t.Error(status)
	}
	if status, answer := request(t, a, refused["a viewer"], "GET", "/recipes/totals", ""); status != 200 || !strings.Contains(answer, "return await") {
		t.Errorf("%d %s", status, answer)
	}
	for body, want := range map[string]int{
		`{"run":"c_none","name":"a","description":"d"}`:                               404,
		`{"run":"c_run","name":"A b","description":"d"}`:                              400,
		`{"run":"c_run","name":"a","description":""}`:                                 400,
		`{"run":"c_run","name":"a","description":"d","input":{"type":"string"}}`:      400,
		`{"run":"c_run","name":"a","description":"d","input":{"type":"object"}}`:      200,
		`{"run":"c_run","name":"a","description":"again","output":{"type":"object"}}`: 200,
	} {
		if status, answer := request(t, a, access.Owner(), "POST", "/recipes", body); status != want {
			t.Errorf("%s: %d %s", body, status, answer)
		}
	}
}

// TestRecipesOutliveTheirGateway: another gateway on the store hears of them, and so does one that is started later.
func TestRecipesOutliveTheirGateway(t *testing.T) {
	s := newTurningServer(t)
	config := fmt.Sprintf(withRecipes, filepath.Join(t.TempDir(), "t.db"), s.URL)
	first, _ := start(t, config)
	refresh(t, first)
	second, _ := start(t, config)
	second.carryOn()
	ran(t, first, "c_run", "agent", "", "s__same")
	if status, answer := request(t, first, access.Owner(), "POST", "/recipes", totals); status != 200 {
		t.Fatalf("%d %s", status, answer)
	}
	for end := time.Now().Add(30 * time.Second); !shows(t, second, "narrow", "recipes__totals"); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the other gateway does not list it")
		}
	}
	third, _ := start(t, config)
	if !shows(t, third, "narrow", "recipes__totals") {
		t.Error("it is gone after a restart")
	}
	if code, err := third.recipe(t.Context(), entryOf(t, third, "recipes__totals")); err != nil || code != "return await s.meta(input)" {
		t.Errorf("%q, %v", code, err)
	}
	if _, err := first.RemoveServer(t.Context(), catalog.Recipes); !fault.Is(err, fault.Conflict) {
		t.Error(err)
	}
}

func entryOf(t *testing.T, a *App, name string) *catalog.Entry {
	t.Helper()
	v, err := a.Catalog.View("default")
	if err != nil {
		t.Fatal(err)
	}
	e, err := v.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return e
}
