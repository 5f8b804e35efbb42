package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/gateway/call"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/gateway/waiting"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

// shop is a gateway with one server, whose calls are detached soon. Its tools wait for the test:
// "slow" and "typed", which has an output schema, until they are released; "asks" for answers;
// "races" ends when it would be detached.
type shop struct {
	*door
	server *Server
	calls  *waiting.Calls
	store  *store.Store

	mu       sync.Mutex
	n        int
	records  []store.Call
	release  chan struct{} // closed by let
	canceled int           // calls whose server was told that they are canceled
}

const detachAfter = 150 * time.Millisecond

// shopTools are listed by the shop's server.
type shopTools struct{}

func (shopTools) List(context.Context, tool.ServerID) (upstream.Listing, error) {
	l := upstream.Listing{Capabilities: json.RawMessage(`{"tools":{}}`)}
	for _, name := range []string{"quick", "slow", "asks", "fails", "counts", "races"} {
		l.Tools = append(l.Tools, tool.Definition{Name: name, Raw: json.RawMessage(`{"name":"` + name + `","inputSchema":{"type":"object"}}`)})
	}
	typed := `{"name":"typed","inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{"n":{"type":"integer"}}}}`
	l.Tools = append(l.Tools, tool.Definition{Name: "typed", Raw: json.RawMessage(typed)})
	return l, nil
}
func (shopTools) Recognize(tool.ServerID, upstream.Listing) {}

type noKeeper struct{}

func (noKeeper) Servers(context.Context) ([]store.Server, error) { return nil, nil }
func (noKeeper) SaveTools(context.Context, store.Server) error   { return nil }
func (noKeeper) Server(context.Context, tool.ServerID) (store.Server, error) {
	return store.Server{}, nil
}
func (noKeeper) Decide(context.Context, tool.ServerID, []store.Decision) error     { return nil }
func (noKeeper) SaveCheck(context.Context, tool.ServerID, time.Time, string) error { return nil }

func newShop(t *testing.T) *shop {
	s := &shop{release: make(chan struct{})}
	var err error
	s.store, err = store.Open(context.Background(), filepath.Join(t.TempDir(), "toolfit.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	pool := upstream.New(&upstream.Options{Builtins: map[string]upstream.Builtin{
		"s": func(config.Server) (mcp.Handler, error) { return mcp.HandlerFunc(s.serve), nil },
	}})
	cfg := &config.Config{
		Servers:  []config.Server{{ID: "s", Builtin: "s"}},
		Profiles: []config.Profile{{Name: "default", Servers: []tool.ServerID{"s"}}},
		Detach:   config.Detach(detachAfter),
	}
	cat, err := catalog.New(t.Context(), shopTools{}, noKeeper{}, &catalog.Options{Own: call.OwnTools(false)})
	if err != nil {
		t.Fatal(err)
	}
	pool.Apply(cfg.Servers)
	cat.Apply(cfg)
	if err := cat.Refresh(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	var caller *call.Caller
	s.calls = waiting.New(s.store, &waiting.Options{
		GoOn:     func(ctx context.Context, l *waiting.Live) { caller.GoOn(ctx, l) },
		Changed:  func(w store.Waiting) { s.server.CallChanged(w) },
		Canceled: func(w store.Waiting) { caller.Canceled(w) },
	})
	caller = call.New(cat, pool, s, &call.Options{Results: s.store, Waiting: s.calls})
	s.server = New(cat, caller, pool, &Options{Waiting: s.calls})
	s.door = newDoor(t, func(who string) mcp.Entry {
		return s.server.Entry(access.Principal{ID: who, Role: access.Caller}, "default")
	}, func(session *mcp.Session) { s.server.SessionEnded(context.Background(), session) })
	t.Cleanup(func() {
		s.calls.Close()
		s.server.Close()
		pool.Close()
		s.store.Close()
	})
	return s
}

// let lets the slow calls end.
func (s *shop) let() { close(s.release) }

// serve is the shop's server.
func (s *shop) serve(ctx context.Context, req *mcp.Request) (json.RawMessage, error) {
	name, _ := rawjson.String(rawjson.Get(req.Params, "name"))
	text := func(format string, args ...any) json.RawMessage {
		said := rawjson.AppendString([]byte(`{"content":[{"type":"text","text":`), fmt.Sprintf(format, args...))
		return append(said, `}]}`...)
	}
	switch name {
	case "slow", "typed", "fails", "counts":
		if name == "counts" {
			req.Client.Notify(ctx, "notifications/progress", json.RawMessage(`{"progressToken":1,"progress":3,"total":10}`))
		}
		select {
		case <-s.release:
		case <-ctx.Done():
			s.mu.Lock()
			s.canceled++
			s.mu.Unlock()
			return nil, ctx.Err()
		}
	case "races":
		time.Sleep(detachAfter + time.Duration(rand.IntN(10_000)-4000)*time.Microsecond)
	case "asks":
		time.Sleep(2 * detachAfter)
		var said []json.RawMessage
		for _, question := range []string{"name?", "color?"} {
			params := fmt.Sprintf(`{"message":%q,"requestedSchema":{"type":"object","properties":{}}}`, question)
			answer, err := req.Client.Ask(ctx, "elicitation/create", json.RawMessage(params))
			if err != nil {
				return text("not answered: %v", err), nil
			}
			said = append(said, answer)
		}
		return text("%s", said), nil
	}
	switch name {
	case "fails":
		return nil, mcp.Errorf(-32099, "broken")
	case "typed":
		return json.RawMessage(`{"content":[{"type":"text","text":"{\"n\":1}"}],"structuredContent":{"n":1}}`), nil
	}
	return text("done %s", name), nil
}

// NewID names a call.
func (s *shop) NewID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n++
	return string(store.AppendCallTime(nil, time.Now())) + fmt.Sprintf("%04d", s.n)
}

func (s *shop) Refuses() error { return nil }

func (s *shop) Add(_ context.Context, c store.Call) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.records = append(s.records, c)
	return nil
}

// recorded are the outcomes of the calls of a tool that are on record.
func (s *shop) recorded(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []string
	for _, c := range s.records {
		if strings.HasSuffix(string(c.Tool), name) {
			all = append(all, c.Outcome)
		}
	}
	return strings.Join(all, " ")
}

// told is how many calls the server was told are canceled.
func (s *shop) told() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.canceled
}

// text is the member of a result.
func text(raw string, path ...string) string {
	value := rawjson.Get([]byte(raw), path...)
	if s, ok := rawjson.String(value); ok {
		return s
	}
	return string(value)
}
