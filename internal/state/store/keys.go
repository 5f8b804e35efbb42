package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
)

// Key is an access key without its secret.
type Key struct {
	ID        string
	Name      string
	Profile   string // several are separated by commas
	Role      string
	Hash      []byte // SHA-256 of the secret
	CreatedAt time.Time
	ExpiresAt time.Time // zero: never
	OldHash   []byte    // of the secret before this one; nil: none
	OldUntil  time.Time // when that one ends
	Origin    string    // the variable that has the key's text; "": none
	UsedAt    time.Time // to the minute; zero: never. CreateKey ignores it
}

// CreateKey stores a new key. An id or name that is taken is a fault.Conflict.
func (s *Store) CreateKey(ctx context.Context, k Key) error {
	err := s.change(ctx, func(ctx context.Context, tx *changes) error {
		n, err := affected(tx.ExecContext(ctx, insertKey, keyValues(k)...))
		switch {
		case err != nil:
			return err
		case n == 0:
			return fault.New(fault.Conflict, "a key named %q exists already", k.Name).WithHint("choose another name, or delete that key first")
		}
		return tx.note(ctx, "key.create", k.Name, nil, k.audited())
	})
	return s.explain("create key "+k.Name, err)
}

// audited is a key as the audit log shows it. Of its secrets it has what tells them apart.
func (k Key) audited() any {
	return struct {
		ID       string    `json:"id"`
		Role     string    `json:"role"`
		Profile  string    `json:"profile"`
		Expires  time.Time `json:"expires_at,omitzero"`
		Secret   string    `json:"secret"`
		OldUntil time.Time `json:"old_secret_until,omitzero"`
		Variable string    `json:"variable,omitempty"`
	}{k.ID, k.Role, k.Profile, k.ExpiresAt, shortDigest(k.Hash), k.OldUntil, k.Origin}
}

// shortDigest tells values apart that nobody may see.
func shortDigest(of []byte) string { return fmt.Sprintf("%x", sha256.Sum256(of))[:8] + "…" }

const insertKey = `INSERT INTO keys (id, name, profile, role, hash, created_at, expires_at, old_hash, old_until, origin)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT DO NOTHING`

func keyValues(k Key) []any {
	return []any{k.ID, k.Name, k.Profile, k.Role, k.Hash, micros(k.CreatedAt), micros(k.ExpiresAt), k.OldHash, micros(k.OldUntil), k.Origin}
}

// Keys returns all keys, the oldest first.
func (s *Store) Keys(ctx context.Context) ([]Key, error) {
	return list(ctx, s, "read keys", readKey, selectKeys+" ORDER BY created_at, id")
}

const selectKeys = `SELECT id, name, profile, role, hash, created_at, expires_at, old_hash, old_until, origin, COALESCE(used_at, 0)
	FROM keys LEFT JOIN key_uses ON key = id`

// returnedKey are the columns of a key that is deleted, as readKey reads them.
const returnedKey = "id, name, profile, role, hash, created_at, expires_at, old_hash, old_until, origin, CAST(0 AS BIGINT)"

func readKey(scan scanner, k *Key) error {
	return scan(&k.ID, &k.Name, &k.Profile, &k.Role, &k.Hash, storedTime(&k.CreatedAt), storedTime(&k.ExpiresAt), &k.OldHash,
		storedTime(&k.OldUntil), &k.Origin, storedTime(&k.UsedAt))
}

// Key returns the key with that id, or else with that name. An unknown one is a fault.NotFound.
func (s *Store) Key(ctx context.Context, idOrName string) (Key, error) {
	keys, err := list(ctx, s, "read key "+idOrName, readKey, selectKeys+" WHERE id = $1 OR name = $2", idOrName, idOrName)
	if err != nil {
		return Key{}, err
	}
	for _, k := range keys {
		if k.ID == idOrName || len(keys) == 1 {
			return k, nil
		}
	}
	return Key{}, fault.New(fault.NotFound, "no key has the id or name %q", idOrName)
}

// RotateKey replaces the secrets of a key, and when it and the old one end. The key must still have the hash that
// it had when next was made of it, so that of two who rotate it none has a secret that works for nobody; else it is
// a fault.Conflict.
func (s *Store) RotateKey(ctx context.Context, next Key, had []byte) error {
	const update = "UPDATE keys SET hash = $1, old_hash = $2, old_until = $3, expires_at = $4 WHERE id = $5 AND hash = $6"
	err := s.change(ctx, func(ctx context.Context, tx *changes) error {
		before, err := readRows(ctx, tx, readKey, selectKeys+" WHERE id = $1 AND hash = $2", next.ID, had)
		switch {
		case err != nil:
			return err
		case len(before) == 0:
			return fault.New(fault.Conflict, "key %s was rotated or deleted by somebody else at the same time", next.Name).
				WithHint("try again")
		}
		_, err = tx.ExecContext(ctx, update, next.Hash, next.OldHash, micros(next.OldUntil), micros(next.ExpiresAt), next.ID, had)
		if err != nil {
			return err
		}
		return tx.note(ctx, "key.rotate", before[0].Name, before[0].audited(), next.audited())
	})
	return s.explain("rotate key "+next.Name, err)
}

// DeleteKey deletes the key with that id, or else with that name, with all that it was given: values, and connections to
// servers, which it returns. An unknown one is a fault.NotFound.
func (s *Store) DeleteKey(ctx context.Context, idOrName string) (ended []Connection, err error) {
	err = s.change(ctx, func(ctx context.Context, tx *changes) error {
		for _, column := range []string{"id", "name"} {
			gone, err := readRows(ctx, tx, readKey, "DELETE FROM keys WHERE "+column+" = $1 RETURNING "+returnedKey, idOrName)
			if err != nil {
				return err
			}
			if len(gone) > 0 {
				_, unused := tx.ExecContext(ctx, "DELETE FROM key_uses WHERE key = $1", gone[0].ID)
				const forget = "DELETE FROM personal WHERE owner = $1 RETURNING owner, name, expires_at"
				values, forgotten := readRows(ctx, tx, readPersonal, forget, gone[0].ID)
				const end = "DELETE FROM connections WHERE owner = $1 RETURNING " + connectionColumns + ", grant_data"
				ended, err = readRows(ctx, tx, readGrant, end, gone[0].ID)
				noted := tx.note(ctx, "key.delete", gone[0].Name, gone[0].audited(), nil)
				return errors.Join(unused, forgotten, err, noted, tx.noteForgotten(ctx, values), tx.noteEnded(ctx, ended))
			}
		}
		return fault.New(fault.NotFound, "no key has the id or name %q", idOrName)
	})
	if err != nil {
		return nil, s.explain("delete key "+idOrName, err)
	}
	return s.opened(ended), nil
}

// UseKeys stores that keys were used. It is no change that others hear of.
func (s *Store) UseKeys(ctx context.Context, ids []string, at time.Time) error {
	for some := range slices.Chunk(slices.Sorted(slices.Values(ids)), 500) {
		var w where
		when := w.value(micros(at))
		var places []string
		for _, id := range some {
			places = append(places, w.value(id))
		}
		upsert := "INSERT INTO key_uses (key, used_at) SELECT id, CAST(" + when + " AS BIGINT) FROM keys WHERE id IN (" +
			strings.Join(places, ", ") + ") ORDER BY id ON CONFLICT (key) DO UPDATE SET used_at = excluded.used_at" +
			" WHERE excluded.used_at > key_uses.used_at" // in order, so that gateways do not block each other
		if _, err := s.exec(ctx, upsert, w.args...); err != nil {
			return s.explain("store when keys were used", err)
		}
	}
	return nil
}

// GiveKey stores the key that a variable has, in place of the one of the same name that it had before. Several
// gateways may do so at once. A key of that id or name that no variable has stays, and is a fault.Conflict.
func (s *Store) GiveKey(ctx context.Context, k Key) error {
	var done bool
	give := func(ctx context.Context, tx *changes) error {
		const replaced = "DELETE FROM keys WHERE name = $1 AND origin = $2 AND id <> $3 RETURNING " + returnedKey
		gone, err := readRows(ctx, tx, readKey, replaced, k.Name, k.Origin, k.ID)
		if err != nil {
			return err
		}
		for _, old := range gone {
			if err := tx.note(ctx, "key.delete", old.Name, old.audited(), nil); err != nil {
				return err
			}
		}
		n, err := affected(tx.ExecContext(ctx, insertKey, keyValues(k)...))
		switch {
		case err != nil:
			return err
		case n > 0:
			done = true
			return tx.note(ctx, "key.create", k.Name, nil, k.audited())
		}
		const same = selectKeys + " WHERE id = $1 AND name = $2 AND origin = $3"
		had, err := readRows(ctx, tx, readKey, same, k.ID, k.Name, k.Origin)
		done = err == nil && len(had) > 0
		if !done || bytes.Equal(had[0].Hash, k.Hash) {
			return err
		}
		if _, err := tx.ExecContext(ctx, "UPDATE keys SET hash = $1 WHERE id = $2", k.Hash, k.ID); err != nil {
			return err
		}
		next := had[0]
		next.Hash = k.Hash
		return tx.note(ctx, "key.rotate", k.Name, had[0].audited(), next.audited())
	}
	if err := s.change(ctx, give); err != nil || done {
		return s.explain("store key "+k.Name, err)
	}
	return fault.New(fault.Conflict, "there is another key with the name %q or the id of %s", k.Name, k.Origin).
		WithHint("delete that key: toolfit keys delete %s; or make another text: toolfit keys generate", k.Name)
}
