package console_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/toolfit/toolfit/internal/state/access"
)

// listen opens the live connection as a page of the origin would.
func (p *person) listen(query, origin string) (*websocket.Conn, error) {
	p.t.Helper()
	conn, _, err := websocket.Dial(p.t.Context(), p.URL+"/calls/live"+query,
		&websocket.DialOptions{HTTPClient: p.client, HTTPHeader: http.Header{"Origin": {origin}}})
	if err == nil {
		p.t.Cleanup(func() { conn.CloseNow() })
	}
	return conn, err
}

// hear reads the next rows.
func hear(t *testing.T, conn *websocket.Conn) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	_, rows, err := conn.Read(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return read(rows)
}

func TestLiveRowsAreThoseThatWereAskedFor(t *testing.T) {
	w := newWorld(t, demoConfig)
	conn, err := w.person().listen("?outcome=error", w.URL)
	if err != nil {
		t.Fatal(err)
	}
	w.post("shop__list_orders", `{}`)
	w.post("shop__get_order", `{}`)
	if rows := hear(t, conn); strings.Contains(rows, "shop__list_orders") || !strings.Contains(rows, "shop__get_order") {
		t.Errorf("got %s", rows)
	}
}

func TestLiveRowsBeginWithWhatThePageMayLack(t *testing.T) {
	w := newWorld(t, demoConfig)
	p := w.person()
	p.ask("GET", "/calls?tool=shop__list_orders", nil)
	w.post("shop__list_orders", `{}`)
	w.post("shop__get_order", `{}`)
	conn, err := p.listen("?tool=shop__list_orders", w.URL)
	if err != nil {
		t.Fatal(err)
	}
	if rows := hear(t, conn); strings.Contains(rows, "shop__get_order") || !strings.Contains(rows, "shop__list_orders") {
		t.Errorf("got %s", rows)
	}
}

func TestLiveRowsOfOthersStayTheirs(t *testing.T) {
	w := newWorld(t, demoConfig)
	conns := map[string]*websocket.Conn{}
	people := map[string]*person{}
	for _, name := range []string{"ann", "bob"} {
		people[name] = w.person()
		people[name].signIn(w.key(name, "orders", access.Caller))
		conn, err := people[name].listen("", w.URL)
		if err != nil {
			t.Fatal(err)
		}
		conns[name] = conn
	}
	people["ann"].ask("POST", "/tools/shop__list_orders/try", map[string][]string{"a:limit": {"1"}})
	people["bob"].ask("POST", "/tools/shop__get_order/try", map[string][]string{"a:id": {"1"}})
	if rows := hear(t, conns["bob"]); strings.Contains(rows, "list_orders") || !strings.Contains(rows, "get_order") {
		t.Errorf("bob hears %s", rows)
	}
	if rows := hear(t, conns["ann"]); strings.Contains(rows, "get_order") || !strings.Contains(rows, "list_orders") {
		t.Errorf("ann hears %s", rows)
	}
}

func TestLiveConnectionsAreForOurOwnPages(t *testing.T) {
	w := newWorld(t, demoConfig)
	for _, origin := range []string{"http://127.0.0.1:1", "https://evil.example", "null"} {
		if _, err := w.person().listen("", origin); err == nil {
			t.Errorf("a page of %s listens", origin)
		}
	}
	w.key("root", "*", access.Admin)
	if _, err := w.person().listen("", w.URL); err == nil {
		t.Error("a stranger listens")
	}
}

func TestLiveConnectionsEndWithTheGateway(t *testing.T) {
	w := newWorld(t, demoConfig)
	conn, err := w.person().listen("", w.URL)
	if err != nil {
		t.Fatal(err)
	}
	w.post("shop__list_orders", `{}`)
	hear(t, conn)
	if err := w.app.Close(); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for err == nil { // what was on its way comes first
		_, _, err = conn.Read(ctx)
	}
	if ctx.Err() != nil {
		t.Errorf("it goes on: %v", err)
	}
}
