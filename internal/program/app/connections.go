package app

import (
	"context"
	"crypto/rand"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/inbound"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/gateway/call"
	"github.com/toolfit/toolfit/internal/gateway/httpapi"
	"github.com/toolfit/toolfit/internal/gateway/oauth"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

// The paths of sign-ins to servers, and of what people give for their calls.
const (
	connectPath  = "/connect/"
	callbackName = "/callback"
	documentPath = "/oauth/client.json"
	valuesPath   = "/connections" // where people enter values of their own
)

// newConnections makes what has the tokens for the servers.
func (a *App) newConnections() *oauth.Connections {
	return oauth.New(oauth.Options{
		Store:    a.Store,
		Replica:  a.self.ID(),
		Server:   a.serverConfig,
		Tokens:   a.secrets.addTokens,
		Page:     func(id tool.ServerID) string { return a.reachedAt() + connectPath + url.PathEscape(string(id)) },
		Values:   func() string { return a.reachedAt() + valuesPath },
		Callback: a.callback,
		Document: func() string { return a.reachedAt() + documentPath },
		Provider: a.provider,
		Vague:    func(o *config.OAuth) bool { return o.IsVague(a.Config().Identity) },
		Logger:   a.log,
		Background: func(work func(context.Context)) {
			a.work.Go(func() { work(a.background) })
		},
	})
}

// callback is where authorization servers send browsers back. The server's name in it tells the servers apart.
func (a *App) callback(id tool.ServerID) string {
	return a.reachedAt() + connectPath + url.PathEscape(string(id)) + callbackName
}

// reachedAt is the address at which browsers reach us.
func (a *App) reachedAt() string {
	if public := a.Config().PublicURL; public != "" {
		return strings.TrimRight(public, "/")
	}
	address := a.served()
	if address == "" {
		address = a.started.Listen
	}
	return "http://" + address + a.started.BasePath
}

func (a *App) serverConfig(id tool.ServerID) (config.Server, bool) { return a.Config().ServerNamed(id) }

// credentials are those of a server, or why there are none.
func (a *App) credentials(cfg config.Server) httpapi.Credentials {
	c, err := a.connections.Credentials(cfg)
	if err != nil {
		return refusing{err}
	}
	return c
}

// advise says what a server needs that wants a token.
func (a *App) advise(ctx context.Context, cfg config.Server, refusal http.Header) error {
	needs, _ := oauth.Advise(ctx, cfg, refusal, a.reachedAt()+documentPath, a.callback(cfg.ID))
	return needs
}

// WantsSignIn asks a server that is about to be added whether it wants a token; nil: it does not, or cannot be asked. It
// is ready if people can sign in with what oauth.Proposed adds.
func WantsSignIn(ctx context.Context, cfg *config.Config, s config.Server) (needs *fault.Error, ready bool) {
	at := cfg.PublicURL
	if at == "" {
		at = "http://" + cfg.Listen + cfg.BasePath
	}
	at = strings.TrimRight(at, "/")
	return oauth.WantsSignIn(ctx, s, at+documentPath, at+connectPath+url.PathEscape(string(s.ID))+callbackName)
}

// refusing are the credentials of a server that cannot be used.
type refusing struct{ err error }

func (r refusing) Header(context.Context, string) (*http.Header, error) { return nil, r.err }
func (r refusing) Refused(context.Context, string, *http.Header, http.Header) bool {
	return false
}

// SignedIn lists a server anew that somebody has signed in to.
func (a *App) SignedIn(id tool.ServerID) {
	a.Pool.Retry(id)
	a.Catalog.Changed(id)
}

// endSignedOut closes the sessions with a server, "" for all, of those who have signed out at another replica.
func (a *App) endSignedOut(ctx context.Context, id tool.ServerID) error {
	for _, s := range a.Config().Servers {
		if id != "" && s.ID != id || s.OAuth == nil || s.OAuth.As != config.AsUser {
			continue
		}
		owners := a.Pool.Owners(s.ID)
		if len(owners) == 0 {
			continue
		}
		rows, err := a.Store.Connections(ctx, owners...)
		if err != nil {
			return err
		}
		for _, owner := range owners {
			if !slices.ContainsFunc(rows, func(c store.Connection) bool { return c.Server == s.ID && c.Owner == owner }) {
				a.Pool.EndOwner(s.ID, owner)
			}
		}
	}
	return nil
}

// signInTime is how long a call waits for a person to sign in.
const signInTime = 10 * time.Minute

// askToSignIn asks the caller's client to show the page on which a person signs in, and waits until they have. A client
// that cannot show pages gets the link with the error.
func (a *App) askToSignIn(ctx context.Context, req *call.Request, server tool.ServerID) bool {
	client, err := a.connections.Client(server)
	if err != nil || req.Client == nil || client.Owner(req.Principal.ID) == "" || req.Principal == access.Local() {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, signInTime)
	defer cancel()
	id := rand.Text()
	refused := make(chan struct{})
	go func() {
		said, err := req.Client.Ask(ctx, "elicitation/create", rawjson.Encode(map[string]string{
			"mode": "url", "message": "Sign in to " + string(server) + " on this page, so that the tool can be called.",
			"url": a.connections.Page(server), "elicitationId": id,
		}))
		if action, _ := rawjson.String(rawjson.Get(said, "action")); err != nil || action != "accept" {
			close(refused)
		}
	}()
	signedIn := make(chan bool, 1)
	go func() { signedIn <- a.connections.Await(ctx, client, client.Owner(req.Principal.ID)) }()
	select {
	case <-refused:
		return false
	case done := <-signedIn:
		if done {
			_ = req.Client.Notify(ctx, "notifications/elicitation/complete", rawjson.Encode(map[string]string{"elicitationId": id}))
		}
		return done
	}
}

// serveDocument is what authorization servers read about us.
func (a *App) serveDocument(w http.ResponseWriter, _ *http.Request) {
	var redirects []string
	for _, s := range a.Config().Servers {
		if s.OAuth != nil {
			redirects = append(redirects, a.callback(s.ID))
		}
	}
	inbound.WriteJSON(w, http.StatusOK, oauth.Document(a.reachedAt()+documentPath, redirects))
}
