// Package broker is a small authorization server for MCP clients that the identity provider does not know. A client
// names itself by the address of a document about it, a person agrees on a page of ours and then signs in at the
// provider, and the client gets tokens of ours. They mean nothing to anybody else, and only their hashes are stored.
//
// It serves public clients alone, with codes, PKCE (S256) and refresh tokens. It never redirects a browser before
// somebody has clicked on its page, and never passes on a token of the provider.
//
//	b := broker.New(broker.Parts{Config: cfg.Broker, Issuer: "https://tools.example.com", People: verifier, Store: st, …})
//	mux.Handle("/oauth/", b)
//	who, err := b.Admit(ctx, "tfa_…", "https://tools.example.com/mcp")
package broker

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/inbound"
	"github.com/toolfit/toolfit/internal/base/origin"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/identity"
	"github.com/toolfit/toolfit/internal/state/store"
)

const (
	loginTime  = 10 * time.Minute // from the click on our page to the return from the provider
	codeTime   = time.Minute
	accessTime = time.Hour
	graceTime  = time.Minute // in which a refresh token can be used again: an answer may be lost, and clients may race
	// A grant ends for good after a week. Groups are those of the sign-in, so that whoever leaves a group or the
	// company is out by then, even if nobody disables them here.
	grantTime = 7 * 24 * time.Hour
)

// The beginnings of our tokens.
const (
	accessPrefix  = "tfa_"
	codePrefix    = "tfc_"
	refreshPrefix = "tfr_"
)

// People sign in at their provider.
type People interface {
	Logins() []string
	LoginName(issuer string) string
	LoginURL(ctx context.Context, l identity.Login) (string, error)
	FinishLogin(ctx context.Context, l identity.Login, answer url.Values) (*identity.Identity, error)
	SignedIn(ctx context.Context, id *identity.Identity, client string, scopes []string) (store.Person, error)
	Principal(ctx context.Context, personID, client string, scopes []string) (access.Principal, error)
}

// Parts are what a Broker is built from.
type Parts struct {
	Config      *config.Broker
	Issuer      string                                           // our address, without a final slash
	Scopes      []string                                         // that every token has; none are fine
	IsResource  func(address string) bool                        // tells whether tokens can be for it
	People      People                                           // signs them in, and knows what they may do
	CheckPerson func(ctx context.Context, id, name string) error // refuses the disabled; asked at every call
	Limit       func(*http.Request) error                        // refuses who begins too much; nil: nobody
	Store       *store.Store
	Now         func() time.Time // nil: time.Now
	Logger      *slog.Logger     // nil: discard
}

// Broker is the authorization server. It keeps nothing that another gateway on the same store lacks, but caches.
type Broker struct {
	Parts
	all       string // the resource whose tokens are good for every other
	origin    string // of our pages, as browsers say it
	handler   http.Handler
	documents *documents
	known     memory
	changes   atomic.Int64 // how often something was forgotten
}

// New makes a Broker. Nothing is fetched or stored before the first request.
func New(p Parts) *Broker {
	if p.Now == nil {
		p.Now = time.Now
	}
	if p.Limit == nil {
		p.Limit = func(*http.Request) error { return nil }
	}
	if p.Logger == nil {
		p.Logger = slog.New(slog.DiscardHandler)
	}
	b := &Broker{Parts: p, all: p.Issuer + "/mcp"}
	if u, err := url.Parse(p.Issuer); err == nil {
		b.origin = origin.Of(u)
	}
	b.documents = newDocuments(p.Issuer, p.Now, p.Logger)
	b.handler = b.routes()
	return b
}

func (b *Broker) routes() http.Handler {
	pages := loadPages()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /oauth/authorize", func(w http.ResponseWriter, r *http.Request) { b.ask(w, r, pages) })
	mux.HandleFunc("POST /oauth/authorize", func(w http.ResponseWriter, r *http.Request) { b.answer(w, r, pages) })
	mux.HandleFunc("GET "+callbackPath, func(w http.ResponseWriter, r *http.Request) { b.comeBack(w, r, pages) })
	mux.HandleFunc("GET /oauth/style.css", pages.serveStyle)
	mux.HandleFunc("POST /oauth/token", b.serveToken)
	mux.HandleFunc("POST /oauth/revoke", b.revoke)
	mux.HandleFunc("GET "+MetadataPath, b.serveMetadata)
	if b.Config.Registration {
		mux.HandleFunc("POST /oauth/register", b.register)
	}
	return mux
}

const (
	callbackPath = "/oauth/callback"
	// MetadataPath is where clients learn about us (RFC 8414).
	MetadataPath = "/.well-known/oauth-authorization-server"
)

// ForPrograms tells whether a path is for programs, which pages of every origin may be. The others are for people.
func ForPrograms(path string) bool {
	return path == "/oauth/token" || path == "/oauth/revoke" || path == "/oauth/register" || path == MetadataPath
}

func (b *Broker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !ForPrograms(r.URL.Path) {
		b.handler.ServeHTTP(w, r)
		return
	}
	w.Header().Set("Access-Control-Allow-Origin", "*") // no cookie means anything here
	if r.Method == http.MethodOptions {
		w.Header().Set("Access-Control-Allow-Methods", "GET, POST")
		w.Header().Set("Access-Control-Allow-Headers", "*, Authorization")
		w.WriteHeader(http.StatusNoContent)
		return
	}
	b.handler.ServeHTTP(w, r)
}

func (b *Broker) serveMetadata(w http.ResponseWriter, r *http.Request) {
	about := map[string]any{
		"issuer":                                         b.Issuer,
		"authorization_endpoint":                         b.Issuer + "/oauth/authorize",
		"token_endpoint":                                 b.Issuer + "/oauth/token",
		"revocation_endpoint":                            b.Issuer + "/oauth/revoke",
		"response_types_supported":                       []string{"code"},
		"response_modes_supported":                       []string{"query"},
		"grant_types_supported":                          []string{"authorization_code", "refresh_token"},
		"code_challenge_methods_supported":               []string{"S256"},
		"token_endpoint_auth_methods_supported":          []string{"none"},
		"revocation_endpoint_auth_methods_supported":     []string{"none"},
		"client_id_metadata_document_supported":          len(b.Config.Clients) > 0,
		"authorization_response_iss_parameter_supported": true,
	}
	if len(b.Scopes) > 0 {
		about["scopes_supported"] = b.Scopes
	}
	if b.Config.Registration {
		about["registration_endpoint"] = b.Issuer + "/oauth/register"
	}
	inbound.WriteJSON(w, http.StatusOK, about)
}

// Error codes of OAuth.
const (
	invalidRequest = "invalid_request"
	invalidClient  = "invalid_client"
	invalidGrant   = "invalid_grant"
	invalidTarget  = "invalid_target"
	accessDenied   = "access_denied"
	unavailable    = "temporarily_unavailable"
	serverError    = "server_error"
)

// codeOf is how OAuth calls an error that is not the client's.
func codeOf(err error) string {
	switch fault.As(err).Code {
	case fault.Unauthorized, fault.Forbidden:
		return accessDenied
	case fault.UpstreamDown, fault.UpstreamBusy, fault.StoreDown, fault.RateLimited:
		return unavailable
	}
	return serverError
}

// plain is what a description of an error may contain.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '"' || r == '\\':
			return '\''
		case r < ' ' || r > '~':
			return '?'
		}
		return r
	}, text)
}
