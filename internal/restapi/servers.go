package restapi

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/toolfit/toolfit/internal/access"
	"github.com/toolfit/toolfit/internal/catalog"
	"github.com/toolfit/toolfit/internal/fault"
	"github.com/toolfit/toolfit/internal/tool"
	"github.com/toolfit/toolfit/internal/upstream"
)

// Server is a server as the API shows it.
type Server struct {
	ID        tool.ServerID   `json:"id"`
	Kind      string          `json:"kind"`
	State     upstream.State  `json:"state"`
	Reason    string          `json:"reason,omitempty"`
	Info      json.RawMessage `json:"info,omitempty"`
	Tools     int             `json:"tools"`
	Held      []string        `json:"held,omitempty"`
	Sessions  int             `json:"sessions"`
	ListedAt  *time.Time      `json:"listed_at,omitempty"`
	CheckedAt *time.Time      `json:"checked_at,omitempty"`
	Stderr    []string        `json:"stderr,omitempty"`
}

// Disabled is the state of a server that the configuration switches off.
const Disabled upstream.State = "disabled"

// ListServers puts together what the catalogue and the pool know.
func ListServers(cat *catalog.Catalog, pool *upstream.Pool) []Server {
	status := map[tool.ServerID]upstream.Status{}
	for _, s := range pool.Status() {
		status[s.ID] = s
	}
	all := []Server{}
	for _, known := range cat.Servers() {
		all = append(all, oneServer(known, status[known.ID]))
	}
	return all
}

func oneServer(known catalog.Server, st upstream.Status) Server {
	s := Server{
		ID: known.ID, Kind: st.Kind, State: st.State, Reason: st.Reason, Info: known.Info, Tools: known.Tools, Held: known.Held,
		Sessions: st.Sessions, ListedAt: moment(known.ListedAt), CheckedAt: moment(known.CheckedAt), Stderr: st.Stderr,
	}
	switch {
	case known.Disabled:
		s.State, s.Reason = Disabled, ""
	case s.State == upstream.Idle && known.Reason != "":
		s.State, s.Reason = upstream.Down, known.Reason
	}
	return s
}

func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func (a *API) servers(_ *http.Request, who access.Principal) (any, error) {
	all := ListServers(a.Catalog, a.Pool)
	for i := range all {
		all[i].hideFrom(who)
	}
	return map[string]any{"servers": all}, nil
}

// hideFrom leaves out what only those see who look after the servers.
func (s *Server) hideFrom(who access.Principal) {
	if !who.MayRead() {
		s.Stderr = nil
	}
}

func (a *API) server(r *http.Request, who access.Principal) (any, error) {
	id := tool.ServerID(r.PathValue("id"))
	for _, s := range ListServers(a.Catalog, a.Pool) {
		if s.ID == id {
			s.hideFrom(who)
			return s, nil
		}
	}
	return nil, fault.New(fault.NotFound, "there is no server %s", id)
}

func (a *API) refresh(r *http.Request, who access.Principal) (any, error) {
	if err := needAdmin(who); err != nil {
		return nil, err
	}
	// The list is worth having even when the one who asked for it has left.
	if err := a.Catalog.Refresh(context.WithoutCancel(r.Context()), tool.ServerID(r.PathValue("id"))); err != nil {
		return nil, err
	}
	return a.server(r, who)
}

func (a *API) approve(r *http.Request, who access.Principal) (any, error) {
	if err := needAdmin(who); err != nil {
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
		if err := json.Unmarshal(data, &in); err != nil {
			return nil, fault.New(fault.BadRequest, "the body must be {\"tools\": [names]}: %w", err)
		}
	}
	n, err := a.Catalog.Approve(r.Context(), tool.ServerID(r.PathValue("id")), in.Tools...)
	if err != nil {
		return nil, err
	}
	return map[string]int{"approved": n}, nil
}
