package app

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/entrance/broker"
	"github.com/toolfit/toolfit/internal/gateway/oauth"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/identity"
	"github.com/toolfit/toolfit/internal/state/store"
)

// carrying lets the token that a caller has sent reach the servers that exchange it, in the request's context. Where
// there are none, it stays at the door.
func (a *App) carrying(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := a.edge.Load().signIn
		if s == nil || !a.connections.Uses(config.AsExchange) {
			h.ServeHTTP(w, r)
			return
		}
		if sent := a.sent(s, r); sent.Text != "" {
			r = r.WithContext(access.WithSent(r.Context(), sent))
			if a.connections.Awaits() {
				a.welcome(r, sent)
			}
		}
		h.ServeHTTP(w, r)
	})
}

// sent is the token of an identity provider in a request. Keys, and the broker's own tokens, are none of theirs.
func (a *App) sent(s *signIn, r *http.Request) access.Sent {
	if access.IsPassedOn(r) {
		if a.replicas == nil {
			return access.Sent{}
		}
		return a.replicas.Sent(r)
	}
	header := r.Header.Get("Authorization")
	if len(header) <= 7 || !strings.EqualFold(header[:7], "bearer ") {
		return access.Sent{}
	}
	text := strings.TrimSpace(header[7:])
	if access.IsOurs(text) || strings.HasPrefix(text, passPrefix) || broker.IsToken(text) {
		return access.Sent{}
	}
	id, err := s.verifier.Identify(r.Context(), text)
	if err != nil {
		return access.Sent{} // the door says why
	}
	return access.Sent{Owner: id.ID(), Issuer: id.Issuer, Text: text}
}

// welcome lets the gateway list with the token of somebody who may come in.
func (a *App) welcome(r *http.Request, sent access.Sent) {
	if who, err := a.admit(r); err == nil && who.ID == sent.Owner && who.MayCall() {
		a.arrived(sent.Owner, sent)
	}
}

// arriveTime is how long it may take to get tokens for somebody who has come.
const arriveTime = 30 * time.Second

// arrived lists the servers, in the background, that can be listed now that somebody has come.
func (a *App) arrived(caller string, sent access.Sent) {
	if !a.arriving.CompareAndSwap(false, true) {
		return
	}
	a.work.Go(func() {
		defer a.arriving.Store(false)
		ctx, cancel := context.WithTimeout(access.WithSent(a.background, sent), arriveTime)
		defer cancel()
		for _, id := range a.connections.Arrived(ctx, caller) {
			a.SignedIn(id)
		}
	})
}

// provider finds a configured identity provider.
func (a *App) provider(ctx context.Context, issuer string) (*identity.Provider, error) {
	s := a.edge.Load().signIn
	if s == nil {
		return nil, fault.New(fault.LoginRequired, "this gateway has no identity provider any more")
	}
	return s.verifier.Provider(ctx, issuer)
}

// keepIDToken keeps the ID token of a sign-in, sealed, where a server needs it.
func (a *App) keepIDToken(ctx context.Context, person, issuer, token string, expires time.Time) {
	if !a.connections.Uses(config.AsAssertion) {
		return
	}
	a.secrets.addTokens(token)
	data, err := json.Marshal(oauth.SignedIn{Issuer: issuer, Token: token})
	if err == nil {
		err = a.Store.SavePersonal(ctx, store.Personal{Owner: person, Name: oauth.IDToken, Data: data, Expires: expires})
	}
	if err != nil {
		a.log.Error("the ID token of a sign-in is not kept", "error", fault.As(err))
		return
	}
	if a.connections.Awaits() {
		a.arrived(person, access.Sent{})
	}
}

// SignedOut forgets what was kept of a person's sign-in.
func (l logins) SignedOut(ctx context.Context, person string) {
	if err := l.app.Store.DeletePersonal(ctx, person, oauth.IDToken); err != nil && !fault.Is(err, fault.NotFound) {
		l.app.log.Error("the ID token of a sign-in is still kept", "error", fault.As(err))
	}
	l.app.connections.Forget(person)
}
