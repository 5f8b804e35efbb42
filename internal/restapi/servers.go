package restapi

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"github.com/toolfit/toolfit/internal/access"
	"github.com/toolfit/toolfit/internal/fault"
	"github.com/toolfit/toolfit/internal/tool"
	"github.com/toolfit/toolfit/internal/upstream"
)

// Server is a server as the API shows it.
type Server struct {
	ID        tool.ServerID   `json:"id"`
	Source    Source          `json:"source"`
	Kind      string          `json:"kind,omitempty"`
	State     upstream.State  `json:"state"`
	Reason    string          `json:"reason,omitempty"`
	Warning   string          `json:"warning,omitempty"`
	Info      json.RawMessage `json:"info,omitempty"`
	Tools     int             `json:"tools"`
	Held      []string        `json:"held,omitempty"`
	Sessions  int             `json:"sessions"`
	ListedAt  *time.Time      `json:"listed_at,omitempty"`
	CheckedAt *time.Time      `json:"checked_at,omitempty"`
	Stderr    []string        `json:"stderr,omitempty"`
}

// Source is where a server's configuration is kept.
type Source string

// The sources of servers.
const (
	FromFile  Source = "file"
	FromStore Source = "store"
)

// Disabled is the state of a server that the configuration switches off.
const Disabled upstream.State = "disabled"

func (a *API) listServers(_ *http.Request, who access.Principal) (any, error) {
	seen := []Server{}
	for _, s := range a.ListServers() {
		if s, ok := a.shown(s, who); ok {
			seen = append(seen, s)
		}
	}
	return map[string]any{"servers": seen}, nil
}

// find is the server as the caller sees it.
func (a *API) find(id tool.ServerID, who access.Principal) (Server, error) {
	for _, s := range a.ListServers() {
		if s.ID != id {
			continue
		}
		if s, ok := a.shown(s, who); ok {
			return s, nil
		}
	}
	return Server{}, fault.New(fault.NotFound, "there is no server %s", id)
}

func (a *API) server(r *http.Request, who access.Principal) (any, error) {
	return a.find(tool.ServerID(r.PathValue("id")), who)
}

// addServer stores a server. A command runs as the gateway does, so only admins may.
func (a *API) addServer(r *http.Request, who access.Principal) (any, error) {
	if err := needAdmin(who); err != nil {
		return nil, err
	}
	text, err := a.body(r)
	if err != nil {
		return nil, err
	}
	id, err := a.Registry.AddServer(r.Context(), text)
	if err != nil {
		return nil, err
	}
	s, err := a.find(id, who)
	return created{"/servers/" + url.PathEscape(string(id)), s}, err
}

func (a *API) removeServer(r *http.Request, who access.Principal) (any, error) {
	if err := needAdmin(who); err != nil {
		return nil, err
	}
	id := r.PathValue("id")
	warning, err := a.Registry.RemoveServer(r.Context(), tool.ServerID(id))
	if err != nil {
		return nil, err
	}
	return deleted{ID: id, Warning: warning}, nil
}

// deleted is the answer that something is gone.
type deleted struct {
	ID      string `json:"deleted"`
	Warning string `json:"warning,omitempty"`
}

func (a *API) refresh(r *http.Request, who access.Principal) (any, error) {
	id := tool.ServerID(r.PathValue("id"))
	if err := needAdmin(who); err != nil {
		return nil, err
	}
	if _, err := a.find(id, who); err != nil {
		return nil, err
	}
	// The list is worth having even when the one who asked for it has left.
	if err := a.Catalog.Refresh(context.WithoutCancel(r.Context()), id); err != nil {
		return nil, asFault(err)
	}
	return a.find(id, who)
}

func (a *API) approve(r *http.Request, who access.Principal) (any, error) {
	id := tool.ServerID(r.PathValue("id"))
	if err := needAdmin(who); err != nil {
		return nil, err
	}
	if _, err := a.find(id, who); err != nil {
		return nil, err
	}
	data, err := a.body(r)
	if err != nil {
		return nil, err
	}
	var in struct {
		Tools []string `json:"tools"` // empty: all that are held
	}
	if data != nil {
		if err := decode(data, &in); err != nil {
			return nil, fault.New(fault.BadRequest, "the body must be {\"tools\": [names]}: %w", err)
		}
	}
	n, err := a.Catalog.Approve(r.Context(), id, in.Tools...)
	if err != nil {
		return nil, err
	}
	return map[string]int{"approved": n}, nil
}
