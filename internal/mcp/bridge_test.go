package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

func TestAClientOnABridgeHearsWhatOneOnAPipeHears(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no conversations", err)
	}
	for _, path := range files {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range archive.Files {
			if part.Name != "stdio" {
				continue
			}
			t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
				lines := strings.Split(strings.TrimSpace(strings.ReplaceAll(string(part.Data), "META", goodMeta)), "\n")
				front := newTestFront(t, nil)
				playStdio(t, lines, func(in io.Reader, out io.Writer) error {
					return Bridge(t.Context(), in, out, front.URL, &BridgeOptions{HTTP: front.client.Transport, MaxLine: 1000})
				})
			})
		}
	}
}

// bridgeClient is a client on pipes whose server is behind a bridge.
type bridgeClient struct {
	t     *testing.T
	in    *io.PipeWriter
	out   *bufio.Scanner
	ended chan error
}

func newBridgeClient(t *testing.T, endpoint string, opts *BridgeOptions) *bridgeClient {
	t.Helper()
	in, send := io.Pipe()
	receive, out := io.Pipe()
	c := &bridgeClient{t: t, in: send, out: bufio.NewScanner(receive), ended: make(chan error, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		err := Bridge(ctx, in, out, endpoint, opts)
		out.Close()
		c.ended <- err
	}()
	t.Cleanup(func() {
		send.Close()
		cancel()
		for c.out.Scan() { // what nobody waits for any more
		}
	})
	return c
}

func (c *bridgeClient) send(message string) {
	c.t.Helper()
	if _, err := io.WriteString(c.in, strings.ReplaceAll(message, "META", goodMeta)+"\n"); err != nil {
		c.t.Fatal(err)
	}
}

// expect reads the next message, which must contain the text.
func (c *bridgeClient) expect(text string) string {
	c.t.Helper()
	if !c.out.Scan() {
		c.t.Fatalf("the output ended before %s", text)
	}
	if !strings.Contains(c.out.Text(), text) {
		c.t.Fatalf("got %s, want %s", c.out.Text(), text)
	}
	return c.out.Text()
}

// leave ends the input and waits for the end.
func (c *bridgeClient) leave() {
	c.t.Helper()
	c.in.Close()
	for c.out.Scan() {
		c.t.Errorf("not expected: %s", c.out.Text())
	}
	if err := <-c.ended; err != nil {
		c.t.Error(err)
	}
}

func TestABridgedSessionHearsNewsAndEndsWithItsInput(t *testing.T) {
	ended := make(chan string, 1)
	front := newTestFront(t, &SessionsOptions{Ended: func(s *Session) { ended <- s.ID }})
	c := newBridgeClient(t, front.URL, &BridgeOptions{HTTP: front.client.Transport})
	c.send(initialize)
	c.expect(`"protocolVersion":"2025-06-18"`)
	c.send(`{"method":"notifications/initialized"}`)
	front.sessions.Broadcast("default", "notifications/tools/list_changed", nil)
	c.expect("notifications/tools/list_changed")
	c.leave()
	select {
	case <-ended:
	default:
		t.Error("the session is still open")
	}
}

func TestAModernClientOnABridgeListens(t *testing.T) {
	front := newTestFront(t, nil)
	c := newBridgeClient(t, front.URL, &BridgeOptions{HTTP: front.client.Transport})
	c.send(listenMessage)
	c.expect("notifications/subscriptions/acknowledged")
	front.sessions.Broadcast("default", "notifications/tools/list_changed", nil)
	c.expect("notifications/tools/list_changed")
	c.leave()
}

func TestACancellationCrossesTheBridge(t *testing.T) {
	for name, messages := range map[string][]string{
		"legacy": {initialize, `{"id":1,"method":"hang","params":{}}`},
		"modern": {`{"id":0,"method":"server/discover","params":{"_meta":META}}`, `{"id":1,"method":"hang","params":{"_meta":META}}`},
	} {
		t.Run(name, func(t *testing.T) {
			front := newTestFront(t, nil)
			began, ended := make(chan struct{}), make(chan struct{})
			serve := NewFront(front.sessions, nil)
			front.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				e := testEntry("me")
				e.Handler = HandlerFunc(func(ctx context.Context, req *Request) (json.RawMessage, error) {
					if req.Method == "hang" {
						close(began)
						defer close(ended)
					}
					return testHandler(ctx, req)
				})
				serve.Serve(w, r, e)
			})
			c := newBridgeClient(t, front.URL, &BridgeOptions{HTTP: front.client.Transport})
			c.send(messages[0])
			c.expect(`"id":0,"result"`)
			c.send(messages[1])
			<-began
			c.send(`{"method":"notifications/cancelled","params":{"requestId":1}}`)
			<-ended
			c.leave()
		})
	}
}

func TestAStreamThatBreaksIsTakenUpAgain(t *testing.T) {
	front := newTestFront(t, nil)
	goOn := make(chan struct{})
	serve := NewFront(front.sessions, nil)
	front.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e := testEntry("me")
		e.Handler = HandlerFunc(func(ctx context.Context, req *Request) (json.RawMessage, error) {
			if req.Method == "tools/call" {
				req.Client.Notify(ctx, "notifications/progress", json.RawMessage(`{"progressToken":1,"progress":1}`))
				<-goOn
			}
			return json.RawMessage(`{"done":true}`), nil
		})
		serve.Serve(w, r, e)
	})
	c := newBridgeClient(t, front.URL, &BridgeOptions{HTTP: front.client.Transport})
	c.send(initialize)
	c.expect(`"result"`)
	c.send(`{"id":1,"method":"tools/call","params":{}}`)
	c.expect("notifications/progress")
	front.CloseClientConnections()
	close(goOn)
	c.expect(`"id":1,"result":{"done":true}`)
	c.leave()
}

func TestAClientOutlivesARestartOfItsGateway(t *testing.T) {
	first := newTestFront(t, nil)
	at := first.URL
	var gone atomic.Bool
	var second atomic.Pointer[testFront]
	rt := roundTripper(func(r *http.Request) (*http.Response, error) {
		switch next := second.Load(); {
		case next != nil:
			r.URL.Host = strings.TrimPrefix(next.URL, "http://")
		case gone.Load():
			return nil, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
		}
		return first.client.Transport.RoundTrip(r)
	})
	c := newBridgeClient(t, at, &BridgeOptions{HTTP: rt})
	c.send(initialize)
	c.expect(`"result"`)
	gone.Store(true)
	first.CloseClientConnections()
	c.send(`{"id":1,"method":"echo","params":{"a":1}}`)
	c.expect(`"id":1,"error":{"code":-32603,"message":"the gateway at ` + at + ` cannot be reached`)
	second.Store(newTestFront(t, nil))
	c.send(`{"id":2,"method":"echo","params":{"a":2}}`)
	for answered, told := false, 0; !answered || told < 3; { // its lists may be others
		text := c.expect("")
		answered = answered || strings.Contains(text, `"id":2,"result":{"a":2}`)
		if strings.Contains(text, "list_changed") {
			told++
		}
	}
	c.leave()
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestARefusalIsToldToTheClient(t *testing.T) {
	for name, answer := range map[string]http.HandlerFunc{
		"plain": func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "unauthorized: no key", http.StatusUnauthorized)
		},
		"page": func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("<html>unauthorized: no key</html>")) },
		"json": func(w http.ResponseWriter, _ *http.Request) {
			refuse(w, http.StatusBadRequest, Errorf(CodeInvalidRequest, "unauthorized: no key"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			front := newTestFront(t, nil)
			front.Config.Handler = answer
			c := newBridgeClient(t, front.URL, &BridgeOptions{HTTP: front.client.Transport})
			c.send(initialize)
			if text := c.expect(`"id":0,"error"`); !strings.Contains(text, "unauthorized: no key") {
				t.Error(text)
			}
			c.leave()
		})
	}
}

func TestWhatHeadersMustRepeatIsLearnedFromTheList(t *testing.T) {
	schema := `{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}`
	mirror, err := ParseMirror(json.RawMessage(schema))
	if err != nil {
		t.Fatal(err)
	}
	front := newTestFront(t, nil)
	serve := NewFront(front.sessions, nil)
	front.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e := testEntry("me")
		e.Handler = HandlerFunc(func(ctx context.Context, req *Request) (json.RawMessage, error) {
			if req.Method == "tools/list" && rawjson.Get(req.Params, "cursor") == nil {
				return json.RawMessage(`{"tools":[],"nextCursor":"2"}`), nil
			}
			if req.Method == "tools/list" {
				return json.RawMessage(`{"tools":[{"name":"deploy","inputSchema":` + schema + `}]}`), nil
			}
			return json.RawMessage(`{"content":[]}`), mirror.Check(req.Meta.Header, rawjson.Get(req.Params, "arguments"))
		})
		serve.Serve(w, r, e)
	})
	c := newBridgeClient(t, front.URL, &BridgeOptions{HTTP: front.client.Transport})
	for i, region := range []string{"süd", "nord"} {
		c.send(fmt.Sprintf(`{"id":%d,"method":"tools/call","params":{"name":"deploy","arguments":{"region":%q},"_meta":META}}`, i, region))
		c.expect(fmt.Sprintf(`"id":%d,"result":{"content":[]}`, i))
	}
	c.leave()
}

func TestTasksCrossTheBridge(t *testing.T) {
	for name, c := range map[string]struct{ hello, meta string }{
		"legacy": {initialize, "{}"},
		"modern": {`{"id":0,"method":"server/discover","params":{"_meta":META}}`, goodMeta},
	} {
		t.Run(name, func(t *testing.T) {
			front, calls := newEarlyFront(t)
			b := newBridgeClient(t, front.URL, &BridgeOptions{HTTP: front.client.Transport})
			b.send(c.hello)
			b.expect(`"id":0,"result"`)
			for _, progress := range []string{``, `"progress":1,`} {
				b.send(`{"id":1,"method":"early","params":{` + progress + `"_meta":` + c.meta + `}}`)
				early := <-calls
				if !early.req.AnswerNow(json.RawMessage(`{"early":true}`)) {
					t.Error("not answered")
				}
				if progress != "" {
					b.expect("notifications/progress")
				}
				b.expect(`"id":1,"result":{"early":true}`)
				for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
					b.send(`{"id":1,"method":"` + method + `","params":{"taskId":"c_任务 1","_meta":` + c.meta + `}}`)
					b.expect(`"id":1,"result":"c_任务 1"`)
				}
				early.goesOn(t)
			}
			b.leave()
		})
	}
}
