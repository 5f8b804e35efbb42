package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
)

// OAuthClient is a client that has registered itself.
type OAuthClient struct {
	ID        string
	Name      string // as it calls itself
	Redirects []string
	ExpiresAt time.Time
}

const (
	maxLogins  = 10_000 // that have begun
	maxClients = 10_000 // that have registered themselves

	// What has expired but is not trimmed yet takes no place.
	saveLogin = `INSERT INTO logins (hash, sealed, expires_at) SELECT $1, $2, $3
		WHERE (SELECT count(*) FROM logins WHERE expires_at > $4) < $5 ON CONFLICT DO NOTHING`
	takeLogin  = "DELETE FROM logins WHERE hash = $1 AND expires_at > $2 RETURNING sealed"
	saveClient = `INSERT INTO oauth_clients (id, name, redirects, created_at, expires_at) SELECT $1, $2, $3, $4, $5
		WHERE (SELECT count(*) FROM oauth_clients WHERE expires_at > $4) < $6 ON CONFLICT DO NOTHING`
	findClient = "SELECT id, name, redirects, expires_at FROM oauth_clients WHERE id = $1 AND expires_at > $2"
	keepClient = "UPDATE oauth_clients SET expires_at = $1 WHERE id = $2 AND expires_at < $1"
)

// SaveLogin stores a sign-in that has begun. Too many at once are a fault.UpstreamBusy.
func (s *Store) SaveLogin(ctx context.Context, hash, sealed []byte, expires time.Time) error {
	n, err := s.exec(ctx, saveLogin, hash, sealed, micros(expires), micros(s.opts.Now()), maxLogins)
	if err == nil && n == 0 {
		return fault.New(fault.UpstreamBusy, "too many people are signing in at once").WithHint("try again in a few minutes")
	}
	return s.explain("save sign-in", err)
}

// TakeLogin returns a sign-in that has begun, once. Another is a fault.NotFound.
func (s *Store) TakeLogin(ctx context.Context, hash []byte) (sealed []byte, err error) {
	ctx, cancel := s.limit(ctx)
	defer cancel()
	err = s.write.QueryRowContext(ctx, takeLogin, hash, micros(s.opts.Now())).Scan(&sealed)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fault.New(fault.NotFound, "this sign-in is over, or was begun in another browser").
			WithHint("go back to the application, and sign in again")
	}
	if err == nil {
		err = s.intact()
	}
	return sealed, s.explain("take sign-in", err)
}

// SaveClient stores a client that registers itself. Too many are a fault.UpstreamBusy.
func (s *Store) SaveClient(ctx context.Context, c OAuthClient) error {
	redirects, err := json.Marshal(c.Redirects)
	if err != nil {
		return err
	}
	n, err := s.exec(ctx, saveClient, c.ID, c.Name, string(redirects), micros(s.opts.Now()), micros(c.ExpiresAt), maxClients)
	if err == nil && n == 0 {
		return fault.New(fault.UpstreamBusy, "too many clients have registered themselves").WithHint("try again tomorrow")
	}
	return s.explain("save client", err)
}

// Client returns a client that has registered itself. Another is a fault.NotFound.
func (s *Store) Client(ctx context.Context, id string) (c OAuthClient, err error) {
	var redirects string
	missing := fault.New(fault.NotFound, "no client has registered itself as %.100q, or it has expired", id)
	into := []any{&c.ID, &c.Name, &redirects, storedTime(&c.ExpiresAt)}
	err = s.readOne(ctx, "read client", missing, findClient, []any{id, micros(s.opts.Now())}, into)
	if err == nil {
		err = json.Unmarshal([]byte(redirects), &c.Redirects)
	}
	return c, err
}

// KeepClient lets a client that has registered itself expire later.
func (s *Store) KeepClient(ctx context.Context, id string, until time.Time) error {
	_, err := s.exec(ctx, keepClient, micros(until), id)
	return s.explain("keep client", err)
}
