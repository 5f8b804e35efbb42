package restapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/state/store"
)

// event is one as a client reads it.
type event struct {
	Type string
	At   time.Time
	Seq  int64
	Data json.RawMessage
}

// client listens to events.
type client struct {
	*websocket.Conn
	t       *testing.T
	schemas schemas
}

func (g *gateway) listen(t *testing.T, who, subscribe string) *client {
	t.Helper()
	conn, _, err := websocket.Dial(t.Context(), g.URL+"/api/v1/events", &websocket.DialOptions{
		HTTPHeader: http.Header{"Authorization": {"Bearer " + g.keys[who]}},
		HTTPClient: &http.Client{Transport: &http.Transport{DialContext: dialNarrow}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.CloseNow() })
	c := &client{conn, t, newSchemas(t)}
	if subscribe != "" {
		c.schemas.check(t, "Subscribe", subscribe)
		c.send(subscribe)
		if e := c.next(); e.Type != "subscribed" {
			t.Fatalf("got %s %s", e.Type, e.Data)
		}
	}
	return c
}

// dialNarrow connects with a receive buffer that stays small: systems make one as large as
// what nobody reads, up to 32 MB.
func dialNarrow(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if err == nil {
		err = conn.(*net.TCPConn).SetReadBuffer(64 << 10)
	}
	return conn, err
}

func (c *client) send(text string) {
	c.t.Helper()
	if err := c.Write(c.t.Context(), websocket.MessageText, []byte(text)); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) next() event {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), patience)
	defer cancel()
	_, text, err := c.Read(ctx)
	if err != nil {
		c.t.Fatal(err)
	}
	c.schemas.check(c.t, "Event", string(text))
	var e event
	if err := json.Unmarshal(text, &e); err != nil {
		c.t.Fatal(err)
	}
	return e
}

// until reads events until one is as wanted.
func (c *client) until(what string, so func(event) bool) event {
	c.t.Helper()
	for range 10_000 { // more than any test makes
		if e := c.next(); so(e) {
			return e
		}
	}
	c.t.Fatalf("%s: not among 10,000 events", what)
	return event{}
}

func TestFinishedCallsAreTold(t *testing.T) {
	g := newGateway(t)
	g.ask(t, "root", "GET", "/api/v1/tools", "") // waits for the first lists
	root := g.listen(t, "root", `{"type":"subscribe","topics":["call.finished"]}`)
	ann := g.listen(t, "ann", `{"type":"subscribe","topics":["call.finished"]}`)
	notes := g.listen(t, "eye", `{"type":"subscribe","topics":["call.finished"],"filter":{"tool":"shop__get_order"}}`)
	bobs := g.call(t, "bob", "shop__list_orders", `{}`)
	anns := g.call(t, "ann", "shop__list_orders", `{}`)
	last := g.call(t, "ann", "shop__get_order", `{"id":1}`)
	for _, c := range []struct {
		name string
		from *client
		want []string
	}{{"an admin hears of all", root, []string{bobs, anns, last}}, {"a caller hears of its own", ann,
		[]string{anns, last}}, {"a filter chooses", notes, []string{last}}} {
		for i, id := range c.want {
			e := c.from.next()
			var call restapi.Call
			if err := json.Unmarshal(e.Data, &call); err != nil || e.Type != "call.finished" || call.ID != id || e.Seq != int64(i+2) {
				t.Errorf("%s: %v: got %s %d %s, want %s", c.name, err, e.Type, e.Seq, e.Data, id)
			}
			c.from.schemas.check(t, "Call", string(e.Data))
		}
	}
}

func TestStartedCallsAreTold(t *testing.T) {
	g := newGateway(t)
	g.ask(t, "root", "GET", "/api/v1/tools", "") // waits for the first lists
	root := g.listen(t, "root", `{"type":"subscribe","topics":["call.started","call.finished"]}`)
	ann := g.listen(t, "ann", `{"type":"subscribe","topics":["call.started"]}`)
	g.call(t, "bob", "shop__list_orders", `{}`)
	id := g.call(t, "ann", "shop__list_orders", `{}`)
	if e := ann.next(); e.Type != "call.started" || !strings.Contains(string(e.Data), `"id":"`+id+`"`) ||
		!strings.Contains(string(e.Data), "shop__list_orders") {
		t.Errorf("a caller heard %s %s", e.Type, e.Data)
	}
	started := 0
	for range 4 { // two calls, each with its start and its end; the two kinds come on ways of their own
		if root.next().Type == "call.started" {
			started++
		}
	}
	if started != 2 {
		t.Errorf("an admin heard of %d starts", started)
	}
}

func TestChangedServersAndToolsAreTold(t *testing.T) {
	g := newGateway(t)
	g.ask(t, "root", "GET", "/api/v1/tools", "") // waits for the first lists
	g.newKey(t, "root", `{"name":"wide","profile":"wide"}`)
	root := g.listen(t, "root", `{"type":"subscribe","topics":["server.changed","tools.changed"],"filter":{"server":"extra"}}`)
	wide := g.listen(t, "wide", `{"type":"subscribe"}`)
	ann := g.listen(t, "ann", `{"type":"subscribe"}`)

	state := func(want string) func(event) bool {
		return func(e event) bool {
			var s restapi.Server
			return e.Type == "server.changed" && json.Unmarshal(e.Data, &s) == nil && s.ID == "extra" && string(s.State) == want
		}
	}
	if status, body := g.ask(t, "root", "POST", "/api/v1/servers", addExtra); status != 201 {
		t.Fatalf("HTTP %d %s", status, body)
	}
	tools := func(e event) bool { return e.Type == "tools.changed" && strings.Contains(string(e.Data), `"wide"`) }
	root.until("an admin hears of the list of every profile", tools)
	wide.until("a caller hears of its own list", tools)
	e := root.until("the server comes up", state("up"))
	root.schemas.check(t, "Server", string(e.Data))
	wide.until("a caller of a profile that has it hears of it", state("up"))
	g.ask(t, "root", "DELETE", "/api/v1/servers/extra", "")
	root.until("the server is removed", state("removed"))

	// What another profile has is not told; so the next that ann hears is its own call.
	id := g.call(t, "ann", "shop__list_orders", `{}`)
	if e := ann.until("its own call", func(e event) bool {
		return !strings.Contains(string(e.Data),
			`"id":"shop"`)
	}); !strings.Contains(string(e.Data), id) {
		t.Errorf("ann heard %s %s", e.Type, e.Data)
	}
}

func TestWrongMessagesAreAnsweredAndChangeNothing(t *testing.T) {
	g := newGateway(t)
	g.ask(t, "root", "GET", "/api/v1/tools", "") // waits for the first lists
	c := g.listen(t, "root", `{"type":"subscribe","topics":["call.finished"]}`)
	for _, wrong := range []string{``, `{`, `5`, `{}`, `{"type":"publish"}`, `{"type":"subscribe","topics":["nope"]}`,
		`{"type":"subscribe","topics":"call.finished"}`, `{"type":"subscribe","more":1}`} {
		c.send(wrong)
		e := c.next()
		if e.Type != "error" {
			t.Errorf("%s: got %s %s", wrong, e.Type, e.Data)
		}
		c.schemas.check(t, "Fault", string(e.Data))
	}
	id := g.call(t, "ann", "shop__list_orders", `{}`)
	if e := c.next(); e.Type != "call.finished" || !strings.Contains(string(e.Data), id) {
		t.Errorf("got %s %s", e.Type, e.Data)
	}
	c.send(`{"type":"subscribe","topics":["tools.changed"]}`)
	c.until("the new subscription", func(e event) bool { return e.Type == "subscribed" })
	g.call(t, "ann", "shop__list_orders", `{}`)
	c.send(`{}`)
	if e := c.next(); e.Type != "error" {
		t.Errorf("a topic that was left out was told: %s", e.Type)
	}
}

func TestMessagesThatNoClientSendsEndTheConnection(t *testing.T) {
	g := newGateway(t)
	cases := []struct {
		name string
		kind websocket.MessageType
		text string
		want websocket.StatusCode
	}{
		{"a large one", websocket.MessageText, strings.Repeat("x", 20_000), websocket.StatusMessageTooBig},
		{"no text", websocket.MessageBinary, "{}", websocket.StatusUnsupportedData},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			conn := g.listen(t, "root", "")
			if err := conn.Write(t.Context(), c.kind, []byte(c.text)); err != nil {
				t.Fatal(err)
			}
			if _, _, err := conn.Read(t.Context()); websocket.CloseStatus(err) != c.want {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

func TestOnlyThoseLetInListen(t *testing.T) {
	g := newGateway(t)
	key := "Bearer " + g.keys["ann"]
	cases := []struct {
		name   string
		header http.Header
		status int
	}{
		{"no key", http.Header{}, 401},
		{"a page of another site", http.Header{"Authorization": {key}, "Origin": {"https://evil.example.com"}}, 403},
		{"a page of this one", http.Header{"Authorization": {key}, "Origin": {g.URL}}, 101},
		{"a page on another port of this machine", http.Header{"Authorization": {key}, "Origin": {"http://localhost:9"}}, 403},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			conn, resp, err := websocket.Dial(t.Context(), g.URL+"/api/v1/events", &websocket.DialOptions{HTTPHeader: c.header})
			if err == nil {
				defer conn.CloseNow()
			}
			if resp == nil || resp.StatusCode != c.status {
				t.Errorf("got %+v, %v", resp, err)
			}
		})
	}
}

// TestSlowListenerHoldsNothingUp floods a client that reads nothing, then lets it read.
func TestSlowListenerHoldsNothingUp(t *testing.T) {
	g := newGateway(t)
	c := g.listen(t, "root", `{"type":"subscribe","topics":["call.finished"]}`)
	c.SetReadLimit(1 << 20)
	const n = 4000
	for i := range n {
		call := store.Call{ID: fmt.Sprintf("c_%08d", i), Outcome: "ok", Level: "info", Message: strings.Repeat("m", 4000)}
		if err := g.app.Records.Add(t.Context(), call); err != nil {
			t.Fatal(err)
		}
	}
	gap := c.until("a gap", func(e event) bool { return e.Type == "gap" })
	var lost struct{ Lost int64 }
	if err := json.Unmarshal(gap.Data, &lost); err != nil || lost.Lost == 0 {
		t.Errorf("%v: %s", err, gap.Data)
	}
	g.app.Records.Flush(t.Context()) // a gateway that ends has only some seconds for what is left
}

func TestListenersLeaveWhenTheGatewayEnds(t *testing.T) {
	var polite, deaf *websocket.Conn
	t.Cleanup(func() { deaf.CloseNow() }) // after the gateway's end, which must not wait for it
	g := newGateway(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- g.app.Serve(ctx, l, nil) }()
	dial := func() *websocket.Conn {
		conn, _, err := websocket.Dial(t.Context(), "http://"+l.Addr().String()+"/api/v1/events", &websocket.DialOptions{
			HTTPHeader: http.Header{"Authorization": {"Bearer " + g.keys["ann"]}},
		})
		if err != nil {
			t.Fatal(err)
		}
		return conn
	}
	polite, deaf = dial(), dial() // the second never reads, so it never says goodbye
	stop()
	if _, _, err := polite.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusGoingAway {
		t.Errorf("got %v", err)
	}
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(patience):
		t.Fatal("the gateway does not end")
	}
	if status, body := g.ask(t, "", "GET", "/readyz", ""); status != 503 || body != "not ready: going down\n" {
		t.Errorf("a probe: HTTP %d %s", status, body)
	}
	if status, body := g.ask(t, "ann", "GET", "/api/v1/events", ""); status != 503 {
		t.Errorf("a new listener: HTTP %d %s", status, body)
	}
}

func TestOnePrincipalCannotTakeAllEventConnections(t *testing.T) {
	g := newGateway(t)
	events := g.app.API(nil).Events
	n := 0
	for {
		leave, err := events.Join("greedy")
		if err != nil {
			if !fault.Is(err, fault.RateLimited) || !strings.Contains(err.Error(), "you already have") {
				t.Error(err)
			}
			break
		}
		defer leave()
		n++
	}
	if n >= restapi.MaxListeners {
		t.Errorf("one principal has %d", n)
	}
	g.listen(t, "ann", `{"type":"subscribe","topics":["call.finished"]}`)
}
