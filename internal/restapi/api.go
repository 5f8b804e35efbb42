// Package restapi is the entrance for services: the routes under /api/v1. It speaks plain
// JSON and answers errors as {"error": {code, message, hint, details}}. Calls go through
// the same spine as everybody's.
//
//	api := restapi.New(restapi.Parts{Catalog: cat, Pool: pool, Caller: caller, Store: st, …})
//	mux.Handle("/api/v1/", api)
package restapi

import (
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"

	"github.com/toolfit/toolfit/internal/access"
	"github.com/toolfit/toolfit/internal/call"
	"github.com/toolfit/toolfit/internal/catalog"
	"github.com/toolfit/toolfit/internal/fault"
	"github.com/toolfit/toolfit/internal/store"
	"github.com/toolfit/toolfit/internal/upstream"
)

// Parts are what the routes are served from. All are needed.
type Parts struct {
	Catalog *catalog.Catalog
	Pool    *upstream.Pool
	Caller  *call.Caller
	Store   *store.Store
	Admit   func(*http.Request) (access.Principal, error)
	MaxBody int64
	Logger  *slog.Logger
}

// API serves the routes.
type API struct {
	Parts
	mux *http.ServeMux
}

// New makes the routes.
func New(p Parts) *API {
	a := &API{Parts: p, mux: http.NewServeMux()}
	a.route("GET /api/v1/servers", a.servers)
	a.route("GET /api/v1/servers/{id}", a.server)
	a.route("POST /api/v1/servers/{id}/refresh", a.refresh)
	a.route("POST /api/v1/servers/{id}/approve", a.approve)
	a.route("GET /api/v1/tools", a.tools)
	a.route("GET /api/v1/tools/{name}", a.tool)
	a.route("POST /api/v1/tools/{name}/call", a.call)
	a.route("GET /api/v1/calls", a.calls)
	a.route("GET /api/v1/calls/{id}", a.oneCall)
	a.mux.HandleFunc("/api/v1/", func(w http.ResponseWriter, r *http.Request) {
		a.fail(w, r, fault.New(fault.NotFound, "there is no route %s %s", r.Method, r.URL.Path))
	})
	return a
}

func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.mux.ServeHTTP(w, r) }

// route registers a handler that returns what to answer: a value to encode, or an error.
func (a *API) route(pattern string, h func(r *http.Request, who access.Principal) (any, error)) {
	a.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		who, err := a.Admit(r)
		if err != nil {
			a.fail(w, r, err)
			return
		}
		v, err := h(r, who)
		if err != nil {
			a.fail(w, r, err)
			return
		}
		write(w, http.StatusOK, v)
	})
}

func write(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.Encode(v)
}

// fail answers an error in the one form that all routes share.
func (a *API) fail(w http.ResponseWriter, r *http.Request, err error) {
	f := fault.As(err)
	if f.Code == fault.Internal {
		a.Logger.Error("request not served", "method", r.Method, "path", r.URL.Path, "error", err)
	}
	if f.Code == fault.Unauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="toolfit"`)
	}
	write(w, StatusOf(f.Code), map[string]any{"error": f})
}

// StatusOf is the HTTP status of a code.
func StatusOf(code fault.Code) int {
	switch code {
	case fault.BadRequest, fault.BadConfig:
		return http.StatusBadRequest
	case fault.Unauthorized:
		return http.StatusUnauthorized
	case fault.Forbidden:
		return http.StatusForbidden
	case fault.NotFound, fault.UnknownTool:
		return http.StatusNotFound
	case fault.Conflict:
		return http.StatusConflict
	case fault.TooLarge:
		return http.StatusRequestEntityTooLarge
	case fault.UpstreamDown, fault.UpstreamProtocol, fault.UpstreamError:
		return http.StatusBadGateway
	case fault.UpstreamTimeout:
		return http.StatusGatewayTimeout
	case fault.UpstreamBusy:
		return http.StatusServiceUnavailable
	case fault.Canceled:
		return 499 // the caller is gone; the number is for the logs of proxies
	}
	return http.StatusInternalServerError
}

// body reads a JSON body of bounded size; an empty one is nil.
func (a *API) body(r *http.Request) ([]byte, error) {
	data, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, a.MaxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, fault.New(fault.TooLarge, "the body is larger than %d bytes", a.MaxBody)
	case err != nil:
		return nil, fault.New(fault.BadRequest, "the body could not be read: %w", err)
	case len(data) == 0:
		return nil, nil
	}
	return data, nil
}

func needAdmin(who access.Principal) error {
	if !who.MayAdmin() {
		return fault.New(fault.Forbidden, "%s is no administrator", who.Name)
	}
	return nil
}
