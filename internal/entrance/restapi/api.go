// Package restapi is the entrance for services: the routes under /api/v1. It speaks plain
// JSON and answers errors as {"error": {code, message, hint, details}}. Calls go through
// the same spine as everybody's. What it answers is described by openapi.json, which is
// served beside the routes; a test holds the two together.
//
//	api := restapi.New(restapi.Parts{Sources: sources, Caller: caller, Store: st, …})
//	mux.Handle("/api/v1/", api)
package restapi

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/gateway/call"
	"github.com/toolfit/toolfit/internal/gateway/record"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/store"
)

// Parts are what the routes are served from. Those of records need Store, Admit and Logger
// alone; all others need all but Metrics.
type Parts struct {
	Sources
	Caller   *call.Caller
	Store    *store.Store
	Records  *record.Log // whose last records may not be in Store yet; nil: there are none
	Keys     *access.Keys
	Events   *Events
	Tests    Tests
	Admit    func(*http.Request) (access.Principal, error)
	BasePath string // what stands before /api/v1 for clients
	MaxBody  int64
	Metrics  *Metrics // nil: not counted
	Logger   *slog.Logger
}

// API serves the routes.
type API struct {
	Parts
	mux      *http.ServeMux
	routes   []string // their patterns
	document []byte
	keys     sync.Mutex // one key is deleted at a time, so that one admin is left
}

// New makes the routes.
func New(p Parts) *API {
	a := &API{Parts: p, mux: http.NewServeMux(), document: documentAt(p.BasePath)}
	a.route("GET /api/v1/servers", a.listServers)
	a.route("POST /api/v1/servers", a.addServer)
	a.route("GET /api/v1/servers/{id}", a.server)
	a.route("DELETE /api/v1/servers/{id}", a.removeServer)
	a.route("POST /api/v1/servers/{id}/refresh", a.refresh)
	a.route("POST /api/v1/servers/{id}/approve", a.approve)
	a.route("POST /api/v1/servers/{id}/keep-out", a.keepOut)
	a.route("GET /api/v1/tools", a.tools)
	a.route("GET /api/v1/tools/{name}", a.tool)
	a.route("POST /api/v1/tools/{name}/call", a.call)
	a.route("POST /api/v1/tools/{name}/curl", a.curl)
	a.route("GET /api/v1/search", a.search)
	a.route("GET /api/v1/prompt", a.prompt)
	a.route("GET /api/v1/calls", a.calls)
	a.route("GET /api/v1/calls/{id}", a.oneCall)
	a.route("GET /api/v1/results", a.listResults)
	a.route("GET /api/v1/results/{ref}", a.result)
	a.route("POST /api/v1/results/{ref}/try", a.tryRule)
	a.route("GET /api/v1/savings", a.savings)
	a.route("GET /api/v1/suggestions", a.suggestions)
	a.route("GET /api/v1/rules", a.listRules)
	a.route("PUT /api/v1/rules/{id}", a.putRule)
	a.route("DELETE /api/v1/rules/{id}", a.deleteRule)
	a.route("GET /api/v1/runs", a.runs)
	a.route("POST /api/v1/runs", a.startRun)
	a.route("GET /api/v1/runs/{id}", a.oneRun)
	a.route("GET /api/v1/runs/{id}/report", a.runReport)
	a.route("GET /api/v1/runs/{id}/screenshots/{n}", a.screenshot)
	a.route("GET /api/v1/agents", a.listAgents)
	a.route("POST /api/v1/agents", a.createAgent)
	a.route("GET /api/v1/agents/{id}", a.agent)
	a.route("GET /api/v1/agents/{id}/prompt", a.agentPrompt)
	a.route("PUT /api/v1/agents/{id}", a.putAgent)
	a.route("DELETE /api/v1/agents/{id}", a.deleteAgent)
	a.route("GET /api/v1/sessions", a.listSessions)
	a.route("POST /api/v1/sessions", a.createSession)
	a.route("GET /api/v1/sessions/{id}", a.session)
	a.route("PATCH /api/v1/sessions/{id}", a.patchSession)
	a.route("DELETE /api/v1/sessions/{id}", a.deleteSession)
	a.route("GET /api/v1/sessions/{id}/messages", a.sessionMessages)
	a.route("GET /api/v1/keys", a.listKeys)
	a.route("POST /api/v1/keys", a.createKey)
	a.route("DELETE /api/v1/keys/{id}", a.deleteKey)
	a.route("GET /api/v1/openapi.json", a.openAPI)
	a.serve("GET /api/v1/events", a.events)
	a.mux.HandleFunc("/api/v1/", a.Metrics.counted("none", func(w http.ResponseWriter, r *http.Request) {
		a.fail(w, r, fault.New(fault.NotFound, "there is no route %s %s", r.Method, r.URL.Path))
	}))
	return a
}

func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.mux.ServeHTTP(w, r) }

// route registers a handler that returns what to answer: a value to encode, a created or a
// stream, or an error.
func (a *API) route(pattern string, h func(r *http.Request, who access.Principal) (any, error)) {
	a.serve(pattern, func(w http.ResponseWriter, r *http.Request, who access.Principal) {
		v, err := h(r, who)
		if err != nil {
			a.fail(w, r, err)
			return
		}
		switch v := v.(type) {
		case created:
			w.Header().Set("Location", a.BasePath+"/api/v1"+v.path)
			write(w, http.StatusCreated, v.value)
		case stream:
			v(w)
		default:
			write(w, http.StatusOK, v)
		}
	})
}

// created is the answer that something new is at the path.
type created struct {
	path  string
	value any
}

// stream is an answer that writes itself.
type stream func(w http.ResponseWriter)

// serve registers a handler for those who are let in with a request that can be read.
func (a *API) serve(pattern string, h func(w http.ResponseWriter, r *http.Request, who access.Principal)) {
	a.routes = append(a.routes, pattern)
	a.mux.HandleFunc(pattern, a.Metrics.counted(pattern, func(w http.ResponseWriter, r *http.Request) {
		who, err := a.Admit(r)
		if err == nil {
			err = checkURL(r.URL)
		}
		if err != nil {
			a.fail(w, r, err)
			return
		}
		h(w, r, who)
	}))
}

// checkURL refuses what no name has and some databases choke on, and queries that would
// otherwise be read in part.
func checkURL(u *url.URL) error {
	if strings.ContainsRune(u.Path, 0) || !utf8.ValidString(u.Path) {
		return fault.New(fault.BadRequest, "the path holds characters that no name has")
	}
	if _, err := url.ParseQuery(u.RawQuery); err != nil {
		return fault.New(fault.BadRequest, "the query string cannot be read").WithHint("write odd characters as %%XX, and & between parameters")
	}
	return nil
}

func write(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.Encode(v) // a client that has left needs no answer
}

// fail answers an error in the one form that all routes share.
func (a *API) fail(w http.ResponseWriter, r *http.Request, err error) {
	f := a.known(r, err)
	if f.Code == fault.Unauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="toolfit"`)
	}
	write(w, f.Code.Status(), map[string]any{"error": f})
}

// known is what the caller may know of an error. What it may not is logged.
func (a *API) known(r *http.Request, err error) *fault.Error {
	f := fault.As(err)
	switch {
	case f.Code == fault.Internal && r.Context().Err() != nil:
		f = fault.New(fault.Canceled, "the caller has left")
	case f.Hides():
		a.Logger.Error("request not served", "method", r.Method, "path", r.URL.Path, "error", f)
	}
	return f
}

// body reads a JSON body of bounded size; an empty one is nil.
func (a *API) body(r *http.Request) ([]byte, error) {
	data, err := access.ReadBody(r, a.MaxBody)
	if len(data) == 0 {
		return nil, err
	}
	return data, err
}

func needAdmin(who access.Principal) error {
	if !who.MayAdmin() {
		return who.Forbidden("%s may not change this gateway")
	}
	return nil
}
