package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
)

// Document is an agent or a rule: what it says is not the store's business.
type Document struct {
	ID        string
	Version   int64           // from 1; each change raises it
	Body      json.RawMessage // byte for byte as it came
	Err       error           // why Body cannot be read; only of what is stored encrypted
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Agents returns all stored agents, ordered by id.
func (s *Store) Agents(ctx context.Context) ([]Document, error) { return s.documents(ctx, "agents") }

// SaveAgent stores an agent in place of an earlier one and returns it with its version and
// times. Version 0 replaces whatever is there; another one only what has that version, else
// it is a fault.Conflict.
func (s *Store) SaveAgent(ctx context.Context, d Document) (Document, error) {
	return s.saveDocument(ctx, "agents", d)
}

// DeleteAgent forgets an agent; one that is not stored is a fault.NotFound.
func (s *Store) DeleteAgent(ctx context.Context, id string) error {
	return s.deleteDocument(ctx, "agents", id)
}

// Rules returns all stored rules, ordered by id.
func (s *Store) Rules(ctx context.Context) ([]Document, error) { return s.documents(ctx, "rules") }

// SaveRule stores a rule as SaveAgent does an agent.
func (s *Store) SaveRule(ctx context.Context, d Document) (Document, error) {
	return s.saveDocument(ctx, "rules", d)
}

// DeleteRule forgets a rule; one that is not stored is a fault.NotFound.
func (s *Store) DeleteRule(ctx context.Context, id string) error {
	return s.deleteDocument(ctx, "rules", id)
}

func (s *Store) documents(ctx context.Context, table string) ([]Document, error) {
	read := func(scan scanner) (d Document, err error) {
		err = scan(&d.ID, &d.Version, (*[]byte)(&d.Body), storedTime{&d.CreatedAt}, storedTime{&d.UpdatedAt})
		return d, err
	}
	return list(ctx, s, "read "+table, read, "SELECT id, version, body, created_at, updated_at FROM "+table+" ORDER BY id")
}

func (s *Store) saveDocument(ctx context.Context, table string, d Document) (Document, error) {
	if err := checkName("an id", d.ID); err != nil {
		return Document{}, err
	}
	ctx, cancel := s.limit(ctx)
	defer cancel()
	now := micros(s.opts.Now())
	query := "INSERT INTO " + table + ` (id, version, body, created_at, updated_at) VALUES ($1, 1, $2, $3, $3)
		ON CONFLICT (id) DO UPDATE SET body = excluded.body, version = ` + table + `.version + 1, updated_at = excluded.updated_at
		RETURNING version, created_at`
	args := []any{d.ID, notNull(d.Body), now}
	if d.Version != 0 {
		query = "UPDATE " + table + ` SET body = $2, version = version + 1, updated_at = $3 WHERE id = $1 AND version = $4
			RETURNING version, created_at`
		args = append(args, d.Version)
	}
	err := s.write.QueryRowContext(ctx, query, args...).Scan(&d.Version, storedTime{&d.CreatedAt})
	if errors.Is(err, sql.ErrNoRows) {
		return Document{}, fault.New(fault.Conflict, "%q was changed or deleted meanwhile", d.ID).WithHint("read it again, then change it")
	}
	if err == nil {
		err = s.intact()
	}
	d.UpdatedAt = fromMicros(now)
	return d, s.explain("save "+d.ID+" to "+table, err)
}

func (s *Store) deleteDocument(ctx context.Context, table, id string) error {
	n, err := s.exec(ctx, "DELETE FROM "+table+" WHERE id = $1", id)
	if err == nil && n == 0 {
		return fault.New(fault.NotFound, "the store has no %q among its %s", id, table)
	}
	return s.explain("delete "+id+" from "+table, err)
}
