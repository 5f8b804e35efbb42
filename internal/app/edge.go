package app

import (
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/toolfit/toolfit/internal/access"
	"github.com/toolfit/toolfit/internal/config"
	"github.com/toolfit/toolfit/internal/fault"
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
func newEdge(keys *access.Keys, cfg *config.Config, before *edge) *edge {
	e := &edge{door: access.NewDoor(keys, cfg.Hosts, cfg.Proxies), proxies: cfg.Proxies, rate: cfg.Rate}
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
