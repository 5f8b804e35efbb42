package cli

import (
	"context"
	"io"
	"net/http"
	"sync"
)

// inProcess is an HTTP transport to a handler in this process. Answers can be read while
// they are written.
type inProcess struct{ handler http.Handler }

func (t inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(r.Context())
	reader, writer := io.Pipe()
	w := &answerWriter{header: http.Header{}, body: writer, begun: make(chan struct{})}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		t.handler.ServeHTTP(w, r.WithContext(ctx))
		w.WriteHeader(http.StatusOK) // where it wrote nothing
		writer.Close()
	}()
	<-w.begun
	return &http.Response{
		StatusCode: w.status, Header: w.sent, ContentLength: -1, Request: r,
		Body: &answerBody{reader, func() { cancel(); <-ended }},
	}, nil
}

// answerBody is an answer that is being written. Closing it ends the writing.
type answerBody struct {
	*io.PipeReader
	end func()
}

func (b *answerBody) Close() error {
	err := b.PipeReader.Close()
	b.end()
	return err
}

type answerWriter struct {
	header, sent http.Header
	status       int
	body         *io.PipeWriter
	once         sync.Once
	begun        chan struct{}
}

func (w *answerWriter) Header() http.Header { return w.header }

func (w *answerWriter) WriteHeader(status int) {
	w.once.Do(func() {
		w.status, w.sent = status, w.header.Clone()
		close(w.begun)
	})
}

func (w *answerWriter) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(b)
}

// Flush does nothing: what is written can be read at once.
func (w *answerWriter) Flush() {}
