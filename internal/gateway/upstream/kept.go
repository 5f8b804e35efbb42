package upstream

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/mcp"
)

// Seats know which replica has the session that a server keeps for one caller alone, and what is stored of it.
type Seats interface {
	// Claim gives us the seat, unless another replica has it that is not gone: then it returns that one, else "".
	// Data is what its holder has stored of it; nil: nothing.
	Claim(ctx context.Context, seat, gone string) (at string, data []byte, err error)
	// Store stores something of a seat that is ours.
	Store(ctx context.Context, seat string, data []byte) error
	// Drop gives up a seat that is ours, with what is stored of it.
	Drop(ctx context.Context, seat string)
	// Holds tells whether a replica, "" for us, surely has the seats that it had.
	Holds(ctx context.Context, at string) bool
	// Way is how to reach another replica for a caller; false: it is not there.
	Way(ctx context.Context, at, caller string) (url string, send http.RoundTripper, there bool)
}

// name is what the seat of a server is called in the store: it says nothing about the caller, and any caller's fits.
func (s seat) name(id tool.ServerID) string {
	sum := sha256.Sum256([]byte(s.key))
	return string(id) + " " + base64.RawURLEncoding.EncodeToString(sum[:])
}

// holding is what is stored of a seat: enough to go on with a session over HTTP. That of a process is empty, since nobody can.
type holding struct {
	URL     string          `json:"url,omitempty"`
	Session string          `json:"session,omitempty"` // the server's id of it
	Hello   json.RawMessage `json:"hello,omitempty"`
}

// errMoved means that a seat is at another replica than the one that was asked.
var errMoved = errors.New("the session is at another replica")

// reach opens a session: a caller's own one where it is kept, which may be at another replica, any other here.
func (s *server) reach(ctx context.Context, sess *session) (conn, error) {
	if !sess.seat.kept {
		return s.connectAny(ctx, sess)
	}
	if err := s.awaitEnd(ctx, sess.seat.key); err != nil {
		return nil, s.startError(ctx, err)
	}
	gone := ""
	for {
		at, data, err := s.pool.opts.Seats.Claim(ctx, sess.seat.name(s.cfg.ID), gone)
		switch {
		case err != nil:
			return nil, marked(fault.New(fault.StoreDown, "not found out which gateway has the session with server %s", s.cfg.ID).
				WithHint("try again later").Because(err), noVerdict)
		case at == "":
			return s.takeUp(ctx, sess, data)
		case sess.seat.passed:
			return nil, errMoved
		}
		c, err := s.goTo(ctx, sess, at)
		if !errors.Is(err, errGone) || at == gone {
			return c, err
		}
		gone = at
	}
}

// takeUp opens a session that is kept here, or goes on with the one that is stored.
func (s *server) takeUp(ctx context.Context, sess *session, data []byte) (conn, error) {
	if data != nil {
		var was holding
		if json.Unmarshal(data, &was) != nil || was.Session == "" || was.URL != s.cfg.URL {
			s.pool.opts.Seats.Drop(context.WithoutCancel(ctx), sess.seat.name(s.cfg.ID))
			return nil, s.lost()
		}
		return s.goOn(ctx, sess, was)
	}
	c, err := s.connectAny(ctx, sess)
	if err != nil {
		s.pool.opts.Seats.Drop(context.WithoutCancel(ctx), sess.seat.name(s.cfg.ID))
		return nil, err
	}
	if err := s.note(ctx, sess, c); err != nil {
		c.close()
		return nil, marked(fault.New(fault.StoreDown, "a session with server %s was not begun, since it could not be noted", s.cfg.ID).
			WithHint("try again later").Because(err), noVerdict)
	}
	return c, nil
}

// note stores what the next holder must know of a session. One that the server has not named has no state.
func (s *server) note(ctx context.Context, sess *session, c conn) error {
	var is holding
	if r, ok := c.(*remote); ok {
		is = holding{URL: s.cfg.URL, Session: r.session(), Hello: essence(sess.hello)}
		if is.Session == "" {
			return nil
		}
	}
	data, err := json.Marshal(is)
	if err != nil {
		return err
	}
	sess.noted = true
	return s.pool.opts.Seats.Store(ctx, sess.seat.name(s.cfg.ID), data)
}

// essence is what we use of a legacy server's greeting.
func essence(hello json.RawMessage) json.RawMessage {
	b := []byte{'{'}
	for _, name := range []string{"protocolVersion", "capabilities"} {
		if value := rawjson.Get(hello, name); value != nil {
			b = append(rawjson.AppendString(mcp.Comma(b), name), ':')
			b = append(b, value...)
		}
	}
	return append(b, '}')
}

// goOn goes on with a session over HTTP. Whether the server still knows it, the first request shows.
func (s *server) goOn(ctx context.Context, sess *session, was holding) (conn, error) {
	c, err := s.dial(ctx, sess.seat, "")
	if err != nil {
		return nil, err
	}
	r := c.(*remote) // others are never stored
	version, _ := rawjson.String(rawjson.Get(was.Hello, "protocolVersion"))
	r.adopt(http.Header{"Mcp-Session-Id": {was.Session}}, version)
	sess.noted = true
	sess.hello = was.Hello
	sess.era = mcp.Legacy
	s.learn(mcp.Legacy)
	s.listen(sess, r)
	return r, nil
}

// lost is the error that says, once, that the state of a session is gone. It is not made good by calling again unseen: what was
// done in the session has to be done again.
func (s *server) lost() error {
	return marked(fault.New(fault.StateLost, "what server %s held for this session is gone, and the call was not sent", s.cfg.ID).
		WithHint("the next call starts afresh: do first what the session needs"), noVerdict)
}

// forgotten tells whether a server has forgotten a session with state, and ends it then.
func (s *server) forgotten(sess *session) bool {
	r, ok := sess.conn.(*remote)
	if !ok || !sess.seat.kept || r.session() == "" {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end(sess, true)
	return true
}

// stays tells whether a kept session may still be used; errAgain: it may not, and is no longer open.
func (s *server) stays(ctx context.Context, sess *session, who caller) error {
	here := sess.away == ""
	if (here || !who.passed) && s.pool.opts.Seats.Holds(ctx, sess.away) {
		return nil
	}
	at := sess.away
	if here || who.passed { // others may count us as dead, or know better where it is
		var err error
		at, _, err = s.pool.opts.Seats.Claim(ctx, sess.seat.name(s.cfg.ID), "")
		if err != nil {
			return marked(fault.New(fault.StoreDown, "not found out whether the session with server %s is still here", s.cfg.ID).
				WithHint("try again later").Because(err), noVerdict)
		}
	}
	switch {
	case here && at == "":
		return nil
	case who.passed && at != "" && at == sess.away:
		return errMoved
	}
	s.giveUp(sess)
	return errAgain
}

// giveUp drops a session that another replica has, which may go on with it.
func (s *server) giveUp(sess *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sess.given = true
	s.remove(sess)
}

// errAgain means that another session has to be found.
var errAgain = errors.New("the session is no longer here")

// CheckSeats claims the sessions of callers that are here again, and closes those that other replicas have taken over.
func (p *Pool) CheckSeats(ctx context.Context) {
	for _, s := range p.all() {
		for _, sess := range s.live() {
			if !sess.seat.kept || sess.away != "" {
				continue
			}
			at, _, err := p.opts.Seats.Claim(ctx, sess.seat.name(s.cfg.ID), "")
			if err == nil && at != "" {
				s.giveUp(sess)
			}
		}
	}
}

// awaitEnd waits until the last session of a kept seat has ended: there are never two.
func (s *server) awaitEnd(ctx context.Context, key string) error {
	s.mu.Lock()
	ended := s.ending[key]
	s.mu.Unlock()
	if ended == nil {
		return nil
	}
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// end takes a session out and closes it, in the background since that takes time. To forget a kept one says that it ends as
// it should: otherwise its caller is told. The caller holds mu.
func (s *server) end(sess *session, forget bool) {
	key := sess.seat.key
	if s.sessions[key] != sess {
		return
	}
	delete(s.sessions, key)
	ended := make(chan struct{})
	if sess.seat.kept {
		s.ending[key] = ended
	}
	given := sess.given
	s.work.Go(func() {
		<-sess.ready
		if sess.conn != nil {
			s.hangUp(sess, given)
		}
		if !sess.seat.kept {
			return
		}
		if sess.conn != nil && sess.away == "" && (forget && !s.pool.leaving.Load() || !sess.noted) {
			s.pool.opts.Seats.Drop(context.Background(), sess.seat.name(s.cfg.ID))
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.ending[key] == ended {
			delete(s.ending, key)
		}
		close(ended)
	})
}

// hangUp closes a session's connection. If another replica has it, or we go down, the server keeps what it holds for whoever
// goes on.
func (s *server) hangUp(sess *session, given bool) {
	if r, ok := sess.conn.(*remote); ok && sess.seat.kept && (given || s.pool.leaving.Load()) {
		r.leave()
		return
	}
	sess.conn.close()
}

// Leave says that we go down: the sessions of callers are left to be taken up again.
func (p *Pool) Leave() { p.leaving.Store(true) }
