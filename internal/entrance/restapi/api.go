// Package restapi is the entrance for services: the routes under /api/v1. It speaks plain
// JSON and answers errors as {"error": {code, message, hint, details}}. Calls go through
// the same spine as everybody's. openapi.json describes the routes and is served with them;
// a test holds the two together.
//
//	api := restapi.New(restapi.Parts{Sources: sources, Caller: caller, Store: st, …})
//	mux.Handle("/api/v1/", api)
package restapi

import (
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/inbound"
	"github.com/toolfit/toolfit/internal/gateway/approval"
	"github.com/toolfit/toolfit/internal/gateway/call"
	"github.com/toolfit/toolfit/internal/gateway/oauth"
	"github.com/toolfit/toolfit/internal/gateway/presence"
	"github.com/toolfit/toolfit/internal/gateway/record"
	"github.com/toolfit/toolfit/internal/gateway/telemetry"
	"github.com/toolfit/toolfit/internal/gateway/waiting"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/store"
)

// Parts are what the routes are served from. The routes of records need only Store, Admit and
// Logger; the others need all but Metrics and Trace.
type Parts struct {
	Sources
	Caller      *call.Caller
	Store       *store.Store
	Waiting     *waiting.Calls
	Records     *record.Log // its last records may not be in Store yet; nil: there are none
	Keys        *access.Keys
	Connections *oauth.Connections
	Desk        *approval.Desk
	Events      *Events
	Seen        *presence.Seen
	Replica     string  // which gateway this is among others; "": it is alone
	Machine     Machine // nil: nobody may see what is on it
	Tests       Tests
	Work        Work
	Admit       func(*http.Request) (access.Principal, error)
	BasePath    string // the prefix of /api/v1 that clients see
	// ApprovalPage is where people decide a question.
	ApprovalPage func(id string) string
	MaxBody      int64
	Metrics      *Metrics             // nil: not counted
	Trace        *telemetry.Telemetry // nil: off
	Logger       *slog.Logger
}

// API serves the routes.
type API struct {
	Parts
	mux  *http.ServeMux
	keys sync.Mutex // held while a key is deleted, so that one admin is left

	anySession, anyRun sighting
}

// prefix is the path of all routes.
const prefix = "/api/v1"

// New makes the routes.
func New(p Parts) *API {
	a := &API{Parts: p, mux: http.NewServeMux()}
	for _, r := range a.routes() {
		method, path, _ := strings.Cut(r.pattern, " ")
		pattern := method + " " + prefix + path
		handler := a.Metrics.counted(pattern, func(w http.ResponseWriter, req *http.Request) { a.serve(w, req, r) })
		if method != http.MethodGet { // what only reads is not traced, and events have no end
			handler = a.Trace.Route(pattern, handler)
		}
		a.mux.HandleFunc(pattern, handler)
	}
	a.mux.HandleFunc(prefix+"/", a.Metrics.counted("none", func(w http.ResponseWriter, r *http.Request) {
		a.fail(w, r, fault.New(fault.NotFound, "there is no route %s %s", r.Method, r.URL.Path))
	}))
	return a
}

func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.mux.ServeHTTP(w, r) }

// request is what a route is asked.
type request struct {
	*http.Request
	who   access.Principal
	query url.Values
	body  []byte // nil: empty, or the route takes none
}

// id is the part {id} of the path.
func (q *request) id() string { return q.PathValue("id") }

// created is the answer of a route that made something at a path.
type created struct {
	path  string
	value any
}

// stream is an answer that writes itself.
type stream func(w http.ResponseWriter)

// serve answers a request: it admits the caller, reads the request and writes the answer.
func (a *API) serve(w http.ResponseWriter, r *http.Request, to route) {
	v, err := a.answer(r, to)
	if err != nil {
		a.fail(w, r, err)
		return
	}
	switch v := v.(type) {
	case created:
		w.Header().Set("Location", a.BasePath+prefix+v.path)
		inbound.WriteJSON(w, http.StatusCreated, v.value)
	case stream:
		v(w)
	default:
		inbound.WriteJSON(w, http.StatusOK, v)
	}
}

func (a *API) answer(r *http.Request, to route) (any, error) {
	q := &request{Request: r}
	var err error
	if to.needs&signed == 0 {
		if q.who, err = a.Admit(r); err != nil {
			return nil, err
		}
		q.Request = r.WithContext(store.As(r.Context(), q.who.Actor()))
	}
	q.query, err = parseURL(r.URL)
	if err == nil && to.needs&admin != 0 {
		err = needAdmin(q.who)
	}
	if err == nil && to.needs&body != 0 {
		q.body, err = access.ReadBody(r, a.MaxBody)
	}
	if err != nil {
		return nil, err
	}
	if len(q.body) == 0 {
		q.body = nil
	}
	return to.answer(q)
}

// parseURL reads the query. It rejects names that some databases cannot handle.
func parseURL(u *url.URL) (url.Values, error) {
	if !isText(u.Path) {
		return nil, fault.New(fault.BadRequest, "the path must be UTF-8 text without NUL")
	}
	q, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil, fault.New(fault.BadRequest, "the query string cannot be read").
			WithHint("write odd characters as %%XX, and & between parameters")
	}
	return q, nil
}

func isText(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }

// fail answers with an error, in the form that all routes share.
func (a *API) fail(w http.ResponseWriter, r *http.Request, err error) {
	f := a.visible(r, err)
	if f.Code == fault.Unauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="toolfit"`)
	}
	inbound.WriteJSON(w, f.Code.Status(), map[string]any{"error": f})
}

// visible is the error that the caller may see. What it hides is logged.
func (a *API) visible(r *http.Request, err error) *fault.Error {
	f := fault.As(err)
	switch {
	case f.Code == fault.Internal && r.Context().Err() != nil:
		f = fault.New(fault.Canceled, "the caller has left")
	case f.Hides():
		a.Logger.Error("request not served", "method", r.Method, "path", r.URL.Path, "error", f)
	}
	return f
}

func needAdmin(who access.Principal) error {
	if !who.MayAdmin() {
		return who.Forbidden("%s may not do this: it takes the role admin")
	}
	return nil
}
