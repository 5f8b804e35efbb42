package store

import (
	"context"
	"database/sql"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
)

// Key is an access key without its secret.
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
	const insert = `INSERT INTO keys (id, name, profile, role, hash, created_at) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT DO NOTHING`
	n, err := s.exec(ctx, insert, k.ID, k.Name, k.Profile, k.Role, k.Hash, micros(k.CreatedAt))
	if err == nil && n == 0 {
		return fault.New(fault.Conflict, "a key named %q exists already", k.Name).WithHint("choose another name, or delete that key first")
	}
	return s.explain("create key "+k.Name, err)
}

// Keys returns all keys, the oldest first.
func (s *Store) Keys(ctx context.Context) ([]Key, error) {
	read := func(scan scanner, k *Key) error {
		return scan(&k.ID, &k.Name, &k.Profile, &k.Role, &k.Hash, storedTime(&k.CreatedAt))
	}
	return list(ctx, s, "read keys", read, "SELECT id, name, profile, role, hash, created_at FROM keys ORDER BY created_at, id")
}

// DeleteKey deletes the key with that id, or else with that name. An unknown one is a fault.NotFound.
func (s *Store) DeleteKey(ctx context.Context, idOrName string) error {
	err := s.inTx(ctx, func(ctx context.Context, tx *sql.Tx) error {
		for _, query := range []string{"DELETE FROM keys WHERE id = $1", "DELETE FROM keys WHERE name = $1"} {
			n, err := affected(tx.ExecContext(ctx, query, idOrName))
			if err != nil || n > 0 {
				return err
			}
		}
		return fault.New(fault.NotFound, "no key has the id or name %q", idOrName)
	})
	return s.explain("delete key "+idOrName, err)
}
