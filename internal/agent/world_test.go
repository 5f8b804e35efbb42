package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/toolfit/toolfit/internal/agent/conversation"
	"github.com/toolfit/toolfit/internal/agent/endpoint"
	"github.com/toolfit/toolfit/internal/agent/script"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/gateway/call"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is the loop between a scripted model, a real store and servers that answer as told.
type world struct {
	*Runner
	t     testing.TB
	cfg   *config.Config
	store *store.Store
	serve func(ctx context.Context, c upstream.Call) (string, error) // answers calls; nil: with what was asked
	say   func(n int, r *script.Request) script.Answer               // answers the n-th request, from 1

	mu     sync.Mutex
	asked  []*script.Request
	sent   []upstream.Call
	events []Event
	told   []Report
}

var excelTools = `
{"name":"read_data_from_excel","description":"Read data from Excel worksheet with cell metadata including validation rules.","inputSchema":{"type":"object","properties":{"filepath":{"type":"string","description":"Path to Excel file"},"sheet_name":{"type":"string","description":"Name of worksheet"},"start_cell":{"type":"string","description":"Starting cell (default A1)"},"end_cell":{"type":"string","description":"Ending cell (auto-expands if not provided)"},"preview_only":{"type":"boolean","description":"Whether to return preview only"}},"required":["filepath","sheet_name"]},"annotations":{"readOnlyHint":true}}
{"name":"write_data_to_excel","description":"Write data to Excel worksheet","inputSchema":{"type":"object","properties":{"filepath":{"type":"string","description":"Path to Excel file"},"sheet_name":{"type":"string","description":"Name of worksheet"},"data":{"type":"array","description":"List of lists containing data to write"},"start_cell":{"type":"string","description":"Cell to start writing to (default \"A1\")"}},"required":["filepath","sheet_name","data"]},"annotations":{"readOnlyHint":false}}
{"name":"apply_formula","description":"Apply Excel formula to cell with verification","inputSchema":{"type":"object","properties":{"filepath":{"type":"string","description":"Path to Excel file"},"sheet_name":{"type":"string","description":"Name of worksheet"},"cell":{"type":"string","description":"Target cell address"},"formula":{"type":"string","description":"Excel formula to apply"}},"required":["filepath","sheet_name","cell","formula"]}}
`

const worldConfig = `
mcpServers: {excel: {command: x}, other: {command: x}}
profiles:
  default: {servers: [excel], names: bare}
  both: {}
  wide: {search: on}
  tight: {budget: 800}
models:
  native: {url: "%[1]s/v1", model: m, dialect: openai-strict, retries: 0, params: {temperature: 0.1}}
  text: {url: "%[1]s/v1", tools: text, retries: 0}
agents:
  helper: {name: Helper, model: native, description: Helps., capabilities: {max_tool_calls: 5}}
  writer: {name: 表格助手, model: text}
`

// newWorld makes a world. More is added to the configuration.
func newWorld(t testing.TB, more string, opts *Options) *world {
	t.Helper()
	empty, err := emptyStore()
	path := filepath.Join(t.TempDir(), "t.db")
	if err == nil {
		err = os.WriteFile(path, empty, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return newWorldOn(t, path, more, opts)
}

// emptyStore is the file of a store without anything in it: to make its tables takes longer
// than most tests.
var emptyStore = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "toolfit-agent-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "t.db")
	s, err := store.Open(context.Background(), path, nil)
	if err != nil {
		return nil, err
	}
	if err := s.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// newWorldOn makes a world on a store.
func newWorldOn(t testing.TB, dsn, more string, opts *Options) *world {
	t.Helper()
	w := &world{t: t}
	srv := httptest.NewServer(script.New(w.model))
	t.Cleanup(srv.Close)
	cfg, err := config.Parse(filepath.Join(t.TempDir(), "toolfit.yaml"), []byte(fmt.Sprintf(worldConfig, srv.URL)+more), nil)
	if err != nil {
		t.Fatal(err)
	}
	w.cfg = cfg
	if w.store, err = store.Open(t.Context(), dsn, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.store.Close() })
	excel := store.Server{ID: "excel", ListedAt: time.Now()}
	for line := range strings.SplitSeq(strings.TrimSpace(excelTools), "\n") {
		name, _ := rawjson.String(rawjson.Get([]byte(line), "name"))
		excel.Tools = append(excel.Tools, store.Tool{Name: name, Definition: json.RawMessage(line)})
	}
	other := store.Server{ID: "other", ListedAt: time.Now(), Tools: []store.Tool{
		{Name: "read_data_from_excel", Definition: json.RawMessage(`{"name":"read_data_from_excel","inputSchema":{"type":"object"}}`)},
		{Name: "ping", Definition: json.RawMessage(`{"name":"ping","inputSchema":{"type":"object","properties":{"n":{"type":"integer"}}}}`)},
	}}
	views, err := catalog.New(t.Context(), noLister{}, fakeKeeper{[]store.Server{excel, other}}, &catalog.Options{Own: call.OwnTools(false)})
	if err != nil {
		t.Fatal(err)
	}
	views.Apply(cfg)
	caller := call.New(views, fakeSender{call: w.upstream}, fakeRecorder{}, &call.Options{Results: w.store})
	models := endpoint.New()
	t.Cleanup(models.Close)
	if opts == nil {
		opts = &Options{}
	}
	opts.Called = func(r Report, _ Origin) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.told = append(w.told, r)
	}
	w.Runner = New(Parts{Config: func() *config.Config { return cfg }, Tools: views, Caller: caller, Models: models, Sessions: w.store},
		opts)
	return w
}

type fakeSender struct {
	call.Tasks
	call func(context.Context, upstream.Call) (upstream.Outcome, error)
}

func (f fakeSender) Curl(context.Context, upstream.Call) (string, error) { return "", nil }

func (f fakeSender) Call(ctx context.Context, c upstream.Call) (upstream.Outcome, error) {
	return f.call(ctx, c)
}

type fakeRecorder struct{}

func (fakeRecorder) NewID() string                         { return "c_1" }
func (fakeRecorder) Add(context.Context, store.Call) error { return nil }
func (fakeRecorder) Refuses() error                        { return nil }

type fakeKeeper struct{ rows []store.Server }

func (f fakeKeeper) Servers(context.Context) ([]store.Server, error) { return f.rows, nil }
func (fakeKeeper) SaveTools(context.Context, store.Server) error     { return nil }
func (fakeKeeper) Server(context.Context, tool.ServerID) (store.Server, error) {
	return store.Server{}, nil
}
func (fakeKeeper) Decide(context.Context, tool.ServerID, []store.Decision) error     { return nil }
func (fakeKeeper) SaveCheck(context.Context, tool.ServerID, time.Time, string) error { return nil }

type noLister struct{}

func (noLister) List(context.Context, tool.ServerID) (upstream.Listing, error) {
	return upstream.Listing{}, errors.New("not asked here")
}
func (noLister) Recognize(tool.ServerID, upstream.Listing) {}

func (w *world) model(r *script.Request) script.Answer {
	w.mu.Lock()
	w.asked = append(w.asked, r)
	n := len(w.asked)
	w.mu.Unlock()
	return w.say(n, r)
}

func (w *world) upstream(ctx context.Context, c upstream.Call) (upstream.Outcome, error) {
	w.mu.Lock()
	w.sent = append(w.sent, c)
	serve := w.serve
	w.mu.Unlock()
	if serve == nil {
		return upstream.Outcome{Raw: textResult("did " + string(rawjson.Get(c.Params, "arguments")))}, nil
	}
	raw, err := serve(ctx, c)
	return upstream.Outcome{Raw: json.RawMessage(raw)}, err
}

func textResult(text string) json.RawMessage {
	return append(rawjson.AppendString([]byte(`{"content":[{"type":"text","text":`), text), "}]}"...)
}

// script lets the model say one thing after the other, and the last again and again.
func (w *world) script(answers ...script.Answer) {
	w.say = func(n int, _ *script.Request) script.Answer { return answers[min(n, len(answers))-1] }
}

// turn is something that somebody says to an agent.
func (w *world) turn(agent, text string) Turn {
	return Turn{Agent: agent, Principal: access.Local(), Messages: []conversation.Message{conversation.Text(conversation.RoleUser, text)},
		Hear: func(e Event) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.events = append(w.events, e)
		}}
}

// must is an answer that works.
func (w *world) must(t Turn) *Answer {
	w.t.Helper()
	a, err := w.Answer(w.t.Context(), t)
	if err != nil {
		w.t.Fatal(err)
	}
	return a
}

// transcript is what was stored of a session, a line for each message.
func (w *world) transcript(session string) string {
	w.t.Helper()
	rows, err := w.store.Messages(w.t.Context(), session, 0, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	var lines []string
	for _, row := range rows {
		var m conversation.Message
		if err := json.Unmarshal(row.Body, &m); err != nil {
			w.t.Fatal(err)
		}
		line := m.Role + ": " + m.Text()
		for _, c := range m.Calls {
			line += fmt.Sprintf(" [%s %s %s]", c.ID, c.Tool, c.Arguments)
		}
		if m.Note != nil && m.Note.Status != "" {
			line += " (" + string(m.Note.Status) + ")"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// statuses are what became of calls, in the order in which it was told.
func statuses(list []Report) string {
	var out []string
	for _, r := range list {
		out = append(out, r.ID+" "+string(r.Status))
	}
	return strings.Join(out, ", ")
}
