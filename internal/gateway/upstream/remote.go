package upstream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/gateway/httpapi"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/config"
)

// remote is a session with a server over Streamable HTTP.
type remote struct {
	server tool.ServerID
	url    *url.URL
	http   http.RoundTripper
	limit  int64
	hooks  hooks

	credentials httpapi.Credentials
	oauth       bool                                     // the credentials are tokens that were got for it
	advise      func(context.Context, http.Header) error // says what a server needs that wants a token
	owner       *string                                  // whose credentials every request has; nil: its caller's
	protocol    atomic.Pointer[http.Header]              // the protocol's headers of every request; replaced, never modified
	last        atomic.Pointer[carried]                  // the headers of the last request

	streams atomic.Bool     // it has answered with a stream
	stream  <-chan struct{} // closed when the server has answered whether it has a stream of its own; nil: it was not asked

	ids  *atomic.Int64   // the newest id
	ctx  context.Context // ends with the session
	end  context.CancelFunc
	once sync.Once

	mu   sync.Mutex // orders the start of background work and the end
	work sync.WaitGroup

	asking sync.Mutex
	calls  map[int64]asked // open calls, by id; nil if nobody in the session can be asked
}

// asked is who can be asked a question, and the call's deadline.
type asked struct {
	ctx context.Context
	out outgoing
}

func newRemote(cfg config.Server, credentials httpapi.Credentials, rt http.RoundTripper, limit int64, h hooks) (*remote, error) {
	u, err := url.Parse(cfg.URL)
	if err != nil {
		return nil, fault.New(fault.BadConfig, "server %s: %w", cfg.ID, err)
	}
	r := &remote{
		server: cfg.ID, url: u, http: rt, limit: limit, hooks: h, credentials: credentials, oauth: cfg.OAuth != nil,
		ids: new(atomic.Int64),
	}
	r.protocol.Store(&http.Header{
		"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "User-Agent": {"toolfit"},
	})
	r.ctx, r.end = context.WithCancel(context.Background())
	return r, nil
}

// carried is the headers of a request, and what they were built from.
type carried struct {
	header                http.Header // read-only
	credentials, protocol *http.Header
}

// carry builds the headers of a caller's request, and reuses the last ones if nothing has changed.
func (r *remote) carry(ctx context.Context, caller string) (*carried, error) {
	credentials, err := r.credentials.Header(ctx, caller)
	if err != nil {
		return nil, err
	}
	protocol := r.protocol.Load()
	last := r.last.Load()
	if last != nil && last.credentials == credentials && last.protocol == protocol {
		return last, nil
	}
	next := &carried{credentials.Clone(), credentials, protocol}
	maps.Copy(next.header, *protocol)
	r.last.Store(next)
	return next, nil
}

// exchange sends a request for out, with its own headers added. If the server refuses the
// credentials and they can be renewed, it is sent once more.
func (r *remote) exchange(ctx context.Context, out outgoing, req *http.Request) (*http.Response, error) {
	req.URL = r.url
	req.Host = r.url.Host
	own := req.Header
	caller := out.caller
	if r.owner != nil {
		caller = *r.owner
	}
	for again := true; ; again = false {
		c, err := r.carry(ctx, caller)
		if err != nil {
			return nil, r.blame(err)
		}
		req.Header = headerFor(out, c.header)
		if own != nil {
			req.Header = maps.Clone(req.Header)
			maps.Copy(req.Header, own)
		}
		resp, err := r.http.RoundTrip(req.WithContext(ctx))
		if err != nil || resp.StatusCode != http.StatusUnauthorized && resp.StatusCode != http.StatusForbidden {
			return resp, err
		}
		if resp.StatusCode == http.StatusForbidden || !again || !r.credentials.Refused(ctx, caller, c.credentials, resp.Header) {
			return r.rejected(ctx, caller, c.credentials, resp)
		}
		resp.Body.Close()
		if req.GetBody != nil {
			req.Body, _ = req.GetBody() // bytes in memory
		}
	}
}

// rejected returns a refusal as it is, or the error if somebody has to sign in.
func (r *remote) rejected(ctx context.Context, caller string, sent *http.Header, resp *http.Response) (*http.Response, error) {
	s, ok := r.credentials.(httpapi.SignIns)
	if !ok {
		return resp, nil
	}
	if err := s.Rejected(ctx, caller, sent, resp.StatusCode, resp.Header); err != nil {
		resp.Body.Close()
		return nil, r.blame(err)
	}
	return resp, nil
}

// blame marks an error of the credentials if they are one caller's: it is no matter of others.
func (r *remote) blame(err error) error {
	if r.owner != nil && *r.owner != "" {
		return marked(err, noVerdict)
	}
	return err
}

// errSessionLost means that the server no longer knows our session. The request was not acted on.
var errSessionLost = errors.New("the server no longer knows the session")

// adopt applies the result of the handshake.
func (r *remote) adopt(resp http.Header, version string) {
	header := r.protocol.Load().Clone()
	if id := resp.Get("Mcp-Session-Id"); id != "" {
		header.Set("Mcp-Session-Id", id)
	}
	header.Set("Mcp-Protocol-Version", version)
	r.protocol.Store(&header)
}

// session is the id that the server gave the session; "" when it gave none.
func (r *remote) session() string { return r.protocol.Load().Get("Mcp-Session-Id") }

// get opens a stream of events: the session's own, or the rest of one whose last event is named.
func (r *remote) get(ctx context.Context, lastEvent string) (*http.Response, error) {
	header := http.Header{"Accept": {"text/event-stream"}, "Content-Type": nil}
	if lastEvent != "" {
		header.Set("Last-Event-ID", lastEvent)
	}
	return r.exchange(ctx, outgoing{}, &http.Request{Method: http.MethodGet, Header: header})
}

func (r *remote) request(ctx context.Context, out outgoing) (json.RawMessage, error) {
	if out.method == "resources/subscribe" {
		r.awaitStream(ctx)
	}
	id := r.ids.Add(1)
	defer r.enter(ctx, id, out)()
	exchange, outlive, end := r.exchangeContext(ctx)
	resp, err := r.post(exchange, out, out.message(id))
	if err != nil {
		if end != nil {
			end()
		}
		return nil, r.given(ctx, id, out, err)
	}
	result, err := r.answer(ctx, resp, id, out)
	outlive()
	r.finish(resp, err, end)
	if err != nil {
		return nil, r.given(ctx, id, out, err)
	}
	if out.method == helloMethod {
		version, _ := rawjson.String(rawjson.Get(result, "protocolVersion"))
		r.adopt(resp.Header, version)
	}
	return result, nil
}

// enter notes an open call in a session whose clients can be asked, until leave.
func (r *remote) enter(ctx context.Context, id int64, out outgoing) (leave func()) {
	if r.calls == nil || out.from.Capabilities == nil || out.isPoll() {
		return func() {}
	}
	r.asking.Lock()
	defer r.asking.Unlock()
	r.calls[id] = asked{ctx, out}
	return func() {
		r.asking.Lock()
		defer r.asking.Unlock()
		delete(r.calls, id)
	}
}

// given is the error that the caller gets for err. If it no longer waits, the server is sent a cancellation.
func (r *remote) given(ctx context.Context, id int64, out outgoing, err error) error {
	if ctx.Err() == nil {
		return err
	}
	if !out.endless() && out.era != mcp.Modern { // there the closed connection cancels it
		r.notify(cancelMethod, cancelParams(id, "the caller no longer waits"))
	}
	return ctx.Err()
}

// exchangeContext is for an exchange of the call whose context is ctx. After outlive it ends with end only: the rest of a stream
// must be read for its connection to be reused. Where no answer was a stream so far, ctx itself is enough, and costs nothing: end
// is nil.
func (r *remote) exchangeContext(ctx context.Context) (exchange context.Context, outlive func() bool, end context.CancelFunc) {
	if !r.streams.Load() {
		return ctx, func() bool { return true }, nil
	}
	exchange, end = context.WithCancel(context.WithoutCancel(ctx))
	return exchange, context.AfterFunc(ctx, end), end
}

// finish ends an exchange. The rest of a stream is read in the background, for a short time only; not where nothing could end that.
func (r *remote) finish(resp *http.Response, err error, end context.CancelFunc) {
	stream := err == nil && isStream(resp)
	if stream {
		r.streams.Store(true)
	}
	if end == nil {
		resp.Body.Close()
		return
	}
	started := stream && r.background(func() {
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

// headerFor is the header of a message. A modern one repeats parts of its body.
func headerFor(out outgoing, base http.Header) http.Header {
	if out.span != nil {
		base = maps.Clone(base)
		out.span.Header(base)
	}
	if out.era != mcp.Modern {
		return base
	}
	header := make(http.Header, len(base)+len(out.header)+3)
	maps.Copy(header, base)
	maps.Copy(header, out.header)
	header["Mcp-Protocol-Version"] = modernVersion
	header[mcp.MethodHeader] = []string{out.method}
	if out.name != "" {
		header[mcp.NameHeader] = []string{mcp.EncodeHeader(out.name)}
	}
	return header
}

var modernVersion = []string{mcp.ModernVersion}

// post sends one message. A broken connection gives a typed error.
func (r *remote) post(ctx context.Context, out outgoing, message []byte) (*http.Response, error) {
	resp, err := r.exchange(ctx, out, &http.Request{
		Method: http.MethodPost, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Body: io.NopCloser(bytes.NewReader(message)), ContentLength: int64(len(message)),
		GetBody: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(message)), nil },
	})
	switch {
	case err == nil:
		return resp, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	return nil, r.unreachable(err)
}

// notify posts a notification in the background, for a short time only. The end of the handshake is waited for: some
// servers have all their tools only when they have heard of it, and the first list must not overtake it.
func (r *remote) notify(method string, params json.RawMessage) {
	message := mcp.AppendNotification(nil, method, params)
	if method == initMethod {
		r.deliver(message)
		return
	}
	r.background(func() { r.deliver(message) })
}

func (r *remote) deliver(message []byte) {
	ctx, cancel := context.WithTimeout(r.ctx, grace)
	defer cancel()
	if resp, err := r.post(ctx, outgoing{}, message); err == nil {
		resp.Body.Close()
	}
}

// background runs f in the background, unless the session has ended.
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

// leave ends the session here only.
func (r *remote) leave() {
	r.mu.Lock()
	r.end()
	r.mu.Unlock()
	r.work.Wait()
}

// close ends the session, here and, within a short time, at the server.
func (r *remote) close() {
	r.once.Do(func() {
		r.leave()
		if r.session() == "" {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), grace)
		defer cancel()
		resp, err := r.exchange(ctx, outgoing{}, &http.Request{Method: http.MethodDelete})
		if err == nil {
			resp.Body.Close()
		}
	})
}
