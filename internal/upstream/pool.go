// Package upstream speaks to the servers whose tools we serve: it starts, keeps, restarts
// and ends them, and carries one request per call. It passes params and results as raw
// bytes. It decides nothing about who may call what, and it stores nothing.
//
//	pool := upstream.New(&upstream.Options{Changed: refresh})
//	pool.Apply(cfg.Servers)
//	out, err := pool.Call(ctx, upstream.Call{Server: "files", Tool: "read_file", Params: params})
package upstream

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolfit/toolfit/internal/config"
	"github.com/toolfit/toolfit/internal/fault"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/tool"
)

// Pool holds the servers and the open sessions with them.
type Pool struct {
	opts Options
	http *http.Transport // for servers without a proxy of their own

	level atomic.Value // string: which log messages servers are to send

	mu      sync.RWMutex
	servers map[tool.ServerID]*server
	order   []tool.ServerID

	stop context.CancelFunc
	done chan struct{}
}

// Options change a Pool. The zero value is usable.
type Options struct {
	Version  string                 // told to servers; "" says "dev"
	Builtins map[string]mcp.Handler // servers inside our own process, by name
	Changed  func(tool.ServerID)    // told that a server says its list has changed; it must not block
	Opened   func(tool.ServerID)    // told that a session was opened; it must not block
	// Updated is told that a resource, which somebody subscribed to, has changed; it must not block.
	Updated      func(id tool.ServerID, params json.RawMessage)
	MaxMessage   int64               // most bytes of one message from a server; 0: 16 MiB
	MaxProcesses int                 // most processes at once; 0: 64
	Redact       func(string) string // takes secrets out of what servers say about themselves; nil: there are none
	Logger       *slog.Logger        // nil: discard
	Now          func() time.Time    // nil: time.Now
}

// New makes an empty pool; Close ends it.
func New(opts *Options) *Pool {
	p := &Pool{servers: map[tool.ServerID]*server{}, done: make(chan struct{})}
	if opts != nil {
		p.opts = *opts
	}
	p.opts.fill()
	p.http = p.transport("")
	ctx, stop := context.WithCancel(context.Background())
	p.stop = stop
	go p.sweep(ctx)
	return p
}

// transport carries requests to servers, through a proxy of their own or the environment's.
func (p *Pool) transport(proxy string) *http.Transport {
	if proxy == "" && p.http != nil {
		return p.http
	}
	choose := http.ProxyFromEnvironment
	if u, err := url.Parse(proxy); err == nil && proxy != "" {
		choose = http.ProxyURL(u)
	}
	return &http.Transport{
		Proxy:                  choose,
		DialContext:            (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           1024,
		MaxIdleConnsPerHost:    256,
		IdleConnTimeout:        90 * time.Second,
		TLSHandshakeTimeout:    10 * time.Second,
		MaxResponseHeaderBytes: 1 << 20,
		DisableCompression:     true, // results pass as they are
	}
}

func (o *Options) fill() {
	if o.Version == "" {
		o.Version = "dev"
	}
	if o.Changed == nil {
		o.Changed = func(tool.ServerID) {}
	}
	if o.Opened == nil {
		o.Opened = func(tool.ServerID) {}
	}
	if o.Updated == nil {
		o.Updated = func(tool.ServerID, json.RawMessage) {}
	}
	if o.MaxMessage == 0 {
		o.MaxMessage = 16 << 20
	}
	if o.MaxProcesses == 0 {
		o.MaxProcesses = 64
	}
	if o.Redact == nil {
		o.Redact = func(s string) string { return s }
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
}

// Apply makes the pool hold exactly these servers. Those whose settings are unchanged keep
// their sessions; the others are ended, and start again when they are next needed.
func (p *Pool) Apply(servers []config.Server) {
	var ended []*server
	p.mu.Lock()
	old := p.servers
	p.servers, p.order = make(map[tool.ServerID]*server, len(servers)), nil
	for _, cfg := range servers {
		p.order = append(p.order, cfg.ID)
		if s := old[cfg.ID]; s != nil && s.sameAs(cfg) {
			p.servers[cfg.ID] = s
			delete(old, cfg.ID)
			continue
		}
		p.servers[cfg.ID] = newServer(p, cfg)
	}
	for _, s := range old {
		ended = append(ended, s)
	}
	p.mu.Unlock()
	var closing sync.WaitGroup // side by side: one that does not want to end holds up no other
	for _, s := range ended {
		closing.Go(s.close)
	}
	closing.Wait()
}

func (p *Pool) server(id tool.ServerID) (*server, error) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if s := p.servers[id]; s != nil {
		return s, nil
	}
	return nil, fault.New(fault.NotFound, "there is no server %s", id)
}

func (p *Pool) all() []*server {
	p.mu.RLock()
	defer p.mu.RUnlock()
	all := make([]*server, 0, len(p.order))
	for _, id := range p.order {
		all = append(all, p.servers[id])
	}
	return all
}

// Call is one request on its way to a server.
type Call struct {
	Server  tool.ServerID
	Method  string          // "" stands for tools/call
	Tool    string          // the server's own name for the tool; "" when it is none
	Params  json.RawMessage // complete, with the server's own names
	Token   [2]int          // where the caller's progress token stands in Params; zero: none
	Peer    mcp.Peer        // who hears of progress and is asked questions; nil: nobody
	Session string          // the caller's session, for servers that keep state per session
	Client  *mcp.Session    // whose capabilities count; nil: those of a client that cannot be asked
}

func (c Call) caller() caller {
	who := caller{session: c.Session, asks: nothing}
	if c.Client != nil {
		who.asks, who.home = askable(c.Client.Capabilities), c.Client
	}
	return who
}

// Kind says what an Outcome is.
type Kind int

// Complete is a finished call. Other kinds belong to the protocol era in which a server may
// answer with a question.
const Complete Kind = 0

// Outcome is what a server answered.
type Outcome struct {
	Kind Kind
	Raw  json.RawMessage // the result, byte for byte; read-only
	buf  *bytes.Buffer   // what holds Raw
}

// buffers are room for answers. A large result costs more to make room for than to carry.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// Release lets the room that Raw takes be used again. Raw must not be used afterwards. It
// need not be called.
func (o Outcome) Release() {
	const largest = 1 << 20
	if o.buf != nil && o.buf.Cap() <= largest {
		buffers.Put(o.buf)
	}
}

// Call sends one request to the server and waits for the answer, at most as long as the
// server's settings allow for this tool.
func (p *Pool) Call(ctx context.Context, c Call) (Outcome, error) {
	s, err := p.server(c.Server)
	if err != nil {
		return Outcome{}, err
	}
	peer := c.Peer
	if peer == nil {
		peer = mcp.Deaf
	}
	limit := s.timeout(c.Tool)
	timed, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	out := Outcome{Kind: Complete, buf: buffers.Get().(*bytes.Buffer)}
	method := c.Method
	if method == "" {
		method = "tools/call"
	}
	out.Raw, err = s.pass(timed, c.caller(), outgoing{
		method: method, params: c.Params, token: span{c.Token[0], c.Token[1]}, peer: peer, asks: new(atomic.Bool), buf: out.buf,
	})
	switch {
	case err == nil:
		return out, nil
	case ctx.Err() != nil:
		return Outcome{}, fault.New(fault.Canceled, "the call was cancelled: %w", context.Cause(ctx))
	case timed.Err() != nil:
		return Outcome{}, fault.New(fault.UpstreamTimeout, "server %s did not answer %s within %s", c.Server, cmp.Or(c.Tool, method), limit).
			WithHint("raise timeout of %s, or timeouts for this tool", c.Server)
	}
	return Outcome{}, p.clean(err)
}

// clean takes secrets out of what a caller will read: servers like to say with which
// token they could not start.
func (p *Pool) clean(err error) error {
	var f *fault.Error
	if !errors.As(err, &f) {
		return err
	}
	c := *f
	c.Message, c.Hint = p.opts.Redact(f.Message), p.opts.Redact(f.Hint)
	return &c
}

// Ask sends a request of our own to the server, over our own session with it.
func (p *Pool) Ask(ctx context.Context, id tool.ServerID, method string, params json.RawMessage) (json.RawMessage, error) {
	s, err := p.server(id)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	return s.do(ctx, caller{}, outgoing{method: method, params: params, peer: mcp.Deaf})
}

// SetLevel tells all servers which log messages to send, now and when they start.
func (p *Pool) SetLevel(ctx context.Context, level string) {
	if p.currentLevel() == level {
		return
	}
	p.level.Store(level)
	var telling sync.WaitGroup // side by side: one that does not answer holds up no other
	for _, s := range p.all() {
		for _, sess := range s.live() {
			telling.Go(func() { setLevel(ctx, sess.conn, sess.hello, level) })
		}
	}
	telling.Wait()
}

func (p *Pool) currentLevel() string {
	level, _ := p.level.Load().(string)
	return level
}

// Tell passes a notification of a caller's session on to the sessions that servers keep for it.
func (p *Pool) Tell(session, method string, params json.RawMessage) {
	for _, s := range p.all() {
		for _, sess := range s.live() {
			if session != "" && sess.seat.key == session {
				sess.conn.notify(method, params)
			}
		}
	}
}

// EndSession closes what servers keep for a caller's session that has ended.
func (p *Pool) EndSession(session string) {
	if session == "" {
		return
	}
	for _, s := range p.all() {
		s.endSession(session)
	}
}

// sweep closes sessions that nobody has used for longer than their server's idle limit.
func (p *Pool) sweep(ctx context.Context) {
	defer close(p.done)
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			for _, s := range p.all() {
				s.closeIdle(p.opts.Now())
			}
		}
	}
}

// makeRoom closes the process that has been idle for longest when the limit is reached.
func (p *Pool) makeRoom() error {
	running := 0
	var oldest *session
	for _, s := range p.all() {
		n, idle := s.processes()
		running += n
		if idle != nil && (oldest == nil || idle.used.Before(oldest.used)) {
			oldest = idle
		}
	}
	switch {
	case running <= p.opts.MaxProcesses: // the one about to start is counted
		return nil
	case oldest == nil:
		return fault.New(fault.UpstreamBusy, "%d server processes are running and all are busy", running-1).
			WithHint("try again later, or raise limits.processes")
	}
	oldest.server.dropIdle(oldest)
	return nil
}

// Close ends all sessions and waits until every process is gone.
func (p *Pool) Close() {
	p.stop()
	<-p.done
	p.Apply(nil)
	p.http.CloseIdleConnections()
}
