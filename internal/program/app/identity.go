package app

import (
	"context"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/inbound"
	"github.com/toolfit/toolfit/internal/entrance/broker"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/identity"
	"github.com/toolfit/toolfit/internal/state/store"
)

// signIn is how people and services with tokens of identity providers come in.
type signIn struct {
	cfg      []config.Identity
	public   string   // our address, without a final slash
	servers  []string // where clients get tokens
	verifier *identity.Verifier
	brokered *config.Broker
	broker   *broker.Broker // nil: off
}

// newSignIn returns nil if there are no identity providers. One that has not changed keeps what it knows.
func (a *App) newSignIn(cfg *config.Config, before *signIn) *signIn {
	public := strings.TrimRight(cfg.PublicURL, "/")
	switch {
	case len(cfg.Identity) == 0:
		return nil
	case before != nil && before.public == public && reflect.DeepEqual(before.cfg, cfg.Identity) &&
		reflect.DeepEqual(before.brokered, cfg.Broker):
		return before
	}
	v := identity.New(cfg.Identity, &identity.Options{
		Base: public + "/mcp", Logger: a.log, People: people{a.Keys, a.Store, a.seen}, Keep: a.keepIDToken,
	})
	s := &signIn{cfg: cfg.Identity, public: public, servers: cfg.AuthorizationServers(), verifier: v, brokered: cfg.Broker}
	if cfg.Broker != nil {
		s.broker = broker.New(broker.Parts{
			Config: cfg.Broker, Issuer: public, Scopes: s.scopes(), IsResource: s.isResource, People: v, CheckPerson: a.Keys.CheckPerson,
			Limit: a.limitStrangers(), Store: a.Store, Logger: a.log,
		})
	}
	return s
}

// people are those who have come in before. Seen is told in the background: nobody waits for it.
type people struct {
	*access.Keys
	*store.Store
	seen chan<- store.Person
}

func (p people) Seen(one store.Person) {
	select {
	case p.seen <- one:
	default: // the store is slow; they will be seen again
	}
}

// notePeople saves who was seen, until ctx ends.
func (a *App) notePeople(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case p := <-a.seen:
			if err := a.Store.SavePerson(ctx, p); err != nil && ctx.Err() == nil {
				a.log.Warn("not noted that somebody was here", "id", p.ID, "error", err)
			}
		}
	}
}

// admit returns who sends a token, which must be for what is asked for.
func (s *signIn) admit(r *http.Request, token string) (access.Principal, error) {
	if s.broker == nil || !broker.IsToken(token) {
		return s.verifier.Admit(r.Context(), token, s.public+resourcePath(r))
	}
	if !isMCP(r) {
		return access.Principal{}, fault.New(fault.Forbidden, "a person has let this application use tools, and nothing else").
			WithHint("use MCP, or a key")
	}
	return s.broker.Admit(r.Context(), token, s.public+resourcePath(r))
}

// isMCP tells whether a request is for one of the MCP paths.
func isMCP(r *http.Request) bool {
	path := r.URL.EscapedPath()
	return path == "/mcp" || strings.HasPrefix(path, "/mcp/")
}

// resourcePath is the path of the resource that a request is for: MCP paths are one each; for all else
// the first counts.
func resourcePath(r *http.Request) string {
	if isMCP(r) {
		return strings.TrimSuffix(r.URL.EscapedPath(), "/")
	}
	return "/mcp"
}

// resources are the paths that clients sign in to.
var resources = regexp.MustCompile(`^/mcp(/[^/]*[^/.][^/]*(/env)?)?$`)

// isResource tells whether an address is one that clients sign in to.
func (s *signIn) isResource(address string) bool {
	path, ok := strings.CutPrefix(address, s.public)
	return ok && resources.MatchString(path)
}

const metadataPath = "/.well-known/oauth-protected-resource"

// metadata serves what clients need to know to sign in (RFC 9728): below our base path, and where the
// well-known path comes first. Every page may read it.
func (a *App) metadata(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e := a.edge.Load()
		path, ok := strings.CutPrefix(r.URL.EscapedPath(), a.started.BasePath+metadataPath)
		if !ok {
			path, ok = strings.CutPrefix(r.URL.EscapedPath(), metadataPath+a.started.BasePath)
		}
		if !ok || e.signIn == nil || !resources.MatchString(path) {
			h.ServeHTTP(w, r)
			return
		}
		if err := e.door.CheckHost(r); err != nil {
			a.refuse(w, r, err)
			return
		}
		e.signIn.serveMetadata(w, r, path)
	})
}

func (s *signIn) serveMetadata(w http.ResponseWriter, r *http.Request, path string) {
	w.Header().Set("Access-Control-Allow-Origin", "*")
	switch r.Method {
	case http.MethodGet, http.MethodHead:
	case http.MethodOptions:
		w.Header().Set("Access-Control-Allow-Methods", "GET")
		w.Header().Set("Access-Control-Allow-Headers", "*")
		w.WriteHeader(http.StatusNoContent)
		return
	default:
		w.Header().Set("Allow", "GET, HEAD, OPTIONS")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		return
	}
	about := map[string]any{"resource": s.public + path, "bearer_methods_supported": []string{"header"}, "resource_name": "toolfit"}
	about["authorization_servers"] = s.servers
	if scopes := s.scopes(); scopes != nil {
		about["scopes_supported"] = scopes
	}
	inbound.WriteJSON(w, http.StatusOK, about)
}

// challenge says how to get in, where that helps.
func (s *signIn) challenge(w http.ResponseWriter, r *http.Request, err error) {
	params := ""
	switch {
	case identity.LacksScope(err):
		params = `error="insufficient_scope", `
	case fault.As(err).Code != fault.Unauthorized:
		return
	case r.Header.Get("Authorization") != "":
		params = `error="invalid_token", `
	}
	if want := s.scope(); want != "" {
		params += `scope="` + want + `", `
	}
	w.Header().Set("WWW-Authenticate", `Bearer `+params+`resource_metadata="`+s.public+metadataPath+resourcePath(r)+`"`)
}

// scopes are what tokens may need, each once.
func (s *signIn) scopes() (all []string) {
	for i := range s.cfg {
		if scope := s.cfg[i].Scope; scope != "" && !slices.Contains(all, scope) {
			all = append(all, scope)
		}
	}
	return all
}

// scope is what clients should ask for.
func (s *signIn) scope() string {
	for i := range s.cfg {
		if s.cfg[i].Scope != "" {
			return s.cfg[i].Scope
		}
	}
	return ""
}
