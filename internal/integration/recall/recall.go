// Package recall answers what can be done with an object: the actions of a knowledge
// network as tools ready for function calling, and a proxy that takes the flat arguments
// which a model wrote for such a tool. It speaks the interface of the service
// agent-retrieval, whose callers cannot change.
//
// Actions come from ontology-query or from our configuration, tools from
// agent-operator-integration or from our own catalog. Calls of our own servers go
// through the same spine as everybody's. It never changes a schema that it was given, and
// the parameters that it answers hold no reference.
//
//	svc, err := recall.New(recall.Parts{Config: cfg, Catalog: c, Caller: caller, Admit: door.Admit, Logger: log})
//	mux.Handle("/api/agent-retrieval/", svc)
//	mux.Handle("/health/", svc)
package recall

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/toolfit/toolfit/internal/base/locale"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/schema"
)

// The prefixes of the routes: the private one, where headers say who calls, and the public one.
const (
	private = "/api/agent-retrieval/in/v1"
	public  = "/api/agent-retrieval/v1"
)

// Limits for one converted schema, far above real ones.
const (
	maxParameters = 256 << 10 // bytes
	maxNodes      = 40_000
)

// Parts are what the service is made of.
type Parts struct {
	Config  *config.Config // must have a recall section
	Catalog Catalog
	Caller  Caller
	Admit   func(*http.Request) (access.Principal, error)
	Served  func() string    // host and port where we listen; nil: from the configuration
	Key     []byte           // seals bound parameters, the same for all replicas; nil: random
	Client  *http.Client     // for the other services; nil: a new one that verifies TLS and reuses connections
	Metrics *Metrics         // may be nil
	Logger  *slog.Logger     // nil: discard
	Now     func() time.Time // nil: time.Now
}

// Service serves both prefixes and the health routes.
type Service struct {
	Parts
	recall  config.Recall
	hosts   map[string]bool
	seal    *sealer
	options *schema.Options // of conversions
	plans   *schema.Cache
	mux     *http.ServeMux
	query   *ontology // nil: not asked
	remote  *operator // nil: not asked
}

// New returns the service. Close it when done.
func New(p Parts) (*Service, error) {
	if p.Config == nil || p.Config.Recall == nil {
		return nil, fmt.Errorf("make recall: the configuration has no section recall")
	}
	if p.Logger == nil {
		p.Logger = slog.New(slog.DiscardHandler)
	}
	if p.Now == nil {
		p.Now = time.Now
	}
	if p.Client == nil {
		p.Client = newClient()
	}
	s := &Service{Parts: p, recall: *p.Config.Recall}
	s.hosts = hostsOf(p.Config)
	s.options = &schema.Options{MaxInput: int(p.Config.Limits.Schema), MaxBytes: maxParameters, MaxNodes: maxNodes,
		Hops: p.Config.Recall.Depth}
	s.plans = schema.NewCache(s.options)
	var err error
	s.seal, err = newSealer(p.Key)
	if err != nil {
		return nil, err
	}
	s.connect()
	s.routes()
	return s, nil
}

// connect sets up the sources of actions and tools.
func (s *Service) connect() {
	limit := s.Config.Limits.Message
	if u := s.recall.OntologyQuery; u.URL != "" {
		s.query = &ontology{remote{"ontology-query", u.URL, u.Timeout, s.Client, limit}}
	}
	if u := s.recall.OperatorIntegration; u.URL != "" {
		s.remote = &operator{remote: remote{"agent-operator-integration", u.URL, u.Timeout, s.Client, limit}, now: s.Now,
			lists: map[listKey]*toolList{}}
	}
}

func (s *Service) routes() {
	s.mux = http.NewServeMux()
	s.mux.HandleFunc("/health/ready", s.health("ready"))
	s.mux.HandleFunc("/health/alive", s.health("alive"))
	s.route(private+"/kn/get_action_info", "get_action_info", s.getActionInfo)
	s.route(public+"/kn/get_action_info", "get_action_info", s.getActionInfo)
	s.route(private+"/mcp/proxy/{mcp_id}/tools/{tool...}", "proxy", s.proxy)
	s.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.Refuse(w, r, notFound("", details{"path": r.URL.Path}))
	})
}

// Close closes idle connections to the other services. Running requests are completed.
func (s *Service) Close() { s.Client.CloseIdleConnections() }

// self returns our URL for callers, without a trailing slash.
func (s *Service) self() string {
	address := s.Config.RecallAddress()
	if host, port, _ := net.SplitHostPort(address); port == "0" && s.Served != nil { // any free port was asked for
		_, port, _ = net.SplitHostPort(s.Served())
		address = net.JoinHostPort(host, port)
	}
	return "http://" + address + s.Config.BasePath
}

func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

func (s *Service) health(word string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			s.refuseMethod(w, r, "GET, HEAD")
			return
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		io.WriteString(w, word)
	}
}

// answer is the result of a handler: JSON, and whether it may be written as TOON.
type answer struct {
	body    json.RawMessage
	more    rawjson.Edit // inserted into body, if it has New
	toon    bool
	release func() // releases body's buffer; may be nil
}

// handler answers one request of a known caller.
type handler func(r *http.Request, who caller) (answer, error)

// route registers a handler for POST. name is its label in metrics.
func (s *Service) route(path, name string, h handler) {
	s.mux.HandleFunc(path, s.Metrics.counted(name, s.Now, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			s.refuseMethod(w, r, "POST")
			return
		}
		asTOON, err := wantsTOON(r)
		var who caller
		if err == nil {
			who, err = s.admit(r)
		}
		var a answer
		if err == nil {
			a, err = h(r, who)
		}
		if err != nil {
			s.Refuse(w, r, err)
			return
		}
		s.write(w, r, a, asTOON)
	}))
}

func (s *Service) refuseMethod(w http.ResponseWriter, r *http.Request, allow string) {
	w.Header().Set("Allow", allow)
	s.Refuse(w, r, &problem{status: http.StatusMethodNotAllowed, details: details{"method": r.Method, "allowed": allow}})
}

// language returns the language for the request's errors.
func (s *Service) language(r *http.Request) locale.Language {
	return locale.Choose(locale.Language(s.recall.Language), r.Header.Get("X-Language"), r.Header.Get("Accept-Language"))
}
