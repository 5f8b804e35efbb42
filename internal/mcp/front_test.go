package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolfit/toolfit/internal/base/share"
)

const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`

func TestFrontRefuses(t *testing.T) {
	f := newTestFront(t, nil)
	mine := f.open(t, "2025-06-18")
	with := func(more ...string) map[string]string {
		h := map[string]string{sessionHeader: mine[sessionHeader]}
		for i := 0; i < len(more); i += 2 {
			h[more[i]] = more[i+1]
		}
		return h
	}
	cases := []struct {
		name, method, body string
		header             map[string]string
		status             int
	}{
		{"a message without a session", "POST", ping, nil, 400},
		{"an unknown session", "POST", ping, with(sessionHeader, "nope"), 404},
		{"another owner's session looks like none", "POST", ping, with("Test-Owner", "someone else"), 404},
		{"another owner cannot end it", "DELETE", "", with("Test-Owner", "someone else"), 404},
		{"another owner cannot listen to it", "GET", "", with("Test-Owner", "someone else"), 404},
		{"a body over the limit", "POST", `{"x":"` + strings.Repeat("x", 2000) + `"}`, mine, 413},
		{"another content type", "POST", ping, with("Content-Type", "text/plain"), 415},
		{"no content type", "POST", ping, with("Content-Type", ""), 415},
		{"a client that takes neither JSON nor streams", "POST", ping, with("Accept", "text/html"), 406},
		{"a GET that takes no stream", "GET", "", with("Accept", jsonType), 406},
		{"a stream without a session", "GET", "", nil, 400},
		{"garbage", "POST", "hello", mine, 400},
		{"an empty body", "POST", "", mine, 400},
		{"a batch in a revision without them", "POST", "[" + ping + "]", mine, 400},
		{"another method", "PUT", ping, mine, 405},
		{"a revision that is not served", "POST", ping, with(versionHeader, "2030-01-01"), 400},

		{"nothing that is right", "POST", ping, mine, 200},
		{"a content type with a charset", "POST", ping, with("Content-Type", "application/json; charset=utf-8"), 200},
		{"no Accept at all", "POST", ping, with("Accept", ""), 200},
		{"an Accept of anything", "POST", ping, with("Accept", "*/*"), 200},
		{"an Accept with weights", "POST", ping, with("Accept", "text/html, application/*;q=0.5"), 200},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			resp := f.do(t, c.method, c.body, c.header)
			body, _ := io.ReadAll(resp.Body)
			resp.Body.Close()
			if resp.StatusCode != c.status {
				t.Fatalf("HTTP %d, want %d: %s", resp.StatusCode, c.status, body)
			}
			if m, err := Parse(body); c.status >= 400 && (err != nil || m.Error == nil) {
				t.Errorf("the refusal is no error of the wire: %s", body)
			}
		})
	}
}

func TestClientThatTakesOnlyStreamsGetsOne(t *testing.T) {
	f := newTestFront(t, nil)
	h := f.open(t, "2025-06-18")
	h["Accept"] = streamType
	if got := readAnswer(t, f.post(t, ping, h)); fmt.Sprint(got) != `[{"jsonrpc":"2.0","id":1,"result":{}}]` {
		t.Errorf("got %q", got)
	}
	h["Accept"] = jsonType
	if got := readAnswer(t, f.post(t, `{"id":1,"method":"progress"}`, h)); fmt.Sprint(got) != `[200 {"jsonrpc":"2.0","id":1,"result":{"done":true}}]` {
		t.Errorf("a client that takes no streams got %q", got)
	}
	if got := readAnswer(t, f.post(t, `{"id":1,"method":"ask"}`, h)); !strings.Contains(got[0], "the caller cannot answer roots/list") {
		t.Errorf("a client that takes no streams was asked: %q", got)
	}
}

func TestEndedSessionIsGone(t *testing.T) {
	var ended []string
	f := newTestFront(t, &SessionsOptions{Ended: func(s *Session) { ended = append(ended, s.ID) }})
	h := f.open(t, "2025-06-18")
	if got := readAnswer(t, f.do(t, "DELETE", "", h)); got[0] != "204" {
		t.Errorf("got %q", got)
	}
	if got := readAnswer(t, f.post(t, ping, h)); !strings.HasPrefix(got[0], "404") {
		t.Errorf("got %q", got)
	}
	if fmt.Sprint(ended) != "["+h[sessionHeader]+"]" {
		t.Errorf("told of the end of %q", ended)
	}
}

func TestBatch(t *testing.T) {
	f := newTestFront(t, nil)
	h := f.open(t, batchVersion)
	cases := []struct{ name, in, out string }{
		{"answers come in the order of the requests", `[{"id":2,"method":"echo","params":{"b":1.0}},{"method":"x"},{"id":1,"method":"ping"}]`,
			`200 [{"jsonrpc":"2.0","id":2,"result":{"b":1.0}},{"jsonrpc":"2.0","id":1,"result":{}}]`},
		{"notifications alone get no answer", ` [{"method":"x"},{"id":9,"result":{}}]`, "202"},
		{"a canceled request is left out", `[{"id":1,"method":"hang"},{"method":"notifications/cancelled","params":{"requestId":1}},{"id":2,"method":"ping"}]`,
			`200 [{"jsonrpc":"2.0","id":2,"result":{}}]`},
		{"an id twice is an error for the second", `[{"id":1,"method":"hang"},{"id":1,"method":"ping"},{"method":"notifications/cancelled","params":{"requestId":1}}]`,
			`200 [{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"request id 1 is in use"}}]`},
		{"an empty one is refused", `[]`, `400 {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"the batch is empty"}}`},
		{"initialize may not be in it", `[` + initialize + `]`, `400 {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"initialize may not be part of a batch"}}`},
		{"one bad message spoils it", `[{"id":1,"method":"ping"},5]`, `400 {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"invalid JSON at byte 0: expected {"}}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := readAnswer(t, f.post(t, c.in, h)); got[0] != c.out {
				t.Errorf("got  %s\nwant %s", got[0], c.out)
			}
		})
	}
}

func TestCanceledRequestOverHTTPEndsWithoutAnAnswer(t *testing.T) {
	f := newTestFront(t, nil)
	h := f.open(t, "2025-06-18")
	s := f.sessions.get(h[sessionHeader], "", "default")
	answer := make(chan []string, 1)
	go func() { answer <- readAnswer(t, f.post(t, `{"id":"x","method":"hang"}`, h)) }()
	waitFor(t, func() bool { s.mu.Lock(); defer s.mu.Unlock(); return len(s.open) == 1 })
	if got := readAnswer(t, f.post(t, `{"id":"x","method":"ping"}`, h)); !strings.Contains(got[0], `400 `) || !strings.Contains(got[0], "is in use") {
		t.Errorf("an id in use was taken again: %q", got)
	}
	readAnswer(t, f.post(t, `{"method":"notifications/cancelled","params":{"requestId":"x"}}`, h))
	if got := <-answer; fmt.Sprint(got) != "[202]" {
		t.Errorf("got %q", got)
	}
	if got := readAnswer(t, f.post(t, `{"id":"x","method":"ping"}`, h)); !strings.HasPrefix(got[0], "200") {
		t.Errorf("the id is not free again: %q", got)
	}
}

func TestRequestsOfASessionThatEndsAreAnswered(t *testing.T) {
	f := newTestFront(t, nil)
	h := f.open(t, "2025-06-18")
	s := f.sessions.get(h[sessionHeader], "", "default")
	answer := make(chan []string, 1)
	go func() { answer <- readAnswer(t, f.post(t, `{"id":"x","method":"hang"}`, h)) }()
	waitFor(t, func() bool { s.mu.Lock(); defer s.mu.Unlock(); return len(s.open) == 1 })
	f.sessions.Close()
	if got := <-answer; fmt.Sprint(got) != `[200 {"jsonrpc":"2.0","id":"x","error":{"code":-32603,"message":"the session has ended"}}]` {
		t.Errorf("got %q", got)
	}

	f.sessions.mu.Lock() // found before it ended, begun after: nothing was done, so the client may come again
	f.sessions.byToken[s.ID] = s
	f.sessions.mu.Unlock()
	if got := readAnswer(t, f.post(t, ping, h)); !strings.HasPrefix(got[0], "404 ") {
		t.Errorf("got %q", got)
	}
}

func TestWhatWasDoneForASessionThatEndedIsTold(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errEnded)
	if withdrawn, err := outcome(ctx, nil); withdrawn || err != nil {
		t.Errorf("a result was dropped: %v, %v", withdrawn, err)
	}
	refused := Errorf(CodeInvalidParams, "no")
	if withdrawn, err := outcome(ctx, refused); withdrawn || err != refused {
		t.Errorf("a refusal was changed: %v, %v", withdrawn, err)
	}
}

func TestClientAnswersAQuestionByAPost(t *testing.T) {
	f := newTestFront(t, nil)
	h := f.open(t, "2025-06-18")
	resp := f.post(t, `{"id":"q","method":"ask"}`, h)
	defer resp.Body.Close()
	events := NewEvents(resp.Body, 1000)
	ev, err := events.Next()
	if err != nil || string(ev.Data) != `{"jsonrpc":"2.0","id":1,"method":"roots/list"}` {
		t.Fatalf("got %s, %v", ev.Data, err)
	}
	if got := readAnswer(t, f.post(t, `{"id":1,"result":{"roots":[]}}`, h)); got[0] != "202" {
		t.Errorf("got %q", got)
	}
	if ev, err = events.Next(); err != nil || string(ev.Data) != `{"jsonrpc":"2.0","id":"q","result":{"roots":[]}}` {
		t.Errorf("got %s, %v", ev.Data, err)
	}
}

func TestSessionStream(t *testing.T) {
	f := newTestFront(t, nil)
	h := f.open(t, "2025-06-18")
	const news = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`
	for range 3 { // said three times before anybody listens, heard once
		f.sessions.Broadcast("default", "notifications/tools/list_changed", nil)
	}
	f.sessions.Broadcast("another group", "notifications/x", nil)
	first := f.do(t, "GET", "", h)
	defer first.Body.Close()
	events := NewEvents(first.Body, 1000)
	if ev, err := events.Next(); err != nil || string(ev.Data) != news {
		t.Fatalf("got %s, %v", ev.Data, err)
	}
	second := f.do(t, "GET", "", h)
	defer second.Body.Close()
	if _, err := events.Next(); err != io.EOF {
		t.Errorf("the first stream goes on after the second took over: %v", err)
	}
	f.sessions.Broadcast("default", "notifications/tools/list_changed", nil)
	events = NewEvents(second.Body, 1000)
	if ev, err := events.Next(); err != nil || string(ev.Data) != news {
		t.Fatalf("got %s, %v", ev.Data, err)
	}
	f.sessions.Drain()
	ev, err := events.Next()
	for err == nil && string(ev.Data) == news { // what the first stream was just writing may come again
		ev, err = events.Next()
	}
	if err != io.EOF {
		t.Errorf("the stream goes on while the server drains: %s, %v", ev.Data, err)
	}
	third := f.do(t, "GET", "", h)
	defer third.Body.Close()
	if _, err := NewEvents(third.Body, 1000).Next(); err != io.EOF {
		t.Errorf("a stream began while the server drains: %v", err)
	}
}

func TestQueueForAClientThatDoesNotListenIsBounded(t *testing.T) {
	f := newTestFront(t, nil)
	h := f.open(t, "2025-06-18")
	for i := range 10 * maxEvents {
		f.sessions.Broadcast("default", fmt.Sprint("notifications/", i), nil)
	}
	s := f.sessions.get(h[sessionHeader], "", "default")
	if q, _, _ := s.news.from(0); len(q) != maxEvents || !strings.Contains(string(q[maxEvents-1]), fmt.Sprint(10*maxEvents-1)) {
		t.Errorf("%d messages wait", len(q))
	}
}

// A client that has just read of a change, and looked, must hear of the next one, although its stream has not yet noted
// that it wrote the first.
func TestAChangeRightAfterAnotherWasReadIsTold(t *testing.T) {
	f := newTestFront(t, nil)
	h := f.open(t, Latest)
	s := f.sessions.get(h[sessionHeader], "", "default")
	next := 0
	for range 2 {
		f.sessions.Broadcast("default", changed, nil)
		f.sessions.Broadcast("default", changed, nil)
		var waiting [][]byte
		if waiting, next, _ = s.news.from(next); len(waiting) != 1 {
			t.Errorf("%d messages wait", len(waiting))
		}
	}
}

func TestSlowClientHoldsUpNobody(t *testing.T) {
	f := newTestFront(t, nil)
	h := f.open(t, "2025-06-18")
	conn, err := net.Dial("tcp", f.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n%s: %s\r\nContent-Length: 500\r\n\r\n{", sessionHeader, h[sessionHeader])
	for range 20 {
		if got := readAnswer(t, f.post(t, ping, h)); !strings.HasPrefix(got[0], "200") {
			t.Fatalf("got %q", got)
		}
	}
}

func TestClientThatDoesNotReadItsStreamDoesNotHoldItsCall(t *testing.T) {
	sessions := NewSessions(nil)
	defer sessions.Close()
	front := NewFront(sessions, &FrontOptions{Stalled: 50 * time.Millisecond})
	told := make(chan struct{})
	e := testEntry("")
	e.Handler = HandlerFunc(func(ctx context.Context, req *Request) (json.RawMessage, error) {
		defer close(told)
		long := json.RawMessage(`{"data":"` + strings.Repeat("x", 60_000) + `"}`)
		for range 1000 { // more than the buffers on the way hold
			req.Client.Notify(ctx, "notifications/message", long)
		}
		return json.RawMessage("{}"), nil
	})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { front.Serve(w, r, e) }))
	defer srv.Close()
	s, _ := newSession(e, json.RawMessage(`{"protocolVersion":"2025-06-18"}`))
	if err := sessions.add(s, true); err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n%s: %s\r\nContent-Length: 24\r\n\r\n{\"id\":1,\"method\":\"talk\"}", sessionHeader, s.ID)
	select {
	case <-told:
	case <-time.After(patience):
		t.Fatal("the call waits for a client that does not read")
	}
}

func TestEventNumberThatNobodyGaveOutIsRefused(t *testing.T) {
	f := newTestFront(t, nil)
	h := f.open(t, "2025-06-18")
	for i := range 2 * maxEvents { // so that the first ones have been dropped
		f.sessions.Broadcast("default", fmt.Sprint("notifications/", i), nil)
	}
	for _, id := range []string{"0-9223372036854775807", "0--1", "0-", "0", "7-1"} {
		h["Last-Event-ID"] = id
		if got := readAnswer(t, f.do(t, "GET", "", h)); !strings.HasPrefix(got[0], "404") {
			t.Errorf("%s: got %q", id, got)
		}
	}
}

func TestSessionsEndWhenTheyAreIdle(t *testing.T) {
	now := time.Unix(1000, 0)
	ended := 0
	sessions := NewSessions(&SessionsOptions{Max: 1000, Idle: time.Hour, Now: func() time.Time { return now }, Ended: func(*Session) { ended++ }})
	open := func() (*Session, error) {
		s, err := newSession(testEntry("me"), []byte(`{"protocolVersion":"2025-06-18"}`))
		if err == nil {
			err = sessions.add(s, true)
		}
		return s, err
	}
	var all []*Session
	for range share.Of(1000) {
		s, err := open()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	now = now.Add(2 * time.Hour)
	used, listening, calling := all[0], all[1], all[2]
	sessions.get(used.ID, "me", "default")
	listening.news.read()
	request := &opened{id: []byte("1"), session: calling}
	_, err := request.open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer request.end()
	if _, err := open(); err != nil { // the limit makes room by itself
		t.Error(err)
	}
	if n := sessions.Len(); n != 4 || ended != 747 {
		t.Errorf("%d sessions are left, %d have ended", n, ended)
	}
	sessions.Close()
	if sessions.Len() != 0 || ended != 751 {
		t.Errorf("%d sessions are left, %d have ended", sessions.Len(), ended)
	}
}

func TestOneOwnerCannotLockTheOthersOut(t *testing.T) {
	now := time.Unix(1000, 0)
	sessions := NewSessions(&SessionsOptions{Max: 10, Now: func() time.Time { return now }})
	open := func(owner string) (*Session, error) {
		now = now.Add(time.Second)
		s, err := newSession(testEntry(owner), []byte(`{"protocolVersion":"2025-06-18"}`))
		if err == nil {
			err = sessions.add(s, true)
		}
		return s, err
	}
	first, _ := open("greedy")
	for range 7 {
		if _, err := open("greedy"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := open("greedy"); err != nil || sessions.byToken[first.token] != nil || sessions.Len() != 8 {
		t.Errorf("its idlest session did not make room for a new one: %v, %d", err, sessions.Len())
	}
	for i := range 5 {
		if _, err := open(fmt.Sprint("modest ", i)); err != nil {
			t.Errorf("caller %d was locked out: %v", i, err)
		}
	}
	if sessions.Len() != 10 {
		t.Errorf("%d sessions", sessions.Len())
	}
	if _, err := open("modest 0"); err != nil || sessions.Len() != 10 {
		t.Errorf("an owner's own idle session did not make room: %v", err)
	}
	for i := range 4 {
		if _, err := open(fmt.Sprint("late ", i)); err != nil || sessions.Len() != 10 {
			t.Errorf("caller %d was locked out: %v", i, err)
		}
	}
	if _, err := open("one more"); err == nil {
		t.Error("the only session of an owner made room for another's")
	}
}

func TestTwoOwnersCannotLockTheOthersOut(t *testing.T) {
	now := time.Unix(1000, 0)
	sessions := NewSessions(&SessionsOptions{Max: 10, Now: func() time.Time { return now }})
	open := func(owner string) *Session {
		t.Helper()
		now = now.Add(time.Second)
		s, err := newSession(testEntry(owner), []byte(`{"protocolVersion":"2025-06-18"}`))
		if err != nil {
			t.Fatal(err)
		}
		if err := sessions.add(s, true); err != nil {
			t.Errorf("%s: %v", owner, err)
		}
		return s
	}
	first := open("greedy 1")
	for range 4 {
		open("greedy 1")
	}
	for range 5 {
		open("greedy 2")
	}
	busy := open("modest")
	if sessions.byToken[first.token] != nil {
		t.Error("not the session that was idle longest made room")
	}
	busy.news.read()
	next := open("greedy 1") // its own, not the other's
	for range 20 {
		open("modest")
		open("greedy 2")
	}
	if sessions.Len() != 10 || sessions.byToken[busy.token] == nil || sessions.byToken[next.token] == nil {
		t.Errorf("%d sessions", sessions.Len())
	}
}

func TestOneOwnerCannotTakeAllStreams(t *testing.T) {
	sessions := NewSessions(&SessionsOptions{Max: 4})
	open := func(owner string) error {
		s, err := newSession(testEntry(owner), []byte(`{"protocolVersion":"2025-06-18"}`))
		s.news.read() // it is never idle, so it cannot be ended for another
		if err == nil {
			err = sessions.add(s, true)
		}
		return err
	}
	for open("greedy") == nil {
	}
	if err := open("greedy"); err == nil || !strings.Contains(err.Error(), "of one caller") {
		t.Errorf("more sessions than its share: %v", err)
	}
	if err := open("modest"); err != nil {
		t.Error(err)
	}
	if err := open("late"); err == nil {
		t.Error("more sessions than the limit")
	}
}

// BenchmarkRefusedSession measures the refusal of a session when nobody's is idle.
func BenchmarkRefusedSession(b *testing.B) {
	sessions := NewSessions(nil)
	open := func() error {
		s, err := newSession(testEntry("me"), []byte(`{"protocolVersion":"2025-06-18"}`))
		if err != nil {
			return err
		}
		s.news.read()
		return sessions.add(s, true)
	}
	for open() == nil {
	}
	for b.Loop() {
		if open() == nil {
			b.Fatal("there was room")
		}
	}
}

func TestRoomIsMadeForSeveralSessionsAtOnce(t *testing.T) {
	now := time.Unix(1000, 0)
	sessions := NewSessions(&SessionsOptions{Max: 400, Now: func() time.Time { return now }})
	var opened []*Session
	for range 301 {
		now = now.Add(time.Second)
		s, err := newSession(testEntry("me"), []byte(`{"protocolVersion":"2025-06-18"}`))
		if err == nil {
			err = sessions.add(s, true)
		}
		if err != nil {
			t.Fatal(err)
		}
		opened = append(opened, s)
	}
	for i, s := range opened {
		if there := sessions.byToken[s.token] != nil; there != (i >= 3) {
			t.Errorf("session %d of a share of 300 is there: %v", i, there)
		}
	}
}

// BenchmarkSessionOfManyThatNobodyEnds measures a new session for an owner who has its share, and never ends one.
func BenchmarkSessionOfManyThatNobodyEnds(b *testing.B) {
	sessions := NewSessions(nil)
	open := func() {
		s, err := newSession(testEntry("me"), []byte(`{"protocolVersion":"2025-06-18"}`))
		if err == nil {
			err = sessions.add(s, true)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	for range 7500 {
		open()
	}
	for b.Loop() {
		open()
	}
}

func TestWhatAClientSaysOfItselfIsBounded(t *testing.T) {
	long := strings.Repeat("x", 16<<10)
	for name, params := range map[string]string{
		"info":         `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"` + long + `"}}`,
		"capabilities": `{"protocolVersion":"2025-06-18","capabilities":{"experimental":{"x":"` + long + `"}},"clientInfo":{"name":"c","version":"1"}}`,
	} {
		if _, err := newSession(testEntry("me"), []byte(params)); err == nil || !strings.Contains(err.Error(), name+" has") {
			t.Errorf("initialize, %s: %v", name, err)
		}
	}
	for name, meta := range map[string]string{
		"info":         `"` + MetaInfo + `":{"name":"` + long + `"},"` + MetaAbilities + `":{}`,
		"capabilities": `"` + MetaAbilities + `":{"experimental":{"x":"` + long + `"}}`,
	} {
		_, err := readMeta([]byte(`{"_meta":{"` + MetaVersion + `":"` + ModernVersion + `",` + meta + `}}`))
		var rpc *Error
		if !errors.As(err, &rpc) || rpc.Code != CodeInvalidParams || !strings.Contains(rpc.Message, name+" has") {
			t.Errorf("a modern request, %s: %v", name, err)
		}
	}
}

// patience is how long a test waits for what must come, however busy the machine is.
const patience = time.Minute

func waitFor(t *testing.T, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %s", patience)
		}
	}
}

func TestStdioAnswersWhatIsInFlightWhenTheInputEnds(t *testing.T) {
	release := make(chan struct{})
	e := testEntry("me")
	e.Handler = HandlerFunc(func(context.Context, *Request) (json.RawMessage, error) {
		<-release
		return json.RawMessage(`{"late":true}`), nil
	})
	var out syncBuffer
	ended := make(chan error, 1)
	go func() {
		ended <- ServeStdio(t.Context(), strings.NewReader(initialize+"\n"+`{"id":1,"method":"slow"}`), &out, NewSessions(nil), e, nil)
	}()
	waitFor(t, func() bool { return strings.Contains(out.String(), "serverInfo") })
	close(release)
	if err := <-ended; err != nil || !strings.HasSuffix(out.String(), `{"jsonrpc":"2.0","id":1,"result":{"late":true}}`+"\n") {
		t.Errorf("%v, output %s", err, out.String())
	}
}

func TestStdioEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	in, send := io.Pipe()
	sessions := NewSessions(nil)
	var out syncBuffer
	ended := make(chan error, 1)
	go func() { ended <- ServeStdio(ctx, in, &out, sessions, testEntry("me"), nil) }()
	fmt.Fprintln(send, initialize)
	fmt.Fprintln(send, `{"id":1,"method":"hang"}`)
	waitFor(t, func() bool { return sessions.Len() == 1 })
	sessions.Broadcast("default", "notifications/tools/list_changed", nil)
	waitFor(t, func() bool { return strings.Contains(out.String(), "list_changed") })
	cancel()
	if err := <-ended; err != nil || sessions.Len() != 0 {
		t.Errorf("%v, %d sessions", err, sessions.Len())
	}
	send.Close()
}

func TestStdioEndsThoughItsClientReadsNothing(t *testing.T) {
	for name, sent := range map[string]string{
		"the answer to initialize": initialize, "garbage": "hello", "an answer": initialize + "\n" + ping,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				in, send := io.Pipe()
				unread, out := io.Pipe()
				sessions := NewSessions(nil)
				ended := make(chan error, 1)
				go func() { ended <- ServeStdio(ctx, in, out, sessions, testEntry("me"), nil) }()
				go io.WriteString(send, sent+"\n")
				synctest.Wait()
				cancel()
				if err := <-ended; err == nil || !strings.Contains(err.Error(), "does not read") {
					t.Errorf("got %v", err)
				}
				unread.Close()
				send.Close()
				synctest.Wait()
			})
		})
	}
}

func TestStdioSurvivesADrain(t *testing.T) {
	in, send := io.Pipe()
	sessions := NewSessions(nil)
	var out syncBuffer
	ended := make(chan error, 1)
	go func() { ended <- ServeStdio(t.Context(), in, &out, sessions, testEntry("me"), nil) }()
	fmt.Fprintln(send, initialize)
	waitFor(t, func() bool { return sessions.Len() == 1 })
	sessions.Drain()
	fmt.Fprintln(send, ping)
	waitFor(t, func() bool { return strings.Contains(out.String(), `"id":1,"result":{}`) })
	send.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestStdioReportsAnInputThatBreaks(t *testing.T) {
	broken := io.MultiReader(strings.NewReader(ping+"\n"), errReader{})
	var out syncBuffer
	err := ServeStdio(t.Context(), bufio.NewReader(broken), &out, NewSessions(nil), testEntry("me"), nil)
	if !errors.Is(err, http.ErrBodyReadAfterClose) || !strings.Contains(out.String(), `"result":{}`) {
		t.Errorf("got %v, output %s", err, out.String())
	}
}

type errReader struct{}

func (errReader) Read([]byte) (int, error) { return 0, http.ErrBodyReadAfterClose }

type syncBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func TestOpenRequestsOfOneSessionAreBounded(t *testing.T) {
	s := &Session{}
	for i := range maxOpen {
		if _, err := (&opened{id: []byte(fmt.Sprint(i)), session: s}).open(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := (&opened{id: []byte(`"more"`), session: s}).open(t.Context()); err == nil {
		t.Error("one more was taken")
	}
	s.canceled([]byte(`{"requestId":7}`)) // only its own end makes room
	if _, err := (&opened{id: []byte(`"more"`), session: s}).open(t.Context()); err == nil {
		t.Error("a request that has not ended made room")
	}
}
