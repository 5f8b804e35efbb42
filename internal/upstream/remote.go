package upstream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolfit/toolfit/internal/config"
	"github.com/toolfit/toolfit/internal/fault"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/rawjson"
	"github.com/toolfit/toolfit/internal/tool"
)

// remote is a session with a server over Streamable HTTP.
type remote struct {
	server tool.ServerID
	url    *url.URL
	header atomic.Pointer[http.Header] // what every request carries; replaced, never changed
	http   http.RoundTripper
	limit  int64
	hooks  hooks
	asks   chan struct{} // holds one for each open question of the server's

	last atomic.Int64
	ctx  context.Context // ends with the session
	end  context.CancelFunc
	once sync.Once

	mu   sync.Mutex // orders the start of background work and the end
	work sync.WaitGroup
}

func newRemote(cfg config.Server, rt http.RoundTripper, limit int64, h hooks) (*remote, error) {
	u, err := url.Parse(cfg.URL)
	if err != nil {
		return nil, fault.New(fault.BadConfig, "server %s: %w", cfg.ID, err)
	}
	r := &remote{server: cfg.ID, url: u, http: rt, limit: limit, hooks: h, asks: make(chan struct{}, maxAsks)}
	header := http.Header{}
	for k, v := range cfg.Headers {
		header.Set(k, v)
	}
	header.Set("Content-Type", "application/json")
	header.Set("Accept", "application/json, text/event-stream")
	header.Set("User-Agent", "toolfit")
	r.header.Store(&header)
	r.ctx, r.end = context.WithCancel(context.Background())
	return r, nil
}

// errSessionLost says that the server no longer knows our session. The request was not acted on.
var errSessionLost = errors.New("the server no longer knows the session")

// adopt takes over what the handshake decided.
func (r *remote) adopt(resp http.Header, version string) {
	header := r.header.Load().Clone()
	if id := resp.Get("Mcp-Session-Id"); id != "" {
		header.Set("Mcp-Session-Id", id)
	}
	header.Set("Mcp-Protocol-Version", version)
	r.header.Store(&header)
}

// session is the id that the server gave the session; "" when it gave none.
func (r *remote) session() string { return r.header.Load().Get("Mcp-Session-Id") }

// listening is the header of a request for a stream of events.
func (r *remote) listening() http.Header {
	header := r.header.Load().Clone()
	header.Set("Accept", "text/event-stream")
	header.Del("Content-Type")
	return header
}

func (r *remote) request(ctx context.Context, out outgoing) (json.RawMessage, error) {
	id := r.last.Add(1)
	// The exchange outlives the call by a moment: a stream must be read to its end for the
	// connection to be used again.
	exchange, end := context.WithCancel(context.WithoutCancel(ctx))
	unlink := context.AfterFunc(ctx, end)
	resp, err := r.post(exchange, out.message(id))
	if err != nil {
		end()
		return nil, r.given(ctx, id, out, err)
	}
	result, err := r.answer(ctx, resp, id, out)
	unlink()
	r.finish(resp, err, end)
	if err != nil {
		return nil, r.given(ctx, id, out, err)
	}
	if out.method == "initialize" {
		version, _ := rawjson.String(rawjson.Get(result, "protocolVersion"))
		r.adopt(resp.Header, version)
	}
	return result, nil
}

// given is what the caller gets instead of err: when it no longer waits, the server is told so.
func (r *remote) given(ctx context.Context, id int64, out outgoing, err error) error {
	if ctx.Err() == nil {
		return err
	}
	if out.method != "initialize" { // which may not be cancelled
		r.notify(cancelMethod, cancelParams(id, "the caller no longer waits"))
	}
	return ctx.Err()
}

// finish ends an exchange. A stream whose answer has come is read to its end beside the
// calls, for a short time only: a server may keep it open.
func (r *remote) finish(resp *http.Response, err error, end context.CancelFunc) {
	if err != nil || !isStream(resp) {
		resp.Body.Close()
		end()
		return
	}
	started := r.background(func() {
		timer := time.AfterFunc(100*time.Millisecond, end)
		io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10))
		timer.Stop()
		resp.Body.Close()
		end()
	})
	if !started {
		resp.Body.Close()
		end()
	}
}

func isStream(resp *http.Response) bool {
	return strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream")
}

// post sends one message. A connection that breaks gives a typed error.
func (r *remote) post(ctx context.Context, message []byte) (*http.Response, error) {
	req := &http.Request{
		Method: http.MethodPost, URL: r.url, Host: r.url.Host, Header: *r.header.Load(),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Body: io.NopCloser(bytes.NewReader(message)), ContentLength: int64(len(message)),
		GetBody: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(message)), nil },
	}
	resp, err := r.http.RoundTrip(req.WithContext(ctx))
	switch {
	case err == nil:
		return resp, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	return nil, fault.New(fault.UpstreamDown, "server %s cannot be reached: %w", r.server, plainError(err)).
		WithHint("check that %s is running", r.url.Redacted())
}

// plainError strips the wrapping that repeats the URL, which may hold a secret.
func plainError(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// answer reads the response to request id, in whichever form it comes.
func (r *remote) answer(ctx context.Context, resp *http.Response, id int64, out outgoing) (json.RawMessage, error) {
	switch {
	case resp.StatusCode == http.StatusNotFound && r.session() != "":
		return nil, errSessionLost
	case resp.StatusCode != http.StatusOK:
		return nil, r.statusError(resp, id)
	case isStream(resp):
		return r.answerFromStream(ctx, resp.Body, id, out)
	case strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json"):
		return r.answerFromBody(resp, id, out.buf)
	}
	head, _ := io.ReadAll(io.LimitReader(resp.Body, 200))
	return nil, r.protocolError("answered %q instead of JSON: %s", resp.Header.Get("Content-Type"), oneLine(head))
}

func (r *remote) answerFromBody(resp *http.Response, id int64, buf *bytes.Buffer) (json.RawMessage, error) {
	if buf == nil {
		buf = new(bytes.Buffer)
	}
	buf.Reset()
	if n := resp.ContentLength; n > 0 && n <= r.limit {
		buf.Grow(int(n) + bytes.MinRead)
	}
	n, err := buf.ReadFrom(io.LimitReader(resp.Body, r.limit+1))
	switch {
	case err != nil:
		return nil, fault.New(fault.UpstreamDown, "the connection to server %s broke before its answer was complete: %w", r.server, plainError(err))
	case n > r.limit:
		return nil, tooLarge(r.server, max(n, resp.ContentLength), r.limit)
	}
	m, err := mcp.Parse(buf.Bytes())
	if err != nil {
		return nil, r.protocolError("sent what is no message: %v", err)
	}
	if !m.IsResponse() || !isID(m.ID, id) {
		return nil, r.protocolError("answered another request than the one it was sent")
	}
	return split(m)
}

// split takes the answer out of a message. An error outlives the buffer that it came in.
func split(m mcp.Message) (json.RawMessage, error) {
	if m.Error != nil {
		return nil, mcp.ParseError(bytes.Clone(m.Error))
	}
	return m.Result, nil
}

// kept is split for a message whose bytes do not last.
func kept(m mcp.Message, buf *bytes.Buffer) (json.RawMessage, error) {
	result, err := split(m)
	if err != nil || buf == nil {
		return bytes.Clone(result), err
	}
	buf.Reset()
	buf.Write(result)
	return buf.Bytes(), nil
}

func isID(raw json.RawMessage, id int64) bool {
	n, err := strconv.ParseInt(string(raw), 10, 64)
	return err == nil && n == id
}

// statusError says what an HTTP status means for the caller.
func (r *remote) statusError(resp *http.Response, id int64) error {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
	if m, err := mcp.Parse(body); err == nil && m.Error != nil && isID(m.ID, id) {
		return mcp.ParseError(m.Error)
	}
	switch resp.StatusCode {
	case http.StatusBadRequest:
		// Servers written after a well-known example say this instead of 404.
		if r.session() != "" && bytes.Contains(bytes.ToLower(body), []byte("session")) {
			return errSessionLost
		}
	case http.StatusUnauthorized, http.StatusForbidden:
		return fault.New(fault.UpstreamDown, "server %s refused our credentials (HTTP %d)", r.server, resp.StatusCode).
			WithHint("check the headers of %s in the configuration", r.server)
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout, http.StatusTooManyRequests:
		return fault.New(fault.UpstreamDown, "server %s is not available (HTTP %d)", r.server, resp.StatusCode)
	}
	err := r.protocolError("answered HTTP %d: %s", resp.StatusCode, oneLine(body))
	if resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusMethodNotAllowed {
		return fmt.Errorf("%w%w", err, errNotStreamable)
	}
	return err
}

// errNotStreamable adds to an error that the URL may still be one of the older transport.
var errNotStreamable = errors.New("")

func (r *remote) protocolError(format string, args ...any) error {
	return fault.New(fault.UpstreamProtocol, "server %s %s", r.server, fmt.Sprintf(format, args...)).
		WithHint("check that its URL is an MCP endpoint")
}

func oneLine(b []byte) string {
	return string(rawjson.OneLine(bytes.ToValidUTF8(b[:min(len(b), 200)], nil))) // a cut may halve a character
}

func (r *remote) notify(method string, params json.RawMessage) {
	r.send(mcp.AppendNotification(nil, method, params))
}

// send posts a message that wants no answer, in the background and for a short time only.
func (r *remote) send(message []byte) {
	r.background(func() { r.deliver(message) })
}

func (r *remote) deliver(message []byte) {
	ctx, cancel := context.WithTimeout(r.ctx, grace)
	defer cancel()
	if resp, err := r.post(ctx, message); err == nil {
		resp.Body.Close()
	}
}

// background runs f beside the calls, unless the session has ended.
func (r *remote) background(f func()) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ctx.Err() != nil {
		return false
	}
	r.work.Go(f)
	return true
}

func (r *remote) closed() <-chan struct{} { return r.ctx.Done() }

// close ends the session, here and, within a short time, at the server.
func (r *remote) close() {
	r.once.Do(func() {
		r.mu.Lock()
		r.end()
		r.mu.Unlock()
		r.work.Wait()
		if r.session() == "" {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), grace)
		defer cancel()
		req := &http.Request{Method: http.MethodDelete, URL: r.url, Host: r.url.Host, Header: *r.header.Load()}
		if resp, err := r.http.RoundTrip(req.WithContext(ctx)); err == nil {
			resp.Body.Close()
		}
	})
}
