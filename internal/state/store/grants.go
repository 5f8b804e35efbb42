package store

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
)

// Grant is what a person has allowed a client: to act for them at a resource.
type Grant struct {
	ID        string
	Person    string
	Client    string
	Redirect  string
	Resource  string
	Scopes    []string
	Challenge string // which the code's verifier must fit
	CreatedAt time.Time
	ExpiresAt time.Time
}

// TokenKind says what a token of a grant is for.
type TokenKind string

const (
	CodeToken    TokenKind = "code"    // is exchanged for the first tokens
	AccessToken  TokenKind = "access"  // opens the resource
	RefreshToken TokenKind = "refresh" // is exchanged for new tokens
)

// GrantToken is a token of a grant without its text.
type GrantToken struct {
	Hash      []byte // SHA-256 of the text
	Kind      TokenKind
	ExpiresAt time.Time
}

const (
	grantColumns = "id, person, client, redirect, resource, scopes, challenge, created_at, grants.expires_at"

	addGrantToken = "INSERT INTO grant_tokens (hash, grant_id, kind, expires_at) VALUES ($1, $2, $3, $4)"
	// What is exchanged expires soon, or at once.
	useGrantToken = `UPDATE grant_tokens SET expires_at = CASE WHEN expires_at < CAST($1 AS BIGINT) THEN expires_at ELSE $1 END
		WHERE hash = $2 AND grant_id = $3 AND kind = $4 AND expires_at > $5`
	// The grant first, as in EndGrant: two that wait for each other would be a deadlock.
	holdGrant = "UPDATE grants SET expires_at = $1 WHERE id = $2 AND expires_at > $3"

	findGrant   = "SELECT " + grantColumns + " FROM grants WHERE id = $1 AND grants.expires_at > $2"
	findByToken = "SELECT " + grantColumns + `, grant_tokens.expires_at FROM grant_tokens JOIN grants ON grants.id = grant_id
		WHERE hash = $1 AND grants.expires_at > $2 AND grant_tokens.expires_at > $2`
)

func (g *Grant) columns() []any {
	words := func(text string) { g.Scopes = strings.Fields(text) }
	return []any{
		&g.ID, &g.Person, &g.Client, &g.Redirect, &g.Resource, storedText(words), &g.Challenge,
		storedTime(&g.CreatedAt), storedTime(&g.ExpiresAt),
	}
}

// storedText scans a text.
type storedText func(text string)

func (set storedText) Scan(stored any) error {
	var text sql.NullString
	err := text.Scan(stored)
	set(text.String)
	return err
}

var errNoGrant = fault.New(fault.NotFound, "there is no such grant, or it has ended")

// CreateGrant stores a grant with its code.
func (s *Store) CreateGrant(ctx context.Context, g Grant, code GrantToken) error {
	err := s.inTx(ctx, func(ctx context.Context, tx *sql.Tx) error {
		const insert = `INSERT INTO grants (id, person, client, redirect, resource, scopes, challenge, created_at, expires_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`
		_, err := tx.ExecContext(ctx, insert, g.ID, g.Person, g.Client, g.Redirect, g.Resource, strings.Join(g.Scopes, " "), g.Challenge,
			micros(s.opts.Now()), micros(g.ExpiresAt))
		if err != nil {
			return err
		}
		return addTokens(ctx, tx, g.ID, code)
	})
	return s.explain("create grant", err)
}

func addTokens(ctx context.Context, tx *sql.Tx, grant string, tokens ...GrantToken) error {
	for _, t := range tokens {
		if _, err := tx.ExecContext(ctx, addGrantToken, t.Hash, grant, string(t.Kind), micros(t.ExpiresAt)); err != nil {
			return err
		}
	}
	return nil
}

// Grant returns a grant that has not ended. Another is a fault.NotFound.
func (s *Store) Grant(ctx context.Context, id string) (g Grant, err error) {
	err = s.readOne(ctx, "read grant", errNoGrant, findGrant, []any{id, micros(s.opts.Now())}, g.columns())
	return g, err
}

// GrantOf returns the grant of a token, and when the token expires. One that has ended or expired is a fault.NotFound.
func (s *Store) GrantOf(ctx context.Context, hash []byte) (g Grant, expires time.Time, err error) {
	into := append(g.columns(), storedTime(&expires))
	err = s.readOne(ctx, "read grant", errNoGrant, findByToken, []any{hash, micros(s.opts.Now())}, into)
	return g, expires, err
}

// ExchangeToken replaces a code or a refresh token of a grant by new ones, all or nothing, and lets the grant go on
// until a time. The old one can be exchanged again until it is spent; zero: never. It is false for one
// that is not of the grant, has expired, or is spent.
func (s *Store) ExchangeToken(
	ctx context.Context, grant string, old GrantToken, spent, until time.Time, fresh ...GrantToken,
) (ok bool, err error) {
	now := micros(s.opts.Now())
	err = s.inTx(ctx, func(ctx context.Context, tx *sql.Tx) error {
		n, err := affected(tx.ExecContext(ctx, holdGrant, micros(until), grant, now))
		if err == nil && n > 0 {
			n, err = affected(tx.ExecContext(ctx, useGrantToken, micros(spent), old.Hash, grant, string(old.Kind), now))
		}
		switch {
		case err != nil:
			return err
		case n == 0:
			return errNoGrant
		}
		return addTokens(ctx, tx, grant, fresh...)
	})
	if errors.Is(err, errNoGrant) {
		return false, nil
	}
	return err == nil, s.explain("exchange token", err)
}

// EndGrant ends a grant with all its tokens, if there is one.
func (s *Store) EndGrant(ctx context.Context, id string) error {
	_, err := s.exec(ctx, "DELETE FROM grants WHERE id = $1", id)
	return s.explain("end grant", err)
}

// TrimGrants deletes what has expired: grants, tokens, sign-ins that have begun, and registered clients.
func (s *Store) TrimGrants(ctx context.Context) (deleted int64, err error) {
	var errs []error
	for _, table := range []string{"grants", "grant_tokens", "logins", "oauth_clients"} {
		n, err := s.exec(ctx, "DELETE FROM "+table+" WHERE expires_at <= $1", micros(s.opts.Now()))
		deleted += n
		errs = append(errs, err)
	}
	return deleted, s.explain("trim grants", errors.Join(errs...))
}
