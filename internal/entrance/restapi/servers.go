package restapi

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/access"
)

// Server is a server as the API shows it.
type Server struct {
	ID           tool.ServerID   `json:"id"`
	Source       Source          `json:"source"`
	Kind         string          `json:"kind,omitempty"`
	State        upstream.State  `json:"state"`
	Reason       string          `json:"reason,omitempty"`
	Warning      string          `json:"warning,omitempty"`
	Sandbox      string          `json:"sandbox,omitempty"` // how it is enforced
	Notes        []string        `json:"notes,omitempty"`   // what of its list was left out, and why
	Info         json.RawMessage `json:"info,omitempty"`
	Tools        int             `json:"tools"`
	Prompts      int             `json:"prompts"`
	Resources    int             `json:"resources"`
	Held         []string        `json:"held,omitempty"`     // what waits for approval: tools by name, all else as kind:name
	KeptOut      []string        `json:"kept_out,omitempty"` // tools that somebody has decided to keep out
	Sessions     int             `json:"sessions"`
	Era          mcp.Era         `json:"era,omitempty"`          // of the protocol, in which it is spoken to
	Capabilities json.RawMessage `json:"capabilities,omitempty"` // as it declared them
	ListedAt     *time.Time      `json:"listed_at,omitempty"`
	CheckedAt    *time.Time      `json:"checked_at,omitempty"`
	Stderr       []string        `json:"stderr,omitempty"`
}

// Source is where a configuration comes from.
type Source string

const (
	FromFile    Source = "file"
	FromStore   Source = "store"
	FromBuiltin Source = "builtin" // rules of built-in servers, and the server of recipes
)

var sources = map[project.Source]Source{project.File: FromFile, project.Store: FromStore, project.Builtin: FromBuiltin}

// Disabled is the state of a server that is switched off.
const Disabled upstream.State = "disabled"

// SeenServers returns the servers that the caller may see.
func (a *API) SeenServers(who access.Principal) []Server {
	seen := []Server{}
	for _, s := range a.ListServers() {
		if s, ok := a.shown(s, who); ok {
			seen = append(seen, a.noted(s, who))
		}
	}
	return seen
}

// SeenServer returns a server that the caller may see.
func (a *API) SeenServer(who access.Principal, id tool.ServerID) (Server, error) {
	for _, s := range a.ListServers() {
		if s.ID != id {
			continue
		}
		if s, ok := a.shown(s, who); ok {
			return a.noted(s, who), nil
		}
	}
	return Server{}, fault.New(fault.NotFound, "there is no server %s", id)
}

// noted adds whose sign-in a server is listed with, where each person has their own: others may have other tools there.
func (a *API) noted(s Server, who access.Principal) Server {
	if a.Connections == nil || !who.MayRead() {
		return s
	}
	if owner := a.Connections.ListsAs(s.ID); owner != "" {
		note := fmt.Sprintf("its tools are listed with the sign-in of %s, who was the first; others may have other tools there", owner)
		s.Notes = append(slices.Clone(s.Notes), note)
	}
	return s
}

// AddServer stores the server that the JSON text describes. Its command runs with the gateway's
// rights, so only admins may.
func (a *API) AddServer(ctx context.Context, who access.Principal, text []byte) (Server, error) {
	if err := needAdmin(who); err != nil {
		return Server{}, err
	}
	id, err := a.Registry.AddServer(ctx, text)
	if err != nil {
		return Server{}, err
	}
	return a.SeenServer(who, id)
}

// RemoveServer deletes a stored server; the warning says what stays.
func (a *API) RemoveServer(ctx context.Context, who access.Principal, id tool.ServerID) (warning string, err error) {
	if err := needAdmin(who); err != nil {
		return "", err
	}
	return a.Registry.RemoveServer(ctx, id)
}

// RefreshServer lists a server's tools now.
func (a *API) RefreshServer(ctx context.Context, who access.Principal, id tool.ServerID) (Server, error) {
	if err := needAdmin(who); err != nil {
		return Server{}, err
	}
	if err := a.switchedOn(who, id); err != nil {
		return Server{}, err
	}
	// The list is useful even when the caller has left.
	if err := a.Catalog.Refresh(context.WithoutCancel(ctx), id); err != nil {
		return Server{}, asFault(err)
	}
	return a.SeenServer(who, id)
}
