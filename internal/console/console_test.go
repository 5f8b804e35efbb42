package console

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/fault"
)

// sourceFunc is a function as a Source.
type sourceFunc func(r *http.Request) (Page, error)

func (f sourceFunc) Page(r *http.Request) (Page, error) { return f(r) }

func showing(p Page) http.Handler {
	return New(sourceFunc(func(*http.Request) (Page, error) { return p, nil }), nil)
}

func get(h http.Handler, method, path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(method, path, nil))
	return w
}

func full() Page {
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.FixedZone("", 8*3600))
	return Page{
		Version: "v0.1.0", MCPURL: "http://127.0.0.1:8420/mcp",
		Servers: []Server{
			{Name: "shop", Kind: "builtin", State: "up", Tools: 8, LastCheck: at},
			{Name: "files", Kind: "stdio", State: "down", Held: 2, Reason: "exit status 1: npx not found"},
		},
		Tools: []Tool{
			{Name: "shop__get_order", Server: "shop", Description: "Read one order.", InputSchema: `{"type":"object","properties":{"z":{"const":9007199254740993},"a":{}}}`},
			{Name: "files__read", Server: "files", Description: "读取文件", InputSchema: `not json`},
			{Name: "shop__fail", Server: "shop"},
		},
		Calls: []Call{
			{Time: at, Tool: "shop__get_order", Principal: "local", Outcome: "ok", Duration: 1500 * time.Microsecond, Bytes: 812},
			{Time: at, Tool: "files__read", Principal: "alice", Outcome: "error", Code: "upstream_down", Duration: 2300 * time.Millisecond, Bytes: 84100},
		},
	}
}

func TestPage(t *testing.T) {
	body := get(showing(full()), "GET", "/").Body.String()
	tests := []struct{ name, want string }{
		{"the MCP URL is there to copy", `readonly spellcheck="false" value="http://127.0.0.1:8420/mcp"`},
		{"the version is shown", `v0.1.0`},
		{"a good server", `<span class="state good">up</span>`},
		{"a bad server", `<span class="state bad">down</span>`},
		{"why it is down", `exit status 1: npx not found`},
		{"held tools stand out", `<td class="n held">2</td>`},
		{"a server that was never checked", `<td class="t">never</td>`},
		{"times keep their zone", `<time datetime="2026-03-04T05:06:07&#43;08:00"`},
		{"tools are grouped by server", `<b>shop</b> <small>2 tools</small>`},
		{"one tool is one tool", `<b>files</b> <small>1 tool</small>`},
		{"a schema is indented in its own order", "  &#34;properties&#34;: {\n    &#34;z&#34;: {\n      &#34;const&#34;: 9007199254740993"},
		{"a schema that is no JSON is shown as it is", `not json`},
		{"other scripts are shown", `读取文件`},
		{"the outcome of a call", `<span class="state bad">error</span>`},
		{"the code of a call", `<td>upstream_down</td>`},
		{"a short duration", `1.5 ms`},
		{"a long duration", `2.3 s`},
		{"bytes", `84.1 kB`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if !strings.Contains(body, tt.want) {
				t.Errorf("%s is not in the page:\n%s", tt.want, body)
			}
		})
	}
	if strings.Contains(body, "No servers yet") {
		t.Error("the empty state is shown beside servers")
	}
}

func TestHostileTextIsEscaped(t *testing.T) {
	const hostile = `"><script>alert(1)</script><img src=x onerror=alert(1)>'` + "`{{.}}"
	body := get(showing(Page{
		Version: hostile, MCPURL: "javascript:" + hostile,
		Servers: []Server{{Name: hostile, Kind: hostile, State: hostile, Reason: hostile}},
		Tools:   []Tool{{Name: hostile, Server: hostile, Description: hostile, InputSchema: hostile}, {Server: "j", InputSchema: `{"a":"</pre><script>x</script>"}`}},
		Calls:   []Call{{Tool: hostile, Principal: hostile, Outcome: hostile, Code: hostile}},
	}), "GET", "/").Body.String()
	for _, bad := range []string{"<script", "<img", "</pre><script", `value="javascript:">`, "=alert(1)>"} {
		if strings.Contains(body, bad) {
			t.Errorf("%s got into the page", bad)
		}
	}
	if n := strings.Count(body, "&lt;script&gt;"); n != 15 {
		t.Errorf("the text is shown %d times, want all 15 places", n)
	}
}

func TestEmptyStateSaysWhatToDoFirst(t *testing.T) {
	body := get(showing(Page{}), "GET", "/").Body.String()
	for _, want := range []string{"No servers yet", "toolfit add NAME -- COMMAND", "toolfit import FILE"} {
		if !strings.Contains(body, want) {
			t.Errorf("%q is not in the page", want)
		}
	}
	if strings.Contains(body, "<table") || strings.Contains(body, "Last calls") {
		t.Error("an empty page has tables")
	}
	body = get(showing(Page{Servers: full().Servers}), "GET", "/").Body.String()
	if !strings.Contains(body, "No calls yet") {
		t.Error("servers without calls: the page does not say so")
	}
}

func TestOnlyTheFirst50CallsAreShown(t *testing.T) {
	p := full()
	p.Calls = nil
	for i := range 60 {
		p.Calls = append(p.Calls, Call{Tool: fmt.Sprintf("tool-%02d", i), Outcome: "ok"})
	}
	body := get(showing(p), "GET", "/").Body.String()
	if !strings.Contains(body, "tool-49") || strings.Contains(body, "tool-50") {
		t.Error("want calls 0 to 49")
	}
	if len(p.Calls) != 60 {
		t.Error("the source's page was changed")
	}
}

func TestManyToolsStartFolded(t *testing.T) {
	p := full()
	if body := get(showing(p), "GET", "/").Body.String(); !strings.Contains(body, `<details class="group" open>`) {
		t.Error("few tools are folded")
	}
	for range 20 {
		p.Tools = append(p.Tools, Tool{Name: "x", Server: "shop"})
	}
	if body := get(showing(p), "GET", "/").Body.String(); strings.Contains(body, `open>`) {
		t.Error("many tools are not folded")
	}
}

func TestRoutesAndHeaders(t *testing.T) {
	tests := []struct {
		name, method, path string
		status             int
		kind               string
	}{
		{"the page", "GET", "/", 200, "text/html; charset=utf-8"},
		{"its head alone", "HEAD", "/", 200, "text/html; charset=utf-8"},
		{"the stylesheet", "GET", "/style.css", 200, "text/css; charset=utf-8"},
		{"any other path is not found", "GET", "/page.html", 404, "text/plain; charset=utf-8"},
		{"nothing can be sent here", "POST", "/", 405, "text/plain; charset=utf-8"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := get(showing(full()), tt.method, tt.path)
			if w.Code != tt.status {
				t.Errorf("status %d, want %d", w.Code, tt.status)
			}
			want := map[string]string{
				"Content-Type":            tt.kind,
				"Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
				"X-Content-Type-Options":  "nosniff",
				"Referrer-Policy":         "no-referrer",
			}
			for name, value := range want {
				if got := w.Header().Get(name); got != value {
					t.Errorf("%s is %q, want %q", name, got, value)
				}
			}
		})
	}
}

func TestPageNeedsNothingThatThePolicyForbids(t *testing.T) {
	body := get(showing(full()), "GET", "/").Body.String()
	for _, bad := range []string{"<script", "style=", "<style", "http-equiv", "<form", " onclick", "ZgotmplZ"} {
		if strings.Contains(body, bad) {
			t.Errorf("%s is in the page", bad)
		}
	}
}

func TestStylesheetIsKeptByTheBrowser(t *testing.T) {
	h := showing(Page{})
	tag := get(h, "GET", "/style.css").Header().Get("ETag")
	r := httptest.NewRequest("GET", "/style.css", nil)
	r.Header.Set("If-None-Match", tag)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if tag == "" || w.Code != http.StatusNotModified {
		t.Errorf("tag %q, status %d, want 304", tag, w.Code)
	}
}

func TestSourceError(t *testing.T) {
	tests := []struct {
		name   string
		err    error
		status int
		shown  []string
		hidden string
	}{
		{"an internal error hides its text", errors.New("read db: secret path"), 500, []string{"internal error", "The log of the gateway says more"}, "secret path"},
		{"a fault is shown with its hint", fault.New(fault.Conflict, "the store is <busy>").WithHint("wait a minute"), 500, []string{"the store is &lt;busy&gt;", "wait a minute", "conflict"}, "says more"},
		{"no key", fault.New(fault.Unauthorized, "a key is needed"), 401, []string{"a key is needed"}, "<table"},
		{"not allowed", fault.New(fault.Forbidden, "not for you"), 403, []string{"not for you"}, "<table"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var lines strings.Builder
			h := New(sourceFunc(func(*http.Request) (Page, error) { return Page{}, tt.err }), slog.New(slog.NewTextHandler(&lines, nil)))
			w := get(h, "GET", "/")
			body, err := io.ReadAll(w.Result().Body)
			if err != nil || w.Code != tt.status {
				t.Fatalf("status %d, want %d; %v", w.Code, tt.status, err)
			}
			for _, want := range tt.shown {
				if !strings.Contains(string(body), want) {
					t.Errorf("%q is not in %s", want, body)
				}
			}
			if strings.Contains(string(body), tt.hidden) {
				t.Errorf("%q is in the page", tt.hidden)
			}
			if n := strings.Count(lines.String(), "\n"); n != 1 {
				t.Errorf("logged %d lines, want 1: %s", n, &lines)
			}
		})
	}
}

func TestWords(t *testing.T) {
	tests := []struct{ name, got, want string }{
		{"under ten milliseconds one decimal", took(400 * time.Microsecond), "0.4 ms"},
		{"under a second whole milliseconds", took(123456 * time.Microsecond), "123 ms"},
		{"over a minute by the clock", took(75 * time.Second), "1m15s"},
		{"few bytes", size(999), "999 B"},
		{"many bytes", size(1000), "1.0 kB"},
		{"very many bytes", size(4_530_934), "4.5 MB"},
		{"a state that only its server knows is calm", serverTone(Server{State: "starting"}), "calm"},
		{"a reason is bad whatever the state", serverTone(Server{State: "up", Reason: "x"}), "bad"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.got != tt.want {
				t.Errorf("got %s, want %s", tt.got, tt.want)
			}
		})
	}
}
