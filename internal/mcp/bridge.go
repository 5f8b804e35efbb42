package mcp

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync"
	"time"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// BridgeOptions configure a Bridge. Nil means the zero value.
type BridgeOptions struct {
	HTTP    http.RoundTripper // nil: http.DefaultTransport
	Header  http.Header       // sent with every request, such as Authorization
	MaxLine int               // limit of one message in bytes, in both directions; 0: 64 MiB
}

// Bridge carries the messages of one client on a pair of pipes to a Streamable HTTP endpoint and
// back, in both eras, until its input or ctx ends. Requests in flight are still answered. A session
// that the endpoint has forgotten is opened again.
func Bridge(ctx context.Context, in io.Reader, out io.Writer, endpoint string, opts *BridgeOptions) error {
	u, err := url.Parse(endpoint)
	if err != nil {
		return err
	}
	b := &bridge{
		url: u, http: http.DefaultTransport, header: http.Header{}, limit: 64 << 20,
		open: map[string]*passage{}, mirrors: map[string]*Mirror{},
	}
	if opts != nil {
		b.limit = cmp.Or(opts.MaxLine, b.limit)
		if opts.HTTP != nil {
			b.http = opts.HTTP
		}
		if opts.Header != nil {
			b.header = opts.Header.Clone()
		}
	}
	b.lineConn = newLineConn(in, out, b.limit)
	b.header.Set("Content-Type", jsonType)
	b.header.Set("Accept", jsonType+", "+streamType)
	return within(ctx, func() error { return b.serve(ctx) })
}

// bridge connects a client on pipes to a remote server.
type bridge struct {
	*lineConn
	url    *url.URL
	header http.Header // headers of every request; read-only
	http   http.RoundTripper
	limit  int

	life   context.Context // ends with the bridge
	work   sync.WaitGroup  // requests that will be answered
	stream sync.WaitGroup  // work that lasts until the end

	greeting sync.Mutex // held while a session is opened
	mu       sync.Mutex // guards what follows
	session  *bridged   // nil before initialize
	open     map[string]*passage
	mirrors  map[string]*Mirror // by tool, as far as the endpoint required headers
}

// bridged is a session at the endpoint.
type bridged struct {
	id, version string
	hello       Message // the client's initialize
	line        []byte  // the same as it was received
}

// passage is a request in flight.
type passage struct {
	cancel    context.CancelFunc
	withdrawn bool // the client no longer wants an answer; guarded by bridge.mu
}

// serve takes messages until the input ends, waits for their answers, and ends the session.
func (b *bridge) serve(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	b.life = ctx
	err := b.read(ctx, func(m Message, line []byte) { b.take(ctx, m, line) })
	b.work.Wait() // canceled by ctx too
	cancel()
	b.stream.Wait()
	b.leave()
	return err
}

// leaveAfter is the timeout for ending the session at the endpoint.
const leaveAfter = time.Second

func (b *bridge) leave() {
	if s := b.now(); s != nil && s.id != "" {
		b.post(context.Background(), leaveAfter, http.MethodDelete, s, nil)
	}
}

// post sends a message that needs no answer.
func (b *bridge) post(ctx context.Context, limit time.Duration, method string, s *bridged, body []byte) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if resp, err := b.send(ctx, method, b.headerOf(s), body); err == nil {
		resp.Body.Close()
	}
}

func (b *bridge) now() *bridged {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.session
}

// take passes one message on. The next is read once this one is on its way, so that the order is preserved.
func (b *bridge) take(ctx context.Context, m Message, line []byte) {
	switch {
	case m.IsRequest():
		b.request(ctx, m, line)
	case m.Method == "notifications/cancelled":
		b.canceled(ctx, m, line)
	default:
		b.deliver(ctx, line)
	}
}

// deliverWithin is the timeout for sending a message that needs no answer.
const deliverWithin = 30 * time.Second

// deliver sends a notification or an answer. Only sessions have them.
func (b *bridge) deliver(ctx context.Context, line []byte) {
	if s := b.now(); s != nil {
		b.post(ctx, deliverWithin, http.MethodPost, s, line)
	}
}

// canceled cancels a request: in a session by the message, otherwise by closing the connection.
func (b *bridge) canceled(ctx context.Context, m Message, line []byte) {
	b.mu.Lock()
	p := b.open[string(rawjson.Get(m.Params, "requestId"))]
	if p != nil {
		p.withdrawn = true
	}
	b.mu.Unlock()
	b.deliver(ctx, line)
	if p != nil {
		p.cancel()
	}
}

// request passes a request on and returns once it is sent; initialize, once it is answered: what follows belongs to its session.
func (b *bridge) request(ctx context.Context, m Message, line []byte) {
	ctx, cancel := context.WithCancel(ctx)
	p := &passage{cancel: cancel}
	key := string(m.ID)
	if !b.enter(key, p) {
		cancel()
		b.write(AppendError(nil, m.ID, Errorf(CodeInvalidRequest, "request id %s is in use", key)))
		return
	}
	onItsWay := make(chan struct{})
	tell := sync.OnceFunc(func() { close(onItsWay) })
	traced := ctx
	if m.Method != "initialize" {
		traced = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { tell() }})
	}
	group := &b.work
	if m.Method == listenMethod {
		group = &b.stream // it never ends by itself
	}
	group.Go(func() {
		defer tell()
		defer cancel()
		before := b.now()
		answer := b.answer(traced, m, line)
		if b.wants(key, p) && answer != nil && ctx.Err() == nil {
			b.write(answer)
		}
		if s := b.now(); m.Method == "initialize" && s != before {
			b.stream.Go(func() { b.listen(s) }) // from here on: the answer comes first
		}
	})
	<-onItsWay
}

// enter notes a request; false if one with its id is in flight.
func (b *bridge) enter(key string, p *passage) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.open[key] != nil {
		return false
	}
	b.open[key] = p
	return true
}

// wants ends a request before its answer goes out, and tells whether the client still wants it.
func (b *bridge) wants(key string, p *passage) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.open, key)
	return !p.withdrawn
}

// answer sends a request and returns the message that answers it; nil if none will come.
func (b *bridge) answer(ctx context.Context, m Message, line []byte) []byte {
	var answer []byte
	var err error
	switch s := b.now(); {
	case m.Method == "initialize" && s == nil:
		answer, err = b.greet(ctx, m, line)
	case m.Method == "initialize":
		err = errGreeted
	case isModernOnPipe(m) && s == nil:
		answer, err = b.askModern(ctx, m, line)
	case isModernOnPipe(m):
		err = otherEra(s.version)
	case s == nil:
		answer = answerFirst(m)
	default:
		answer, err = b.askIn(ctx, s, m, line)
	}
	if err != nil {
		return AppendError(nil, m.ID, err)
	}
	return answer
}

// headerOf is the headers of a session's message.
func (b *bridge) headerOf(s *bridged) http.Header {
	h := b.header.Clone()
	if s.id != "" {
		h.Set(sessionHeader, s.id)
	}
	h.Set(versionHeader, s.version)
	return h
}

// greet opens a session.
func (b *bridge) greet(ctx context.Context, m Message, line []byte) ([]byte, error) {
	answer, resp, err := b.ask(ctx, b.header, m, line)
	if err != nil {
		return nil, err
	}
	said, err := Parse(answer)
	if err != nil || said.Error != nil {
		return answer, err
	}
	version, _ := rawjson.String(rawjson.Get(said.Result, "protocolVersion"))
	s := &bridged{id: resp.Get(sessionHeader), version: version, hello: m, line: line}
	b.mu.Lock()
	b.session = s
	b.mu.Unlock()
	return answer, nil
}

// askIn sends a request of a session. If the endpoint has forgotten the session, a new one is opened: the request was not acted on.
func (b *bridge) askIn(ctx context.Context, s *bridged, m Message, line []byte) ([]byte, error) {
	answer, _, err := b.ask(ctx, b.headerOf(s), m, line)
	if !errors.Is(err, errForgotten) {
		return answer, err
	}
	if s, err = b.again(ctx, s); err != nil {
		return nil, err
	}
	answer, _, err = b.ask(ctx, b.headerOf(s), m, line)
	return answer, err
}

// again replaces a session that the endpoint has forgotten, unless another request has done so.
func (b *bridge) again(ctx context.Context, old *bridged) (*bridged, error) {
	b.greeting.Lock()
	defer b.greeting.Unlock()
	if s := b.now(); s != old {
		return s, nil
	}
	answer, err := b.greet(ctx, old.hello, old.line)
	if err != nil {
		return nil, err
	}
	if b.now() == old {
		return nil, Errorf(CodeInternal, "the gateway has ended the session and opens no other: %.200s", answer)
	}
	b.deliver(ctx, AppendNotification(nil, "notifications/initialized", nil))
	s := b.now()
	b.stream.Go(func() { b.listen(s) })
	for _, kind := range []string{"tools", "prompts", "resources"} { // the lists may have changed
		b.write(AppendNotification(nil, "notifications/"+kind+"/list_changed", nil))
	}
	return s, nil
}
