package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
)

// Person is somebody who comes with tokens of an identity provider, or signs in there: a person or a service.
type Person struct {
	ID         string
	Issuer     string
	Subject    string
	Kind       string
	Name       string
	Groups     []string // at the last sign-in on a page; nil: there was none
	Role       string   // as last seen
	Profile    string   // as last seen
	CreatedAt  time.Time
	SeenAt     time.Time
	DisabledAt time.Time // zero: may come in
}

const personColumns = "id, issuer, subject, kind, name, member_of, role, profile, created_at, seen_at, disabled_at"

func readPerson(scan scanner, p *Person) error {
	var groups sql.NullString
	err := scan(&p.ID, &p.Issuer, &p.Subject, &p.Kind, &p.Name, &groups, &p.Role, &p.Profile, storedTime(&p.CreatedAt),
		storedTime(&p.SeenAt), storedTime(&p.DisabledAt))
	if err == nil && groups.Valid {
		err = json.Unmarshal([]byte(groups.String), &p.Groups)
	}
	return err
}

// People returns up to limit people whose id, subject or name begins with the text, those seen last first.
func (s *Store) People(ctx context.Context, text string, limit int) ([]Person, error) {
	const query = "SELECT " + personColumns + ` FROM people
		WHERE $1 = '' OR lower(substr(id, 1, length($1))) = lower($1) OR lower(substr(subject, 1, length($1))) = lower($1)
			OR lower(substr(name, 1, length($1))) = lower($1)
		ORDER BY seen_at DESC, id LIMIT $2`
	return list(ctx, s, "read people", readPerson, query, text, limit)
}

// Person returns the one with that id. An unknown one is a fault.NotFound.
func (s *Store) Person(ctx context.Context, id string) (Person, error) {
	found, err := list(ctx, s, "read person", readPerson, "SELECT "+personColumns+" FROM people WHERE id = $1", id)
	if err != nil {
		return Person{}, err
	}
	if len(found) == 0 {
		return Person{}, noPerson(id)
	}
	return found[0], nil
}

func noPerson(text string) error {
	return fault.New(fault.NotFound, "nobody with the id, subject or name %q has come in yet", text)
}

// DisabledPeople returns the ids of all who may not come in.
func (s *Store) DisabledPeople(ctx context.Context) ([]string, error) {
	read := func(scan scanner, id *string) error { return scan(id) }
	return list(ctx, s, "read who is disabled", read, "SELECT id FROM people WHERE disabled_at <> 0")
}

// SavePerson notes who was seen. Groups nil leaves those of the last sign-in. Who is disabled stays so.
func (s *Store) SavePerson(ctx context.Context, p Person) error {
	var groups any
	if p.Groups != nil {
		text, err := json.Marshal(p.Groups)
		if err != nil {
			return err
		}
		groups = string(text)
	}
	const upsert = `INSERT INTO people (id, issuer, subject, kind, name, member_of, role, profile, created_at, seen_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9)
		ON CONFLICT (id) DO UPDATE SET name = excluded.name, member_of = coalesce(excluded.member_of, people.member_of),
			role = excluded.role, profile = excluded.profile, seen_at = excluded.seen_at`
	err := s.change(ctx, func(ctx context.Context, tx *changes) error {
		const read = "SELECT " + personColumns + " FROM people WHERE id = $1"
		before, err := readRows(ctx, tx, readPerson, read, p.ID)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, upsert, p.ID, p.Issuer, p.Subject, p.Kind, p.Name, groups, p.Role, p.Profile, micros(p.SeenAt))
		if err != nil {
			return err
		}
		itself := As(ctx, Actor{p.Kind, p.ID, p.Name})
		if len(before) == 0 {
			return tx.note(itself, "person.create", p.ID, nil, p.audited())
		}
		had := before[0]
		p.DisabledAt = had.DisabledAt
		if p.Groups == nil {
			p.Groups = had.Groups
		}
		if had.Role == p.Role && had.Profile == p.Profile && slices.Equal(had.Groups, p.Groups) {
			return nil
		}
		return tx.note(itself, "person.change", p.ID, had.audited(), p.audited())
	})
	return s.explain("save person", err)
}

// audited is a person as the audit log shows them.
func (p Person) audited() any {
	return struct {
		Issuer   string    `json:"issuer"`
		Subject  string    `json:"subject"`
		Name     string    `json:"name"`
		Role     string    `json:"role"`
		Profile  string    `json:"profile"`
		Groups   []string  `json:"groups,omitempty"`
		Disabled time.Time `json:"disabled_at,omitzero"`
	}{p.Issuer, p.Subject, p.Name, p.Role, p.Profile, p.Groups, p.DisabledAt}
}

// FindPerson returns the one who is meant by an id, a subject or a name; one that fits several is a fault.Conflict.
func (s *Store) FindPerson(ctx context.Context, text string) (Person, error) {
	ctx, cancel := s.limit(ctx)
	defer cancel()
	p, err := findPerson(ctx, s.read, text)
	return p, s.explain("find "+text, err)
}

func findPerson(ctx context.Context, from reader, text string) (Person, error) {
	found, err := readRows(ctx, from, readPerson, "SELECT "+personColumns+" FROM people WHERE id = $1 OR subject = $1 OR name = $1", text)
	if i := slices.IndexFunc(found, func(one Person) bool { return one.ID == text }); i >= 0 {
		found = found[i : i+1] // others may call themselves so
	}
	switch {
	case err != nil:
		return Person{}, err
	case len(found) == 0:
		return Person{}, noPerson(text)
	case len(found) > 1:
		return Person{}, fault.New(fault.Conflict, "%d people fit %q", len(found), text).WithHint("give the id; see: toolfit people list")
	}
	return found[0], nil
}

// DisablePerson keeps somebody out from then on; the zero time lets them in again. The text is an id, a subject or
// a name; one that fits several is a fault.Conflict.
func (s *Store) DisablePerson(ctx context.Context, text string, at time.Time) (p Person, err error) {
	err = s.change(ctx, func(ctx context.Context, tx *changes) error {
		p, err = findPerson(ctx, tx, text)
		if err != nil {
			return err
		}
		if at.IsZero() == p.DisabledAt.IsZero() {
			return nil // as before
		}
		before := p.audited()
		p.DisabledAt = fromMicros(micros(at))
		if _, err = tx.ExecContext(ctx, "UPDATE people SET disabled_at = $1 WHERE id = $2", micros(at), p.ID); err != nil {
			return err
		}
		action := "person.disable"
		if at.IsZero() {
			action = "person.enable"
		}
		return tx.note(ctx, action, p.ID, before, p.audited())
	})
	return p, s.explain("disable or enable "+text, err)
}
