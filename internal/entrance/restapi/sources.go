package restapi

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/overlay"
)

// Registry adds, changes and removes servers while the gateway runs.
type Registry interface {
	// CheckServer says why the server that the JSON text describes could not be added.
	CheckServer(text []byte) error
	// AddServer stores the server that the JSON text describes and activates it.
	AddServer(ctx context.Context, text []byte) (tool.ServerID, error)
	// RemoveServer deletes a stored server; the warning says what stays.
	RemoveServer(ctx context.Context, id tool.ServerID) (warning string, err error)
	// ChangeServer replaces a stored server; what is masked in the JSON text stays as it was.
	ChangeServer(ctx context.Context, id tool.ServerID, text []byte) error
	// SwitchServer switches a stored server on or off.
	SwitchServer(ctx context.Context, id tool.ServerID, on bool) error
	// ServerSettings returns how a server is configured, without secrets.
	ServerSettings(id tool.ServerID) (ServerSettings, error)
	// Servers returns the servers of the file and those of the store. It is read-only.
	Servers() []overlay.Entry[config.Server]
	// SignedIn lists a server anew that somebody has signed in to.
	SignedIn(id tool.ServerID)
}

// Sources are what routes and events read from.
type Sources struct {
	Catalog  *catalog.Catalog
	Pool     *upstream.Pool
	Registry Registry
	Rules    Rulebook
	Agents   AgentBook
	Recipes  RecipeBook
	Config   func() *config.Config // what is in force
}

// ListServers merges what the catalog, the pool and the store know.
func (s Sources) ListServers() []Server {
	status := map[tool.ServerID]upstream.Status{}
	for _, st := range s.Pool.Status() {
		status[st.ID] = st
	}
	stored := map[tool.ServerID]overlay.Entry[config.Server]{}
	for _, e := range s.Registry.Servers() {
		if e.Source == project.Store {
			stored[tool.ServerID(e.ID)] = e
		}
	}
	all := []Server{}
	for _, known := range s.Catalog.Servers() {
		one := oneServer(known, status[known.ID])
		if row, ok := stored[known.ID]; ok && row.Hidden {
			one.Warning = "the store has a server of this name too; the file wins"
		} else if ok {
			one.Source = FromStore
		}
		all = append(all, one)
	}
	broken := len(all)
	for id, row := range stored {
		if row.Problem != "" && !row.Hidden {
			all = append(all, Server{ID: id, State: upstream.Down, Reason: row.Problem, Source: FromStore})
		}
	}
	slices.SortFunc(all[broken:], func(a, b Server) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

// shown returns what the caller may see of a server, if anything: callers see servers of their
// profile, without internals.
func (s Sources) shown(srv Server, who access.Principal) (Server, bool) {
	if who.MayRead() {
		return srv, true
	}
	if !s.sees(who, srv.ID) {
		return Server{}, false
	}
	srv.Stderr = nil
	srv.Held = nil
	srv.KeptOut = nil
	srv.Sandbox = ""
	srv.Notes = nil
	srv.Warning = ""
	if view, err := s.Catalog.View(who.OwnProfile()); err == nil {
		srv.Tools = 0
		for _, e := range view.As(who).Entries {
			if e.Server == srv.ID {
				srv.Tools++
			}
		}
	}
	return srv, true
}

func (s Sources) sees(who access.Principal, id tool.ServerID) bool {
	return slices.ContainsFunc(s.Config().Profiles, func(p config.Profile) bool {
		return who.Has(p.Name) && access.SeesServer(p, id)
	})
}

func oneServer(known catalog.Server, st upstream.Status) Server {
	s := Server{
		ID: known.ID, Source: FromFile, Kind: st.Kind, State: st.State, Reason: st.Reason, Info: known.Info, Tools: known.Tools,
		Capabilities: known.Capabilities, Prompts: known.Prompts, Resources: known.Resources,
		Held: known.Held, KeptOut: known.KeptOut, Sandbox: st.Sandbox, Notes: known.Notes,
		Sessions: st.Sessions, Era: known.Era, ListedAt: moment(known.ListedAt), CheckedAt: moment(known.CheckedAt), Stderr: st.Stderr,
	}
	if known.ID == tool.Recipes {
		s.Source = FromBuiltin
	}
	switch {
	case known.Disabled:
		s.State = Disabled
		s.Reason = ""
	case s.State == upstream.Idle && known.Listing:
		s.State = upstream.Starting
	case s.State == upstream.Idle && known.Reason != "":
		s.State = upstream.Down
		s.Reason = known.Reason
	case s.State == "": // it is being taken away
		s.State = upstream.Idle
	}
	return s
}

func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
