package chatapi_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/toolfit/toolfit/internal/agent/script"
	"github.com/toolfit/toolfit/internal/program/app"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what must come, however busy the machine is.
const patience = time.Minute

// gateway is a whole one, with a scripted model.
type gateway struct {
	*httptest.Server
	app   *app.App
	asked atomic.Int64 // how often the model was asked
	say   atomic.Pointer[func(*script.Request) script.Answer]
}

const gatewayConfig = `
store: t.db
mcpServers: {shop: {builtin: demo-shop}}
models:
  m: {url: "%[1]s/v1", retries: 0}
  down: {url: "%[2]s/v1", retries: 0}
profiles: {default: {}, orders: {tools: {allow: ["shop__*order*"]}}}
agents:
  helper: {model: m}
  broken: {model: down}
  clerk:  {model: m, profile: orders}
`

// readOrders asks for orders, and then says something about them.
func readOrders(r *script.Request) script.Answer {
	if r.Last().Role == "tool" {
		return script.Answer{Text: "有订单。", Reasoning: "thinking"}
	}
	return script.Answer{Text: "我来看看。", Calls: []script.Call{{Name: "shop__list_orders", Arguments: `{"limit":1}`}}}
}

func newGateway(t testing.TB) *gateway {
	t.Helper()
	g := &gateway{}
	script1 := readOrders
	g.say.Store(&script1)
	model := httptest.NewServer(script.New(func(r *script.Request) script.Answer {
		g.asked.Add(1)
		return (*g.say.Load())(r)
	}))
	t.Cleanup(model.Close)
	down := httptest.NewServer(script.New(func(*script.Request) script.Answer {
		return script.Answer{Status: http.StatusUnauthorized, Message: "no such key"}
	}))
	t.Cleanup(down.Close)
	cfg, err := config.Parse(filepath.Join(t.TempDir(), "toolfit.yaml"), fmt.Appendf(nil, gatewayConfig, model.URL, down.URL), nil)
	if err != nil {
		t.Fatal(err)
	}
	if g.app, err = app.New(t.Context(), cfg, nil); err != nil {
		t.Fatal(err)
	}
	g.Server = httptest.NewServer(g.app.Handler())
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		g.Close()
		if err := g.app.Close(); err != nil {
			t.Error(err)
		}
	})
	return g
}

func (g *gateway) script(say func(*script.Request) script.Answer) { g.say.Store(&say) }

// key makes a key.
func (g *gateway) key(t testing.TB, name, profile string, role access.Role) string {
	t.Helper()
	text, row, err := access.NewKey(name, profile, role, nil)
	if err != nil {
		t.Fatal(err)
	}
	row.CreatedAt = time.Now()
	if err := g.app.Store.CreateKey(t.Context(), row); err != nil {
		t.Fatal(err)
	}
	if err := g.app.Keys.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	return text
}

// client is the official one.
func (g *gateway) client(key string) openai.Client {
	if key == "" {
		key = "none"
	}
	return openai.NewClient(option.WithBaseURL(g.URL+"/v1/"), option.WithAPIKey(key), option.WithHTTPClient(http.DefaultClient))
}
