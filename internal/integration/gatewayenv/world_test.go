package gatewayenv_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolfit/toolfit/env"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/integration/gatewayenv"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

// world is a gateway as an environment over a real store.
type world struct {
	*gatewayenv.Gateway
	store  *store.Store
	config *config.Config

	recent []store.Call // what was called last, the newest first

	mu     sync.Mutex
	events []string // what was told of sessions: kind, owner and id
}

const file = `
mcpServers: {shop: {command: shop}}
models: {m: {url: "http://127.0.0.1:1/v1", key: "${KEY}"}}
profiles: {default: {names: bare}, ops: {}}
agents:
  helper: {description: 帮手, prompt: "the key is ${KEY}", available_tools: ["shop__*order*"], denied_tools: [drop_order]}
  scout: {role: sub, metadata: {team: 数据, key: "${KEY}", big: 10000000000000000001}}
  guard: {profile: ops, role: sub, available_tools: [nothing]}
`

// each runs a test on every kind of store.
func each(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	t.Run("SQLite", func(t *testing.T) { test(t, newWorld(t, filepath.Join(t.TempDir(), "toolfit.db"))) })
	t.Run("PostgreSQL", func(t *testing.T) { test(t, newWorld(t, testparts.NeedPostgres(t).Schema(t))) })
}

func newWorld(t testing.TB, dsn string) *world {
	t.Helper()
	cfg, err := config.Parse("toolfit.yaml", []byte(file), func(string) (string, bool) { return "s3cret", true })
	if err != nil {
		t.Fatal(err)
	}
	w := &world{config: cfg}
	if w.store, err = store.Open(t.Context(), dsn, &store.Options{SessionChanged: w.heard}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.store.Close() })
	views, err := catalog.New(t.Context(), noLister{}, keeper{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	views.Apply(cfg)
	w.Gateway = gatewayenv.New(gatewayenv.Parts{
		Config: func() *config.Config { return cfg }, Catalog: views, Store: w.store, Version: "1.2",
		Recent: func(n int) []store.Call { return slices.Clone(w.recent[:min(n, len(w.recent))]) },
		Redact: func(text string) string { return strings.ReplaceAll(text, "s3cret", "***") },
	})
	return w
}

func (w *world) heard(kind string, s store.Session) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = append(w.events, kind+" "+s.Owner+" "+s.ID)
}

// ask is the options that a caller has in a profile.
func (w *world) ask(t *testing.T, who access.Principal, profile string) *env.Client {
	t.Helper()
	return serve(t, w.Options(who, profile))
}

// keeper has one server with three tools.
type keeper struct{}

func (keeper) Servers(context.Context) ([]store.Server, error) {
	var tools []store.Tool
	for _, name := range []string{"list_orders", "drop_order", "fail"} {
		tools = append(tools, store.Tool{Name: name,
			Definition: json.RawMessage(`{"name":"` + name + `","inputSchema":{"type":"object"}}`)})
	}
	return []store.Server{{ID: "shop", ListedAt: time.Now(), Tools: tools}}, nil
}

func (keeper) SaveTools(context.Context, store.Server) error { return nil }
func (keeper) Server(context.Context, tool.ServerID) (store.Server, error) {
	return store.Server{}, nil
}
func (keeper) Decide(context.Context, tool.ServerID, []store.Decision) error     { return nil }
func (keeper) SaveCheck(context.Context, tool.ServerID, time.Time, string) error { return nil }

type noLister struct{}

func (noLister) List(context.Context, tool.ServerID) (upstream.Listing, error) {
	return upstream.Listing{}, nil
}
func (noLister) Recognize(tool.ServerID, upstream.Listing) {}

func caller(id, profile string) access.Principal {
	return access.Principal{ID: id, Name: id, Role: access.Caller, Profile: profile}
}

func viewer(id string) access.Principal {
	return access.Principal{ID: id, Name: id, Role: access.Viewer, Profile: access.AnyProfile}
}
