package app

import (
	"context"
	"slices"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

// SecretKey is the key that encrypts what secrets the store must hold, from the environment;
// the zero key where there is none.
func SecretKey(env func(string) (string, bool)) (store.SecretKey, error) {
	text, ok := env("TOOLFIT_SECRET_KEY")
	if !ok || text == "" {
		return store.SecretKey{}, nil
	}
	return store.ParseSecretKey(text)
}

// addedServer is a server of the store.
type addedServer struct {
	config.Added
	problem string // why it cannot be used; "" when it can
}

// readAdded reads the servers of the store. One that cannot be used keeps no other from
// being used. The caller holds reloading.
func (a *App) readAdded(ctx context.Context) error {
	rows, err := a.Store.ServerConfigs(ctx)
	if err != nil {
		return err
	}
	known := a.added
	a.added = nil
	for _, row := range rows {
		s := addedServer{}
		if err = row.Err; err == nil {
			s.Added, err = config.ParseServer(a.started.Path, row.Config, a.opts.Env)
		}
		if s.ID = row.ID; err != nil {
			s.problem = a.secrets.redact(fault.As(err).Error())
		}
		same := func(old addedServer) bool { return old.ID == s.ID && old.problem == s.problem }
		if err != nil && !slices.ContainsFunc(known, same) {
			a.log.Warn("server of the store left out", "server", s.ID, "error", s.problem)
		}
		a.secrets.add(s.Secrets)
		a.added = append(a.added, s)
	}
	return nil
}

// withAdded puts the servers of the store behind those of the file. On equal names the file
// wins. The caller holds reloading.
func (a *App) withAdded(cfg *config.Config) {
	var before restapi.Stored
	if p := a.stored.Load(); p != nil {
		before = *p
	}
	state := restapi.Stored{}
	servers := slices.Clone(cfg.Servers)
	for _, s := range a.added {
		row := restapi.StoredServer{Problem: s.problem, Shadowed: slices.ContainsFunc(cfg.Servers, named(s.ID))}
		if row.Shadowed && !before[s.ID].Shadowed {
			a.log.Warn("the file and the store both have this server; the file wins", "server", s.ID)
		}
		if state[s.ID] = row; !row.Shadowed && row.Problem == "" {
			servers = append(servers, s.Server)
		}
	}
	withPatience(servers)
	cfg.Servers = servers
	a.stored.Store(&state)
}

func named(id tool.ServerID) func(config.Server) bool {
	return func(s config.Server) bool { return s.ID == id }
}

// Stored tells which servers the store has. It is read-only.
func (a *App) Stored() restapi.Stored { return *a.stored.Load() }

// AddServer stores the server that the JSON text describes, in the keys of the file, and
// puts it in force. A name that the file or the store has is a fault.Conflict.
func (a *App) AddServer(ctx context.Context, text []byte) (tool.ServerID, error) {
	a.reloading.Lock()
	defer a.reloading.Unlock()
	s, err := config.ParseServer(a.started.Path, text, a.opts.Env)
	if err != nil {
		return "", err
	}
	a.secrets.add(s.Secrets) // first: from here on anybody may log
	if err := a.readAdded(ctx); err != nil {
		return "", err
	}
	if slices.ContainsFunc(a.file.Servers, named(s.ID)) {
		return "", fault.New(fault.Conflict, "the configuration file has a server %s already", s.ID).WithHint("choose another name, or edit the file")
	}
	if slices.ContainsFunc(a.added, func(old addedServer) bool { return old.ID == s.ID }) {
		return "", fault.New(fault.Conflict, "there is a server %s already", s.ID).WithHint("choose another name, or delete it first")
	}
	if err := a.Store.SaveServerConfig(ctx, s.ID, text, s.Secret); err != nil {
		return "", err
	}
	a.added = append(a.added, addedServer{Added: s})
	a.apply(a.file)
	a.log.Info("server added", "server", s.ID)
	return s.ID, nil
}

// RemoveServer takes a server out of the store and out of force. One of the file is a
// fault.Conflict; where both have it, the warning says that the file's stays.
func (a *App) RemoveServer(ctx context.Context, id tool.ServerID) (warning string, err error) {
	a.reloading.Lock()
	defer a.reloading.Unlock()
	inFile := slices.ContainsFunc(a.file.Servers, named(id))
	err = a.Store.DeleteServerConfig(ctx, id)
	switch {
	case inFile && fault.Is(err, fault.NotFound):
		return "", fault.New(fault.Conflict, "server %s is in the configuration file", id).
			WithHint("edit the file, or use: toolfit remove %s", id)
	case fault.Is(err, fault.NotFound):
		return "", fault.New(fault.NotFound, "there is no server %s", id)
	case err != nil:
		return "", err
	case inFile:
		warning = "the file has a server of this name, which stays"
	}
	a.added = slices.DeleteFunc(slices.Clone(a.added), func(s addedServer) bool { return s.ID == id })
	a.apply(a.file)
	a.log.Info("server removed", "server", id)
	return warning, nil
}
