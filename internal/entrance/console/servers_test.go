package console_test

import (
	"encoding/json"
	"html"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/state/config"
)

func TestServersPageSaysWhichVariableAServerLacks(t *testing.T) {
	w := newWorld(t, "mcpServers:\n  shop: {builtin: demo-shop}\n  web: {url: \"${CONSOLE_TEST_NOT_SET}\"}\n")
	for path, want := range map[string]string{
		"/servers": "server web is out of service: mcpServers.web.url: environment variable CONSOLE_TEST_NOT_SET is not set",
		"/tools":   "list_orders",
	} {
		resp, err := http.Get(w.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		page, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || !strings.Contains(string(page), want) {
			t.Errorf("%s: %v, does not say %q", path, err, want)
		}
	}
}

func TestALinkOnlyFillsTheBox(t *testing.T) {
	w := newWorld(t, demoConfig)
	p := w.person()
	status, page := p.ask("GET", "/servers/add?text="+url.QueryEscape(`{"mcpServers":{"evil":{"builtin":"demo-shop"}}}`), nil)
	if status != 200 || !strings.Contains(page, "&#34;evil&#34;") || strings.Contains(page, `name="use"`) {
		t.Errorf("HTTP %d, the text is not in the box alone", status)
	}
	if n := len(w.app.Servers()); n != 4 {
		t.Errorf("%d servers", n)
	}
}

func TestAPastedServerThatIsOffIsSeenToBe(t *testing.T) {
	p := newWorld(t, demoConfig).person()
	text := url.Values{"text": {`{"a":{"command":"no-such-program","disabled":true}}`}, "edit": {"0"}}
	if _, page := p.ask("POST", "/servers/add", text); !strings.Contains(page, "disabled") {
		t.Error("what was understood does not say so")
	}
	if _, page := p.ask("POST", "/servers/add/form", text); !strings.Contains(page, "&#34;disabled&#34;: true") {
		t.Error("the form does not have it")
	}
}

func TestEachFieldWithASecretIsNamedOnce(t *testing.T) {
	p := newWorld(t, demoConfig).person()
	_, page := p.ask("POST", "/servers/add", url.Values{"text": {"https://u:hunter2@127.0.0.1:1/mcp?key=hunter2"}})
	if !strings.Contains(page, "in the environment: <code>url</code></p>") {
		t.Errorf("not once: %.3000s", page)
	}
}

func TestWhatWasPastedIsOnThePageOnceAndCanBeChanged(t *testing.T) {
	p := newWorld(t, demoConfig).person()
	text := "npx -y a-mcp --token=hunter2"
	_, page := p.ask("POST", "/servers/add", url.Values{"text": {text}})
	if n := strings.Count(page, "hunter2"); n != 1 || !strings.Contains(page, `type="hidden" name="text"`) {
		t.Errorf("the page has it %d times", n)
	}
	_, page = p.ask("POST", "/servers/add", url.Values{"text": {text}, "name.0": {"a"}, "again": {""}})
	if !strings.Contains(page, text+"</textarea>") || strings.Contains(page, `name="name.0"`) {
		t.Errorf("it cannot be changed: %.3000s", page)
	}
}

func TestACommandThatIsNotThereIsToldBeforeItIsAdded(t *testing.T) {
	p := newPlainWorld(t).person()
	_, page := p.ask("POST", "/servers/add", url.Values{"text": {"no-such-program-here --x\ngo version"}})
	if !strings.Contains(page, "command &#34;no-such-program-here&#34; does not exist (install it,") || strings.Contains(page, "&#34;go&#34; does not exist") {
		t.Errorf("%s", page)
	}
}

func TestTheFormSaysWhoSignsInToAServer(t *testing.T) {
	t.Setenv("TOOLFIT_SECRET_KEY", "a key of more than 16 letters")
	p := newPlainWorld(t).person()
	form := url.Values{"name": {"web"}, "kind": {"url"}, "url": {"http://127.0.0.1:1/mcp"}, "oauth": {"user"}}
	if _, page := p.ask("POST", "/servers/add/form", form); !strings.Contains(page, "{&#34;as&#34;:&#34;user&#34;}") {
		t.Fatalf("%s", page)
	}
	if _, page := p.ask("GET", "/servers/web/edit", nil); !strings.Contains(page, `value="user" selected`) || strings.Contains(page, "&#34;as&#34;") {
		t.Errorf("%s", page)
	}
	form["oauth"], form["more"] = []string{"other"}, []string{`{"oauth":{"as":"user","scopes":["a"]}}`}
	p.ask("POST", "/servers/web/edit", form)
	_, page := p.ask("GET", "/servers/web/edit", nil)
	if !strings.Contains(page, `<option value="other">`) || !strings.Contains(page, "&#34;scopes&#34;") {
		t.Errorf("%s", page)
	}
	p.ask("POST", "/servers/web/edit", url.Values{"kind": {"url"}, "url": {"http://127.0.0.1:1/mcp"}})
	if _, page := p.ask("GET", "/servers/web", nil); strings.Contains(page, "oauth") {
		t.Errorf("%s", page)
	}
}

func TestOfWhatWasPastedAllIsAddedOrNothing(t *testing.T) {
	w := newWorld(t, demoConfig)
	p := w.person()
	text := `{"mcpServers":{"a":{"builtin":"demo-shop"},"shop":{"builtin":"demo-shop"},"b":{"builtin":"demo-cloud"}}}`
	for _, c := range []struct {
		name       string
		use, names []string
		want       string
		servers    int
	}{
		{"one has a name that is taken", []string{"0", "1"}, []string{"a", "shop", "b"}, "has a server shop already", 4},
		{"two get the same name", []string{"0", "2"}, []string{"a", "x", "a"}, "two of the servers are named a", 4},
		{"a page has the name", []string{"0"}, []string{"add", "shop", "b"}, "a page of the console has the name add", 4},
		{"nothing is selected", nil, []string{"a", "shop", "b"}, "nothing is selected", 4},
		{"two of three, one by another name", []string{"1", "2"}, []string{"a", "second shop", "b"}, "may not contain", 4},
		{"a good one", []string{"1", "2"}, []string{"a", "shop2", "b"}, "Added:", 6},
	} {
		form := url.Values{"text": {text}, "use": c.use}
		for i, name := range c.names {
			form.Set("name."+strconv.Itoa(i), name)
		}
		_, page := p.ask("POST", "/servers", form)
		if n := len(w.app.Servers()); n != c.servers || !strings.Contains(page, c.want) {
			t.Errorf("%s: %d servers, want %d, and the page says %q: %v", c.name, n, c.servers, c.want, strings.Contains(page, c.want))
		}
	}
}

// TestSecretsOfServersStayInTheGateway looks for one on every page and part of a page about its server.
func TestSecretsOfServersStayInTheGateway(t *testing.T) {
	const secret, argument = "hunter2-hunter2", "correct-horse-battery"
	t.Setenv("TOOLFIT_SECRET_KEY", "a key of more than 16 letters")
	w := newWorld(t, demoConfig)
	id, err := w.app.AddServer(t.Context(), []byte(`{"name":"web","url":"http://127.0.0.1:1/mcp?key=`+secret+`","headers":{"Authorization":"Bearer `+secret+`"}}`))
	if err != nil {
		t.Fatal(err)
	}
	w.app.Catalog.ServerReady(t.Context(), id)
	p := w.person()
	if id, err = w.app.AddServer(t.Context(), []byte(`{"name":"sh","command":"sh","args":["-c","echo $1 >&2","sh","--token=`+argument+`"]}`)); err != nil {
		t.Fatal(err)
	}
	w.app.Catalog.ServerReady(t.Context(), id)
	for _, path := range []string{"/servers", "/servers/web", "/servers/web/live", "/servers/web/edit", "/servers/sh", "/servers/sh/edit", "/audit"} {
		status, page := p.ask("GET", path, nil)
		if status != 200 || strings.Contains(page, secret) || strings.Contains(page, argument) {
			t.Errorf("%s: HTTP %d, and secrets: %v, %v", path, status, strings.Contains(page, secret), strings.Contains(page, argument))
		}
	}
	_, page := p.ask("POST", "/servers/web/edit", url.Values{"kind": {"url"}, "url": {"http://127.0.0.1:1/mcp?key=•••"}, "headers": {"Authorization: Bearer •••"}, "more": {`{"timeout":"2m"}`}})
	if !strings.Contains(page, "Saved.") || !strings.Contains(page, "Authorization: Bearer •••") || !strings.Contains(page, "timeout") || strings.Contains(page, secret) {
		t.Errorf("not saved with what it had: %.3000s", page)
	}
	rows, err := w.app.Store.ServerConfigs(t.Context())
	if err != nil || len(rows) != 2 || strings.Count(string(rows[1].Config), secret) != 2 {
		t.Errorf("the secrets are lost: %v", err)
	}
	_, page = p.ask("POST", "/servers/web/edit", url.Values{"kind": {"url"}, "url": {"http://127.0.0.2:1/mcp"}, "headers": {"Authorization: Bearer •••"}})
	if !strings.Contains(page, "was for another host") || !strings.Contains(page, "Bearer •••</textarea>") {
		t.Errorf("it goes to another host: %.300s", page)
	}
}

func TestAServersPageSaysOneThing(t *testing.T) {
	w := newWorld(t, demoConfig)
	p := w.person()
	for name, c := range map[string]struct{ method, path, want string }{
		"a broken one":        {"GET", "/servers/lost", "It does not work."},
		"refreshed":           {"POST", "/servers/shop/refresh", "Refreshed. It works."},
		"refreshed in vain":   {"POST", "/servers/gone/refresh", "It does not work."},
		"just added":          {"GET", "/servers/lost?did=added", "Added. <b>It does not work.</b>"},
		"something else done": {"GET", "/servers/lost?did=%3Cb%3E", "<b>It does not work.</b>"},
	} {
		var form url.Values
		if c.method == "POST" {
			form = url.Values{}
		}
		_, page := p.ask(c.method, c.path, form)
		seen := strings.Join(strings.Fields(page), " ")
		if n := len(regexp.MustCompile(`class="notice (good|bad|calm)"`).FindAllString(seen, -1)); n != 1 || !strings.Contains(seen, c.want) {
			t.Errorf("%s: %d messages, and %q: %v", name, n, c.want, strings.Contains(seen, c.want))
		}
	}
}

func TestAServerOfTheFileShowsItsLines(t *testing.T) {
	w := newWorld(t, demoConfig)
	p := w.person()
	if _, page := p.ask("GET", "/servers/shop", nil); !strings.Contains(page, "The file cannot be shown") {
		t.Error("without a file it does not say so")
	}
	text := "store: t.db\nmcpServers:\n  shop:\n    builtin: demo-shop\n"
	if err := os.WriteFile(w.cfg.Path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	_, page := p.ask("GET", "/servers/shop", nil)
	for _, want := range []string{"<i>3</i>shop:", "<i>4</i>  builtin: demo-shop", "toolfit remove shop", "disabled: true"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(page, "/servers/shop/edit") || strings.Contains(page, "/servers/shop/disable") {
		t.Error("a server of the file can be edited")
	}
	if status, page := p.ask("GET", "/servers/shop/edit", nil); status != 200 || !strings.Contains(page, "<i>3</i>shop:") {
		t.Errorf("HTTP %d, its form does not lead to its lines", status)
	}
}

func TestAPastedDescriptionBecomesTools(t *testing.T) {
	p := newWorld(t, demoConfig).person()
	text := `{"openapi":"3.1.0","info":{"title":"Pet Store","version":"7"},"servers":[{"url":"http://127.0.0.1:1"}],
		"paths":{"/pets":{"get":{"operationId":"listPets","responses":{"200":{"description":"ok"}}}}}}`
	if _, page := p.ask("POST", "/servers/add", url.Values{"text": {text}}); !strings.Contains(page, "The description that you pasted") {
		t.Errorf("it is not understood: %.300s", page)
	}
	p.ask("POST", "/servers", url.Values{"text": {text}, "name.0": {"pets"}, "use": {"0"}})
	p.app.Catalog.ServerReady(t.Context(), "pets")
	_, page := p.ask("GET", "/servers/pets?did=added", nil)
	if !strings.Contains(page, "It works. Tools: 1.") || !strings.Contains(page, "Pet Store 7") {
		t.Errorf("it has no tools: %.3000s", page)
	}
	if _, page = p.ask("GET", "/servers/pets/edit", nil); !strings.Contains(page, `value="data:;base64,•••"`) {
		t.Error("its form has the whole description")
	}
	if _, page = p.ask("POST", "/servers/pets/edit", url.Values{"kind": {"openapi"}, "spec": {"data:;base64,•••"}, "more": {`{"timeout":"2m"}`}}); !strings.Contains(page, "Saved.") {
		t.Errorf("not saved: %.300s", page)
	}
}

func TestTheFormOfAServerChangesNothingByItself(t *testing.T) {
	w := newWorld(t, demoConfig)
	p := w.person()
	const config = `{"name":"a","args":["-c","echo $A\n\\ exit '1' \"2\"",""],"command":"sh","cwd":"/tmp","env":{"A":"${HOME}=y"},"idle":"2m"}`
	if _, err := w.app.AddServer(t.Context(), []byte(config)); err != nil {
		t.Fatal(err)
	}
	_, page := p.ask("GET", "/servers/a/edit", nil)
	form := url.Values{"kind": {"command"}, "cwd": {"/tmp"}}
	for _, m := range regexp.MustCompile(`(?s)<textarea name="(\w+)"[^>]*>(.*?)</textarea>`).FindAllStringSubmatch(page, -1) {
		form.Set(m[1], strings.ReplaceAll(html.UnescapeString(m[2]), "\n", "\r\n")) // as browsers send it
	}
	if _, page := p.ask("POST", "/servers/a/edit", form); !strings.Contains(page, "Saved.") {
		t.Fatalf("not saved: %.3000s", page)
	}
	rows, err := w.app.Store.ServerConfigs(t.Context())
	if err != nil || len(rows) != 1 || string(rows[0].Config) != config {
		t.Errorf("%v\n got %s\nwant %s", err, rows[0].Config, config)
	}
}

func TestThePageOfAServerStaysSmall(t *testing.T) {
	w := newWorld(t, demoConfig)
	p := w.person()
	add := func(name string, settings any) {
		text, err := json.Marshal(settings)
		if err != nil {
			t.Fatal(err)
		}
		id, err := w.app.AddServer(t.Context(), []byte(`{"name":"`+name+`",`+string(text[1:])))
		if err != nil {
			t.Fatal(err)
		}
		w.app.Catalog.ServerReady(t.Context(), id)
	}
	api := func(operations, words int) string {
		paths := map[string]any{}
		for i := range operations {
			paths["/p"+strconv.Itoa(i)] = map[string]any{"get": map[string]any{"operationId": "p" + strconv.Itoa(i), "description": strings.Repeat("\n\"word\"", words)}}
		}
		document, err := json.Marshal(map[string]any{"openapi": "3.1.0", "servers": []any{map[string]any{"url": "http://127.0.0.1:1"}}, "paths": paths})
		if err != nil {
			t.Fatal(err)
		}
		return config.InlineSpec(document)
	}
	add("noisy", map[string]any{"command": "sh", "args": []string{"-c", "i=0; while [ $i -lt 200 ]; do printf '%01900d<<<\n' $i >&2; i=$((i+1)); done; echo last >&2"}})
	add("many?", map[string]any{"spec": api(600, 10), "approve": "all"})
	add("long", map[string]any{"spec": api(2, 20_000), "approve": "all"})
	for name, want := range map[string][]string{
		"noisy":   {"last\n</span>"},
		"many%3F": {"<small>600</small>", "more are shown once these are decided", `action="/servers/many%3F/approve"`},
		"long":    {"<small>2</small>", "1 more are shown", "more lines are not shown"},
	} {
		_, page := p.ask("GET", "/servers/"+name, nil)
		if len(page) > 150_000 {
			t.Errorf("%s: %d bytes", name, len(page))
		}
		for _, text := range want {
			if !strings.Contains(page, text) {
				t.Errorf("%s: %q is not there", name, text)
			}
		}
	}
	if _, page := p.ask("POST", "/servers/many%3F/approve", url.Values{}); !strings.Contains(page, "select at least one") || !strings.Contains(page, "<small>600</small>") {
		t.Error("without a choice, the list to choose from is gone")
	}
	if _, page := p.ask("POST", "/servers/many%3F/approve", url.Values{"held": {"p0"}}); !strings.Contains(page, "<small>599</small>") {
		t.Errorf("one was approved: %.300s", page)
	}
}
