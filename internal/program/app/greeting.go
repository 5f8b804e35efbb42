package app

import (
	"context"
	"net/http"
	"time"

	"github.com/toolfit/toolfit/internal/base/inbound"
)

// GreetingPath is where commands ask, through the socket, which gateway answers.
const GreetingPath = "/greeting"

// Greeting is what a gateway reports to commands of its own user.
type Greeting struct {
	URL    string `json:"url"`               // where it serves, with its base path
	SignIn string `json:"sign_in,omitempty"` // path that signs in to the console, once; left out: not asked for, or people need keys
}

// greetWithin limits how long a greeting waits for a reload.
const greetWithin = 10 * time.Second

// greeting answers commands that come through the socket. It first applies a configuration that was
// just edited, so that what they ask next is up to date.
func (a *App) greeting(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != GreetingPath || !inbound.FromOwner(r) {
			h.ServeHTTP(w, r)
			return
		}
		if err := a.check(r); err != nil {
			a.refuse(w, r, err)
			return
		}
		a.awaitReload(r.Context())
		g := Greeting{URL: "http://" + *a.address.Load() + a.started.BasePath}
		if r.URL.Query().Has("signIn") {
			g.SignIn = a.SignInLink()
		}
		inbound.WriteJSON(w, http.StatusOK, g)
	})
}

// awaitReload waits until Watch has checked the file, but not long.
func (s *settings) awaitReload(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, greetWithin)
	defer cancel()
	looked := make(chan struct{})
	select {
	case s.looks <- looked:
	case <-ctx.Done():
		return
	}
	select {
	case <-looked:
	case <-ctx.Done():
	}
}
