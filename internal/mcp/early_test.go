package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/inbound"
	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// earlyCall is a request whose handler goes on after it was answered.
type earlyCall struct {
	req *Request
	ctx context.Context
	end chan struct{} // the test closes it: the handler returns
	out chan struct{} // closed when it has returned
}

// newEarlyFront is a front whose method "early" hands its requests to the test. With params.progress they stream first.
func newEarlyFront(t *testing.T) (*testFront, chan *earlyCall) {
	f := newTestFront(t, nil)
	calls := make(chan *earlyCall, 1000)
	front := NewFront(f.sessions, &FrontOptions{Stalled: time.Second})
	f.Server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		front.Serve(w, r, earlyEntry(calls))
	})
	return f, calls
}

func earlyEntry(calls chan *earlyCall) Entry {
	e := testEntry("")
	e.Handler = HandlerFunc(func(ctx context.Context, req *Request) (json.RawMessage, error) {
		if strings.HasPrefix(req.Method, "tasks/") {
			return rawjson.Get(req.Params, "taskId"), nil
		}
		if req.Method != "early" {
			return testHandler(ctx, req)
		}
		if bytes.Contains(req.Params, []byte("progress")) {
			req.Client.Notify(ctx, "notifications/progress", json.RawMessage(`{"progress":1}`))
		}
		c := &earlyCall{req: req, ctx: ctx, end: make(chan struct{}), out: make(chan struct{})}
		calls <- c
		defer close(c.out)
		select {
		case <-c.end:
		case <-ctx.Done():
		}
		return json.RawMessage(`{"late":true}`), ctx.Err()
	})
	return e
}

// goesOn checks that the handler runs on undisturbed, and lets it end.
func (c *earlyCall) goesOn(t *testing.T) {
	t.Helper()
	select {
	case <-c.out:
		t.Error("the handler was ended")
	case <-time.After(20 * time.Millisecond):
	}
	if err := c.ctx.Err(); err != nil {
		t.Errorf("its context was ended: %v", err)
	}
	if c.req.AnswerNow(json.RawMessage(`{}`)) {
		t.Error("it was answered twice")
	}
	if err := c.req.Client.Notify(t.Context(), "notifications/progress", nil); err != errFinished && c.req.Meta == nil {
		t.Errorf("its client was told something: %v", err)
	}
	if _, err := c.req.Client.Ask(t.Context(), "roots/list", nil); err == nil {
		t.Error("its client was asked something")
	}
	close(c.end)
	<-c.out
}

func TestARequestIsAnsweredWhileItsHandlerGoesOn(t *testing.T) {
	for _, era := range []string{"2025-06-18", Latest, ModernVersion} {
		for _, kind := range []string{"json", "stream", "stream begun by the answer"} {
			t.Run(era+" "+kind, func(t *testing.T) { answersEarly(t, era, kind) })
		}
	}
}

func answersEarly(t *testing.T, era, kind string) {
	f, calls := newEarlyFront(t)
	var header map[string]string
	params := `{`
	if era == ModernVersion {
		params += `"_meta":` + goodMeta + `,`
		header = map[string]string{versionHeader: ModernVersion, MethodHeader: "early"}
	} else {
		header = f.open(t, era)
	}
	switch kind {
	case "stream":
		params += `"progress":1,`
	case "stream begun by the answer":
		header["Accept"] = streamType
	}
	message := `{"id":7,"method":"early","params":` + strings.TrimSuffix(params, ",") + `}}`
	for range 3 { // the connection is closed each time, and the client does not mind
		answer := make(chan []string, 1)
		go func() { answer <- readAnswer(t, f.post(t, message, header)) }()
		c := <-calls
		if !c.req.AnswerNow(json.RawMessage(`{"early":true}`)) {
			t.Fatal("not answered")
		}
		want := `{"jsonrpc":"2.0","id":7,"result":{"early":true}}`
		if got := <-answer; !strings.HasSuffix(got[len(got)-1], want) || strings.Contains(fmt.Sprint(got), "late") {
			t.Errorf("got %q", got)
		}
		c.goesOn(t)
	}
	if s := f.sessions.get(header[sessionHeader], "", "default"); s != nil && len(s.streams) != 0 {
		t.Errorf("%d streams are stored", len(s.streams))
	}
}

func TestAnEarlyAnswerIsACompleteHTTPResponse(t *testing.T) {
	f, calls := newEarlyFront(t)
	h := f.open(t, "2025-06-18")
	got := make(chan string, 1)
	go func() {
		conn, err := net.Dial("tcp", f.Listener.Addr().String())
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		body := `{"id":7,"method":"early"}`
		fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nMcp-Session-Id: %s\r\nContent-Length: %d\r\n\r\n%s",
			h[sessionHeader], len(body), body)
		all, err := io.ReadAll(conn) // to its end: the connection is closed
		if err != nil {
			t.Error(err)
		}
		got <- string(all)
	}()
	c := <-calls
	c.req.AnswerNow(json.RawMessage(`{}`))
	text := <-got
	for _, want := range []string{"HTTP/1.1 200 OK\r\n", "Connection: close\r\n", "Content-Length: 36\r\n", "Content-Type: application/json\r\n", "Date: "} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %q", want, text)
		}
	}
	c.goesOn(t)
}

func TestAnAnsweredRequestBelongsToNobody(t *testing.T) {
	f, calls := newEarlyFront(t)
	h := f.open(t, Latest)
	s := f.sessions.get(h[sessionHeader], "", "default")
	early := func() *earlyCall {
		answer := make(chan []string, 1)
		go func() { answer <- readAnswer(t, f.post(t, `{"id":7,"method":"early"}`, h)) }()
		c := <-calls
		if !c.req.AnswerNow(json.RawMessage(`{}`)) {
			t.Fatal("not answered")
		}
		<-answer
		return c
	}
	canceled := early()
	again := early() // its id is free
	if _, idle := s.idle(); !idle {
		t.Error("the session still counts it")
	}
	readAnswer(t, f.post(t, `{"method":"notifications/cancelled","params":{"requestId":7}}`, h))
	canceled.goesOn(t)
	readAnswer(t, f.do(t, http.MethodDelete, "", h))
	again.goesOn(t)
}

func TestAnOldRequestDoesNotEndTheNextOfItsId(t *testing.T) {
	s := &Session{}
	first := &opened{id: []byte("1"), session: s}
	second := &opened{id: []byte("1"), session: s}
	first.open(t.Context())
	if !first.leave() || first.leave() {
		t.Error("it left not once")
	}
	ctx, err := second.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if first.end() || len(s.open) != 1 || ctx.Err() != nil {
		t.Error("the next one has ended")
	}
	s.canceled([]byte(`{"requestId":1}`))
	if second.leave() || !second.end() {
		t.Error("a canceled request has left")
	}
}

func TestWhatCannotBeAnsweredEarly(t *testing.T) {
	f, calls := newEarlyFront(t)
	h := f.open(t, batchVersion)
	refused := func(name string, c *earlyCall) {
		t.Helper()
		if c.req.AnswerNow(json.RawMessage(`{}`)) {
			t.Errorf("%s was answered", name)
		}
	}
	answer := make(chan []string, 1)
	go func() { answer <- readAnswer(t, f.post(t, `[{"id":7,"method":"early"}]`, h)) }()
	c := <-calls
	refused("a batch", c)
	close(c.end)
	if got := <-answer; !strings.Contains(fmt.Sprint(got), "late") {
		t.Errorf("got %q", got)
	}

	go func() { answer <- readAnswer(t, f.post(t, `{"id":7,"method":"early"}`, h)) }()
	c = <-calls
	readAnswer(t, f.post(t, `{"method":"notifications/cancelled","params":{"requestId":7}}`, h))
	<-c.ctx.Done()
	refused("a canceled request", c)
	<-c.out
	refused("an ended request", c)
	<-answer

	go func() { answer <- readAnswer(t, f.post(t, `{"method":"early"}`, h)) }()
	c = <-calls
	refused("a notification", c)
	close(c.end)
	<-answer
	if (&Request{}).AnswerNow(nil) {
		t.Error("a request of nobody was answered")
	}
}

func TestAClientThatLeftIsNotAnsweredEarly(t *testing.T) {
	f, calls := newEarlyFront(t)
	for name, header := range map[string]map[string]string{
		"legacy": f.open(t, "2025-06-18"),
		"modern": {versionHeader: ModernVersion, MethodHeader: "early"},
	} {
		ctx, hangUp := context.WithCancel(t.Context())
		req, _ := http.NewRequestWithContext(ctx, http.MethodPost, f.URL, strings.NewReader(`{"id":7,"method":"early","params":{"_meta":`+goodMeta+`}}`))
		req.Header.Set("Content-Type", jsonType)
		for k, v := range header {
			req.Header.Set(k, v)
		}
		go f.client.Do(req)
		c := <-calls
		hangUp()
		out := c.req.early.(*reply)
		waitFor(t, func() bool { return out.asked.Context().Err() != nil })
		if c.req.AnswerNow(json.RawMessage(`{}`)) {
			t.Errorf("%s: answered", name)
		}
		close(c.end)
		<-c.out
	}
}

// What a client has missed of a stream that it can resume, it gets when it comes back.
func TestAnEarlyAnswerWaitsInAStreamThatBroke(t *testing.T) {
	f, calls := newEarlyFront(t)
	h := f.open(t, Latest)
	ctx, hangUp := context.WithCancel(t.Context())
	req, _ := http.NewRequestWithContext(ctx, http.MethodPost, f.URL, strings.NewReader(`{"id":7,"method":"early","params":{"progress":1}}`))
	req.Header.Set("Content-Type", jsonType)
	req.Header.Set("Accept", jsonType+", "+streamType)
	req.Header.Set(sessionHeader, h[sessionHeader])
	resp, err := f.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	ev, err := NewEvents(resp.Body, 1000).Next()
	if err != nil || ev.ID == "" {
		t.Fatalf("%v %v", ev, err)
	}
	c := <-calls
	hangUp()
	resp.Body.Close()
	out := c.req.early.(*reply)
	waitFor(t, func() bool { return out.asked.Context().Err() != nil })
	if !c.req.AnswerNow(json.RawMessage(`{"early":true}`)) {
		t.Error("not answered")
	}
	h["Last-Event-ID"] = ev.ID
	if got := readAnswer(t, f.do(t, http.MethodGet, "", h)); !strings.Contains(fmt.Sprint(got), `"result":{"early":true}`) {
		t.Errorf("got %q", got)
	}
	c.goesOn(t)
}

// Whoever comes first answers, and nobody else does.
func TestEarlyAndLateAnswersRace(t *testing.T) {
	for _, era := range []string{"2025-06-18", ModernVersion} {
		for _, params := range []string{`{"_meta":META}`, `{"_meta":META,"progress":1}`} {
			t.Run(era, func(t *testing.T) {
				f, calls := newEarlyFront(t)
				header := map[string]string{versionHeader: ModernVersion, MethodHeader: "early"}
				meta := goodMeta
				if era != ModernVersion {
					header = f.open(t, era)
					meta = "{}"
				}
				message := `{"id":7,"method":"early","params":` + strings.Replace(params, "META", meta, 1) + `}`
				var won atomic.Int32
				for i := range 250 {
					go func() {
						c := <-calls
						go func() {
							for range rand.IntN(300) {
								runtime.Gosched()
							}
							close(c.end)
						}()
						for range rand.IntN(300) {
							runtime.Gosched()
						}
						if c.req.AnswerNow(json.RawMessage(`{"early":true}`)) {
							won.Add(1)
						}
						<-c.out
					}()
					got := fmt.Sprint(readAnswer(t, f.post(t, message, header)))
					if !strings.Contains(got, "early") == !strings.Contains(got, "late") || strings.Count(got, `"result"`) != 1 {
						t.Fatalf("%d: got %q", i, got)
					}
				}
				t.Logf("%d of 250 were early", won.Load())
			})
		}
	}
}

func TestStdioAnswersEarly(t *testing.T) {
	for name, lines := range map[string][]string{
		"legacy": {initialize, `{"id":7,"method":"early"}`},
		"modern": {`{"id":7,"method":"early","params":{"_meta":` + goodMeta + `}}`},
	} {
		t.Run(name, func(t *testing.T) {
			calls := make(chan *earlyCall, 10)
			in, send := io.Pipe()
			var out syncBuffer
			ended := make(chan error, 1)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			go func() { ended <- ServeStdio(ctx, in, &out, NewSessions(nil), earlyEntry(calls), nil) }()
			for _, line := range lines {
				fmt.Fprintln(send, line)
			}
			first := <-calls
			if !first.req.AnswerNow(json.RawMessage(`{"early":true}`)) || !strings.HasSuffix(out.String(), `"id":7,"result":{"early":true}}`+"\n") {
				t.Fatalf("output %s", out.String())
			}
			fmt.Fprintln(send, lines[len(lines)-1]) // its id is free
			second := <-calls
			fmt.Fprintln(send, `{"method":"notifications/cancelled","params":{"requestId":7}}`)
			<-second.out
			if second.req.AnswerNow(json.RawMessage(`{}`)) {
				t.Error("a canceled request was answered")
			}
			send.Close()
			if err := <-ended; err != nil { // it does not wait for the first
				t.Error(err)
			}
			cancel()
			written := out.String()
			first.goesOn(t)
			if out.String() != written || strings.Contains(written, "late") {
				t.Errorf("output %s", out.String())
			}
		})
	}
}

func TestEarlyAndLateAnswersRaceOnAPipe(t *testing.T) {
	calls := make(chan *earlyCall, 10)
	in, send := io.Pipe()
	var out syncBuffer
	ended := make(chan error, 1)
	go func() { ended <- ServeStdio(t.Context(), in, &out, NewSessions(nil), earlyEntry(calls), nil) }()
	fmt.Fprintln(send, initialize)
	var wg sync.WaitGroup
	for i := range 1000 {
		fmt.Fprintf(send, `{"id":%d,"method":"early"}`+"\n", i+1)
		c := <-calls
		wg.Go(func() { c.req.AnswerNow(json.RawMessage(`{"early":true}`)) })
		close(c.end)
	}
	wg.Wait()
	send.Close()
	if err := <-ended; err != nil || strings.Count(out.String(), `"result":`) != 1001 {
		t.Errorf("%v, %d answers", err, strings.Count(out.String(), `"result":`))
	}
}

func TestWhatAnAnsweredRequestHolds(t *testing.T) {
	const n = 200
	f, calls := newEarlyFront(t)
	h := f.open(t, "2025-06-18")
	used := func() uint64 {
		f.client.CloseIdleConnections()
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapInuse + m.StackInuse
	}
	before := used()
	var held []*earlyCall
	for i := range n {
		answer := make(chan []string, 1)
		go func() { answer <- readAnswer(t, f.post(t, fmt.Sprintf(`{"id":%d,"method":"early"}`, i), h)) }()
		c := <-calls
		if !c.req.AnswerNow(json.RawMessage(`{}`)) {
			t.Fatal("not answered")
		}
		<-answer
		held = append(held, c)
	}
	each := (int64(used()) - int64(before)) / n
	t.Logf("%d bytes each", each)
	if each > 40<<10 {
		t.Errorf("an answered request holds %d bytes", each)
	}
	for _, c := range held {
		close(c.end)
		<-c.out
	}
}

// As the gateway serves: connections are counted and watched, and a shutdown waits for what is not answered.
func TestAnsweredRequestsHoldNoConnection(t *testing.T) {
	for kind, params := range map[string]string{"json": `{}`, "stream": `{"progress":1}`} {
		t.Run(kind, func(t *testing.T) {
			f, calls := newEarlyFront(t)
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			watched := inbound.Listen(l, &inbound.Options{MaxConns: 2})
			srv := &http.Server{
				Handler:     watched.Guard(f.Server.Config.Handler, func(*http.Request) bool { return false }),
				ConnContext: inbound.ConnContext, ConnState: inbound.ConnState, ReadHeaderTimeout: 10 * time.Second,
			}
			served := make(chan error, 1)
			go func() { served <- srv.Serve(watched) }()
			f.URL = "http://" + l.Addr().String()
			h := f.open(t, Latest)
			var held []*earlyCall
			for i := range 20 {
				answer := make(chan string, 1)
				go func() {
					answer <- fmt.Sprint(readAnswer(t, f.post(t, fmt.Sprintf(`{"id":%d,"method":"early","params":%s}`, i, params), h)))
				}()
				c := <-calls
				if !c.req.AnswerNow(json.RawMessage(`{"early":true}`)) {
					t.Fatal("not answered")
				}
				if got := <-answer; !strings.Contains(got, "early") {
					t.Fatalf("got %s", got)
				}
				held = append(held, c)
				if i == 10 {
					held[0].goesOn(t) // beside a request of its old connection
					held = held[1:]
				}
			}
			answer := make(chan string, 1)
			go func() {
				answer <- fmt.Sprint(readAnswer(t, f.post(t, `{"id":"last","method":"early","params":`+params+`}`, h)))
			}()
			last := <-calls
			f.client.CloseIdleConnections()
			down := make(chan error, 1)
			go func() { down <- srv.Shutdown(t.Context()) }()
			if err := <-served; err != http.ErrServerClosed {
				t.Error(err)
			}
			if !last.req.AnswerNow(json.RawMessage(`{"early":true}`)) || !strings.Contains(<-answer, "early") {
				t.Error("not answered while the server shuts down")
			}
			if err := <-down; err != nil {
				t.Error(err)
			}
			last.goesOn(t)
			for _, c := range held {
				c.goesOn(t)
			}
		})
	}
}

func TestAnEarlyAnswerDoesNotWaitForAClientThatReadsNothing(t *testing.T) {
	f, calls := newEarlyFront(t)
	h := f.open(t, "2025-06-18")
	conn, err := net.Dial("tcp", f.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	body := `{"id":7,"method":"early"}`
	fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nMcp-Session-Id: %s\r\nContent-Length: %d\r\n\r\n%s",
		h[sessionHeader], len(body), body)
	c := <-calls
	began := time.Now()
	large := json.RawMessage(`"` + strings.Repeat("a", 32<<20) + `"`)
	c.req.early.(*reply).w.front.opts.Stalled = -time.Duration(len(large)>>16)*time.Second + 50*time.Millisecond // what is long may take longer
	if !c.req.AnswerNow(large) || time.Since(began) > patience/2 {
		t.Errorf("it took %s", time.Since(began))
	}
	c.goesOn(t)
}

// A request is either canceled or answered early, and what was answered early is not canceled.
func TestEarlyAnswersAndCancellationsRace(t *testing.T) {
	f, calls := newEarlyFront(t)
	h := f.open(t, "2025-06-18")
	s := f.sessions.get(h[sessionHeader], "", "default")
	early := 0
	for i := range 300 {
		params := `{}`
		if i%2 == 0 {
			params = `{"progress":1}`
		}
		answer := make(chan []string, 1)
		go func() { answer <- readAnswer(t, f.post(t, `{"id":7,"method":"early","params":`+params+`}`, h)) }()
		c := <-calls
		var won atomic.Int32
		var wg sync.WaitGroup
		wg.Go(func() {
			for range rand.IntN(300) {
				runtime.Gosched()
			}
			s.canceled(json.RawMessage(`{"requestId":7}`))
		})
		for range 2 {
			wg.Go(func() {
				if c.req.AnswerNow(json.RawMessage(`{"early":true}`)) {
					won.Add(1)
				}
			})
		}
		wg.Wait()
		if n := won.Load(); n > 1 || (n == 1) != (c.ctx.Err() == nil) {
			t.Fatalf("answered %d times, the context says %v", n, c.ctx.Err())
		}
		early += int(won.Load())
		close(c.end)
		if got := fmt.Sprint(<-answer); strings.Contains(got, "early") != (won.Load() == 1) || strings.Contains(got, "late") {
			t.Fatalf("got %s", got)
		}
		<-c.out
	}
	t.Logf("%d of 300 were early", early)
}
