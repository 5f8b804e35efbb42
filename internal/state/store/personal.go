package store

import (
	"context"
	"errors"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
)

// Personal is something that a person has given the gateway to use for them alone.
type Personal struct {
	Owner     string // the principal
	Name      string
	Data      []byte    // nil in lists
	Expires   time.Time // zero: never
	UpdatedAt time.Time
}

// row names the row that the data are sealed for.
func (p *Personal) row() string { return "personal " + p.Owner + " " + p.Name }

// maxPersonal is how many values one person may have.
const maxPersonal = 200

// SavePersonal stores a value in place of an older one. Without a secret key it is a fault.BadConfig.
func (s *Store) SavePersonal(ctx context.Context, p Personal) error {
	if s.opts.SecretKey.IsZero() {
		return ErrNoKey
	}
	now := micros(s.opts.Now())
	if _, err := s.exec(ctx, "DELETE FROM personal WHERE expires_at > 0 AND expires_at <= $1", now); err != nil {
		return s.explain("save a personal value", err)
	}
	const upsert = `INSERT INTO personal (owner, name, data, expires_at, updated_at)
		SELECT $1, $2, $3, $4, $5 WHERE (SELECT count(*) FROM personal WHERE owner = $1 AND name <> $2) < $6
		ON CONFLICT (owner, name) DO UPDATE SET data = excluded.data, expires_at = excluded.expires_at, updated_at = excluded.updated_at`
	err := s.change(ctx, func(ctx context.Context, tx *changes) error {
		const read = "SELECT owner, name, expires_at FROM personal WHERE owner = $1 AND name = $2"
		had, err := readRows(ctx, tx, readPersonal, read, p.Owner, p.Name)
		if err != nil {
			return err
		}
		n, err := affected(tx.ExecContext(ctx, upsert, p.Owner, p.Name, s.opts.SecretKey.seal(p.row(), p.Data), micros(p.Expires), now, maxPersonal))
		switch {
		case err != nil:
			return err
		case n == 0:
			return fault.New(fault.TooLarge, "you have %d values already", maxPersonal).WithHint("remove one")
		}
		return tx.note(ctx, "value.save", p.Name, first(had), p.audited())
	})
	return s.explain("save a personal value", err)
}

// audited is a value as the audit log shows it, without its data.
func (p Personal) audited() any {
	return struct {
		Owner   string    `json:"owner"`
		Expires time.Time `json:"expires_at,omitzero"`
	}{p.Owner, p.Expires}
}

func readPersonal(scan scanner, p *Personal) error {
	return scan(&p.Owner, &p.Name, storedTime(&p.Expires))
}

// noteForgotten notes values that were deleted.
func (c *changes) noteForgotten(ctx context.Context, gone []Personal) error {
	for _, p := range gone {
		if err := c.note(ctx, "value.delete", p.Name, p.audited(), nil); err != nil {
			return err
		}
	}
	return nil
}

// Personal returns a value of a person. An unknown or expired one is a fault.NotFound.
func (s *Store) Personal(ctx context.Context, owner, name string) (Personal, error) {
	p := Personal{Owner: owner, Name: name}
	missing := fault.New(fault.NotFound, "you have no value %s", name)
	const query = "SELECT data, expires_at, updated_at FROM personal WHERE owner = $1 AND name = $2 AND (expires_at = 0 OR expires_at > $3)"
	err := s.readOne(ctx, "read a personal value", missing, query, []any{owner, name, micros(s.opts.Now())},
		[]any{&p.Data, storedTime(&p.Expires), storedTime(&p.UpdatedAt)})
	if err != nil {
		return p, err
	}
	p.Data, err = s.opts.SecretKey.open("the value "+name, p.row(), p.Data)
	return p, err
}

// Personals lists the values of a person, without their data.
func (s *Store) Personals(ctx context.Context, owner string) ([]Personal, error) {
	read := func(scan scanner, p *Personal) error {
		return scan(&p.Owner, &p.Name, storedTime(&p.Expires), storedTime(&p.UpdatedAt))
	}
	const query = `SELECT owner, name, expires_at, updated_at FROM personal
		WHERE owner = $1 AND (expires_at = 0 OR expires_at > $2) ORDER BY name`
	return list(ctx, s, "read personal values", read, query, owner, micros(s.opts.Now()))
}

// NewestOwner is who has given a value last, and is not disabled; "" if nobody has, or it has expired.
func (s *Store) NewestOwner(ctx context.Context, name string) (owner string) {
	const query = `SELECT owner FROM personal WHERE name = $1 AND (expires_at = 0 OR expires_at > $2)
		AND owner NOT IN (SELECT id FROM people WHERE disabled_at <> 0) ORDER BY updated_at DESC LIMIT 1`
	if err := s.readOne(ctx, "read a personal value", nil, query, []any{name, micros(s.opts.Now())}, []any{&owner}); err != nil {
		return ""
	}
	return owner
}

// DeletePersonal removes a value. An unknown one is a fault.NotFound.
func (s *Store) DeletePersonal(ctx context.Context, owner, name string) error {
	err := s.change(ctx, func(ctx context.Context, tx *changes) error {
		const end = "DELETE FROM personal WHERE owner = $1 AND name = $2 RETURNING owner, name, expires_at"
		gone, err := readRows(ctx, tx, readPersonal, end, owner, name)
		if err == nil && len(gone) == 0 {
			err = fault.New(fault.NotFound, "you have no value %s", name)
		}
		return errors.Join(err, tx.noteForgotten(ctx, gone))
	})
	return s.explain("delete a personal value", err)
}
