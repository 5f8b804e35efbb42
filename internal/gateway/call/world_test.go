package call

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

// world is the spine between a configuration, a store and a server that answers as told.
type world struct {
	*Caller
	t      testing.TB
	store  *store.Store
	answer string // of the server
	clock  time.Time

	mu      sync.Mutex
	sent    []upstream.Call
	records []store.Call
}

const envTool = `{"name":"env","inputSchema":{"type":"object","properties":{"action":{"type":"string"}}},` +
	`"outputSchema":{"type":"object","additionalProperties":false,"required":["rows","total","secret"],"properties":{` +
	`"rows":{"type":"array","items":{"type":"object","additionalProperties":false,"required":["id","name","blob"],` +
	`"properties":{"id":{"type":"integer"},"name":{"type":"string"},"blob":{"type":"string"}}}},"total":{"type":"integer"},"secret":{"type":"string"}}}}`

// newWorld makes a world with the configuration, whose server is cloud. Its tools are env
// and own, which has an argument _limit itself.
func newWorld(t testing.TB, text string, opts *Options) *world {
	t.Helper()
	w := &world{t: t, answer: rows(3), clock: time.Now()}
	cfg, err := config.Parse(filepath.Join(t.TempDir(), "toolfit.yaml"), []byte("mcpServers: {cloud: {command: cloud}}\n"+text), nil)
	if err != nil {
		t.Fatal(err)
	}
	w.store, err = store.Open(t.Context(), filepath.Join(t.TempDir(), "t.db"), &store.Options{Now: func() time.Time { return w.clock }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.store.Close() })
	row := store.Server{ID: "cloud", ListedAt: time.Now(), Tools: []store.Tool{
		{Name: "env", Definition: json.RawMessage(envTool)},
		{Name: "own", Definition: json.RawMessage(`{"name":"own","inputSchema":{"type":"object","properties":{"_limit":{"type":"integer"}}}}`)},
	}}
	views, err := catalog.New(t.Context(), noLister{}, fakeKeeper{[]store.Server{row}}, &catalog.Options{Own: OwnTools(false)})
	if err != nil {
		t.Fatal(err)
	}
	views.Apply(cfg)
	if opts == nil {
		opts = &Options{Results: w.store}
	}
	opts.Now = func() time.Time { return w.clock }
	w.Caller = New(views, fakeSender{call: w.serve}, fakeRecorder{add: w.record}, opts)
	return w
}

func (w *world) serve(_ context.Context, c upstream.Call) (upstream.Outcome, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent = append(w.sent, c)
	return upstream.Outcome{Raw: json.RawMessage(w.answer)}, nil
}

func (w *world) record(_ context.Context, c store.Call) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.records = append(w.records, c)
	return nil
}

// rows is a result with n rows, as text and as structuredContent.
func rows(n int) string {
	var list []string
	for i := range n {
		list = append(list, `{"id":`+string(rune('1'+i%9))+`,"name":"row","blob":"`+strings.Repeat("some words ", 20)+`"}`)
	}
	return resultOf(`{"rows":[` + strings.Join(list, ",") + `],"total":` + string(rune('0'+n%10)) + `,"secret":"s"}`)
}

// resultOf is a result with the value as text and as structuredContent.
func resultOf(value string) string {
	return string(rawjson.AppendString([]byte(`{"content":[{"type":"text","text":`), value)) + `}],"structuredContent":` + value + `}`
}

// do makes a call for a model, in the profile default.
func (w *world) do(who, tool, args string) (*Result, error) {
	return w.as(Request{Principal: access.Principal{ID: who, Role: access.Caller}, Profile: "default", AsListed: true}, tool, args)
}

func (w *world) as(req Request, tool, args string) (*Result, error) {
	w.t.Helper()
	var err error
	if req.Params, err = NewParams(tool, json.RawMessage(args)); err != nil {
		w.t.Fatal(err)
	}
	return w.Do(w.t.Context(), req)
}

// must makes a call that works.
func (w *world) must(who, tool, args string) *Result {
	w.t.Helper()
	res, err := w.do(who, tool, args)
	if err != nil {
		w.t.Fatalf("%s %s: %v", tool, args, err)
	}
	return res
}

// fetch gets a part of a result.
func (w *world) part(who, args string) (value json.RawMessage, next string) {
	w.t.Helper()
	raw := w.must(who, "fetch_result", args).Raw
	return rawjson.Get(raw, "structuredContent", "value"), string(rawjson.Get(raw, "structuredContent", "next_offset"))
}

// text is what the first block of a result says.
func text(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	for w := rawjson.Array(rawjson.Get(raw, "content")); w.Next(); {
		s, _ := rawjson.String(rawjson.Get(w.Value, "text"))
		return s
	}
	t.Fatalf("no text in %.200s", raw)
	return ""
}

const keepIDs = "results: [{id: ids, tool: cloud__env, keep: 'rows(id),total'}]\n"

// omitted is the note in a result.
func omitted(raw json.RawMessage) json.RawMessage {
	return rawjson.Get(raw, "structuredContent", project.Omitted)
}
