// Package upstream talks to the servers whose tools we serve: it starts, restarts
// and stops them, and carries one request per call. It passes params and results as raw
// bytes. It decides nothing about who may call what, and it stores nothing.
//
//	pool := upstream.New(&upstream.Options{Changed: refresh})
//	pool.Apply(cfg.Servers)
//	out, err := pool.Call(ctx, upstream.Call{Server: "files", Tool: "read_file", Params: params})
package upstream

import (
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

	"github.com/toolfit/toolfit/internal/base/direct"
	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/repeat"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/gateway/httpapi"
	"github.com/toolfit/toolfit/internal/gateway/telemetry"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/config"
)

// Pool holds the servers and the open sessions with them.
type Pool struct {
	opts Options
	http *direct.Transport // for servers without a proxy of their own

	level atomic.Value // string: the log level for servers
	asks  questions
	open  openCalls

	self  json.RawMessage // our clientInfo, for requests without a client's
	quiet time.Duration   // the constant, except in tests

	leaving atomic.Bool // we go down

	mu      sync.RWMutex
	servers map[tool.ServerID]*server
	order   []tool.ServerID

	stop context.CancelFunc
	done chan struct{}
}

// Options change a Pool. The zero value is usable.
type Options struct {
	Version  string              // sent to servers; "": "dev"
	Builtins map[string]Builtin  // servers inside our own process, by name
	Changed  func(tool.ServerID) // called when a server reports a changed list; it must not block
	Opened   func(tool.ServerID) // called when a session was opened; it must not block
	// Updated is called when a subscribed resource has changed; it must not block.
	Updated func(id tool.ServerID, params json.RawMessage)
	// Credentials returns those for a server; nil: the headers of its configuration.
	Credentials func(config.Server) httpapi.Credentials
	// Advise says what to do about a server that has refused a request because it wants a token, and for which no tokens
	// are got; nil: only that it does.
	Advise       func(ctx context.Context, cfg config.Server, refusal http.Header) error
	Seats        Seats                // where the sessions for one caller alone are; nil: here
	MaxMessage   int64                // limit of a server's message in bytes; 0: 16 MiB
	MaxProcesses int                  // limit of concurrent processes, shared fairly between callers; 0: 64
	Trace        *telemetry.Telemetry // nil: off
	Redact       func(string) string  // removes secrets from servers' messages; nil: there are none
	Logger       *slog.Logger         // nil: discard
	Now          func() time.Time     // nil: time.Now
}

// Builtin makes a server inside our own process. The server may have a Close method.
type Builtin func(config.Server) (mcp.Handler, error)

// New makes an empty pool; Close ends it.
func New(opts *Options) *Pool {
	p := &Pool{servers: map[tool.ServerID]*server{}, done: make(chan struct{}), quiet: quiet}
	if opts != nil {
		p.opts = *opts
	}
	p.opts.fill()
	p.self = mcp.Info{Name: "toolfit", Version: p.opts.Version}.Implementation()
	p.http = p.transport("")
	ctx, stop := context.WithCancel(context.Background())
	p.stop = stop
	go p.sweep(ctx)
	return p
}

// transport carries requests to servers, through a proxy of their own or the environment's.
func (p *Pool) transport(proxy string) *direct.Transport {
	if proxy == "" && p.http != nil {
		return p.http
	}
	choose := http.ProxyFromEnvironment
	if u, err := url.Parse(proxy); err == nil && proxy != "" {
		choose = http.ProxyURL(u)
	}
	return direct.New(&http.Transport{
		Proxy:                  choose,
		DialContext:            (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           1024,
		MaxIdleConnsPerHost:    256,
		IdleConnTimeout:        90 * time.Second,
		TLSHandshakeTimeout:    10 * time.Second,
		MaxResponseHeaderBytes: 1 << 20,
		ReadBufferSize:         1 << 10, // a detached call holds both for long; large results do not go through them
		WriteBufferSize:        1 << 10,
		DisableCompression:     true, // results pass unchanged
	})
}

func (o *Options) fill() {
	o.Version = cmp.Or(o.Version, "dev")
	o.MaxMessage = cmp.Or(o.MaxMessage, 16<<20)
	o.MaxProcesses = cmp.Or(o.MaxProcesses, 64)
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	if o.Credentials == nil {
		o.Credentials = func(cfg config.Server) httpapi.Credentials { return httpapi.Static(cfg.Headers) }
	}
	if o.Advise == nil {
		o.Advise = func(_ context.Context, cfg config.Server, _ http.Header) error {
			return fault.New(fault.LoginRequired, "server %s needs sign-in: it takes OAuth tokens and has none (HTTP 401)", cfg.ID)
		}
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
	if o.Redact == nil {
		o.Redact = func(s string) string { return s }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
}

// Apply makes the pool hold exactly these servers. Unchanged ones keep their sessions; others are closed and start when next needed.
func (p *Pool) Apply(servers []config.Server) {
	var ended []*server
	p.mu.Lock()
	old := p.servers
	p.servers = make(map[tool.ServerID]*server, len(servers))
	p.order = nil
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
	var closing sync.WaitGroup // in parallel: one that is slow to end does not delay the others
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

// clean removes secrets from what a caller will read: some servers print the token they could not start with.
func (p *Pool) clean(err error) error {
	var f *fault.Error
	var rpc *mcp.Error
	switch {
	case errors.As(err, &f):
		c := *f
		c.Message = p.opts.Redact(f.Message)
		c.Hint = p.opts.Redact(f.Hint)
		return &c
	case errors.As(err, &rpc):
		c := *rpc
		c.Message = p.opts.Redact(rpc.Message)
		c.Data = p.cleanJSON(rpc.Data)
		c.Raw = p.cleanJSON(rpc.Raw)
		return &c
	}
	return err
}

// cleanJSON removes secrets from a value; nil if one spanned more than a string.
func (p *Pool) cleanJSON(raw json.RawMessage) json.RawMessage {
	text := string(raw)
	clean := p.opts.Redact(text)
	switch {
	case clean == text:
		return raw
	case !json.Valid([]byte(clean)):
		return nil
	}
	return json.RawMessage(clean)
}

// Ask sends a request of our own to the server, over our own session with it.
func (p *Pool) Ask(ctx context.Context, id tool.ServerID, method string, params json.RawMessage) (json.RawMessage, error) {
	s, err := p.server(id)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout())
	defer cancel()
	if method == "resources/subscribe" || method == "resources/unsubscribe" {
		if s.personal { // it would be told of what somebody else sees
			return nil, mcp.Errorf(mcp.CodeInvalidParams, "server %s tells nobody of changes: each person signs in to it", id)
		}
		if done, err := s.listenTo(ctx, method, params); done || err != nil {
			return nothing, err
		}
	}
	raw, _, err := s.do(ctx, caller{}, own(method, params))
	return raw, err
}

// own is a request of our own.
func own(method string, params json.RawMessage) outgoing {
	return outgoing{method: method, params: params, from: mcp.Speaker{Era: mcp.Modern, Capabilities: everythingModern}, peer: mcp.Deaf}
}

// SetLevel tells all servers which log messages to send, now and when they start.
func (p *Pool) SetLevel(ctx context.Context, level string) {
	if p.currentLevel() == level {
		return
	}
	p.level.Store(level)
	var telling sync.WaitGroup // in parallel: one that does not answer does not delay the others
	for _, s := range p.all() {
		for _, sess := range s.live() {
			if sess.era != mcp.Modern { // where each request has the level
				telling.Go(func() { setLevel(ctx, sess.conn, sess.hello, level) })
			}
		}
	}
	telling.Wait()
}

func (p *Pool) currentLevel() string {
	level, _ := p.level.Load().(string)
	return level
}

// Tell forwards a notification from a caller's session to the server sessions kept for it.
func (p *Pool) Tell(session, method string, params json.RawMessage) {
	for _, s := range p.all() {
		for _, sess := range s.live() {
			if session != "" && sess.seat.key == session && sess.era != mcp.Modern {
				sess.conn.notify(method, params)
			}
		}
	}
}

// EndSession closes the server sessions kept for a caller's session that has ended, those with open calls and tasks when these end.
// Unused says how long they must not have been used, if other replicas may still serve the caller's session.
func (p *Pool) EndSession(session string, unused time.Duration) {
	if session == "" {
		return
	}
	for _, s := range p.all() {
		s.endSession(session, unused)
	}
}

// sweep closes sessions that nobody has used for longer than their server's idle limit.
func (p *Pool) sweep(ctx context.Context) {
	defer close(p.done)
	repeat.Every(ctx.Done(), time.Second, func() {
		for _, s := range p.all() {
			s.closeIdle(p.opts.Now())
		}
	})
}

// Close ends all sessions and waits until every process is gone.
func (p *Pool) Close() {
	p.Leave()
	p.stop()
	<-p.done
	p.Apply(nil)
	p.http.CloseIdleConnections()
}
