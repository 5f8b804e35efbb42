package app

import (
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
)

// edge is what every request meets first: who comes in, through which proxies, how often. It
// is never changed; a reload puts another in its place.
type edge struct {
	door    *access.Door
	proxies access.Trusted
	rate    config.Rate
	limiter *access.Limiter // nil: no limit
}

// newEdge makes the edge of a configuration. What callers have used up of an unchanged rate
// is taken over from before, which may be nil.
func (a *App) newEdge(cfg *config.Config, before *edge) *edge {
	e := &edge{proxies: cfg.Proxies, rate: cfg.Rate, door: access.NewDoor(access.DoorOptions{
		Keys: a.Keys, Secret: a.opts.LocalSecret, Hosts: cfg.Hosts, PublicURL: cfg.PublicURL, Origins: cfg.Origins, Proxies: cfg.Proxies,
	})}
	switch {
	case before != nil && before.rate == cfg.Rate:
		e.limiter = before.limiter
	case cfg.Rate.PerKey > 0:
		e.limiter = access.NewLimiter(cfg.Rate.PerKey, cfg.Rate.Burst)
	}
	return e
}

// admit tells who sends the request.
func (a *App) admit(r *http.Request) (access.Principal, error) { return a.edge.Load().door.Admit(r) }

// check refuses requests that were not meant for us, and those of other origins' pages.
func (a *App) check(r *http.Request) error { return a.edge.Load().door.Check(r) }

// admitPerson tells who opens a page of the console. Being on this machine is not enough.
func (a *App) admitPerson(r *http.Request) (access.Principal, error) {
	who, err := a.admit(r)
	if err == nil && who == access.Local() {
		return access.Principal{}, fault.New(fault.Unauthorized, "the console needs the local secret")
	}
	return who, err
}

// unread lets the refusal of a request go out before its body is here: the server would
// read that first, unless the connection ends with the answer.
func unread(check func(*http.Request) error, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength != 0 && check(r) != nil {
			w.Header().Set("Connection", "close")
		}
		h.ServeHTTP(w, r)
	})
}

// sent lets programs send what they like, and browsers JSON.
func sent(h http.Handler, refuse func(w http.ResponseWriter, r *http.Request, err error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := access.CheckContent(r); err != nil {
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

// shared tells browsers that pages of the configured origins may read our answers. Cookies
// are never shared with them.
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

// limited turns callers away who ask too often. Whoever does not come in anyway is left to
// the route, which says so in its own form.
func (a *App) limited(h http.Handler) http.Handler { return a.limitedIn(h, refuseInJSON) }

// limitedIn is limited with another form of the refusal.
func (a *App) limitedIn(h http.Handler, refuse func(w http.ResponseWriter, r *http.Request, err error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if a.charge(w, r, 1, 0, refuse) {
			h.ServeHTTP(w, r)
		}
	})
}

// charge counts the messages of a request but for those that were counted before. False: they
// are more than the caller may send now, and it is told so.
func (a *App) charge(w http.ResponseWriter, r *http.Request, messages, counted int, refuse func(w http.ResponseWriter, r *http.Request, err error)) bool {
	e := a.edge.Load()
	if e.limiter == nil {
		return true
	}
	who, err := e.door.Admit(r)
	if err != nil {
		return true
	}
	ok, wait := e.limiter.Allow(who.ID, messages-counted, time.Now())
	if ok {
		return true
	}
	limited := fault.New(fault.RateLimited, "%s asks more often than rate allows", who.Name)
	if messages <= e.rate.Burst {
		seconds := max(1, int(math.Ceil(wait.Seconds())))
		w.Header().Set("Retry-After", strconv.Itoa(seconds))
		limited = limited.WithHint("try again in %d s", seconds)
	} else {
		limited = limited.WithHint("send at most %d messages at once", e.rate.Burst)
	}
	refuse(w, r, limited)
	return false
}

// chargeBatch counts the messages of a batch. One was counted when its request came in.
func (a *App) chargeBatch(w http.ResponseWriter, r *http.Request, messages int) bool {
	return a.charge(w, r, messages, 1, refuseInJSON)
}

// refuseInJSON answers in the form of the REST API.
func refuseInJSON(w http.ResponseWriter, _ *http.Request, err error) {
	f := fault.As(err)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(f.Code.Status())
	json.NewEncoder(w).Encode(map[string]any{"error": f}) // a client that has left needs no answer
}
