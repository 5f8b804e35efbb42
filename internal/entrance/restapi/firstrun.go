package restapi

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/shell"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
)

// Machine is the machine on which the gateway runs, with the user who started it.
type Machine interface {
	// ServersOfClients reads the servers in the files of MCP clients. It starts nothing.
	ServersOfClients() []FoundServer
}

// FoundServer is a server that a client on this machine has.
type FoundServer struct {
	Client string        // its title
	Path   string        // of its file
	Config config.Server // with its secrets, which nobody is shown
}

// Shown is the command or URL of the server, with its secrets masked.
func (f FoundServer) Shown() string {
	var s struct {
		URL, Command string
		Args         []string
	}
	if text, err := config.ShownServer(f.Config, func(s string) string { return s }); err != nil || json.Unmarshal(text, &s) != nil {
		return ""
	}
	return cmp.Or(s.URL, shell.Join(append([]string{s.Command}, s.Args...)))
}

// Values are the names of its variables and headers.
func (f FoundServer) Values() []string {
	return slices.Concat(slices.Sorted(maps.Keys(f.Config.Env)), slices.Sorted(maps.Keys(f.Config.Headers)))
}

// FoundServers returns the servers that clients on this machine have, and the gateway does not. Only its owner, who has the
// local secret, sees them: the files are theirs.
func (a *API) FoundServers(who access.Principal) []FoundServer {
	if who != access.Owner() || a.Machine == nil {
		return nil
	}
	return a.Machine.ServersOfClients()
}

// ImportFound stores those of the found servers whose ids are named. What cannot be stored does not keep the others out: the
// error names all that could not be.
func (a *API) ImportFound(ctx context.Context, who access.Principal, ids []string) error {
	if err := needAdmin(who); err != nil {
		return err
	}
	found := map[string]FoundServer{}
	for _, f := range a.FoundServers(who) {
		found[string(f.Config.ID)] = f
	}
	var failed *fault.Error
	for _, id := range ids {
		err := a.importOne(ctx, found[id], id)
		switch {
		case err == nil:
		case failed == nil:
			failed = fault.As(err)
		default:
			failed = fault.New(failed.Code, "%s\n%s", failed.Message, fault.As(err).Message).WithHint("%s", failed.Hint)
		}
	}
	if failed != nil {
		return failed
	}
	return nil
}

func (a *API) importOne(ctx context.Context, f FoundServer, id string) error {
	if f.Path == "" {
		return fault.New(fault.NotFound, "no client on this machine has a server %q", id)
	}
	text, err := f.Config.Text()
	if err == nil {
		_, err = a.Registry.AddServer(ctx, text)
	}
	return err
}

// demoServers are the servers inside the program that a newcomer can look around with, by their names in the store.
var demoServers = map[tool.ServerID]string{"cloud": "demo-cloud", "shop": "demo-shop"}

// AddDemo stores the servers with demo data.
func (a *API) AddDemo(ctx context.Context, who access.Principal) error {
	if err := needAdmin(who); err != nil {
		return err
	}
	for id, builtin := range demoServers {
		text, _ := json.Marshal(map[string]string{"name": string(id), "builtin": builtin}) // texts always encode
		if _, err := a.Registry.AddServer(ctx, text); err != nil && !fault.Is(err, fault.Conflict) {
			return err
		}
	}
	return nil
}

// DemoServers are the servers with demo data that are in the store.
func (a *API) DemoServers(who access.Principal) (ids []tool.ServerID) {
	if !who.MayAdmin() {
		return nil
	}
	for _, e := range a.Registry.Servers() {
		if e.Source == project.Store && !e.Hidden && strings.HasPrefix(e.Value.Builtin, "demo-") {
			ids = append(ids, tool.ServerID(e.ID))
		}
	}
	return ids
}

// RemoveDemo removes them.
func (a *API) RemoveDemo(ctx context.Context, who access.Principal) error {
	if err := needAdmin(who); err != nil {
		return err
	}
	for _, id := range a.DemoServers(who) {
		if _, err := a.Registry.RemoveServer(ctx, id); err != nil {
			return err
		}
	}
	return nil
}
