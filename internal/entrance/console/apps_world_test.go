package console_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// appTools are the tools of a server with an app.
const appTools = `{"tools":[
	{"name":"show","inputSchema":{"type":"object","properties":{"n":{"type":"integer"}}},"annotations":{"readOnlyHint":true},"_meta":{"ui":{"resourceUri":"ui://show/app"}}},
	{"name":"look","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}},
	{"name":"change","inputSchema":{"type":"object"}},
	{"name":"inner","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true},"_meta":{"ui":{"visibility":["app"]}}},
	{"name":"closed","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true},"_meta":{"ui":{"visibility":["model"]}}}]}`

// appServer is a server with an app, which notes what it gets.
type appServer struct {
	*httptest.Server
	mu      sync.Mutex
	content string   // what it answers to who reads the app
	got     []string // name or URI, and arguments, of calls and readings
}

func newAppServer(t *testing.T, tools string) *appServer {
	s := &appServer{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		method, _ := rawjson.String(rawjson.Get(body, "method"))
		params := rawjson.Get(body, "params")
		result := ""
		switch method {
		case "initialize":
			result = `{"protocolVersion":"2025-06-18","capabilities":{"tools":{},"resources":{}},"serverInfo":{"name":"s","version":"1"}}`
		case "tools/list":
			result = tools
		case "resources/list":
			result = `{"resources":[{"uri":"data://` + r.Host + `/one","name":"one"}]}`
		case "resources/templates/list":
			result = `{"resourceTemplates":[]}`
		case "tools/call":
			name, _ := rawjson.String(rawjson.Get(params, "name"))
			s.note(name + " " + string(rawjson.Get(params, "arguments")))
			result = `{"content":[{"type":"text","text":"` + name + ` <was> called"}],"structuredContent":{"of":"` + name + `"}}`
			if n, err := strconv.Atoi(string(rawjson.Get(params, "arguments", "n"))); err == nil && n > 1000 {
				result = `{"content":[{"type":"text","text":"[` + strings.Repeat(`{\"row\":\"of many\"},`, n) + `{\"row\":\"zebra\"}]"}]}`
			}
		case "resources/read":
			uri, _ := rawjson.String(rawjson.Get(params, "uri"))
			s.note(uri)
			result = `{"contents":[{"uri":"` + uri + `","text":"what is there"}]}`
			if strings.HasPrefix(uri, "ui://") {
				s.mu.Lock()
				result = `{"contents":[` + s.content + `]}`
				s.mu.Unlock()
			}
		}
		if result == "" {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, rawjson.Get(body, "id"), result)
	}))
	t.Cleanup(s.Close)
	return s
}

// serves lets the app be this page, with such metadata.
func (s *appServer) serves(html, meta string) {
	page, _ := json.Marshal(html) // a string only
	s.answers(`{"uri":"ui://show/app","mimeType":"text/html;profile=mcp-app","text":` + string(page) + `,"_meta":` + meta + `}`)
}

func (s *appServer) answers(content string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.content = content
}

func (s *appServer) note(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.got = append(s.got, what)
}

// took tells whether the server has got something that begins so, and the rest of it.
func (s *appServer) took(prefix string) (rest string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.got {
		if rest, ok = strings.CutPrefix(one, prefix); ok {
			return rest, true
		}
	}
	return "", false
}

// appWorld is a gateway with a server that has an app, and another that has a tool of its own and the same tools.
func appWorld(t *testing.T, more string) (w *world, srv, other *appServer) {
	srv = newAppServer(t, appTools)
	other = newAppServer(t, strings.Replace(appTools, `{"tools":[`, `{"tools":[{"name":"secret","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}},`, 1))
	w = newWorld(t, fmt.Sprintf(`
store: t.db
resultStore: all
mcpServers:
  srv: {url: %q}
  other: {url: %q}
profiles:
  default: {budget: 1000}
  few: {servers: [other]}
  part: {tools: {deny: [srv__show]}}
`, srv.URL, other.URL)+more)
	return w, srv, other
}
