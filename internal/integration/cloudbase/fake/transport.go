package fake

import (
	"bytes"
	"io"
	"net/http"

	"github.com/toolfit/toolfit/internal/base/inbound"
)

// Transport sends requests to the API within this process.
func (a *API) Transport() http.RoundTripper { return transport{a} }

type transport struct{ api *API }

// RoundTrip answers in another goroutine, so that the caller can leave.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	in := r.Clone(r.Context())
	for name, values := range r.Header { // on the wire all spellings are one
		delete(in.Header, name)
		in.Header[http.CanonicalHeaderKey(name)] = values
	}
	in.Host = r.URL.Host
	if r.Host != "" {
		in.Host = r.Host
	}
	if in.Body == nil {
		in.Body = http.NoBody
	}
	out := inbound.NewRecorder()
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer in.Body.Close()
		t.api.ServeHTTP(out, in)
	}()
	select {
	case <-done:
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	return &http.Response{
		Status: http.StatusText(out.Status), StatusCode: out.Status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: out.Header(), Body: io.NopCloser(bytes.NewReader(out.Body.Bytes())), ContentLength: int64(out.Body.Len()), Request: r,
	}, nil
}
