package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// blankWriter takes an answer and forgets it.
type blankWriter struct{ header http.Header }

func (w blankWriter) Header() http.Header         { return w.header }
func (w blankWriter) WriteHeader(int)             {}
func (w blankWriter) Write(b []byte) (int, error) { return len(b), nil }

// BenchmarkRequest is what the wire itself costs a request.
func BenchmarkRequest(b *testing.B) {
	e := testEntry("")
	e.Handler = HandlerFunc(func(context.Context, *Request) (json.RawMessage, error) { return json.RawMessage(`{}`), nil })
	sessions := NewSessions(nil)
	front := NewFront(sessions, nil)
	s := &Session{Version: Latest, Group: e.Group, done: make(chan struct{})}
	sessions.add(s, true)
	message := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","_meta":` + goodMeta + `}}`
	for name, header := range map[string]http.Header{
		"legacy": {sessionHeader: {s.ID}},
		"modern": {versionHeader: {ModernVersion}, MethodHeader: {"tools/call"}, NameHeader: {"a"}},
	} {
		b.Run(name, func(b *testing.B) {
			body := strings.NewReader(message)
			r := httptest.NewRequest(http.MethodPost, "/", io.NopCloser(body))
			r.ContentLength = int64(len(message))
			header.Set("Content-Type", jsonType)
			r.Header = header
			w := blankWriter{http.Header{}}
			b.ReportAllocs()
			for b.Loop() {
				body.Reset(message)
				front.Serve(w, r, e)
			}
		})
	}
	for name, line := range map[string]string{
		"pipe-legacy": `{"id":1,"method":"tools/call","params":{"name":"a"}}`,
		"pipe-modern": message,
	} {
		b.Run(name, func(b *testing.B) {
			in, send := io.Pipe()
			written := make(chan struct{}, 1)
			ended := make(chan error, 1)
			go func() {
				ended <- ServeStdio(b.Context(), in, tellWriter(written), NewSessions(nil), e, nil)
			}()
			if name == "pipe-legacy" {
				io.WriteString(send, initialize+"\n")
				<-written
			}
			text := []byte(line + "\n")
			b.ReportAllocs()
			for b.Loop() {
				send.Write(text)
				<-written
			}
			send.Close()
			<-ended
		})
	}
}

// tellWriter says that something was written.
type tellWriter chan struct{}

func (w tellWriter) Write(b []byte) (int, error) {
	w <- struct{}{}
	return len(bytes.TrimSpace(b)) + 1, nil
}
