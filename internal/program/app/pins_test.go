package app

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/mcp"
)

// turningServer is an MCP server over HTTP that says the same of itself until it turns.
type turningServer struct {
	*httptest.Server
	version atomic.Int32
}

func newTurningServer(t *testing.T) *turningServer {
	s := &turningServer{}
	s.version.Store(1)
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *turningServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	m, _ := mcp.Parse(body)
	v := fmt.Sprint("v", s.version.Load())
	list := func(one, two string) string { // the second one is new in the second version
		if v == "v1" {
			return "[" + one + "]"
		}
		return "[" + one + "," + two + "]"
	}
	answers := map[string]string{
		"initialize": `{"protocolVersion":"2025-06-18","capabilities":{"tools":{},"prompts":{},"resources":{}},"instructions":"Use ` +
			`it well, ` + v + `."}`,
		"tools/list": `{"tools":[{"name":"meta","inputSchema":{"type":"object"},"_meta":{"n":"` + v + `"}},
			{"name":"hint","inputSchema":{"type":"object"},"annotations":{"title":"` + v + `"}},{"name":"same","inputSchema":{"type":"object"}}]}`,
		"prompts/list":   `{"prompts":` + list(`{"name":"p","description":"`+v+`"}`, `{"name":"q"}`) + `}`,
		"resources/list": `{"resources":` + list(`{"uri":"file:///a","name":"`+v+`"}`, `{"uri":"file:///b","name":"b"}`) + `}`,
		"resources/templates/list": `{"resourceTemplates":` +
			list(`{"uriTemplate":"log:///{day}","name":"`+v+`"}`, `{"uriTemplate":"key:///{name}","name":"keys"}`) + `}`,
	}
	answer, ok := answers[m.Method]
	if !ok {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(mcp.AppendResult(nil, m.ID, []byte(answer)))
}

// known lets a gateway read the server's first list, and ends it: no other reads the second.
func (s *turningServer) known(t *testing.T, text string) (first string) {
	t.Helper()
	a, err := New(t.Context(), parse(t, filepath.Join(t.TempDir(), "toolfit.yaml"), text), &Options{Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	refresh(t, a)
	first = seen(t, a)
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	s.version.Store(2)
	return first
}

func refresh(t *testing.T, a *App) {
	t.Helper()
	if err := a.Catalog.Refresh(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
}

// seen is what a model is shown of the server.
func seen(t *testing.T, a *App) string {
	t.Helper()
	v, err := a.Catalog.View("default")
	if err != nil {
		t.Fatal(err)
	}
	all := v.Instructions
	for _, kind := range []catalog.Kind{catalog.ToolKind, catalog.PromptKind, catalog.ResourceKind, catalog.TemplateKind} {
		raw, err := v.Page(mcp.Legacy, kind, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		all += string(raw)
	}
	return all
}

// TestAllThatReachesAModelIsPinned holds, with a real server and a real store, that nothing
// of what a server changes reaches a model before it is approved, after a restart either.
func TestAllThatReachesAModelIsPinned(t *testing.T) {
	s := newTurningServer(t)
	config := fmt.Sprintf("store: %q\napprove: changed\nmcpServers: {s: {url: %q}}\n", filepath.Join(t.TempDir(), "t.db"), s.URL)
	first := s.known(t, config)
	for _, want := range []string{"Use it well, v1.", `"n":"v1"`, `"title":"v1"`, "s__same", `"description":"v1"`,
		`"uri":"file:///a","name":"v1"`, `"name":"v1"`} {
		if !strings.Contains(first, want) {
			t.Errorf("the first list lacks %s: %s", want, first)
		}
	}
	want := []string{"instructions", "meta", "hint", "prompt:p", "prompt:q", "resource:file:///a", "resource:file:///b",
		"template:log:///{day}", "template:key:///{name}"}
	var a *App
	for range 2 { // by another process, and after its restart
		a, _ = start(t, config)
		refresh(t, a)
		if got := a.Catalog.Servers()[0].Held; !slices.Equal(got, want) {
			t.Errorf("held %q, want %q", got, want)
		}
		text := seen(t, a)
		if strings.Contains(text, "v2") || strings.Contains(text, "s__q") || strings.Contains(text, "file:///b") ||
			strings.Contains(text, "key:///") || strings.Contains(text, `"n":"v1"`) {
			t.Errorf("a model is shown %s", text)
		}
		for _, still := range []string{"Use it well, v1.", "s__same", `"description":"v1"`, `"uri":"file:///a","name":"v1"`,
			`"uriTemplate":"log:///{day}","name":"v1"`} {
			if !strings.Contains(text, still) {
				t.Errorf("what was approved is gone: %s: %s", still, text)
			}
		}
	}
	v, _ := a.Catalog.View("default")
	for uri, ok := range map[string]bool{"file:///a": true, "log:///monday": true, "file:///b": false, "key:///root": false,
		"key:///{name}": false} {
		if _, err := v.Owner(uri); (err == nil) != ok {
			t.Errorf("%s can be read: %v", uri, err == nil)
		}
	}
	held, err := a.Catalog.Held("s")
	if err != nil || len(held) != len(want) || held[0].Kind != catalog.InstructionsKind || string(held[0].Was) != `"Use it well, v1."` ||
		string(held[0].Now) != `"Use it well, v2."` {
		t.Errorf("%+v, %v", held, err)
	}
	if n, err := a.Catalog.KeepOut(t.Context(), "local", "s", "instructions", "prompt:q", "resource:file:///b"); n != 3 || err != nil {
		t.Errorf("%d kept out, %v", n, err)
	}
	if n, err := a.Catalog.Approve(t.Context(), "local", "s"); n != len(want)-3 || err != nil {
		t.Errorf("%d approved, %v", n, err)
	}
	if text := seen(t, a); strings.Contains(text, "well, v2") || strings.Contains(text, "s__q") || strings.Contains(text, "file:///b") ||
		!strings.Contains(text, "well, v1") ||
		!strings.Contains(text, `"uri":"file:///a","name":"v2"`) || !strings.Contains(text, "key:///") ||
		!strings.Contains(text, `"n":"v2"`) || !strings.Contains(text, `"title":"v2"`) {
		t.Errorf("kept out and approved: %s", text)
	}
	if _, err := a.Catalog.Approve(t.Context(), "local", "s", "instructions", "prompt:q", "resource:file:///b"); err != nil {
		t.Fatal(err)
	}
	if text := seen(t, a); !strings.Contains(text, "well, v2") || !strings.Contains(text, "s__q") ||
		!strings.Contains(text, "file:///b") || strings.Contains(text, "v1") {
		t.Errorf("all approved: %s", text)
	}
}

func TestChangesAreLoggedAndWithAutoLetThrough(t *testing.T) {
	for approve, want := range map[string]string{"changed": " and is held until approved", "auto": ""} {
		s := newTurningServer(t)
		config := fmt.Sprintf("store: %q\napprove: %s\nmcpServers: {s: {url: %q}}\n", filepath.Join(t.TempDir(), "t.db"), approve, s.URL)
		s.known(t, config)
		a, log := start(t, config)
		refresh(t, a)
		for _, what := range []string{"the text of the instructions has another definition now", "tool meta has another definition now",
			"tool hint has another definition now", "prompt q is new"} {
			log.wait(t, what+want, 1)
		}
		if held := len(a.Catalog.Servers()[0].Held); (held == 0) != (approve == "auto") {
			t.Errorf("%s holds %d", approve, held)
		}
	}
}
