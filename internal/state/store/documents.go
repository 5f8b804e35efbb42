package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
)

// Document is an agent, a rule or a recipe. The store does not read its body.
type Document struct {
	ID        string
	Version   int64           // from 1; each change raises it. To save: 0 replaces any, NoVersion none
	Body      json.RawMessage // byte for byte as it came
	Err       error           // why Body cannot be read; only of what is stored encrypted
	CreatedAt time.Time
	UpdatedAt time.Time
}

// NoVersion is the version of a document that must be new: one that is stored already is a fault.Conflict.
const NoVersion = -1

// Agents returns all stored agents, ordered by id.
func (s *Store) Agents(ctx context.Context) ([]Document, error) { return s.documents(ctx, "agents") }

// SaveAgent stores an agent, replacing an earlier one, and returns it with its version and times.
// Version 0 replaces any; another one only that version, or else it is a fault.Conflict.
func (s *Store) SaveAgent(ctx context.Context, d Document) (Document, error) {
	return s.saveDocument(ctx, "agents", d)
}

// DeleteAgent deletes an agent; one that is not stored is a fault.NotFound.
func (s *Store) DeleteAgent(ctx context.Context, id string) error {
	return s.deleteDocument(ctx, "agents", id)
}

// Rules returns all stored rules, ordered by id.
func (s *Store) Rules(ctx context.Context) ([]Document, error) { return s.documents(ctx, "rules") }

// SaveRule stores a rule as SaveAgent does an agent.
func (s *Store) SaveRule(ctx context.Context, d Document) (Document, error) {
	return s.saveDocument(ctx, "rules", d)
}

// DeleteRule deletes a rule; one that is not stored is a fault.NotFound.
func (s *Store) DeleteRule(ctx context.Context, id string) error {
	return s.deleteDocument(ctx, "rules", id)
}

// Recipes returns all stored recipes, ordered by id.
func (s *Store) Recipes(ctx context.Context) ([]Document, error) { return s.documents(ctx, "recipes") }

// SaveRecipe stores a recipe as SaveAgent does an agent.
func (s *Store) SaveRecipe(ctx context.Context, d Document) (Document, error) {
	return s.saveDocument(ctx, "recipes", d)
}

// DeleteRecipe deletes a recipe; one that is not stored is a fault.NotFound.
func (s *Store) DeleteRecipe(ctx context.Context, id string) error {
	return s.deleteDocument(ctx, "recipes", id)
}

func (s *Store) documents(ctx context.Context, table string) ([]Document, error) {
	read := func(scan scanner, d *Document) error {
		return scan(&d.ID, &d.Version, (*[]byte)(&d.Body), storedTime(&d.CreatedAt), storedTime(&d.UpdatedAt))
	}
	return list(ctx, s, "read "+table, read, "SELECT id, version, body, created_at, updated_at FROM "+table+" ORDER BY id")
}

func (s *Store) saveDocument(ctx context.Context, table string, d Document) (Document, error) {
	if err := checkName("an id", d.ID); err != nil {
		return Document{}, err
	}
	now := micros(s.opts.Now())
	query := "INSERT INTO " + table + ` (id, version, body, created_at, updated_at) VALUES ($1, 1, $2, $3, $3)
		ON CONFLICT (id) DO UPDATE SET body = excluded.body, version = ` + table + `.version + 1, updated_at = excluded.updated_at
		RETURNING version, created_at`
	args := []any{d.ID, notNull(d.Body), now}
	switch {
	case d.Version == NoVersion:
		query = "INSERT INTO " + table + ` (id, version, body, created_at, updated_at) VALUES ($1, 1, $2, $3, $3)
			ON CONFLICT (id) DO NOTHING RETURNING version, created_at`
	case d.Version != 0:
		query = "UPDATE " + table + ` SET body = $2, version = version + 1, updated_at = $3 WHERE id = $1 AND version = $4
			RETURNING version, created_at`
		args = append(args, d.Version)
	}
	err := s.change(ctx, func(ctx context.Context, tx *changes) error {
		before, err := readRows(ctx, tx, readBody, "SELECT body FROM "+table+" WHERE id = $1", d.ID)
		if err != nil {
			return err
		}
		err = tx.QueryRowContext(ctx, query, args...).Scan(&d.Version, storedTime(&d.CreatedAt))
		if errors.Is(err, sql.ErrNoRows) {
			return fault.New(fault.Conflict, "%q was changed or deleted meanwhile", d.ID).WithHint("read it again, then change it")
		}
		if err != nil {
			return err
		}
		return tx.note(ctx, strings.TrimSuffix(table, "s")+".save", d.ID, first(before), d.Body)
	})
	if err != nil {
		return Document{}, s.explain("save "+d.ID+" to "+table, err)
	}
	d.UpdatedAt = fromMicros(now)
	return d, nil
}

func (s *Store) deleteDocument(ctx context.Context, table, id string) error {
	err := s.change(ctx, func(ctx context.Context, tx *changes) error {
		gone, err := readRows(ctx, tx, readBody, "DELETE FROM "+table+" WHERE id = $1 RETURNING body", id)
		switch {
		case err != nil:
			return err
		case len(gone) == 0:
			return fault.New(fault.NotFound, "the store has no %q among its %s", id, table)
		}
		return tx.note(ctx, strings.TrimSuffix(table, "s")+".delete", id, gone[0], nil)
	})
	return s.explain("delete "+id+" from "+table, err)
}

func readBody(scan scanner, body *json.RawMessage) error { return scan((*[]byte)(body)) }

// first is the first of some rows, as the audit log shows it; nil if there is none.
func first[T any](rows []T) any {
	if len(rows) == 0 {
		return nil
	}
	if shown, ok := any(rows[0]).(interface{ audited() any }); ok {
		return shown.audited()
	}
	return rows[0]
}

// ServerConfig is the configuration of a server that was added while running.
type ServerConfig struct {
	ID        tool.ServerID
	Config    []byte // as it was saved; nil when Err is set
	Err       error  // why Config cannot be read, such as another key; the other servers still can
	CreatedAt time.Time
	UpdatedAt time.Time
}

// CheckSecrets says why a server's configuration with secrets cannot be stored; nil: it can.
func (s *Store) CheckSecrets(id tool.ServerID) error {
	if s.opts.SecretKey.IsZero() {
		return fault.New(fault.BadConfig, "server %s has secrets, and the store has no key to encrypt them", id).
			WithHint("set TOOLFIT_SECRET_KEY and restart, or put the server into the configuration file")
	}
	return nil
}

// SaveServerConfig stores the server's configuration, replacing an earlier one. With a secret key
// it is encrypted; without one, a configuration with secrets is a fault.BadConfig.
func (s *Store) SaveServerConfig(ctx context.Context, id tool.ServerID, config []byte, secret bool) error {
	if secret {
		if err := s.CheckSecrets(id); err != nil {
			return err
		}
	}
	const upsert = `INSERT INTO server_configs (id, config, created_at, updated_at) VALUES ($1, $2, $3, $3)
		ON CONFLICT (id) DO UPDATE SET config = excluded.config, updated_at = excluded.updated_at`
	err := s.change(ctx, func(ctx context.Context, tx *changes) error {
		before, err := readRows(ctx, tx, readBody, "SELECT config FROM server_configs WHERE id = $1", string(id))
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, upsert, string(id), s.opts.SecretKey.seal(configRow(id), config), micros(s.opts.Now()))
		if err != nil {
			return err
		}
		return tx.note(ctx, "server.save", string(id), s.auditedConfig(id, before), s.auditedText(config))
	})
	return s.explain("save configuration of "+string(id), err)
}

// configRow is what a sealed configuration is bound to. Changing it makes stored ones unreadable.
func configRow(id tool.ServerID) string { return "server_configs/" + string(id) }

// ServerConfigs returns all stored configurations, ordered by id.
func (s *Store) ServerConfigs(ctx context.Context) ([]ServerConfig, error) {
	read := func(scan scanner, c *ServerConfig) error {
		var sealed []byte
		err := scan((*string)(&c.ID), &sealed, storedTime(&c.CreatedAt), storedTime(&c.UpdatedAt))
		c.Config, c.Err = s.opts.SecretKey.open("server "+string(c.ID), configRow(c.ID), sealed)
		return err
	}
	return list(ctx, s, "read configurations", read, "SELECT id, config, created_at, updated_at FROM server_configs ORDER BY id")
}

// DeleteServerConfig works without the key. A server that is not stored is a fault.NotFound.
func (s *Store) DeleteServerConfig(ctx context.Context, id tool.ServerID) error {
	err := s.change(ctx, func(ctx context.Context, tx *changes) error {
		gone, err := readRows(ctx, tx, readBody, "DELETE FROM server_configs WHERE id = $1 RETURNING config", string(id))
		switch {
		case err != nil:
			return err
		case len(gone) == 0:
			return fault.New(fault.NotFound, "the store has no server %s", id)
		}
		return tx.note(ctx, "server.delete", string(id), s.auditedConfig(id, gone), nil)
	})
	return s.explain("delete configuration of "+string(id), err)
}

// auditedConfig is a stored configuration as the audit log shows it; nil if there was none.
func (s *Store) auditedConfig(id tool.ServerID, rows []json.RawMessage) any {
	if len(rows) == 0 {
		return nil
	}
	text, err := s.opts.SecretKey.open("server "+string(id), configRow(id), rows[0])
	if err != nil {
		return "sealed"
	}
	return s.auditedText(text)
}

// auditedText is a configuration without its secrets; which these are, is known only where it can be redacted.
func (s *Store) auditedText(config []byte) any {
	if s.opts.Redact == nil {
		return "not shown"
	}
	return json.RawMessage(config)
}
