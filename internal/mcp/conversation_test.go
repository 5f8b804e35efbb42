package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// testHandler answers the methods that the conversations use.
func testHandler(ctx context.Context, req *Request) (json.RawMessage, error) {
	switch req.Method {
	case "echo":
		return req.Params, nil
	case "hang":
		<-ctx.Done()
		return nil, ctx.Err()
	case "progress":
		req.Client.Notify(ctx, "notifications/progress", json.RawMessage(`{"progressToken":1,"progress":0.50}`))
		return json.RawMessage(`{"done":true}`), nil
	case "ask":
		if method, _ := rawjson.String(rawjson.Get(req.Params, "method")); method != "" {
			return req.Client.Ask(ctx, method, rawjson.Get(req.Params, "params"))
		}
		return req.Client.Ask(ctx, "roots/list", nil)
	case "fail":
		return nil, &Error{Code: -32001, Message: "no", Raw: json.RawMessage(`{"message":"no","code":-32001,"own":1.0}`)}
	case "broken":
		return nil, io.ErrUnexpectedEOF
	case "log":
		req.Client.Notify(ctx, "notifications/message", json.RawMessage(`{"level":"info","data":1}`))
		req.Client.Notify(ctx, "notifications/message", json.RawMessage(`{"level":"error","data":2}`))
		return json.RawMessage(`{}`), nil
	case "subscriptions/listen":
		return req.Listen(ctx, func(_ *Session, f Filter) Filter { return f })
	case "lines":
		return json.RawMessage("{\n\"a\": 1\r\n}"), nil
	}
	return nil, Errorf(CodeMethodNotFound, "unknown method %s", req.Method)
}

func testEntry(owner string) Entry {
	return Entry{Owner: owner, Group: "default", Info: func() Info { return Info{Name: "test", Version: "1"} }, Handler: HandlerFunc(testHandler)}
}

// goodMeta is what a modern request must say; META stands for it in the conversations.
const goodMeta = `{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`

// TestConversations plays the files of testdata: what a client sends (>, or + with the
// headers of a modern request) and what it must get (<), over standard input and output and
// over HTTP. Each file's heading says what it pins.
func TestConversations(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no conversations", err)
	}
	for _, path := range files {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar")+"/"+f.Name, func(t *testing.T) {
				lines := strings.Split(strings.TrimSpace(strings.ReplaceAll(string(f.Data), "META", goodMeta)), "\n")
				switch f.Name {
				case "stdio":
					playStdio(t, lines, func(in io.Reader, out io.Writer) error {
						return ServeStdio(t.Context(), in, out, NewSessions(nil), testEntry("me"), &StdioOptions{MaxLine: 1000})
					})
				case "http":
					playHTTP(t, lines)
				default:
					t.Fatalf("%s: unknown part %s", path, f.Name)
				}
			})
		}
	}
}

func playStdio(t *testing.T, lines []string, serve func(in io.Reader, out io.Writer) error) {
	t.Helper()
	in, send := io.Pipe()
	receive, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := serve(in, out)
		out.Close()
		ended <- err
	}()
	got := bufio.NewScanner(receive)
	for n, line := range lines {
		text := strings.TrimPrefix(line[1:], " ")
		switch {
		case line[0] == '>':
			fmt.Fprintln(send, text)
		case !got.Scan():
			t.Fatalf("line %d: the output ended", n+1)
		case got.Text() != text:
			t.Fatalf("line %d:\ngot  %s\nwant %s", n+1, got.Text(), text)
		}
	}
	send.Close()
	for got.Scan() {
		t.Errorf("more than was expected: %s", got.Text())
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// playHTTP sends each message by a POST of its own. What comes back is the status and the
// body, or each event's data on a line of its own.
func playHTTP(t *testing.T, lines []string) {
	front := newTestFront(t, nil)
	session := ""
	var answer []string
	for n, line := range lines {
		text := strings.TrimPrefix(line[1:], " ")
		if line[0] != '<' {
			if len(answer) > 0 {
				t.Fatalf("line %d: not expected: %q", n+1, answer)
			}
			header := map[string]string{sessionHeader: session}
			if line[0] == '+' {
				header = modernHeader(text)
			}
			resp := front.post(t, text, header)
			if id := resp.Header.Get(sessionHeader); id != "" {
				session = id
			}
			answer = readAnswer(t, resp)
			continue
		}
		if len(answer) == 0 || answer[0] != text {
			t.Fatalf("line %d:\ngot  %q\nwant %s", n+1, answer, text)
		}
		answer = answer[1:]
	}
	if len(answer) > 0 {
		t.Errorf("not expected: %q", answer)
	}
}

// modernHeader are the headers that belong to a message.
func modernHeader(message string) map[string]string {
	m, _ := Parse([]byte(message))
	h := map[string]string{versionHeader: ModernVersion, MethodHeader: m.Method}
	if name, ok := rawjson.String(rawjson.Get(m.Params, NamedBy(m.Method))); ok {
		h[NameHeader] = EncodeHeader(name)
	}
	return h
}

func readAnswer(t *testing.T, resp *http.Response) []string {
	t.Helper()
	defer resp.Body.Close()
	if resp.Header.Get("Content-Type") != streamType {
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return []string{strings.TrimSpace(fmt.Sprintf("%d %s", resp.StatusCode, body))}
	}
	var all []string
	for events := NewEvents(resp.Body, 1<<20); ; {
		ev, err := events.Next()
		if err != nil {
			return all
		}
		all = append(all, string(ev.Data))
	}
}

// testFront is a front on a real listener. The header Test-Owner says who calls.
type testFront struct {
	*httptest.Server
	sessions *Sessions
	client   *http.Client
	taken    atomic.Int32 // connections that were taken from the server
}

func newTestFront(t *testing.T, opts *SessionsOptions) *testFront {
	f := &testFront{sessions: NewSessions(opts), client: &http.Client{Transport: &http.Transport{}}}
	front := NewFront(f.sessions, &FrontOptions{MaxBody: 1000})
	f.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		front.Serve(w, r, testEntry(r.Header.Get("Test-Owner")))
	}))
	f.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateHijacked {
			f.taken.Add(1)
		}
	}
	f.Start()
	t.Cleanup(func() {
		f.sessions.Close()
		f.client.CloseIdleConnections()
		f.Server.Close()
	})
	return f
}

func (f *testFront) do(t *testing.T, method, body string, header map[string]string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, f.URL, bytes.NewReader([]byte(body)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", jsonType)
	req.Header.Set("Accept", jsonType+", "+streamType)
	for k, v := range header {
		req.Header.Del(k)
		if v != "" {
			req.Header.Set(k, v)
		}
	}
	resp, err := f.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

func (f *testFront) post(t *testing.T, body string, header map[string]string) *http.Response {
	t.Helper()
	return f.do(t, http.MethodPost, body, header)
}

const initialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"roots":{}},"clientInfo":{"name":"t","version":"1"}}}`

// open opens a session and returns its header.
func (f *testFront) open(t *testing.T, version string) map[string]string {
	t.Helper()
	resp := f.post(t, strings.Replace(initialize, "2025-06-18", version, 1), nil)
	defer resp.Body.Close()
	id := resp.Header.Get(sessionHeader)
	if id == "" {
		t.Fatalf("no session: HTTP %d", resp.StatusCode)
	}
	return map[string]string{sessionHeader: id}
}
