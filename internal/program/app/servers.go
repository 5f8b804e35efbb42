package app

import (
	"context"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
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
	added, err := s.parseServer(text)
	if err != nil {
		return "", err
	}
	if err := s.servers.CheckNotInFile(string(added.ID)); err != nil {
		return "", err
	}
	if _, err := s.servers.Read(ctx); err != nil { // another gateway may have added it
		return "", err
	}
	if s.servers.Stored(string(added.ID)) {
		return "", fault.New(fault.Conflict, "there is a server %s already", added.ID).WithHint("choose another name, or delete it first")
	}
	if err := s.store.SaveServerConfig(ctx, added.ID, text, added.Secret); err != nil {
		return "", err
	}
	if _, err := s.serversChanged(ctx); err != nil {
		return "", err
	}
	s.log.Info("server added", "server", added.ID)
	return added.ID, nil
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
