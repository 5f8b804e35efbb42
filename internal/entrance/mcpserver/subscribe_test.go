package mcpserver_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/entrance/mcpserver"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

// house is two servers, a and b, that both have the resource x://1, and a profile for each.
type house struct {
	*mcpserver.Server
	sessions *mcp.Sessions
	cat      *catalog.Catalog

	mu    sync.Mutex
	asked []string // what servers were asked, as "a resources/subscribe"
	serve func(server, method string) error
}

type fakeLister struct{}

func (fakeLister) List(context.Context, tool.ServerID) (upstream.Listing, error) {
	return upstream.Listing{
		Capabilities: json.RawMessage(`{"resources":{}}`),
		Resources:    []json.RawMessage{[]byte(`{"uri":"x://1"}`)}, Templates: []json.RawMessage{[]byte(`{"uriTemplate":"y://{n}"}`)},
	}, nil
}
func (fakeLister) Recognize(tool.ServerID, upstream.Listing) {}

type fakeKeeper struct{}

func (fakeKeeper) Servers(context.Context) ([]store.Server, error) { return nil, nil }
func (fakeKeeper) SaveTools(context.Context, store.Server) error   { return nil }
func (fakeKeeper) Server(context.Context, tool.ServerID) (store.Server, error) {
	return store.Server{}, nil
}
func (fakeKeeper) Decide(context.Context, tool.ServerID, []store.Decision) error     { return nil }
func (fakeKeeper) SaveCheck(context.Context, tool.ServerID, time.Time, string) error { return nil }

func newHouse(t *testing.T) *house {
	t.Helper()
	h := emptyHouse(t)
	for _, id := range []tool.ServerID{"a", "b"} {
		if err := h.cat.Refresh(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

// emptyHouse is a house whose servers were not listed yet.
func emptyHouse(t *testing.T) *house {
	t.Helper()
	h := &house{serve: func(string, string) error { return nil }}
	handler := func(server string) mcp.Handler {
		return mcp.HandlerFunc(func(_ context.Context, req *mcp.Request) (json.RawMessage, error) {
			h.mu.Lock()
			h.asked = append(h.asked, server+" "+req.Method)
			h.mu.Unlock()
			return json.RawMessage("{}"), h.serve(server, req.Method)
		})
	}
	pool := upstream.New(&upstream.Options{Builtins: map[string]upstream.Builtin{
		"a": func(config.Server) (mcp.Handler, error) { return handler("a"), nil },
		"b": func(config.Server) (mcp.Handler, error) { return handler("b"), nil },
	}})
	cfg := &config.Config{
		Servers:  []config.Server{{ID: "a", Builtin: "a"}, {ID: "b", Builtin: "b"}},
		Profiles: []config.Profile{{Name: "for a", Servers: []tool.ServerID{"a"}}, {Name: "for b", Servers: []tool.ServerID{"b"}}},
	}
	var err error
	h.cat, err = catalog.New(t.Context(), fakeLister{}, fakeKeeper{}, &catalog.Options{
		Changed: func(profile, kind string) { h.ResourcesChanged(profile) },
	})
	if err != nil {
		t.Fatal(err)
	}
	pool.Apply(cfg.Servers)
	h.cat.Apply(cfg)
	h.Server = mcpserver.New(h.cat, nil, pool, nil)
	h.sessions = mcp.NewSessions(&mcp.SessionsOptions{Ended: func(s *mcp.Session) { h.SessionEnded(context.Background(), s) }})
	t.Cleanup(func() { h.sessions.Close(); pool.Close() })
	return h
}

func (h *house) questions() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Join(h.asked, ", ")
}

// client speaks to the house on a pair of pipes.
type client struct {
	in    io.WriteCloser
	lines *bufio.Scanner
	ended chan error
}

func (h *house) client(t *testing.T, profile string) *client {
	t.Helper()
	in, send := io.Pipe()
	receive, out := io.Pipe()
	c := &client{in: send, lines: bufio.NewScanner(receive), ended: make(chan error, 1)}
	go func() {
		c.ended <- mcp.ServeStdio(t.Context(), in, out, h.sessions, h.Entry(access.Local(), profile), nil)
		out.Close()
	}()
	c.ask(t, `{"id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{}}}`)
	return c
}

func (c *client) ask(t *testing.T, message string) string {
	t.Helper()
	fmt.Fprintln(c.in, message)
	return c.hear(t)
}

func (c *client) hear(t *testing.T) string {
	t.Helper()
	if !c.lines.Scan() {
		t.Fatal("the output ended")
	}
	return c.lines.Text()
}

func (c *client) leave() {
	c.in.Close()
	<-c.ended
}

func subscribe(uri string) string {
	return fmt.Sprintf(`{"id":1,"method":"resources/subscribe","params":{"uri":%q}}`, uri)
}

const done = `{"jsonrpc":"2.0","id":1,"result":{}}`

// TestWhatAnotherReplicaHeldIsTakenUpWhenItsServerIsThere: a replica may get a session before it knows what there is.
func TestWhatAnotherReplicaHeldIsTakenUpWhenItsServerIsThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := emptyHouse(t)
		defer h.Close()
		var up atomic.Bool
		h.serve = func(_, method string) error {
			if !up.Load() && method == "resources/subscribe" {
				return errors.New("down")
			}
			return nil
		}
		session := &mcp.Session{ID: "s", Group: "for a"}
		h.TakeUp(t.Context(), session, []byte(`["x://1"]`))
		synctest.Wait()
		if got := h.questions(); got != "" {
			t.Errorf("asked without a list: %s", got)
		}
		if err := h.cat.Refresh(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second) // lists are gathered
		up.Store(true)
		h.Reopened(t.Context(), "a")
		synctest.Wait()
		h.SessionEnded(t.Context(), session)
		if got := h.questions(); got != "a resources/subscribe, a resources/subscribe, a resources/unsubscribe" {
			t.Errorf("asked %s", got)
		}
	})
}

func TestSubscriptionIsToTheServerThatTheProfileHas(t *testing.T) {
	h := newHouse(t)
	a, b := h.client(t, "for a"), h.client(t, "for b")
	if got := a.ask(t, subscribe("x://1")); got != done {
		t.Errorf("got %s", got)
	}
	if got := b.ask(t, subscribe("x://1")); got != done {
		t.Errorf("got %s", got)
	}
	if got := h.questions(); got != "a resources/subscribe, b resources/subscribe" {
		t.Errorf("asked %s", got)
	}
	h.Updated("b", json.RawMessage(`{"uri":"x://1","of":"b"}`))
	h.Updated("a", json.RawMessage(`{"uri":"x://1","of":"a"}`))
	if got := a.hear(t); !strings.Contains(got, `"of":"a"`) {
		t.Errorf("a client of a heard %s", got)
	}
	if got := b.hear(t); !strings.Contains(got, `"of":"b"`) {
		t.Errorf("a client of b heard %s", got)
	}
	if got := a.ask(t, `{"id":1,"method":"resources/unsubscribe","params":{"uri":"x://1"}}`); got != done {
		t.Errorf("got %s", got)
	}
	b.leave()
	a.leave()
	if got := h.questions(); !strings.HasSuffix(got, "b resources/subscribe, a resources/unsubscribe, b resources/unsubscribe") {
		t.Errorf("asked %s", got)
	}
}

func TestSubscriptionThatAServerRefusesIsRefusedToAllWhoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		answer := make(chan struct{})
		h.serve = func(string, string) error {
			<-answer
			return errors.New("no")
		}
		first, second := h.client(t, "for a"), h.client(t, "for a")
		fmt.Fprintln(first.in, subscribe("x://1"))
		synctest.Wait()
		fmt.Fprintln(second.in, subscribe("x://1"))
		synctest.Wait()
		close(answer)
		for _, c := range []*client{first, second} {
			if got := c.hear(t); !strings.Contains(got, `"error"`) {
				t.Errorf("got %s", got)
			}
		}
		if got := h.questions(); got != "a resources/subscribe" {
			t.Errorf("asked %s", got)
		}
		h.serve = func(string, string) error { return nil }
		if got := second.ask(t, subscribe("x://1")); got != done {
			t.Errorf("a refusal lasts: %s", got)
		}
		first.leave()
		second.leave()
	})
}

func TestServerHearsOfTheEndOfASubscriptionBeforeTheNextOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		var order []string // of what was answered
		gate := make(chan struct{})
		h.serve = func(_, method string) error {
			if method == "resources/unsubscribe" {
				<-gate
			}
			order = append(order, method)
			return nil
		}
		first, second := h.client(t, "for a"), h.client(t, "for a")
		if got := first.ask(t, subscribe("x://1")); got != done {
			t.Fatal(got)
		}
		fmt.Fprintln(first.in, `{"id":1,"method":"resources/unsubscribe","params":{"uri":"x://1"}}`)
		synctest.Wait()
		fmt.Fprintln(second.in, subscribe("x://1"))
		synctest.Wait()
		if got := h.questions(); got != "a resources/subscribe, a resources/unsubscribe" {
			t.Errorf("while the server is told of the end, it is asked %s", got)
		}
		close(gate)
		for _, c := range []*client{first, second} {
			if got := c.hear(t); got != done {
				t.Errorf("got %s", got)
			}
		}
		if got := strings.Join(order, " "); got != "resources/subscribe resources/unsubscribe resources/subscribe" {
			t.Errorf("the server heard %s", got)
		}
		first.leave()
		second.leave()
	})
}

func TestServerHearsOfASubscriptionBeforeItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		gate := make(chan struct{})
		h.serve = func(_, method string) error {
			if method == "resources/subscribe" {
				<-gate
			}
			return nil
		}
		c := h.client(t, "for a")
		fmt.Fprintln(c.in, subscribe("x://1"))
		synctest.Wait()
		fmt.Fprintln(c.in, `{"id":2,"method":"resources/unsubscribe","params":{"uri":"x://1"}}`)
		synctest.Wait()
		if got := h.questions(); got != "a resources/subscribe" {
			t.Errorf("before it has answered, the server is asked %s", got)
		}
		close(gate)
		c.hear(t)
		c.hear(t)
		if got := h.questions(); got != "a resources/subscribe, a resources/unsubscribe" {
			t.Errorf("asked %s", got)
		}
		c.leave()
	})
}

func TestSubscriptionsOfAClientAreBounded(t *testing.T) {
	h := newHouse(t)
	c := h.client(t, "for a")
	for i := range 1000 {
		if got := c.ask(t, subscribe(fmt.Sprint("y://", i))); got != done {
			t.Fatalf("subscription %d: %s", i, got)
		}
	}
	if got := c.ask(t, subscribe("y://more")); !strings.Contains(got, "at most 1000 subscriptions") {
		t.Errorf("got %s", got)
	}
	if got := c.ask(t, subscribe("y://7")); got != done {
		t.Errorf("one that it has was refused: %s", got)
	}
	c.leave()
	if n := strings.Count(h.questions(), "unsubscribe"); n != 1000 {
		t.Errorf("%d were ended", n)
	}
}
