package app

import (
	"net/http"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/entrance/broker"
	"github.com/toolfit/toolfit/internal/state/access"
)

// brokered serves our own authorization server, if it is on: below our base path, and its metadata also where the
// well-known path comes first.
func (a *App) brokered(h http.Handler) http.Handler {
	base := a.started.BasePath
	first := broker.MetadataPath + base
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e := a.edge.Load()
		if e.signIn == nil || e.signIn.broker == nil {
			h.ServeHTTP(w, r)
			return
		}
		path, ok := strings.CutPrefix(r.URL.EscapedPath(), base)
		if r.URL.EscapedPath() == first {
			path = broker.MetadataPath
			ok = true
		}
		if !ok || path != broker.MetadataPath && !strings.HasPrefix(path, "/oauth/") {
			h.ServeHTTP(w, r)
			return
		}
		check := e.door.Check
		if broker.ForPrograms(path) {
			check = e.door.CheckHost
		}
		if err := check(r); err != nil {
			a.refuse(w, r, err)
			return
		}
		r = r.Clone(r.Context())
		r.URL.Path = path
		r.URL.RawPath = ""
		e.signIn.broker.ServeHTTP(w, r)
	})
}

// limitStrangers limits what people and clients that nobody knows yet can begin from one address: each time something
// is stored for a while.
func (a *App) limitStrangers() func(*http.Request) error {
	limiter := access.NewLimiter(1, 60)
	return func(r *http.Request) error {
		address, _, _ := a.edge.Load().proxies.Client(r)
		if ok, _ := limiter.Allow(r.Context(), address.String(), 1, time.Now()); !ok {
			return fault.New(fault.RateLimited, "too many sign-ins begin at the address %s", address).WithHint("try again in a few minutes")
		}
		return nil
	}
}
