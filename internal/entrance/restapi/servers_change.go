package restapi

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/doctree"
	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/clientfile"
	"github.com/toolfit/toolfit/internal/state/config"
)

// ServerSettings is how a server is configured. Secrets are masked.
type ServerSettings struct {
	Config  json.RawMessage `json:"config"`            // in the keys of the file
	File    string          `json:"file,omitempty"`    // the configuration file; absent for servers of the store
	Lines   []doctree.Line  `json:"lines,omitempty"`   // those of the file that configure the server
	Problem string          `json:"problem,omitempty"` // why the file cannot be shown; config is what is in force then
}

// ServerSettings returns how a server is configured, to those who may read everything.
func (a *API) ServerSettings(who access.Principal, id tool.ServerID) (ServerSettings, error) {
	if !who.MayRead() {
		return ServerSettings{}, who.Forbidden("%s may not read how servers are configured")
	}
	return a.Registry.ServerSettings(id)
}

// ChangeServer replaces a stored server by the one that the JSON text describes. What is masked in
// it stays as it was.
func (a *API) ChangeServer(ctx context.Context, who access.Principal, id tool.ServerID, text []byte) (Server, error) {
	return a.changed(who, id, func() error { return a.Registry.ChangeServer(ctx, id, text) })
}

// DisableServer switches a stored server off: its process ends, and its tools are gone.
func (a *API) DisableServer(ctx context.Context, who access.Principal, id tool.ServerID) (Server, error) {
	return a.changed(who, id, func() error { return a.Registry.SwitchServer(ctx, id, false) })
}

// EnableServer switches a stored server on again.
func (a *API) EnableServer(ctx context.Context, who access.Principal, id tool.ServerID) (Server, error) {
	return a.changed(who, id, func() error { return a.Registry.SwitchServer(ctx, id, true) })
}

// RestartServer ends a server's sessions and processes here, and lists it anew in the background.
func (a *API) RestartServer(_ context.Context, who access.Principal, id tool.ServerID) (Server, error) {
	return a.changed(who, id, func() error {
		if err := a.switchedOn(who, id); err != nil {
			return err
		}
		if err := a.Pool.Restart(id); err != nil {
			return err
		}
		a.Catalog.Changed(id)
		return nil
	})
}

// switchedOn says why a server must not be started, though somebody wants to list it: a page may be older than the decision.
func (a *API) switchedOn(who access.Principal, id tool.ServerID) error {
	s, err := a.SeenServer(who, id)
	if err == nil && s.State == Disabled {
		err = fault.New(fault.Conflict, "server %s is disabled", id).WithHint("enable it first")
	}
	return err
}

// changed lets an administrator change a server and returns it as it is then.
func (a *API) changed(who access.Principal, id tool.ServerID, change func() error) (Server, error) {
	if err := needAdmin(who); err != nil {
		return Server{}, err
	}
	if err := change(); err != nil {
		return Server{}, err
	}
	return a.SeenServer(who, id)
}

// PastedServer is a server as it was understood from what a person pasted. Nothing is stored.
type PastedServer struct {
	Name    tool.ServerID
	Config  json.RawMessage // as AddServer takes it
	Shown   json.RawMessage // the same without secrets
	Notes   []string        // what was left out or changed
	Secrets []string        // fields that hold what looks like a secret, which would be stored
	Problem *fault.Error    // why it cannot be added; nil: it can
}

// ReadPasted reads the servers in a text: a client's JSON, a command, an address, the description
// of an API. Names, where there are any, replace those in the text. Of a text without servers, the
// error says why.
func (a *API) ReadPasted(who access.Principal, text string, names []string) (servers []PastedServer, notes []string, err error) {
	if err := needAdmin(who); err != nil {
		return nil, nil, err
	}
	found, notes, err := clientfile.ReadPasted(text)
	if err != nil {
		return nil, nil, err
	}
	taken := map[tool.ServerID]bool{}
	for i, f := range found {
		if i < len(names) && names[i] != "" {
			f.ID = tool.ServerID(names[i])
		}
		p := PastedServer{Name: f.ID, Notes: f.Notes}
		if _, err := f.Program(); err != nil && f.Command != "" && !strings.Contains(f.Command+f.Cwd, "${") {
			p.Notes = append(p.Notes, fmt.Sprintf("command \"%s\" does not exist (%s)", f.Command, f.CommandHint()))
		}
		if p.Config, err = f.Text(); err != nil {
			return nil, nil, err
		}
		if p.Shown, err = config.Shown(p.Config, func(s string) string { return s }); err != nil {
			return nil, nil, err
		}
		for _, secret := range f.InlineSecrets() {
			if !slices.Contains(p.Secrets, secret.Field) { // an address may have several
				p.Secrets = append(p.Secrets, secret.Field)
			}
		}
		err := a.Registry.CheckServer(p.Config)
		if err == nil && taken[f.ID] {
			err = fault.New(fault.Conflict, "two of the servers are named %s", f.ID).WithHint("choose another name")
		}
		if err != nil {
			p.Problem = fault.As(err)
		}
		taken[f.ID] = true
		servers = append(servers, p)
	}
	return servers, notes, nil
}
