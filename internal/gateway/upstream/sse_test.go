//go:build unix

package upstream

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/gateway/httpapi"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/config"
)

// carrier is an HTTP transport without a network, so that time can be that of the test.
type carrier func(*http.Request) (*http.Response, error)

func (c carrier) RoundTrip(r *http.Request) (*http.Response, error) { return c(r) }

func response(status int, contentType string, body io.ReadCloser) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {contentType}}, Body: body}
}

// openEventLink opens a session of the oldest transport. Post gets our messages; what is
// written to the returned pipe is the server's stream.
// dialOld dials a server of the oldest transport.
func dialOld(t *testing.T, rt http.RoundTripper) (conn, error) {
	t.Helper()
	r, err := newRemote(config.Server{ID: "old", URL: "https://example.com/sse"}, httpapi.Static(nil), rt, 1000, hooks{})
	if err != nil {
		t.Fatal(err)
	}
	return dialSSE(t.Context(), r)
}

func openEventLink(t *testing.T, post func(*http.Request) (*http.Response, error)) (conn, *io.PipeWriter) {
	t.Helper()
	stream, say := io.Pipe()
	t.Cleanup(func() { say.Close() })
	go io.WriteString(say, "event: endpoint\ndata: /messages\n\n")
	c, err := dialOld(t, carrier(func(r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodGet {
			return response(200, "text/event-stream", stream), nil
		}
		return post(r)
	}))
	if err != nil {
		t.Fatal(err)
	}
	return c, say
}

var pingOut = outgoing{method: "ping", peer: mcp.Deaf}

func TestEventServerThatTakesNoMessageIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := openEventLink(t, func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		_, err := c.request(ctx, pingOut)
		wantFault(t, err, fault.UpstreamDown, "did not take a message within 30s")
		<-c.closed() // so that the next call opens another
		c.close()
	})
}

func TestHugeEventFailsItsCallAndNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sent := make(chan string, 1)
		c, say := openEventLink(t, func(r *http.Request) (*http.Response, error) {
			body, _ := io.ReadAll(r.Body)
			sent <- string(body)
			return response(202, "", http.NoBody), nil
		})
		defer c.close()
		go func() {
			<-sent
			fmt.Fprintf(say, "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"x\":\"%s\"}}\n\n", strings.Repeat("x", 2000))
			<-sent
			fmt.Fprint(say, "data: {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"ok\":1.0}}\n\n")
			<-sent
			fmt.Fprint(say, strings.Repeat("data: "+strings.Repeat("x", 500)+"\n", 5)+"\n")
			<-sent
			fmt.Fprint(say, "data: {\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{}}\n\n")
		}()
		for i, want := range []string{"", `{"ok":1.0}`, "", `{}`} {
			got, err := c.request(t.Context(), pingOut)
			if want == "" {
				wantFault(t, err, fault.TooLarge)
			} else if err != nil || string(got) != want {
				t.Errorf("request %d: %s, %v", i+1, got, err)
			}
		}
	})
}

func TestEventServerMayNotSendOurCredentialsElsewhere(t *testing.T) {
	for _, target := range []string{"https://evil.example/messages", "http://example.com/messages", "//evil.example/"} {
		stream := io.NopCloser(strings.NewReader("event: endpoint\ndata: " + target + "\n\n"))
		_, err := dialOld(t, carrier(func(*http.Request) (*http.Response, error) {
			return response(200, "text/event-stream", stream), nil
		}))
		wantFault(t, err, fault.UpstreamProtocol, "it names another host")
	}
}

func TestStreamOfNewsThatHeldIsOpenedAgainSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var opened atomic.Int64
		r, err := newRemote(config.Server{ID: "web", URL: "https://example.com/mcp"}, httpapi.Static(nil), carrier(func(r *http.Request) (*http.Response, error) {
			opened.Add(1)
			stream, say := io.Pipe()
			time.AfterFunc(30*time.Second, func() { say.Close() }) // as a proxy does
			context.AfterFunc(r.Context(), func() { say.Close() })
			return response(200, "text/event-stream", stream), nil
		}), 1000, hooks{})
		if err != nil {
			t.Fatal(err)
		}
		r.listen()
		time.Sleep(10 * time.Minute) // of the test's own time
		if n := opened.Load(); n < 18 {
			t.Errorf("opened %d times in 10 minutes", n)
		}
		r.close()
	})
}

// silent is a session with a server that answers nothing.
type silent struct{ conn }

func (silent) request(ctx context.Context, _ outgoing) (json.RawMessage, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}
func (silent) close() {}

func TestServersThatDoNotTakeALogLevelHoldUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(nil)
		defer p.Close()
		p.Apply([]config.Server{{ID: "a", Builtin: "x"}, {ID: "b", Builtin: "x"}})
		ready := make(chan struct{})
		close(ready)
		for _, s := range p.all() {
			s.sessions[""] = &session{server: s, ready: ready, conn: silent{}, hello: json.RawMessage(`{"capabilities":{"logging":{}}}`)}
		}
		began := time.Now()
		p.SetLevel(t.Context(), "debug")
		if took := time.Since(began); took > grace {
			t.Errorf("the client waited for %s", took)
		}
	})
}

// stubborn is a session that ends when all the others are about to.
type stubborn struct {
	conn
	ending *sync.WaitGroup
}

func (s stubborn) close() {
	s.ending.Done()
	s.ending.Wait()
}

func TestStubbornServersAreEndedSideBySide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(nil)
		p.Apply([]config.Server{{ID: "a", Builtin: "x"}, {ID: "b", Builtin: "x"}, {ID: "c", Builtin: "x"}})
		ready := make(chan struct{})
		close(ready)
		var ending sync.WaitGroup
		for _, s := range p.all() {
			ending.Add(2)
			for _, key := range []string{"", "of a caller"} {
				s.sessions[key] = &session{server: s, seat: seat{key: key}, ready: ready, conn: stubborn{ending: &ending}}
			}
		}
		p.Close() // would not return if one waited for another
	})
}

func TestLastWordsAreCutBetweenCharacters(t *testing.T) {
	tl := tail{redact: func(s string) string { return s }}
	tl.add("x" + strings.Repeat("错", 200))
	if got := tl.last(); got != "x"+strings.Repeat("错", 99) {
		t.Errorf("got %q", got)
	}
	if got := oneLine([]byte("x" + strings.Repeat("错", 200))); got != "x"+strings.Repeat("错", 66) {
		t.Errorf("got %q", got)
	}
}
