package app

import (
	"context"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/inbound"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
)

// edge is what every request passes first: authentication, trusted proxies, rate limit. It is
// immutable; a reload replaces it.
type edge struct {
	door    *access.Door
	signIn  *signIn // nil: there are no identity providers
	proxies access.Trusted
	rate    config.Rate
	limiter limiter // nil: no limit
}

// limiter says whether a caller may make n more requests, and if not, when to retry.
type limiter interface {
	Allow(ctx context.Context, id string, n int, now time.Time) (ok bool, retryAfter time.Duration)
}

// newEdge makes the edge of a configuration. If the rate is unchanged, the limiter of before, which
// may be nil, is kept.
func (a *App) newEdge(cfg *config.Config, before *edge) *edge {
	opts := access.DoorOptions{
		Keys: a.Keys, Secret: a.opts.LocalSecret, Hosts: cfg.Hosts, PublicURL: cfg.PublicURL, Origins: cfg.Origins, Proxies: cfg.Proxies,
	}
	if a.replicas != nil {
		opts.Passed = a.replicas.Admitted
	}
	var known *signIn
	if before != nil {
		known = before.signIn
	}
	e := &edge{proxies: cfg.Proxies, rate: cfg.Rate, signIn: a.newSignIn(cfg, known)}
	if e.signIn != nil {
		opts.Token = a.admitToken(e.signIn)
	}
	e.door = access.NewDoor(opts)
	switch {
	case before != nil && before.rate == cfg.Rate:
		e.limiter = before.limiter
	case cfg.Rate.PerKey > 0 && a.replicas != nil:
		e.limiter = access.NewShared(a.Store, cfg.Rate.PerKey, cfg.Rate.Burst, a.log)
	case cfg.Rate.PerKey > 0:
		e.limiter = access.NewLimiter(cfg.Rate.PerKey, cfg.Rate.Burst)
	}
	return e
}

// admit identifies the caller.
func (a *App) admit(r *http.Request) (access.Principal, error) {
	who, err := a.edge.Load().door.Admit(r)
	a.noteRefused(r, err)
	return who, err
}

// check refuses requests for other hosts and from pages of other origins.
func (a *App) check(r *http.Request) error { return a.edge.Load().door.Check(r) }

// admitPerson identifies who opens a page of the console. Being on this machine is not enough.
func (a *App) admitPerson(r *http.Request) (access.Principal, error) {
	who, err := a.edge.Load().door.Admit(r)
	a.noteCredential(r, err)
	if err == nil && who == access.Local() {
		return access.Principal{}, fault.New(fault.Unauthorized, "the console needs the local secret")
	}
	return who, err
}

// unread closes the connection of a refused request, so that the answer need not wait for its body.
func unread(check func(*http.Request) error, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength != 0 && check(r) != nil {
			w.Header().Set("Connection", "close")
		}
		h.ServeHTTP(w, r)
	})
}

// refuser answers a request with an error, in the form of its route.
type refuser func(w http.ResponseWriter, r *http.Request, err error)

// gate passes on the requests that check accepts.
func gate(check func(*http.Request) error, refuse refuser, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := check(r); err != nil {
			refuse(w, r, err)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// What pages of allowed origins may send, beside every header that they ask for, and read.
const (
	corsMethods = "GET, POST, PUT, PATCH, DELETE"
	corsExposed = "Mcp-Session-Id, Mcp-Protocol-Version, Retry-After, WWW-Authenticate"
)

// shared lets pages of the configured origins read our answers, without cookies.
func (a *App) shared(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		origin := r.Header.Get("Origin")
		if origin == "" || !a.edge.Load().door.AllowsOrigin(origin) {
			h.ServeHTTP(w, r)
			return
		}
		header := w.Header()
		header.Set("Access-Control-Allow-Origin", origin)
		header.Set("Access-Control-Expose-Headers", corsExposed)
		header.Add("Vary", "Origin")
		if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
			header.Set("Access-Control-Allow-Methods", corsMethods)
			header.Set("Access-Control-Allow-Headers", r.Header.Get("Access-Control-Request-Headers"))
			header.Set("Access-Control-Max-Age", "600")
			w.WriteHeader(http.StatusNoContent)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// limited refuses callers who exceed the rate. Unknown callers are left to the route.
func (a *App) limited(h http.Handler) http.Handler { return a.limitedIn(h, refuseInJSON) }

// limitedIn is limited with another form of the error.
func (a *App) limitedIn(h http.Handler, refuse refuser) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if access.IsPassedOn(r) || a.charge(w, r, 1, 0, refuse) { // what was passed on is counted already
			h.ServeHTTP(w, r)
		}
	})
}

// charge counts the messages of a request, except those already counted. If they exceed the rate, it
// answers with an error and returns false.
func (a *App) charge(w http.ResponseWriter, r *http.Request, messages, counted int, refuse refuser) bool {
	e := a.edge.Load()
	if e.limiter == nil {
		return true
	}
	who, err := e.door.Admit(r)
	if err != nil {
		return true
	}
	ok, wait := e.limiter.Allow(r.Context(), who.ID, messages-counted, time.Now())
	if ok {
		return true
	}
	limited := fault.New(fault.RateLimited, "%s exceeds the rate limit", who.Name)
	if messages <= e.rate.Burst {
		seconds := max(1, int(math.Ceil(wait.Seconds())))
		w.Header().Set("Retry-After", strconv.Itoa(seconds))
		limited = limited.WithHint("try again in %d s", seconds)
	} else {
		limited = limited.WithHint("send at most %d messages at once", e.rate.Burst)
	}
	a.refused.count(r, limited)
	refuse(w, r, limited)
	return false
}

// chargeBatch counts the messages of a batch; the first was counted with its request.
func (a *App) chargeBatch(w http.ResponseWriter, r *http.Request, messages int) bool {
	return a.charge(w, r, messages, 1, refuseInJSON)
}

// refuseInJSON answers in the form of the REST API.
func refuseInJSON(w http.ResponseWriter, _ *http.Request, err error) {
	f := fault.As(err)
	inbound.WriteJSON(w, f.Code.Status(), map[string]any{"error": f})
}
