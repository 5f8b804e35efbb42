package replicas

import (
	"cmp"
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/store"
)

// Seats know which replica holds a session that a server has for one caller alone, and what is stored of
// it for whoever holds it next. A gateway without replicas has them too: it is told what it held before
// it was restarted.
type Seats struct {
	store   Store
	self    string
	others  *Replicas // nil: there are none
	base    string    // the path that all are served under; may be ""
	log     *slog.Logger
	serving atomic.Bool
}

// NewSeats makes the seats of a gateway, whose other replicas may be nil, and are served under the base
// path. They are this process's alone until Serve. A gateway that is alone has an id of which the store has no
// heartbeat: when it is restarted, its seats are free at once.
func NewSeats(st Store, others *Replicas, base string, log *slog.Logger) *Seats {
	s := &Seats{store: st, self: rand.Text()[:10], others: others, base: base, log: log}
	if others != nil {
		s.self = others.ID()
	}
	return s
}

// Serve says that this process serves clients that outlive it.
func (s *Seats) Serve() { s.serving.Store(true) }

func seat(name string) store.Home { return store.Home{Kind: "seat", Key: name} }

// Claim gives us a seat, unless another replica has it that is alive and not the one that is gone, or we go
// down. It returns the holder, "" for us, and what the last one has stored of it.
func (s *Seats) Claim(ctx context.Context, name, gone string) (at string, data []byte, err error) {
	if !s.serving.Load() {
		return "", nil, nil
	}
	at, data, err = s.store.ClaimHome(ctx, seat(name), s.claims(ctx, gone), gone, s.silent())
	switch {
	case err != nil && s.others != nil:
		return "", nil, err // another may have it
	case err != nil:
		s.log.Error("not found out what became of a session with a server", "error", fault.As(err))
		return "", nil, nil
	case at == s.self:
		at = ""
	}
	return at, data, nil
}

// claims is who a seat is claimed for: us, or another when we go down.
func (s *Seats) claims(ctx context.Context, gone string) string {
	if s.others == nil || s.others.leaving.Err() == nil {
		return s.self
	}
	return cmp.Or(s.others.another(ctx, gone), s.self)
}

// Store stores something of a seat that is ours.
func (s *Seats) Store(ctx context.Context, name string, data []byte) error {
	if !s.serving.Load() {
		return nil
	}
	err := s.store.StoreHome(ctx, seat(name), s.self, data)
	if err != nil && s.others == nil {
		s.log.Error("what a server's session is was not stored", "error", fault.As(err))
		return nil
	}
	return err
}

// Drop gives up a seat that is ours, with what is stored of it.
func (s *Seats) Drop(ctx context.Context, name string) {
	if !s.serving.Load() {
		return
	}
	if err := s.store.DropHome(ctx, seat(name), s.self); err != nil {
		s.log.Error("a session with a server is still noted as open", "error", fault.As(err))
	}
}

// Holds tells whether a replica, "" for us, still has the seats that it had: others count it as alive.
func (s *Seats) Holds(ctx context.Context, at string) bool {
	switch {
	case at != "":
		_, alive := s.others.other(ctx, at)
		return alive
	case s.others == nil:
		return true
	}
	return !s.others.silentFor(s.others.opts.Silent)
}

// Way is how to reach another replica for a caller: its address, and what sends requests to it under the
// caller's name. False: it is not there.
func (s *Seats) Way(ctx context.Context, at, caller string) (url string, send http.RoundTripper, there bool) {
	if s.others == nil {
		return "", nil, false
	}
	to, there := s.others.other(ctx, at)
	return to.URL + s.base, way{s.others, to.ID, access.Principal{ID: caller}}, there
}

func (s *Seats) silent() (within time.Duration) {
	if s.others != nil {
		return s.others.opts.Silent
	}
	return defaultSilent
}

// way sends requests of ours to another replica.
type way struct {
	from *Replicas
	to   string
	who  access.Principal
}

// RoundTrip sends a request with a pass.
func (w way) RoundTrip(req *http.Request) (*http.Response, error) {
	out := *req
	out.Header = req.Header.Clone()
	out.Header.Set(access.PassHeader, w.from.sealWith(access.SentWith(req.Context()), w.to, w.who, req.Method, req.URL.RequestURI()))
	return w.from.transport.RoundTrip(&out)
}
