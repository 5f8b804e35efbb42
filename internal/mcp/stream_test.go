package mcp

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
)

// listeningClient is a client on one connection, with a session's stream.
type listeningClient struct {
	net.Conn
	in     *bufio.Reader
	stream *http.Response
	events *Events
}

// listen opens the stream of a session, which the front has taken from the server when it returns.
func (f *testFront) listen(t *testing.T, header map[string]string, version string) *listeningClient {
	t.Helper()
	conn, err := net.Dial("tcp", f.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	c := &listeningClient{Conn: conn, in: bufio.NewReader(conn)}
	c.send(t, "GET / "+version, header, "")
	c.stream = c.read(t)
	c.events = NewEvents(c.stream.Body, 1000)
	return c
}

func (c *listeningClient) send(t *testing.T, line string, header map[string]string, body string) {
	t.Helper()
	if _, err := fmt.Fprintf(c, "%s\r\nHost: x\r\nContent-Type: application/json\r\n%s: %s\r\nContent-Length: %d\r\n\r\n%s",
		line, sessionHeader, header[sessionHeader], len(body), body); err != nil {
		t.Fatal(err)
	}
}

func (c *listeningClient) read(t *testing.T) *http.Response {
	t.Helper()
	resp, err := http.ReadResponse(c.in, nil)
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

const changed = "notifications/tools/list_changed"

func (c *listeningClient) hears(t *testing.T, f *testFront) {
	t.Helper()
	f.sessions.Broadcast("default", changed, nil)
	if ev, err := c.events.Next(); err != nil || string(ev.Data) != `{"jsonrpc":"2.0","method":"`+changed+`"}` {
		t.Fatalf("got %s, %v", ev.Data, err)
	}
}

func TestAConnectionServesOnAfterItsStream(t *testing.T) {
	f := newTestFront(t, nil)
	h := f.open(t, Latest)
	c := f.listen(t, h, "HTTP/1.1")
	for range 3 {
		c.hears(t, f)
		f.sessions.HangUp()
		if _, err := c.events.Next(); err != io.EOF {
			t.Fatalf("the stream does not end as it should: %v", err)
		}
		c.send(t, "POST / HTTP/1.1", h, ping)
		resp := c.read(t)
		if body, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("HTTP %d after the stream: %s, %v", resp.StatusCode, body, err)
		}
		c.send(t, "GET / HTTP/1.1", h, "")
		c.stream = c.read(t)
		c.events = NewEvents(c.stream.Body, 1000)
	}
	if n := f.taken.Load(); n < 3 {
		t.Errorf("%d streams of 4 were taken from the server", n)
	}
}

func TestAStreamEndsWithItsClientAndWithTheGateway(t *testing.T) {
	for _, version := range []string{"HTTP/1.0", "HTTP/1.1"} {
		f := newTestFront(t, nil)
		h := f.open(t, Latest)
		s := f.sessions.get(h[sessionHeader], "", "default")
		c := f.listen(t, h, version)
		c.hears(t, f)
		c.Close()
		waitFor(t, func() bool { return !s.news.reading() })
		c = f.listen(t, h, version)
		c.hears(t, f)
		f.sessions.Close() // waits for the stream
		if s.news.reading() {
			t.Error("the stream goes on")
		}
		if _, err := c.events.Next(); err != io.EOF {
			t.Errorf("%s: the stream does not end as it should: %v", version, err)
		}
	}
}

func TestAClientThatTalksDuringItsStreamHearsItToItsEnd(t *testing.T) {
	f := newTestFront(t, nil)
	h := f.open(t, Latest)
	c := f.listen(t, h, "HTTP/1.1")
	c.hears(t, f)
	c.send(t, "POST / HTTP/1.1", h, ping)
	c.hears(t, f)
	f.sessions.HangUp()
	if _, err := c.events.Next(); err != io.EOF {
		t.Errorf("the stream does not end as it should: %v", err)
	}
	// It asks again on another connection, unless the request came so late that it is answered.
	if resp, err := http.ReadResponse(c.in, nil); err == nil && resp.StatusCode != http.StatusOK {
		t.Errorf("HTTP %d for a request during the stream", resp.StatusCode)
	}
}

func TestAClientThatTalksTooMuchDuringItsStreamIsGone(t *testing.T) {
	f := newTestFront(t, nil)
	c := f.listen(t, f.open(t, Latest), "HTTP/1.1")
	c.hears(t, f)
	for sent := 0; ; sent += 1 << 16 {
		if _, err := c.Write(make([]byte, 1<<16)); err != nil {
			return
		}
		if sent > 64<<20 {
			t.Fatal("64 MB were taken")
		}
	}
}
