package scriptlab

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/core/tokens"
	"github.com/toolfit/toolfit/internal/program/app"
	"github.com/toolfit/toolfit/internal/state/config"
)

// call is one call of a tool, as a model writes it.
type call struct {
	name string
	args string
}

// cost is what a conversation costs, in tokens but for turns and calls.
type cost struct {
	turns, calls, definitions, results, written int

	read   int // in all turns together
	serial int // the same, if every call took a turn of its own
}

// model stands in for a model: it counts what one reads and writes in a conversation.
type model struct {
	t    *testing.T
	http *http.Client
	url  string
	id   string // of the session
	cost
	context int // what the next turn reads
}

// newModel begins a conversation about a job, with a gateway of its own, so that no way profits from another.
func newModel(t *testing.T, way string, j *job) *model {
	t.Helper()
	path := filepath.Join(t.TempDir(), "toolfit.yaml")
	yaml := "store: lab.db\nmcpServers: {" + j.servers + "}\nprofiles:\n"
	for name, keys := range map[string]string{asList: "search: off", asSearch: "search: on", asScript: "search: on, code: on"} {
		yaml += "  " + name + ": {" + keys + ", " + *profile + "}\n"
	}
	if err := os.WriteFile(path, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(path, os.LookupEnv)
	if err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	gateway, err := app.New(t.Context(), cfg, &app.Options{Version: "test", Program: exe})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(gateway.Handler())
	t.Cleanup(func() {
		server.Close()
		if err := gateway.Close(); err != nil {
			t.Error(err)
		}
	})
	all := &model{t: t, http: server.Client(), url: server.URL + "/mcp/list"}
	all.open()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for late := time.After(time.Minute); len(all.tools()) < j.tools; {
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("of %d tools there are %d", j.tools, len(all.tools()))
		}
	}
	m := &model{t: t, http: server.Client(), url: server.URL + "/mcp/" + way}
	m.open()
	for _, def := range m.tools() {
		m.definitions += m.count(def)
	}
	m.context = m.definitions + m.count(j.task)
	return m
}

// turn lets the model read everything so far, and write calls, which are made. It returns the texts of their results.
func (m *model) turn(calls ...call) []string {
	m.t.Helper()
	if len(calls) == 0 {
		return nil
	}
	m.turns++
	m.read += m.context
	texts := make([]string, len(calls))
	for i, c := range calls {
		m.calls++
		m.serial += m.context
		written := `{"name":` + quote(c.name) + `,"arguments":` + c.args + `}`
		result := m.request("tools/call", written)
		if string(rawjson.Get(result, "isError")) == "true" {
			m.t.Fatalf("%s: %s", written, result)
		}
		texts[i] = project.Text(result)
		w, r := m.count(written), m.count(refs.ReplaceAllString(texts[i], "r_7f3kq2mp"))
		m.written += w
		m.results += r
		m.show(w, r, written, texts[i])
		m.context += w + r
	}
	return texts
}

// answer is the last turn.
func (m *model) answer(text string) {
	m.turns++
	m.read += m.context
	m.serial += m.context
	w := m.count(text)
	m.written += w
	m.show(w, 0, text, "")
}

// refs are random: each has the tokens of the same one.
var refs = regexp.MustCompile(`\b[rc]_[a-z2-9]{6,}\b`)

// show prints one call of a turn, where that is asked for.
func (m *model) show(written, result int, call, text string) {
	if *lab {
		text = strings.Join(strings.Fields(text), " ")
		m.t.Logf("turn %d, context %d: writes %d, gets %d: %.100s → %.100s", m.turns, m.context, written, result, call, text)
	}
}

func (m *model) count(text string) int { return tokens.Count(text) }

// tools are the definitions of the tools as clients give them to models: name, description and the schema of the arguments.
func (m *model) tools() []string {
	var defs []string
	list := m.request("tools/list", "{}")
	for w := rawjson.Array(rawjson.Get(list, "tools")); w.Next(); {
		var def bytes.Buffer
		fmt.Fprintf(&def, `{"name":%s,"description":%s,"parameters":`, rawjson.Get(w.Value, "name"), rawjson.Get(w.Value, "description"))
		if err := json.Compact(&def, rawjson.Get(w.Value, "inputSchema")); err != nil {
			m.t.Fatal(err)
		}
		defs = append(defs, def.String()+"}")
	}
	return defs
}

func (m *model) open() {
	m.request("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"lab","version":"1"}}`)
}

// request makes a request that must work, and returns its result.
func (m *model) request(method, params string) json.RawMessage {
	m.t.Helper()
	body := `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params + `}`
	req, err := http.NewRequestWithContext(m.t.Context(), http.MethodPost, m.url, strings.NewReader(body))
	if err != nil {
		m.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if m.id != "" {
		req.Header.Set("Mcp-Session-Id", m.id)
	}
	resp, err := m.http.Do(req)
	if err != nil {
		m.t.Fatal(err)
	}
	defer resp.Body.Close()
	m.id = cmp.Or(m.id, resp.Header.Get("Mcp-Session-Id"))
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		m.t.Fatal(err)
	}
	if _, event, ok := bytes.Cut(data, []byte("data: ")); ok && strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		data, _, _ = bytes.Cut(event, []byte("\n"))
	}
	result := rawjson.Get(data, "result")
	if result == nil {
		m.t.Fatalf("%s %.300s: %s %s", method, params, resp.Status, data)
	}
	return result
}

func quote(s string) string { return string(rawjson.AppendString(nil, s)) }
