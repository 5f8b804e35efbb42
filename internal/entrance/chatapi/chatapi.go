// Package chatapi is the entrance for programs that know the chat completions API: the
// routes under /v1, where every agent is a model. Any client of that API can talk with an
// agent, streamed or not, and sees its answers, not its rounds; what else happens stands
// under "toolfit", which such clients pass over.
//
// It never answers anything itself and keeps nothing: package agent does both. Errors have
// the form of that API, and so does the list of models.
//
//	mux.Handle("/v1/", chatapi.New(chatapi.Parts{Agents: runner, Admit: door.Admit, MaxBody: 4 << 20, Logger: log}))
package chatapi

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"

	"github.com/toolfit/toolfit/internal/agent"
	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/inbound"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
)

// Agents answers chats.
type Agents interface {
	Agents(who access.Principal) []config.Agent // that the caller may use
	Answer(ctx context.Context, t agent.Turn) (*agent.Answer, error)
}

// Parts are what the routes are served from.
type Parts struct {
	Agents  Agents
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
	a.mux.HandleFunc("GET /v1/models", a.guarded(a.models))
	a.mux.HandleFunc("GET /v1/models/{id}", a.guarded(a.model))
	a.mux.HandleFunc("POST /v1/chat/completions", a.guarded(a.complete))
	a.mux.HandleFunc("/v1/", func(w http.ResponseWriter, r *http.Request) {
		a.fail(w, r, fault.New(fault.NotFound, "there is no route %s %s", r.Method, r.URL.Path).
			WithHint("there are /v1/chat/completions and /v1/models"))
	})
	return a
}

func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.mux.ServeHTTP(w, r) }

func (a *API) guarded(h func(w http.ResponseWriter, r *http.Request, who access.Principal)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		who, err := a.Admit(r)
		if err == nil && !who.MayCall() {
			err = who.Forbidden("%s may not use agents")
		}
		if err != nil {
			a.fail(w, r, err)
			return
		}
		h(w, r, who)
	}
}

// modelObject is an agent as a model.
type modelObject struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	OwnedBy string `json:"owned_by"`
}

func showModel(id string) modelObject {
	return modelObject{ID: id, Object: "model", OwnedBy: "toolfit"}
}

func (a *API) models(w http.ResponseWriter, _ *http.Request, who access.Principal) {
	list := []modelObject{}
	for _, one := range a.Agents.Agents(who) {
		list = append(list, showModel(one.ID))
	}
	inbound.WriteJSON(w, http.StatusOK, map[string]any{"object": "list", "data": list})
}

func (a *API) model(w http.ResponseWriter, r *http.Request, who access.Principal) {
	id := r.PathValue("id")
	if !a.has(who, id) {
		a.fail(w, r, noModel(id))
		return
	}
	inbound.WriteJSON(w, http.StatusOK, showModel(id))
}

func (a *API) has(who access.Principal, id string) bool {
	return slices.ContainsFunc(a.Agents.Agents(who), func(one config.Agent) bool { return one.ID == id })
}

// apiError is an error in the form of the chat completions API.
type apiError struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    string  `json:"code"`

	status int
}

func (e *apiError) Error() string { return e.Message }

func noModel(id string) error {
	f := fault.New(fault.NotFound, "The model `%.100s` does not exist or you do not have access to it.", id)
	return &apiError{Message: f.Message, Type: "invalid_request_error", Code: "model_not_found", status: http.StatusNotFound}
}

// explain turns an error into that form.
func (a *API) explain(r *http.Request, err error) *apiError {
	var known *apiError
	if errors.As(err, &known) {
		return known
	}
	f := fault.As(err)
	if f.Hides() && r.Context().Err() == nil {
		a.Logger.Error("chat not answered", "path", r.URL.Path, "error", f)
	}
	out := &apiError{Message: f.Error(), Type: "server_error", Code: string(f.Code), status: f.Code.Status()}
	switch {
	case f.Code == fault.RateLimited:
		out.Type = "requests"
		out.Code = "rate_limit_exceeded"
	case f.Code == fault.Unauthorized:
		out.Type = "invalid_request_error"
		out.Code = "invalid_api_key"
	case out.status < http.StatusInternalServerError:
		out.Type = "invalid_request_error"
	}
	return out
}

func (a *API) fail(w http.ResponseWriter, r *http.Request, err error) {
	f := a.explain(r, err)
	if f.status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="toolfit"`)
	}
	inbound.WriteJSON(w, f.status, map[string]any{"error": f})
}
