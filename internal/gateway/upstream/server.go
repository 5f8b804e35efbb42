package upstream

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolfit/toolfit/internal/base/direct"
	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/fit"
	"github.com/toolfit/toolfit/internal/gateway/httpapi"
	"github.com/toolfit/toolfit/internal/gateway/telemetry"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
)

// server is one configured server and the sessions open with it.
type server struct {
	cfg         config.Server
	pool        *Pool
	gate        *gate
	http        *direct.Transport
	credentials httpapi.Credentials
	personal    bool         // callers have sessions of their own, because they have credentials of their own
	ids         atomic.Int64 // ids of requests over HTTP, unique across sessions
	tail        tail

	listed  atomic.Bool              // it has listed its tools since it was configured
	trusted atomic.Pointer[[]string] // hosts of a remote description that are approved; nil: none
	refused atomic.Pointer[string]   // the last host that was not

	insists atomic.Pointer[map[string]bool] // tools that it runs only for callers with tasks; replaced, never modified

	mu       sync.Mutex
	sessions map[string]*session      // by seat
	ending   map[string]chan struct{} // by seat: closed when the last session of a kept one has ended
	isolated bool                     // one session for each session of a caller
	needs    *fit.Session             // what its processes need for isolation; nil: nothing known
	era      mcp.Era                  // protocol era; "": not known yet
	failures int                      // failed starts in a row
	retryAt  time.Time                // no start before this
	oursOnly bool                     // it was our own session that failed; callers have credentials of their own, and may start
	reason   error                    // why it is down; nil if the last start worked
	since    time.Time                // of the last change of state
	ended    bool
	work     sync.WaitGroup // running starts and closes

	ctx  context.Context // cancels running starts
	stop context.CancelFunc
}

// session is one conn, or one being opened.
type session struct {
	server *server
	seat   seat
	ready  chan struct{} // closed when conn or err is set
	conn   conn
	err    error
	hello  json.RawMessage // the result of initialize or server/discover
	era    mcp.Era
	away   string // the replica that has it; "": it is here
	noted  bool   // something is stored of it
	given  bool   // guarded by server.mu; another replica has taken it over
	news   *news  // the stream of a modern server's notifications; may be nil
	listen bool   // change notifications arrive here, so it stays open
	opened time.Time

	inflight int           // guarded by server.mu
	used     time.Time     // guarded by server.mu; in the future while it has an open task
	over     bool          // guarded by server.mu; its caller is gone, so it ends with its last call
	outdated bool          // guarded by server.mu; what it may lack came after it was begun
	unused   time.Duration // guarded by server.mu; how long after that
}

func newServer(p *Pool, cfg config.Server) *server {
	s := &server{
		cfg: withLimits(cfg), pool: p, sessions: map[string]*session{}, ending: map[string]chan struct{}{},
		isolated: cfg.Isolation == "session", since: p.opts.Now(),
	}
	s.gate = newGate(s.cfg, p.opts.Now)
	s.http = p.transport(cfg.Proxy)
	s.credentials = p.opts.Credentials(cfg)
	s.personal = cfg.API == nil && cfg.Personal() // an API has no sessions
	s.tail.redact = p.opts.Redact
	if log := p.opts.Logger; log.Enabled(context.Background(), slog.LevelDebug) {
		s.tail.said = func(line string) { log.Debug("server said", "server", cfg.ID, "line", line) }
	}
	if cfg.Missing != "" {
		s.reason = fault.New(fault.UpstreamDown, "server %s is out of service: %s", cfg.ID, cfg.Missing)
	}
	s.ctx, s.stop = context.WithCancel(context.Background())
	return s
}

// withLimits fills in defaults for a configuration that was not read from a file.
func withLimits(cfg config.Server) config.Server {
	cfg.Start = cmp.Or(cfg.Start, 30*time.Second)
	return cfg
}

func (s *server) sameAs(cfg config.Server) bool {
	a := s.cfg
	b := withLimits(cfg)
	a.Line = 0
	b.Line = 0
	a.Detach = 0 // no matter of its connections
	b.Detach = 0
	return reflect.DeepEqual(a, b)
}

// timeout is the limit that is configured for calls of a tool; 0: none is.
func (s *server) timeout(rawTool string) time.Duration {
	for _, t := range s.cfg.Timeouts {
		if tool.Match(t.Glob, rawTool) {
			return t.Timeout
		}
	}
	return s.cfg.Timeout
}

// Timeout is the limit that is configured for calls of a tool; 0: none is.
func (p *Pool) Timeout(id tool.ServerID, rawTool string) time.Duration {
	s, err := p.server(id)
	if err != nil {
		return 0
	}
	return s.timeout(rawTool)
}

// pass is do for calls, which go through the gate.
func (s *server) pass(ctx context.Context, who caller, out outgoing) (json.RawMessage, mcp.Era, error) {
	if err := s.gate.enter(ctx); err != nil {
		return nil, "", unsent(err)
	}
	raw, era, err := s.do(ctx, who, out)
	if err != nil && out.clock.hasAsked() {
		err = marked(err, noVerdict) // a person may have been slow
	}
	s.gate.leave(ctx, err)
	return raw, era, err
}

// unsent marks the error of a request that the server never got.
func unsent(err error) error {
	var f *fault.Error
	switch {
	case !errors.As(err, &f):
		return err
	case hasMark(err, noVerdict):
		return marked(f.Unsent(), noVerdict)
	}
	return f.Unsent()
}

// do carries one request over the caller's session, and repeats it over a new one if the server
// cannot have acted: the session was lost or the era has changed. It returns the era of the answer.
func (s *server) do(ctx context.Context, who caller, out outgoing) (json.RawMessage, mcp.Era, error) {
	if out.from.Info == nil {
		out.from.Info = s.pool.self
	}
	for attempt := 0; ; attempt++ {
		sess, err := s.acquire(ctx, who)
		if err != nil {
			return nil, "", unsent(err)
		}
		out.era = sess.era
		if out.asTask {
			out.askForTask(sess)
		}
		raw, err := s.request(ctx, sess, out)
		s.release(sess)
		lost := errors.Is(err, errSessionLost)
		other := hasMark(err, otherEra) || sess.era == mcp.Modern && refusesVersion(err)
		if !lost && !other {
			s.stale(err)
			return raw, sess.era, err
		}
		if lost && s.forgotten(sess) {
			return nil, "", s.lost()
		}
		s.drop(sess)
		if other {
			s.learn("")
		}
		switch {
		case attempt == 0:
		case lost:
			return nil, "", fault.New(fault.UpstreamDown, "server %s ends its sessions at once", s.cfg.ID).Unsent()
		default:
			return nil, "", err
		}
	}
}

// request sends a request over an open session.
func (s *server) request(ctx context.Context, sess *session, out outgoing) (json.RawMessage, error) {
	if s.pool.opts.Trace == nil {
		return sess.conn.request(ctx, out)
	}
	ctx, out.span = s.pool.opts.Trace.Request(ctx, out.method, out.name, sess.described())
	raw, err := sess.conn.request(ctx, out)
	out.span.Answered(raw, err)
	return raw, err
}

// described is the session as traces name it.
func (sess *session) described() telemetry.Upstream {
	cfg := &sess.server.cfg
	to := telemetry.Upstream{Server: string(cfg.ID), Version: mcp.ModernVersion}
	if sess.era != mcp.Modern {
		to.Version, _ = rawjson.String(rawjson.Get(sess.hello, "protocolVersion"))
	}
	switch {
	case cfg.Command != "":
		to.Transport = "pipe"
	case cfg.URL != "" || cfg.API != nil:
		to.Transport = "tcp"
	}
	if r, ok := sess.conn.(*remote); ok {
		to.Session = r.session()
	}
	return to
}

// acquire finds or opens the session for a caller and counts the caller in.
func (s *server) acquire(ctx context.Context, who caller) (*session, error) {
	for range 3 {
		sess, err := s.take(ctx, who)
		if err == nil && sess.seat.kept {
			if err = s.stays(ctx, sess, who); err != nil {
				s.release(sess)
			}
		}
		again := err == errAgain || err == errMoved && !who.passed
		if !again {
			return sess, err
		}
	}
	err := fault.New(fault.UpstreamBusy, "the session with server %s changes its gateway", s.cfg.ID).WithHint("try again")
	return nil, marked(err, noVerdict)
}

// take finds or opens the session and counts the caller in.
func (s *server) take(ctx context.Context, who caller) (*session, error) {
	s.mu.Lock()
	seat := s.seatOf(who)
	sess := s.sessions[seat.key]
	if sess == nil {
		var err error
		if sess, err = s.begin(ctx, seat); err != nil {
			s.mu.Unlock()
			return nil, err
		}
	}
	sess.inflight++
	s.mu.Unlock()

	select {
	case <-sess.ready:
	case <-ctx.Done():
		s.release(sess)
		return nil, ctx.Err()
	}
	if sess.err != nil {
		s.release(sess)
		return nil, sess.err
	}
	return sess, nil
}

func (s *server) release(sess *session) {
	s.mu.Lock()
	sess.inflight--
	sess.usedUntil(s.pool.opts.Now())
	s.mu.Unlock()
}

// usedUntil notes when the session was used last. The caller holds the server's mu.
func (sess *session) usedUntil(t time.Time) {
	if t.After(sess.used) {
		sess.used = t
	}
}

// begin starts to open a session in the background: a caller that cancels must not end it for others. The caller holds mu.
func (s *server) begin(ctx context.Context, seat seat) (*session, error) {
	now := s.pool.opts.Now()
	switch {
	case s.ended:
		return nil, fault.New(fault.UpstreamDown, "server %s was removed", s.cfg.ID)
	case s.cfg.Missing != "":
		return nil, marked(s.reason, noVerdict)
	case now.Before(s.retryAt) && !(s.oursOnly && seat.owner != ""):
		why := fault.As(s.reason)
		again := "it is tried again in " + max(s.retryAt.Sub(now).Round(time.Second), time.Second).String()
		if why.Hint != "" {
			again = why.Hint + "; " + again
		}
		return nil, marked(why.WithHint("%s", again), noVerdict)
	}
	if err := s.makeSeat(cmp.Or(seat.owner, seat.first)); err != nil {
		return nil, err
	}
	sess := &session{server: s, seat: seat, ready: make(chan struct{}), used: now}
	s.sessions[seat.key] = sess
	sent := access.SentWith(ctx)
	s.work.Go(func() { s.open(sess, sent) })
	return sess, nil
}

// drop takes a session out, so that the next call opens another, and closes it.
func (s *server) drop(sess *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(sess)
}

// dropIdle is drop for a session that is not in use.
func (s *server) dropIdle(sess *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if sess.inflight == 0 {
		s.remove(sess)
	}
}

// remove is drop for callers that hold mu.
func (s *server) remove(sess *session) { s.end(sess, false) }

func (s *server) endSession(key string, unused time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if sess := s.sessions[key]; sess != nil {
		if !sess.over || unused < sess.unused {
			sess.unused = unused
		}
		sess.over = true
		s.closeUnused(sess, s.pool.opts.Now())
	}
}

// closeIdle closes the sessions that were not used for longer than the limit.
func (s *server) closeIdle(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, sess := range s.sessions {
		s.closeUnused(sess, now)
	}
}

// closeUnused closes a session that is idle for too long, or whose caller is gone with all its calls. The caller holds mu.
func (s *server) closeUnused(sess *session, now time.Time) {
	idle := now.Sub(sess.used)
	tooLong := s.cfg.Idle > 0 && idle > s.cfg.Idle && !sess.listen && sess.isReady()
	if sess.inflight == 0 && (tooLong || sess.over && idle >= sess.unused) {
		s.end(sess, true)
	}
}

// live are the open sessions.
func (s *server) live() []*session {
	s.mu.Lock()
	defer s.mu.Unlock()
	var live []*session
	for _, sess := range s.sessions {
		if sess.isReady() && sess.conn != nil {
			live = append(live, sess)
		}
	}
	return live
}

func (sess *session) isReady() bool {
	select {
	case <-sess.ready:
		return true
	default:
		return false
	}
}

// close ends the server's sessions and waits until they are gone.
func (s *server) close() {
	s.mu.Lock()
	s.ended = true
	for _, sess := range s.sessions {
		s.remove(sess)
	}
	s.mu.Unlock()
	s.stop()
	s.work.Wait()
	if s.http != s.pool.http {
		s.http.CloseIdleConnections()
	}
}
