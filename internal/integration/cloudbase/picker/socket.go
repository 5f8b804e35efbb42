package picker

import (
	"context"
	"crypto/subtle"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/toolfit/toolfit/internal/base/fault"
)

const (
	maxMessage    = 4 << 10          // bytes of what a page says
	maxSockets    = 16               // of one wait
	registerLimit = 10 * time.Second // how long a socket may say nothing before it says who it is
	writeLimit    = 10 * time.Second
	pingEvery     = 30 * time.Second // so that nothing on the way takes the socket for dead
)

// closedForeign is the status for pages that are not ours.
const closedForeign websocket.StatusCode = 4403

// closings are the close statuses for each outcome, from the range for applications.
var closings = map[Outcome]struct {
	code   websocket.StatusCode
	reason string
}{
	Picked:   {websocket.StatusNormalClosure, "picked"},
	Canceled: {4001, "cancelled"},
	Switched: {4002, "switched"},
	TimedOut: {4003, "timed out"},
	Ended:    {4004, "ended"},
}

// socket is an open page of a wait.
type socket struct {
	wait       *Wait
	conn       *websocket.Conn
	origin     string // of the page, as the browser names it
	allowed    func(origin string) bool
	registered atomic.Bool
	refreshing chan struct{} // holds one while rows are asked for
	work       sync.WaitGroup
}

func (p *Picker) serveSocket(w http.ResponseWriter, r *http.Request) {
	if p.passed(w, r) {
		return
	}
	host := r.Host
	origin := r.Header.Get("Origin")
	allowed := func(origin string) bool { return sameOrigin(origin, host, p.base()) }
	if !allowed(origin) {
		http.Error(w, "a page of another site may not answer here", http.StatusForbidden)
		return
	}
	wait := p.enter(r.PathValue("token"))
	if wait == nil {
		http.Error(w, "this page is over, or open too often", http.StatusNotFound)
		return
	}
	defer p.leave(wait)
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true}) // the origin was checked, more strictly
	if err != nil {
		return // it has answered
	}
	conn.SetReadLimit(maxMessage)
	s := &socket{wait: wait, conn: conn, origin: origin, allowed: allowed, refreshing: make(chan struct{}, 1)}
	s.run()
}

// enter counts a socket in; nil when the page is over or has too many.
func (p *Picker) enter(token string) *Wait {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.byToken[token]
	if w == nil || w.sockets == maxSockets || p.ctx.Err() != nil {
		return nil
	}
	w.sockets++
	p.work.Add(1)
	return w
}

func (p *Picker) leave(w *Wait) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w.sockets--
	p.work.Done()
}

// sameOrigin tells whether a page is ours: from the host of the request, or from our base.
func sameOrigin(origin, host, base string) bool {
	o, err := url.Parse(origin)
	if err != nil || o.Host == "" || o.Scheme != "http" && o.Scheme != "https" {
		return false
	}
	if strings.EqualFold(o.Host, host) {
		return true
	}
	b, err := url.Parse(base)
	return err == nil && strings.EqualFold(o.Host, b.Host) && o.Scheme == b.Scheme
}

func (s *socket) run() {
	ctx, cancel := context.WithCancel(context.Background())
	told := make(chan struct{})
	go func() {
		defer close(told)
		s.tell(ctx)
	}()
	s.read(ctx)
	if s.wait.isOver() {
		<-told // the page must hear how it ended
	}
	cancel()
	<-told
	s.conn.CloseNow()
	s.work.Wait()
}

// read reads messages until the socket closes.
func (s *socket) read(ctx context.Context) {
	late := time.AfterFunc(registerLimit, func() { s.conn.Close(closedForeign, "nobody registered") })
	defer late.Stop()
	for {
		kind, data, err := s.conn.Read(ctx)
		if err != nil {
			return
		}
		if kind != websocket.MessageText || !s.allowed(s.origin) || s.wait.isOver() {
			continue
		}
		m, ok := parseMessage(data)
		switch {
		case !ok:
		case m.kind == "registerSession":
			if subtle.ConstantTimeCompare([]byte(m.session), []byte(s.wait.session)) != 1 {
				s.conn.Close(closedForeign, "unknown session")
				return
			}
			late.Stop()
			s.registered.Store(true)
			s.refresh(ctx, time.Time{})
		case s.registered.Load():
			s.handle(ctx, m)
		}
	}
}

// handle handles a message of a registered page.
func (s *socket) handle(ctx context.Context, m message) {
	switch {
	case m.kind == "refreshEnvList":
		s.refresh(ctx, time.Now())
	case m.canceled:
		s.wait.finish(Choice{Outcome: Canceled})
	case m.switchUser:
		s.wait.finish(Choice{Outcome: Switched})
	case !s.wait.pick(m.envID) && !s.wait.isOver():
		s.write(ctx, listed(s.wait.lastRows(), "there is no environment "+m.envID+" in the list"))
	}
}

// refresh sends rows in the background, as a person may cancel while the cloud is slow. Concurrent
// refreshes share an answer.
func (s *socket) refresh(ctx context.Context, asked time.Time) {
	select {
	case s.refreshing <- struct{}{}:
	default:
		return
	}
	s.work.Go(func() {
		rows, err := s.wait.list(asked)
		<-s.refreshing // before it is said: a page that has its answer may ask again
		if s.wait.isOver() {
			return
		}
		if err != nil {
			s.write(ctx, listed(nil, s.wait.picker.problem(err)))
			return
		}
		s.write(ctx, listed(rows, ""))
	})
}

// problem returns the part of an error for people; the rest is logged.
func (p *Picker) problem(err error) string {
	f := fault.As(err)
	if f.Hides() {
		p.opts.Logger.Error("environments not listed", "error", f)
	}
	return f.Error()
}

func (s *socket) write(ctx context.Context, data []byte) {
	ctx, cancel := context.WithTimeout(ctx, writeLimit)
	defer cancel()
	_ = s.conn.Write(ctx, websocket.MessageText, data) // a page that is gone comes back by itself
}

// tell sends pings, and finally the outcome.
func (s *socket) tell(ctx context.Context) {
	tick := time.NewTicker(pingEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.wait.done:
			s.sayGoodbye(ctx)
			return
		case <-tick.C:
			pinged, cancel := context.WithTimeout(ctx, writeLimit)
			if err := s.conn.Ping(pinged); err != nil {
				s.conn.CloseNow()
			}
			cancel()
		}
	}
}

func (s *socket) sayGoodbye(ctx context.Context) {
	c := s.wait.choice
	if c.Outcome == Picked && s.registered.Load() {
		s.write(ctx, picked(c.EnvID))
	}
	how := closings[c.Outcome]
	s.conn.Close(how.code, how.reason)
}
