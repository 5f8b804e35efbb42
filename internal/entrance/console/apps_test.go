package console_test

import (
	"encoding/base64"
	"net/url"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/state/access"
)

func TestAnAppIsServedWithAPolicyThatLetsItReachNothing(t *testing.T) {
	w, srv, _ := appWorld(t, "")
	p := w.person()
	for name, content := range map[string]string{
		"text": `{"mimeType":"text/html;profile=mcp-app","text":"<p>the app</p>"}`,
		"blob": `{"mimeType":"text/html; profile=\"mcp-app\"","blob":"` + base64.StdEncoding.EncodeToString([]byte("<p>the app</p>")) + `"}`,
	} {
		srv.answers(content)
		resp, body := p.get("/tools/srv__show/app")
		if resp.StatusCode != 200 || body != "<p>the app</p>" {
			t.Errorf("%s: HTTP %d %.200s", name, resp.StatusCode, body)
		}
		for header, want := range map[string]string{
			"Content-Security-Policy": "sandbox allow-scripts allow-forms; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; media-src data: blob:; font-src data: blob:; connect-src 'none'; frame-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
			"Content-Type":            "text/html; charset=utf-8",
			"X-Content-Type-Options":  "nosniff",
			"Referrer-Policy":         "no-referrer",
			"Cache-Control":           "no-store",
		} {
			if got := resp.Header.Get(header); got != want {
				t.Errorf("%s: %s is %q", name, header, got)
			}
		}
		if got := resp.Header.Get("Permissions-Policy"); !strings.Contains(got, "camera=()") || strings.Contains(got, "self") {
			t.Errorf("Permissions-Policy is %q", got)
		}
	}
}

func TestTheOriginsOfAnAppCannotChangeItsPolicy(t *testing.T) {
	w, srv, _ := appWorld(t, "")
	p := w.person()
	bare := "; connect-src 'none'; frame-src 'none'; base-uri 'none'; form-action"
	for csp, want := range map[string]string{
		`{"connectDomains":["https://api.example.com","wss://live.example.com:8443"],"frameDomains":["https://*.video.example"],"baseUriDomains":["https://CDN.example.com"]}`: "; connect-src https://api.example.com wss://live.example.com:8443; frame-src https://*.video.example; base-uri https://cdn.example.com; form-action",
		`{"resourceDomains":["https://cdn.example.com"]}`: "; script-src 'unsafe-inline' https://cdn.example.com; style-src 'unsafe-inline' https://cdn.example.com; img-src data: blob: https://cdn.example.com;",
		`{"connectDomains":["https://a.example; script-src *","https://a.example 'self'","*","'self'","https:","http://a.example","https://*","https://a.example/x","https://a.example,b","https://a.example\r\nSet-Cookie: a=b","data:","` + w.URL + `","//a.example","https://[::1]","https://é.example","https://-a.example","https://a.example:999999",""]}`: bare,
		`{"connectDomains":"https://a.example","frameDomains":["https://b.example"]}`: bare,
		`{"connectDomains":[1,null,{}]}`:                                              bare,
		`[]`:                                                                          bare,
		`"*"`:                                                                         bare,
		`{"frameDomains":["https://` + strings.Repeat("a", 10_000) + `.example"]}`: bare,
	} {
		srv.serves("<p>", `{"ui":{"csp":`+csp+`}}`)
		resp, body := p.get("/tools/srv__show/app")
		got := resp.Header.Get("Content-Security-Policy")
		if resp.StatusCode != 200 || !strings.Contains(got, want) || strings.Count(got, ";") != 11 || !strings.HasPrefix(got, "sandbox allow-scripts allow-forms;") {
			t.Errorf("%.100s: HTTP %d %.100s: %q", csp, resp.StatusCode, body, got)
		}
	}
	srv.serves("<p>", `{"ui":{"csp":{"connectDomains":[`+strings.Repeat(`"https://a.example",`, 9999)+`"https://b.example"]}}}`)
	if resp, _ := p.get("/tools/srv__show/app"); len(resp.Header.Get("Content-Security-Policy")) > 2000 {
		t.Error("a server makes the policy as long as it likes")
	}
}

func TestAPageThatIsNoAppIsNotServed(t *testing.T) {
	w, srv, _ := appWorld(t, "")
	p := w.person()
	for content, want := range map[string]string{
		`{"mimeType":"text/html","text":"<script>"}`:                     "is no app",
		`{"mimeType":"text/html;profile=other","text":"<script>"}`:       "is no app",
		`{"mimeType":"image/svg+xml;profile=mcp-app","text":"<script>"}`: "is no app",
		`{"text":"<script>"}`: "is no app",
		``:                    "no page",
		`7`:                   "no page",
		`{"mimeType":"text/html;profile=mcp-app","blob":"<script>"}`:                                      "not Base64",
		`{"mimeType":"text/html;profile=mcp-app","text":"` + strings.Repeat("<script>", 5<<20/8+1) + `"}`: "larger than 5 MB",
	} {
		srv.answers(content)
		resp, body := p.get("/tools/srv__show/app")
		if resp.StatusCode < 400 || !strings.Contains(body, want) || strings.Contains(body, "<script>") ||
			!strings.HasPrefix(resp.Header.Get("Content-Type"), "text/plain") || !strings.HasPrefix(resp.Header.Get("Content-Security-Policy"), "sandbox ") {
			t.Errorf("%.80s: HTTP %d %v %.200s", content, resp.StatusCode, resp.Header, body)
		}
	}
}

func TestAnAppIsOnlyForThoseWhoMayCallItsTool(t *testing.T) {
	w, srv, other := appWorld(t, `
policy:
  - {name: no-pages, then: deny, when: 'tool.kind == "resource" && args.uri.startsWith("ui:")', who: {keys: [nora]}}
  - {name: asks, then: approve, when: 'tool.kind == "resource"', who: {keys: [asa]}}
  - {name: no-tool, then: deny, tools: [srv__show], who: {keys: [tom]}}
`)
	srv.serves("<p>the app</p>", "{}")
	other.serves("<p>the other app</p>", "{}")
	if status, body := w.person().ask("GET", "/tools/srv__show/app", nil); status != 200 {
		t.Fatalf("HTTP %d %s", status, body)
	}
	people := map[string]*person{"nobody": w.person()}
	for name, role := range map[string]access.Role{"ann": access.Caller, "eye": access.Viewer, "nora": access.Caller, "asa": access.Caller, "tom": access.Caller} {
		people[name] = w.person()
		people[name].signIn(w.key(name, "default", role))
	}
	for name, profile := range map[string]string{"few": "few", "part": "part"} {
		people[name] = w.person()
		people[name].signIn(w.key(name, profile, access.Caller))
	}
	people["root"] = w.person()
	people["root"].signIn(w.key("root", "*", access.Admin))
	for _, tt := range []struct {
		who, path string
		status    int
	}{
		{"ann", "srv__show/app", 200},
		{"ann", "srv__look/app", 404},
		{"ann", "srv__none/app", 404},
		{"ann", "srv__show/app?profile=few", 403},
		{"eye", "srv__show/app", 403},
		{"nora", "srv__show/app", 403},
		{"asa", "srv__show/app", 403},
		{"tom", "srv__show/app", 404},
		{"few", "srv__show/app", 404},
		{"few", "other__show/app", 200},
		{"part", "srv__show/app", 404},
		{"root", "srv__show/app?profile=few", 404},
		{"root", "srv__show/app?profile=default", 200},
		{"root", "other__show/app?profile=default", 200}, // though the first server has the same URI
		{"nobody", "srv__show/app", 401},
	} {
		status, body := people[tt.who].ask("GET", "/tools/"+tt.path, nil)
		if status != tt.status || (status == 200) != strings.Contains(body, "app</p>") || strings.Contains(body, "other app") != strings.HasPrefix(tt.path, "other") {
			t.Errorf("%s, %s: HTTP %d, want %d: %.200s", tt.who, tt.path, status, tt.status, body)
		}
		if status == 200 {
			continue
		}
		path, query, _ := strings.Cut(tt.path, "?")
		for _, do := range []string{"call", "read"} {
			_, body := people[tt.who].ask("POST", "/tools/"+path+"/"+do+"?"+query, url.Values{"tool": {"inner"}, "arguments": {"{}"}, "uri": {"ui://show/app"}})
			if strings.Contains(body, `"result"`) && !((tt.who == "nora" || tt.who == "asa") && do == "call") { // whose calls nothing forbids
				t.Errorf("%s, %s %s: %.200s", tt.who, do, tt.path, body)
			}
		}
	}
	if _, body := people["eye"].ask("GET", "/tools/srv__show", nil); strings.Contains(body, "apps.js") {
		t.Error("a viewer, who may not call, is offered an app")
	}
}

func TestAnAppUsesItsOwnServerAlone(t *testing.T) {
	w, srv, other := appWorld(t, "")
	p := w.person()
	ask := func(do string, form url.Values) string {
		t.Helper()
		_, body := p.ask("POST", "/tools/srv__show/app/"+do, form)
		return body
	}
	call := func(name, agreed string) string {
		return ask("call", url.Values{"tool": {name}, "arguments": {`{"a":1}`}, "agreed": {agreed}})
	}
	own, foreign := strings.Replace(srv.URL, "http", "data", 1)+"/one", strings.Replace(other.URL, "http", "data", 1)+"/one"
	for _, tt := range []struct{ what, body, want string }{
		{"a tool that reads", call("look", ""), "look <was> called"},
		{"a tool for apps only", call("inner", ""), "inner <was> called"},
		{"a tool that may change something", call("change", ""), `"ask":"The app wants to call the tool change`},
		{"arguments that hide something", ask("call", url.Values{"tool": {"change"}, "arguments": {"{\"a\":\"\u202e\"}"}}), `\\u202e`},
		{"arguments that are too long to show", ask("call", url.Values{"tool": {"change"}, "arguments": {`{"a":"` + strings.Repeat("世", 2000) + `"}`}}), "世…"},
		{"the same, agreed to", call("change", "1"), "change <was> called"},
		{"a tool for models only", call("closed", "1"), "has no tool closed for its apps"},
		{"a tool of another server", call("secret", "1"), "has no tool secret for its apps"},
		{"its name at the gateway", call("other__secret", "1"), "has no tool other__secret for its apps"},
		{"a tool of ours", call("fetch_result", "1"), "has no tool fetch_result for its apps"},
		{"no tool", call("", "1"), "has no tool"},
		{"arguments that are none", ask("call", url.Values{"tool": {"look"}, "arguments": {"["}}), `"error"`},
		{"a resource", ask("read", url.Values{"uri": {own}}), "what is there"},
		{"a resource of another server", ask("read", url.Values{"uri": {foreign}}), "has no resource"},
	} {
		if !strings.Contains(tt.body, tt.want) {
			t.Errorf("%s: %.300s", tt.what, tt.body)
		}
	}
	for _, name := range []string{"secret", "look", "change", "data"} {
		if _, got := other.took(name); got {
			t.Errorf("the other server got %s", name)
		}
	}
	w.until("the call is recorded", func() bool {
		_, body := p.ask("GET", "/calls", nil)
		return strings.Contains(body, "srv__inner")
	})
}

func TestOnlyPagesOfToolsWithAnAppMayHaveFrames(t *testing.T) {
	w, _, _ := appWorld(t, "")
	p := w.person()
	for path, want := range map[string]bool{"/tools/srv__show": true, "/tools/srv__look": false, "/tools": false, "/calls": false, "/": false} {
		resp, _ := p.get(path)
		policy := resp.Header.Get("Content-Security-Policy")
		if strings.HasSuffix(policy, "; frame-src 'self'") != want || !strings.HasPrefix(policy, "default-src 'none'; script-src 'self';") {
			t.Errorf("%s: %q", path, policy)
		}
	}
}

func TestAnAppGetsTheFullResultAndTheArgumentsOfTheCall(t *testing.T) {
	w, _, _ := appWorld(t, "")
	p := w.person()
	_, body := p.ask("POST", "/tools/srv__show/try", url.Values{"a:n": {`"2000"`}, "view": {"model"}})
	given, rest, found := strings.Cut(body, " data-title=")
	if !found || !strings.Contains(given, "zebra") || !strings.Contains(given, `data-arguments="{&#34;n&#34;:2000}"`) {
		t.Fatalf("the app does not get the call: %.300s", given[max(0, len(given)-300):])
	}
	before, _, _ := strings.Cut(given, " data-result=")
	if strings.Contains(before+rest, "zebra") {
		t.Error("the result for models is not cut, so that nothing is tried here")
	}
	call, _, _ := strings.Cut(before[strings.Index(before, `href="/calls/c_`)+len(`href="`):], `"`)
	resp, body := p.get(call)
	if !strings.Contains(body, `data-arguments="{&#34;n&#34;:2000}"`) || !strings.Contains(body, "zebra") || !strings.HasSuffix(resp.Header.Get("Content-Security-Policy"), "; frame-src 'self'") {
		t.Errorf("the page of the call %s does not show its app", call)
	}
	_, body = p.ask("POST", "/tools/srv__look/try", url.Values{"json": {"{}"}})
	if !strings.Contains(body, "was") || strings.Contains(body, `class="app"`) {
		t.Error("a tool without an app shows one")
	}
}
