package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// modernPost posts a modern request; META stands for what it must say.
func (f *testFront) modernPost(t *testing.T, ctx context.Context, message string) *http.Response {
	t.Helper()
	message = strings.Replace(message, "META", goodMeta, 1)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, f.URL, strings.NewReader(message))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", jsonType)
	req.Header.Set("Accept", jsonType+", "+streamType)
	for k, v := range modernHeader(message) {
		req.Header.Set(k, v)
	}
	resp, err := f.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

func TestModernClientThatHangsUpHasCanceled(t *testing.T) {
	ended := make(chan error, 1)
	began := make(chan struct{})
	f := newTestFront(t, nil)
	front := NewFront(f.sessions, nil)
	f.Server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e := testEntry("me")
		e.Handler = HandlerFunc(func(ctx context.Context, _ *Request) (json.RawMessage, error) {
			close(began)
			<-ctx.Done()
			ended <- ctx.Err()
			return nil, ctx.Err()
		})
		front.Serve(w, r, e)
	})
	ctx, hangUp := context.WithCancel(t.Context())
	go func() {
		<-began
		hangUp()
	}()
	req, _ := http.NewRequestWithContext(ctx, http.MethodPost, f.URL, strings.NewReader(`{"id":1,"method":"hang","params":{"_meta":`+goodMeta+`}}`))
	req.Header.Set("Content-Type", jsonType)
	for k, v := range map[string]string{versionHeader: ModernVersion, MethodHeader: "hang"} {
		req.Header.Set(k, v)
	}
	if _, err := f.client.Do(req); err == nil {
		t.Fatal("there was an answer")
	}
	if err := <-ended; err != context.Canceled {
		t.Error(err)
	}
}

const listenMessage = `{"id":"l","method":"subscriptions/listen","params":{"_meta":META,"notifications":{"toolsListChanged":true,"resourceSubscriptions":["file:///a"]}}}`

func TestListeningClientHearsWhatItAskedForAndNothingElse(t *testing.T) {
	f := newTestFront(t, nil)
	resp := f.modernPost(t, t.Context(), listenMessage)
	defer resp.Body.Close()
	lines := bufio.NewReader(resp.Body)
	next := func() string {
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				return err.Error()
			}
			if data, ok := strings.CutPrefix(line, "data: "); ok {
				return strings.TrimSpace(data)
			}
		}
	}
	want := func(what string) {
		t.Helper()
		if got := next(); got != what {
			t.Fatalf("got  %s\nwant %s", got, what)
		}
	}
	want(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"l"},"notifications":{"toolsListChanged":true,"resourceSubscriptions":["file:///a"]}}}`)
	f.sessions.Broadcast("default", "notifications/prompts/list_changed", nil)
	f.sessions.Broadcast("another profile", "notifications/tools/list_changed", nil)
	f.sessions.Broadcast("default", "notifications/tools/list_changed", nil)
	want(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"l"}}}`)
	f.sessions.mu.RLock()
	for s := range f.sessions.all {
		s.Notify(t.Context(), "notifications/resources/updated", json.RawMessage(`{"uri":"file:///a","_meta":{"own":1.0}}`))
	}
	f.sessions.mu.RUnlock()
	want(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"l","own":1.0},"uri":"file:///a"}}`)
	f.sessions.Drain() // we shut down: the stream ends in an orderly way
	want(`{"jsonrpc":"2.0","id":"l","result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":"l"}}}`)
	want("EOF")
}

func TestListeningEndsWithItsClient(t *testing.T) {
	ended := make(chan *Session, 1)
	f := newTestFront(t, &SessionsOptions{Ended: func(s *Session) { ended <- s }})
	ctx, hangUp := context.WithCancel(t.Context())
	resp := f.modernPost(t, ctx, listenMessage)
	io.ReadAtLeast(resp.Body, make([]byte, 1), 1)
	hangUp()
	resp.Body.Close()
	<-ended
	if n := f.sessions.Len(); n != 0 {
		t.Errorf("%d are left", n)
	}
}

func TestListeningIsBounded(t *testing.T) {
	f := newTestFront(t, &SessionsOptions{Max: 1})
	f.open(t, "2025-06-18")
	for sess := range f.sessions.all {
		sess.news.read() // it is not idle, so it does not make room
	}
	if got := readAnswer(t, f.modernPost(t, t.Context(), listenMessage)); !strings.Contains(got[0], "too many open sessions") {
		t.Errorf("got %q", got)
	}
	many := strings.Repeat(`"a",`, 150) // as many as fit the body
	if _, err := parseFilter(json.RawMessage(`{"notifications":{"resourceSubscriptions":[` + strings.Repeat(many, 10) + `"a"]}}`)); err == nil {
		t.Error("too many resources were taken")
	}
	for _, bad := range []string{`{}`, `{"notifications":[]}`, `{"notifications":null}`} {
		if _, err := parseFilter(json.RawMessage(bad)); err == nil {
			t.Errorf("%s was taken", bad)
		}
	}
}

func TestListeningOnAPipe(t *testing.T) {
	in, send := io.Pipe()
	receive, out := io.Pipe()
	sessions := NewSessions(nil)
	ended := make(chan error, 1)
	go func() {
		ended <- ServeStdio(t.Context(), in, out, sessions, testEntry("me"), nil)
		out.Close()
	}()
	lines := bufio.NewScanner(receive)
	fmt.Fprintln(send, strings.Replace(listenMessage, "META", goodMeta, 1))
	if !lines.Scan() || !strings.Contains(lines.Text(), "acknowledged") {
		t.Fatalf("got %s", lines.Text())
	}
	sessions.Broadcast("default", "notifications/tools/list_changed", nil)
	if !lines.Scan() || !strings.Contains(lines.Text(), `subscriptionId":"l"`) {
		t.Fatalf("got %s", lines.Text())
	}
	fmt.Fprintln(send, `{"method":"notifications/cancelled","params":{"requestId":"l"}}`)
	waitFor(t, func() bool { return sessions.Len() == 0 })
	fmt.Fprintln(send, strings.Replace(listenMessage, "META", goodMeta, 1)) // the end of the input ends it as well
	lines.Scan()
	send.Close()
	for lines.Scan() {
		t.Errorf("more than was expected: %s", lines.Text())
	}
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(patience):
		t.Fatal("the end of the input did not end the stream")
	}
}
