package upstream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/access"
)

// lasting is how long a session must last for its end not to count as a failed start.
const lasting = 10 * time.Second

// open connects a session, with the token of the caller who needs it, and watches it until it ends.
func (s *server) open(sess *session, sent access.Sent) {
	ctx, cancel := context.WithTimeout(access.WithSent(s.ctx, sent), s.cfg.Start)
	defer cancel()
	c, err := s.reach(ctx, sess)
	s.mu.Lock()
	now := s.pool.opts.Now()
	s.since = now
	sess.opened = now
	sess.used = now
	if err != nil {
		sess.err = err
		if !fault.Is(err, fault.UpstreamBusy) && !hasMark(err, noVerdict) && err != errMoved && !sess.outdated { // else not the server's fault
			s.reason = err
			s.failed(now)
			s.oursOnly = s.personal && sess.seat.owner == ""
		}
		if s.sessions[sess.seat.key] == sess {
			delete(s.sessions, sess.seat.key)
		}
	} else {
		sess.conn = c
		s.reason = nil
	}
	close(sess.ready)
	s.mu.Unlock()
	if err == nil {
		s.work.Go(func() { s.watch(sess) })
	}
	if err == nil && sess.away == "" {
		s.pool.opts.Opened(s.cfg.ID)
	}
}

// connectAny connects over the configured transport, or the one that the server supports.
func (s *server) connectAny(ctx context.Context, sess *session) (conn, error) {
	c, err := s.connect(ctx, sess, s.cfg.Type)
	if hasMark(err, notStreamable) && s.cfg.Type == "" {
		// A server that refuses the newer transport may support the older one.
		if older, olderErr := s.connect(ctx, sess, "sse"); olderErr == nil {
			return older, nil
		}
	}
	return c, err
}

// connect dials and greets. A process that exits on the modern greeting is started again and gets only the legacy one.
func (s *server) connect(ctx context.Context, sess *session, transport string) (conn, error) {
	for again := false; ; again = true {
		c, err := s.dial(ctx, sess.seat, transport)
		if err != nil {
			return nil, s.startError(ctx, err)
		}
		known := s.knownEra()
		g := s.greet(ctx, c, sess, transport)
		if g.err == nil {
			sess.hello = g.hello
			sess.era = g.era
			s.share(sess)
			s.listen(sess, c)
			s.pool.opts.Logger.Debug("server session opened", "server", s.cfg.ID, "era", sess.era, "kind", s.kind())
			return c, nil
		}
		ended := died(c)
		c.close()
		if again || !ended || known == mcp.Legacy || ctx.Err() != nil {
			return nil, g.err
		}
		s.learn(mcp.Legacy)
	}
}

// share makes a session shared once its server turns out to be modern: there each request names its client.
func (s *server) share(sess *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := sess.seat.key
	if sess.era == mcp.Modern && !s.isolated && sess.seat.owner == "" && !sess.seat.passed && s.sessions[key] == sess && s.sessions[""] == nil {
		delete(s.sessions, key)
		sess.seat = seat{caps: everything}
		s.sessions[""] = sess
	}
}

// listen opens a stream for what a server sends outside of calls. Some servers send pings there and end sessions that do not answer.
func (s *server) listen(sess *session, c conn) {
	ours := sess.seat.key == ""
	switch r, remote := c.(*remote); {
	case sess.era == mcp.Modern && ours:
		sess.listen = remote
		sess.news = newNews(s, c, sess.hello)
		s.work.Go(sess.news.run)
	case sess.era != mcp.Modern && remote:
		sess.listen = ours
		if ours {
			r.listen()
			return
		}
		r.calls = map[int64]asked{} // before the first call: nobody uses the session yet
		select {
		case <-r.listen(): // some servers lose a question if no stream is open
		case <-time.After(grace / 2):
		}
	}
}

// failed delays the next start: one second, doubled each time, at most a minute. The caller holds mu.
func (s *server) failed(now time.Time) {
	s.failures++
	s.retryAt = now.Add(min(time.Second<<min(s.failures-1, 10), time.Minute))
}

// watch notes how a session ends that we did not close.
func (s *server) watch(sess *session) {
	<-sess.conn.closed()
	if s.pool.opts.Trace != nil && sess.era != mcp.Modern {
		s.pool.opts.Trace.ServerLeft(sess.described(), sess.opened)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sessions[sess.seat.key] != sess {
		if s.pool.opts.Now().Sub(sess.opened) >= lasting {
			s.failures = 0
		}
		return // we closed it ourselves
	}
	now := s.pool.opts.Now()
	s.since = now
	if p, ok := sess.conn.(*process); ok {
		s.reason = p.reason()
		s.pool.opts.Logger.Warn("server ended", "server", s.cfg.ID, "error", s.reason)
	}
	if now.Sub(sess.opened) < lasting {
		s.failed(now)
	} else {
		s.failures = 0
		s.retryAt = time.Time{}
	}
	s.remove(sess)
}

// hooks are for what a server sends in a session outside of calls.
func (s *server) hooks(seat seat) hooks {
	return hooks{
		server:  s.cfg.ID,
		changed: func() { s.pool.opts.Changed(s.cfg.ID) },
		updated: func(params json.RawMessage) { s.pool.opts.Updated(s.cfg.ID, params) },
		refuse:  s.cfg.UTF8 == "refuse",
		home:    seat.home,
		owner:   seat.owner,
		asks:    &s.pool.asks,
	}
}

// dial makes the connection, of the configured kind.
func (s *server) dial(ctx context.Context, seat seat, transport string) (conn, error) {
	h := s.hooks(seat)
	switch {
	case s.cfg.Builtin != "":
		return s.startBuiltin(h)
	case s.cfg.API != nil:
		return s.dialAPI(h)
	case s.cfg.URL != "":
		r, err := newRemote(s.cfg, s.credentials, s.http, s.pool.opts.MaxMessage, h)
		if err != nil {
			return nil, err
		}
		r.advise = func(ctx context.Context, refusal http.Header) error { return s.pool.opts.Advise(ctx, s.cfg, refusal) }
		if s.personal {
			r.owner = &seat.owner
		}
		if transport == "sse" {
			return dialSSE(ctx, r)
		}
		r.ids = &s.ids
		return r, nil
	}
	if err := s.pool.makeRoom(seat.owner); err != nil {
		return nil, err
	}
	return startProcess(s.process(), int(s.pool.opts.MaxMessage), &s.tail, s.listed.Load, h)
}

// handshake agrees on a revision and returns the server's greeting.
func (s *server) handshake(ctx context.Context, c conn, sess *session) (json.RawMessage, error) {
	params := append([]byte(`{"protocolVersion":"`+mcp.Latest+`","capabilities":`), sess.seat.caps...)
	params = rawjson.AppendString(append(params, `,"clientInfo":{"name":"toolfit","version":`...), s.pool.opts.Version)
	result, err := c.request(ctx, outgoing{method: helloMethod, params: append(params, "}}"...), peer: mcp.Deaf})
	if p, ok := c.(*process); ok && errors.Is(err, errSessionLost) {
		err = p.reason() // it exited before the greeting
	}
	if err != nil {
		return nil, s.startError(ctx, err)
	}
	if v, ok := rawjson.String(rawjson.Get(result, "protocolVersion")); !ok || v == "" {
		return nil, fault.New(fault.UpstreamProtocol, "server %s answered initialize without a protocolVersion", s.cfg.ID)
	}
	c.notify(initMethod, nil)
	if level := s.pool.currentLevel(); level != "" {
		setLevel(ctx, c, result, level)
	}
	return bytes.Clone(result), nil
}

// setLevel tells a server with logging which messages to send. It has a short timeout, because the client waits.
func setLevel(ctx context.Context, c conn, hello json.RawMessage, level string) {
	ctx, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	if rawjson.Get(hello, "capabilities", "logging") != nil {
		params := append(rawjson.AppendString([]byte(`{"level":`), level), '}')
		c.request(ctx, outgoing{method: "logging/setLevel", params: params, peer: mcp.Deaf})
	}
}

// startError is why the handshake failed, with the server's last output.
func (s *server) startError(ctx context.Context, err error) error {
	var rpc *mcp.Error
	said := s.tail.last()
	if said != "" {
		said = "; it said: " + said
	}
	switch {
	case s.ctx.Err() != nil:
		return fault.New(fault.UpstreamDown, "server %s was removed", s.cfg.ID)
	case errors.As(err, &rpc): // an answer to our greeting, not to what the caller asked
		return fault.New(fault.UpstreamProtocol, "server %s refused to start a session: %v%s", s.cfg.ID, err, said)
	case errors.Is(err, errSessionLost):
		return fault.New(fault.UpstreamProtocol, "server %s refused to start a session: %w%s", s.cfg.ID, err, said)
	case ctx.Err() != nil:
		return fault.New(fault.UpstreamTimeout, "server %s did not answer within %s of its start%s", s.cfg.ID, s.cfg.Start, said).
			WithHint("raise start of %s, or run its command by hand to see what it does", s.cfg.ID)
	}
	return err
}
