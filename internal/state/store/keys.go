package store

import (
	"context"
	"database/sql"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
)

// Key is one access key without its secret.
type Key struct {
	ID        string
	Name      string
	Profile   string
	Role      string
	Hash      []byte // SHA-256 of the secret
	CreatedAt time.Time
}

// CreateKey stores a new key. An id or name that is taken is a fault.Conflict.
func (s *Store) CreateKey(ctx context.Context, k Key) error {
	ctx, cancel := s.limit(ctx)
	defer cancel()
	const insert = `INSERT INTO keys (id, name, profile, role, hash, created_at) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT DO NOTHING`
	res, err := s.exec(ctx, insert, k.ID, k.Name, k.Profile, k.Role, k.Hash, micros(k.CreatedAt))
	if err != nil {
		return s.explain("create key "+k.Name, err)
	}
	n, err := res.RowsAffected()
	if err != nil {
		return s.explain("create key "+k.Name, err)
	}
	if n == 0 {
		return fault.New(fault.Conflict, "a key named %q exists already", k.Name).WithHint("choose another name, or delete that key first")
	}
	return nil
}

// Keys returns all keys, the oldest first.
func (s *Store) Keys(ctx context.Context) ([]Key, error) {
	ctx, cancel := s.limit(ctx)
	defer cancel()
	rows, err := s.read.QueryContext(ctx, "SELECT id, name, profile, role, hash, created_at FROM keys ORDER BY created_at, id")
	if err != nil {
		return nil, s.explain("read keys", err)
	}
	defer rows.Close()
	var keys []Key
	for rows.Next() {
		var k Key
		var created int64
		if err := rows.Scan(&k.ID, &k.Name, &k.Profile, &k.Role, &k.Hash, &created); err != nil {
			return nil, s.explain("read keys", err)
		}
		k.CreatedAt = fromMicros(created)
		keys = append(keys, k)
	}
	return keys, s.explain("read keys", rows.Err())
}

// DeleteKey deletes the key with that id or, when no id matches, with that name.
// Neither is a fault.NotFound.
func (s *Store) DeleteKey(ctx context.Context, idOrName string) error {
	ctx, cancel := s.limit(ctx)
	defer cancel()
	err := s.inTx(ctx, func(tx *sql.Tx) error {
		for _, query := range []string{"DELETE FROM keys WHERE id = $1", "DELETE FROM keys WHERE name = $1"} {
			res, err := tx.ExecContext(ctx, query, idOrName)
			if err != nil {
				return err
			}
			if n, err := res.RowsAffected(); err != nil || n > 0 {
				return err
			}
		}
		return fault.New(fault.NotFound, "no key has the id or name %q", idOrName)
	})
	return s.explain("delete key "+idOrName, err)
}
