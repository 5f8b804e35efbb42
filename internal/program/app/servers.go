package app

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/overlay"
	"github.com/toolfit/toolfit/internal/state/store"
)

// SecretKey is the key that encrypts secrets in the store, from the environment; the zero key if
// there is none.
func SecretKey(env func(string) (string, bool)) (store.SecretKey, error) {
	text, ok := env("TOOLFIT_SECRET_KEY")
	if !ok || text == "" {
		return store.SecretKey{}, nil
	}
	return store.ParseSecretKey(text)
}

// serverKind is the overlay of servers.
func (s *settings) serverKind(st *store.Store) overlay.Kind[config.Server] {
	return overlay.Kind[config.Server]{
		Name: "server",
		ID:   func(srv config.Server) string { return string(srv.ID) },
		Rows: func(ctx context.Context) (rows []store.Document, err error) {
			configs, err := st.ServerConfigs(ctx)
			for _, c := range configs {
				rows = append(rows, store.Document{ID: string(c.ID), Version: c.UpdatedAt.UnixMicro(), Body: c.Config, Err: c.Err})
			}
			return rows, err
		},
		Parse: func(row store.Document, _ *config.Config) (config.Server, error) {
			if row.Err != nil {
				return config.Server{}, row.Err
			}
			added, err := s.parseServer(row.Body)
			return added.Server, err
		},
		Delete: func(ctx context.Context, id string) error { return st.DeleteServerConfig(ctx, tool.ServerID(id)) },
		InFile: func(id string) error {
			return fault.New(fault.Conflict, "the configuration file has a server %s already", id).WithHint("choose another name, or edit the file")
		},
		NotStored: func(id string) error {
			if id == string(tool.Recipes) {
				return fault.New(fault.Conflict, "the server %s is there while there are recipes", id).
					WithHint("delete them: toolfit recipes delete NAME")
			}
			return fault.New(fault.Conflict, "server %s is in the configuration file", id).WithHint("edit the file, or use: toolfit remove %s", id)
		},
		Unknown: func(id string) error { return fault.New(fault.NotFound, "there is no server %s", id) },
		Stays:   "the file has a server of this name, which stays",
	}
}

// parseServer reads a server from JSON. From here on its secrets are redacted.
func (s *settings) parseServer(text []byte) (config.Added, error) {
	added, err := config.ParseServer(s.started.Path, text, s.env)
	s.secrets.add(added.Secrets)
	return added, err
}

// Servers returns the servers of the file, then those of the store.
func (s *settings) Servers() []overlay.Entry[config.Server] { return s.servers.Entries() }

// AddServer stores the server that the JSON text describes, in the keys of the file, and applies
// it. A name that the file or the store has is a fault.Conflict.
func (s *settings) AddServer(ctx context.Context, text []byte) (tool.ServerID, error) {
	s.reloading.Lock()
	defer s.reloading.Unlock()
	if _, err := s.serversChanged(ctx); err != nil { // another gateway may have added it
		return "", err
	}
	added, err := s.newServer(text)
	if err != nil {
		return "", err
	}
	s.secrets.add(added.Secrets) // first: from here on anybody may log
	if err := s.saveServer(ctx, added, text); err != nil {
		return "", err
	}
	s.log.Info("server added", "server", added.ID)
	return added.ID, nil
}

// CheckServer says why the server that the JSON text describes could not be added; nil: it could.
func (s *settings) CheckServer(text []byte) error {
	s.reloading.Lock()
	defer s.reloading.Unlock()
	_, err := s.newServer(text)
	return err
}

// newServer reads a server that may be added: its secrets are not redacted yet, as nobody has stored it. The caller holds
// reloading.
func (s *settings) newServer(text []byte) (config.Added, error) {
	added, err := config.ParseServer(s.started.Path, text, s.env)
	if err != nil {
		return added, err
	}
	if err := s.servers.CheckNotInFile(string(added.ID)); err != nil {
		return added, err
	}
	if s.servers.Stored(string(added.ID)) {
		return added, fault.New(fault.Conflict, "there is a server %s already", added.ID).WithHint("choose another name, or delete it first")
	}
	if added.Secret {
		err = s.store.CheckSecrets(added.ID)
	}
	return added, err
}

// saveServer stores a server and applies it. The caller holds reloading.
func (s *settings) saveServer(ctx context.Context, srv config.Added, text []byte) error {
	if err := s.store.SaveServerConfig(ctx, srv.ID, text, srv.Secret); err != nil {
		return err
	}
	_, err := s.serversChanged(ctx)
	return err
}

// ChangeServer replaces a server of the store by what the JSON text describes. What is masked in
// it stays as it was.
func (s *settings) ChangeServer(ctx context.Context, id tool.ServerID, text []byte) error {
	return s.changeServer(ctx, id, func(old []byte) ([]byte, error) {
		return config.Restored(text, old, s.secrets.redact)
	})
}

// SwitchServer switches a server of the store on or off.
func (s *settings) SwitchServer(ctx context.Context, id tool.ServerID, on bool) error {
	return s.changeServer(ctx, id, func(old []byte) ([]byte, error) { return config.Switched(old, on) })
}

func (s *settings) changeServer(ctx context.Context, id tool.ServerID, change func(old []byte) ([]byte, error)) error {
	s.reloading.Lock()
	defer s.reloading.Unlock()
	if _, err := s.serversChanged(ctx); err != nil { // another gateway may have changed it
		return err
	}
	e, err := s.servers.Changeable(string(id))
	if err != nil {
		return err
	}
	if e.Row.Err != nil {
		return e.Row.Err
	}
	text, err := change(e.Row.Body)
	if err == nil {
		text, err = config.Named(text, id)
	}
	if err != nil {
		return err
	}
	srv, err := s.parseServer(text)
	if err != nil {
		return err
	}
	if err := s.saveServer(ctx, srv, text); err != nil {
		return err
	}
	s.log.Info("server changed", "server", id)
	return nil
}

// ServerSettings returns how a server is configured, without secrets: that of the file, where
// both have it.
func (s *settings) ServerSettings(id tool.ServerID) (out restapi.ServerSettings, err error) {
	all := s.Servers()
	at := slices.IndexFunc(all, func(e overlay.Entry[config.Server]) bool { return e.ID == string(id) && !e.Hidden })
	if at < 0 {
		return out, fault.New(fault.NotFound, "there is no server %s", id)
	}
	e := all[at]
	switch {
	case e.Source == project.Store && e.Row.Err != nil:
		return out, e.Row.Err
	case e.Source == project.Store:
		out.Config, err = config.Shown(e.Row.Body, s.secrets.redact)
		return out, err
	case e.Source == project.File:
		out.File = s.started.Path
		if whole, err := filepath.Abs(out.File); err == nil { // who reads it does not know where we were started
			out.File = whole
		}
		out.Config, out.Lines, err = config.ShownInFile(out.File, id, s.secrets.redact)
		if err == nil {
			return out, nil
		}
		out.Problem = s.secrets.redact(fault.As(err).Message) // what is in force is known all the same
	}
	out.Config, err = config.ShownServer(e.Value, s.secrets.redact)
	return out, err
}

// RemoveServer deletes a server from the store and stops using it. One of the file is a
// fault.Conflict; where both have it, the warning says that the file's stays.
func (s *settings) RemoveServer(ctx context.Context, id tool.ServerID) (warning string, err error) {
	warning, err = s.remove(ctx, string(id), s.servers.Delete, s.serversChanged)
	if err == nil {
		s.log.Info("server removed", "server", id)
	}
	return warning, err
}

// serversChanged applies what was changed in the store. The caller holds reloading.
func (s *settings) serversChanged(ctx context.Context) (changed []string, err error) {
	return s.refresh(ctx, s.servers.Read)
}
