package store

import (
	"context"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
)

// ServerConfig is the configuration of a server that was added while running.
type ServerConfig struct {
	ID        tool.ServerID
	Config    []byte // as it was saved; nil when Err is set
	Err       error  // why Config cannot be read, such as another key; the other servers still can
	CreatedAt time.Time
	UpdatedAt time.Time
}

// SaveServerConfig stores the server's configuration, replacing an earlier one. With a secret
// key it is encrypted. Without one it is stored in plain text, and one that contains secrets is
// a fault.BadConfig.
func (s *Store) SaveServerConfig(ctx context.Context, id tool.ServerID, config []byte, secret bool) error {
	if secret && s.opts.SecretKey.IsZero() {
		return fault.New(fault.BadConfig, "server %s has secrets, and the store has no key to encrypt them", id).
			WithHint("set TOOLFIT_SECRET_KEY and restart, or put the server into the configuration file")
	}
	const upsert = `INSERT INTO server_configs (id, config, created_at, updated_at) VALUES ($1, $2, $3, $3)
		ON CONFLICT (id) DO UPDATE SET config = excluded.config, updated_at = excluded.updated_at`
	_, err := s.exec(ctx, upsert, string(id), s.opts.SecretKey.seal(configRow(id), config), micros(s.opts.Now()))
	return s.explain("save configuration of "+string(id), err)
}

// configRow is what a sealed configuration is bound to. Changing this text would make all
// stored ones unreadable.
func configRow(id tool.ServerID) string { return "server_configs/" + string(id) }

// ServerConfigs returns all stored configurations, ordered by id.
func (s *Store) ServerConfigs(ctx context.Context) ([]ServerConfig, error) {
	read := func(scan scanner) (c ServerConfig, err error) {
		var sealed []byte
		err = scan((*string)(&c.ID), &sealed, storedTime{&c.CreatedAt}, storedTime{&c.UpdatedAt})
		c.Config, c.Err = s.opts.SecretKey.open("server "+string(c.ID), configRow(c.ID), sealed)
		return c, err
	}
	return list(ctx, s, "read configurations", read, "SELECT id, config, created_at, updated_at FROM server_configs ORDER BY id")
}

// DeleteServerConfig deletes the server's configuration; one that is not stored is a
// fault.NotFound. It needs no key.
func (s *Store) DeleteServerConfig(ctx context.Context, id tool.ServerID) error {
	n, err := s.exec(ctx, "DELETE FROM server_configs WHERE id = $1", string(id))
	if err == nil && n == 0 {
		return fault.New(fault.NotFound, "the store has no server %s", id)
	}
	return s.explain("delete configuration of "+string(id), err)
}
