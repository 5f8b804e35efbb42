package wire

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/bench/upstream"
)

// caller is what all clients can do.
type caller interface {
	Call(method, tool string, params []byte) ([]byte, error)
	Close()
}

func server(t *testing.T, modern bool) *upstream.Server {
	t.Helper()
	s, err := upstream.New(&upstream.Options{Tools: 3, Modern: modern})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// streamed answers with event streams, as many servers do.
func streamed(s *upstream.Server) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		answer, err := s.Answer(text)
		if err != nil || answer == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, ": hello\n\nevent: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}\n\n")
		fmt.Fprintf(w, "event: message\ndata: %s\n\n", answer)
	})
}

// olderSSE serves HTTP+SSE: answers come on the stream.
func olderSSE(t *testing.T, s *upstream.Server) http.Handler {
	answers := make(chan []byte, 8)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /mcp", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "event: endpoint\ndata: /messages?sessionId=1\n\n")
		for {
			w.(http.Flusher).Flush()
			select {
			case answer := <-answers:
				fmt.Fprintf(w, "event: message\ndata: %s\n\n", answer)
			case <-r.Context().Done():
				return
			}
		}
	})
	mux.HandleFunc("POST /messages", func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		w.WriteHeader(http.StatusAccepted)
		if answer, err := s.Answer(text); err != nil {
			t.Error(err)
		} else if answer != nil {
			answers <- answer
		}
	})
	return mux
}

func TestEveryClientGetsTheAnswerToItsOwnCall(t *testing.T) {
	const timeout = 10 * time.Second
	over := func(h http.Handler) string {
		front := httptest.NewServer(h)
		t.Cleanup(front.Close)
		return front.URL + "/mcp"
	}
	for name, open := range map[string]func() (caller, error){
		"legacy, JSON":   func() (caller, error) { return DialHTTP(over(server(t, false)), Legacy, "", timeout) },
		"legacy, events": func() (caller, error) { return DialHTTP(over(streamed(server(t, false))), Legacy, "", timeout) },
		"modern, JSON":   func() (caller, error) { return DialHTTP(over(server(t, true)), Modern, "", timeout) },
		"modern, events": func() (caller, error) { return DialHTTP(over(streamed(server(t, true))), Modern, "", timeout) },
		"HTTP+SSE":       func() (caller, error) { return DialSSE(over(olderSSE(t, server(t, false))), timeout) },
		"lines": func() (caller, error) {
			toIn, in := io.Pipe()
			out, fromOut := io.Pipe()
			go server(t, false).ServeLines(toIn, fromOut)
			return OpenLines(in, out, func() { in.Close() }, timeout)
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := open()
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			for i := range 3 {
				answer, err := c.Call("tools/call", "echo", fmt.Appendf(nil, `{"name":"echo","arguments":{"message":"m%d"}}`, i))
				if err != nil || !bytes.Contains(answer, fmt.Appendf(nil, `"text":"m%d"`, i)) {
					t.Fatalf("got %s, %v", answer, err)
				}
			}
		})
	}
}

func TestModernRequestsKeepTheCallersOwnMeta(t *testing.T) {
	for params, want := range map[string]string{
		`{}`:                           `"params":{"_meta":{` + modernMeta + `}}}`,
		`{"name":"a"}`:                 `"params":{"_meta":{` + modernMeta + `},"name":"a"}}`,
		`{"_meta":{"x":1},"name":"a"}`: `"params":{"_meta":{` + modernMeta + `,"x":1},"name":"a"}}`,
	} {
		if got := request(nil, Modern, 1, "m", []byte(params)); !bytes.HasSuffix(got, []byte(want)) {
			t.Errorf("%s became %s", params, got)
		}
	}
}
