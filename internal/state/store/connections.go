package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
)

// The states of connections.
const (
	Ready      = "ready"
	NeedsLogin = "needs_login"
)

// Connection is what an owner has been granted at a server.
type Connection struct {
	Server    tool.ServerID
	Owner     string // the principal; "": the gateway itself
	Issuer    string
	State     string
	Reason    string // why it needs a login
	Grant     []byte // the tokens, and how they are renewed; nil in lists
	Expires   time.Time
	CreatedAt time.Time
	UpdatedAt time.Time
	Version   int64
}

// row names the row that the grant is sealed for.
func (c *Connection) row() string { return "connection " + string(c.Server) + " " + c.Owner }

const connectionColumns = "server, owner, issuer, state, reason, expires_at, created_at, updated_at, version"

func readConnection(scan scanner, c *Connection) error {
	return scan(&c.Server, &c.Owner, &c.Issuer, &c.State, &c.Reason, storedTime(&c.Expires), storedTime(&c.CreatedAt),
		storedTime(&c.UpdatedAt), &c.Version)
}

func readGrant(scan scanner, c *Connection) error {
	return scan(&c.Server, &c.Owner, &c.Issuer, &c.State, &c.Reason, storedTime(&c.Expires), storedTime(&c.CreatedAt),
		storedTime(&c.UpdatedAt), &c.Version, &c.Grant)
}

// Connections returns those of some owners, or for none those of everybody, without their grants.
func (s *Store) Connections(ctx context.Context, owners ...string) ([]Connection, error) {
	const query = "SELECT " + connectionColumns + " FROM connections"
	const order = " ORDER BY server, created_at, owner"
	if len(owners) == 0 {
		return list(ctx, s, "read connections", readConnection, query+order)
	}
	var args []any
	places := ""
	for i, o := range owners {
		args = append(args, o)
		places += ", " + s.dialect.place(i+1)
	}
	return list(ctx, s, "read connections", readConnection, query+" WHERE owner IN ("+places[2:]+")"+order, args...)
}

// Connection returns one with its grant. An unknown one is a fault.NotFound.
func (s *Store) Connection(ctx context.Context, server tool.ServerID, owner string) (Connection, error) {
	const query = "SELECT " + connectionColumns + ", grant_data FROM connections WHERE server = $1 AND owner = $2"
	found, err := list(ctx, s, "read connection", readGrant, query, server, owner)
	switch {
	case err != nil:
		return Connection{}, err
	case len(found) == 0:
		return Connection{}, noConnection(server)
	}
	c := found[0]
	c.Grant, err = s.open(&c)
	return c, err
}

func (s *Store) open(c *Connection) ([]byte, error) {
	return s.opts.SecretKey.open("the connection to "+string(c.Server), c.row(), c.Grant)
}

// opened opens the grants of connections; those that cannot be opened are nil.
func (s *Store) opened(all []Connection) []Connection {
	for i := range all {
		var err error
		if all[i].Grant, err = s.open(&all[i]); err != nil {
			all[i].Grant = nil
		}
	}
	return all
}

// OwnerNames are the names of the keys and people who have connections, by id.
func (s *Store) OwnerNames(ctx context.Context) (map[string]string, error) {
	type named struct{ id, name string }
	const query = `SELECT id, name FROM keys WHERE id IN (SELECT owner FROM connections)
		UNION ALL SELECT id, name FROM people WHERE id IN (SELECT owner FROM connections)`
	found, err := list(ctx, s, "read owners", func(scan scanner, n *named) error { return scan(&n.id, &n.name) }, query)
	names := map[string]string{}
	for _, n := range found {
		names[n.id] = n.name
	}
	return names, err
}

// FirstConnected is the owner whose connection to a server is the oldest that can be used, the gateway's own before all
// others, and none of people who are disabled; "" also if there is none.
func (s *Store) FirstConnected(ctx context.Context, server tool.ServerID) (owner string, err error) {
	const query = `SELECT owner FROM connections WHERE server = $1 AND state = $2
		AND owner NOT IN (SELECT id FROM people WHERE disabled_at <> 0)
		ORDER BY CASE owner WHEN '' THEN 0 ELSE 1 END, created_at, owner LIMIT 1`
	err = s.readOne(ctx, "read connections", nil, query, []any{server, Ready}, []any{&owner})
	return owner, err
}

func noConnection(server tool.ServerID) error {
	return fault.New(fault.NotFound, "there is no connection to %s", server)
}

// ErrNoKey refuses to store tokens that everybody could read who has the file.
var ErrNoKey = fault.New(fault.BadConfig, "nobody can sign in to servers: there is no key to encrypt the tokens with").
	WithHint("set TOOLFIT_SECRET_KEY and restart; make one: openssl rand -hex 32")

// SaveConnection stores a new grant in place of an older one. Without a secret key it is a fault.BadConfig.
func (s *Store) SaveConnection(ctx context.Context, c Connection) error {
	if s.opts.SecretKey.IsZero() {
		return ErrNoKey
	}
	const upsert = `INSERT INTO connections (server, owner, issuer, state, reason, grant_data, expires_at, created_at, updated_at, version)
		VALUES ($1, $2, $3, $4, '', $5, $6, $7, $7, 1)
		ON CONFLICT (server, owner) DO UPDATE SET issuer = excluded.issuer, state = excluded.state, reason = '',
			grant_data = excluded.grant_data, expires_at = excluded.expires_at, updated_at = excluded.updated_at,
			version = connections.version + 1, lease_by = '', lease_until = 0`
	err := s.change(ctx, func(ctx context.Context, tx *changes) error {
		const read = "SELECT " + connectionColumns + " FROM connections WHERE server = $1 AND owner = $2"
		had, err := readRows(ctx, tx, readConnection, read, c.Server, c.Owner)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, upsert, c.Server, c.Owner, c.Issuer, Ready, s.opts.SecretKey.seal(c.row(), c.Grant), micros(c.Expires),
			micros(s.opts.Now()))
		if err != nil {
			return err
		}
		c.State = Ready
		return tx.note(ctx, "connection.save", string(c.Server), first(had), c.audited())
	})
	return s.explain("save connection", err)
}

// audited is a connection as the audit log shows it, without its tokens.
func (c Connection) audited() any {
	return struct {
		Owner   string    `json:"owner,omitempty"`
		Issuer  string    `json:"issuer,omitempty"`
		State   string    `json:"state"`
		Expires time.Time `json:"expires_at,omitzero"`
	}{c.Owner, c.Issuer, c.State, c.Expires}
}

// noteEnded notes connections that were deleted.
func (c *changes) noteEnded(ctx context.Context, ended []Connection) error {
	for _, one := range ended {
		if err := c.note(ctx, "connection.delete", string(one.Server), one.audited(), nil); err != nil {
			return err
		}
	}
	return nil
}

// LeaseConnection lets one replica at a time renew a version of a connection, for so long. False: it is another
// version by now, or somebody else's turn.
func (s *Store) LeaseConnection(ctx context.Context, c *Connection, replica string, lease time.Duration) (bool, error) {
	now := s.opts.Now()
	const take = `UPDATE connections SET lease_by = $1, lease_until = $2
		WHERE server = $3 AND owner = $4 AND version = $5 AND lease_until <= $6`
	n, err := s.exec(ctx, take, replica, micros(now.Add(lease)), c.Server, c.Owner, c.Version, micros(now))
	return n > 0, s.explain("lease connection", err)
}

// RenewConnection stores what the holder of the lease has got. False: the lease or the version is another's by now.
func (s *Store) RenewConnection(ctx context.Context, c *Connection, replica string) (bool, error) {
	const renew = `UPDATE connections SET state = $1, reason = $2, grant_data = $3, expires_at = $4, updated_at = $5,
			version = version + 1, lease_by = '', lease_until = 0
		WHERE server = $6 AND owner = $7 AND version = $8 AND lease_by = $9`
	n, err := s.exec(ctx, renew, c.State, c.Reason, s.opts.SecretKey.seal(c.row(), c.Grant), micros(c.Expires), micros(s.opts.Now()),
		c.Server, c.Owner, c.Version, replica)
	return n > 0, s.explain("renew connection", err)
}

// FreeConnection ends a lease before its time.
func (s *Store) FreeConnection(ctx context.Context, c *Connection, replica string) error {
	const free = "UPDATE connections SET lease_by = '', lease_until = 0 WHERE server = $1 AND owner = $2 AND lease_by = $3"
	_, err := s.exec(ctx, free, c.Server, c.Owner, replica)
	return s.explain("free connection", err)
}

// DeleteConnection deletes a connection; one that there is not is a fault.NotFound.
func (s *Store) DeleteConnection(ctx context.Context, server tool.ServerID, owner string) error {
	err := s.change(ctx, func(ctx context.Context, tx *changes) error {
		const end = "DELETE FROM connections WHERE server = $1 AND owner = $2 RETURNING " + connectionColumns + ", grant_data"
		ended, err := readRows(ctx, tx, readGrant, end, server, owner)
		if err == nil && len(ended) == 0 {
			err = noConnection(server)
		}
		return errors.Join(err, tx.noteEnded(ctx, ended))
	})
	return s.explain("delete connection", err)
}

// keepOrphans is how long a connection is kept after its last change when its server or its owner is not there. A
// server may only be out of the configuration for a while; a person may have come in a moment ago.
const keepOrphans = 30 * 24 * time.Hour

// TrimConnections deletes sign-ins that were not finished, and connections that nobody can use: those to servers that are
// not among the given ones, and those of owners that are no more.
func (s *Store) TrimConnections(ctx context.Context, servers []tool.ServerID) (deleted int64, err error) {
	now := s.opts.Now()
	deleted, err = s.exec(ctx, "DELETE FROM connection_logins WHERE expires <= $1", micros(now))
	if err != nil {
		return deleted, s.explain("trim connections", err)
	}
	args := []any{micros(now.Add(-keepOrphans))}
	known := "''"
	for _, id := range servers {
		args = append(args, id)
		known += ", " + s.dialect.place(len(args))
	}
	orphans := ` FROM connections WHERE updated_at < $1 AND (server NOT IN (` + known + `) OR owner NOT IN ('', 'local')
		AND owner NOT IN (SELECT id FROM keys) AND owner NOT IN (SELECT id FROM people))`
	var some bool
	if err := s.readOne(ctx, "trim connections", nil, "SELECT count(*) > 0"+orphans, args, []any{&some}); err != nil || !some {
		return deleted, err
	}
	err = s.change(ctx, func(ctx context.Context, tx *changes) error {
		ended, err := readRows(ctx, tx, readGrant, "DELETE"+orphans+" RETURNING "+connectionColumns+", grant_data", args...)
		deleted += int64(len(ended))
		return errors.Join(err, tx.noteEnded(ctx, ended))
	})
	return deleted, s.explain("trim connections", err)
}

// ConnectionLogin is a sign-in that has begun.
type ConnectionLogin struct {
	Server tool.ServerID
	Owner  string
	Data   []byte
}

// maxConnecting is how many sign-ins of one owner may be open.
const maxConnecting = 100

// AddConnectionLogin stores a sign-in under the hash of its state. Expired ones are deleted on the way.
func (s *Store) AddConnectionLogin(ctx context.Context, state string, l ConnectionLogin, lifetime time.Duration) error {
	if s.opts.SecretKey.IsZero() {
		return ErrNoKey
	}
	err := s.inTx(ctx, func(ctx context.Context, tx *sql.Tx) error {
		now := s.opts.Now()
		if _, err := tx.ExecContext(ctx, "DELETE FROM connection_logins WHERE expires <= $1", micros(now)); err != nil {
			return err
		}
		var open int
		if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM connection_logins WHERE owner = $1", l.Owner).Scan(&open); err != nil {
			return err
		}
		if open >= maxConnecting {
			return fault.New(fault.RateLimited, "you have begun %d sign-ins", open).WithHint("finish one, or wait ten minutes")
		}
		_, err := tx.ExecContext(ctx, "INSERT INTO connection_logins (state, server, owner, data, expires) VALUES ($1, $2, $3, $4, $5)",
			state, l.Server, l.Owner, s.opts.SecretKey.seal("login "+state, l.Data), micros(now.Add(lifetime)))
		return err
	})
	return s.explain("begin a sign-in", err)
}

// TakeConnectionLogin returns a sign-in and deletes it: it is finished once. Whoever is not its owner takes nothing.
func (s *Store) TakeConnectionLogin(ctx context.Context, state, owner string) (l ConnectionLogin, err error) {
	ctx, cancel := s.limit(ctx)
	defer cancel()
	const take = "DELETE FROM connection_logins WHERE state = $1 AND owner = $2 AND expires > $3 RETURNING server, owner, data"
	var sealed []byte
	err = s.write.QueryRowContext(ctx, take, state, owner, micros(s.opts.Now())).Scan(&l.Server, &l.Owner, &sealed)
	if errors.Is(err, sql.ErrNoRows) {
		return l, fault.New(fault.NotFound, "this sign-in has expired, is done already, or was begun by somebody else").WithHint("sign in again")
	}
	if err == nil {
		err = s.intact()
	}
	if err != nil {
		return l, s.explain("finish a sign-in", err)
	}
	l.Data, err = s.opts.SecretKey.open("the sign-in", "login "+state, sealed)
	return l, err
}

// OwnClient returns how an authorization server knows us; nil if it does not.
func (s *Store) OwnClient(ctx context.Context, issuer, redirect string) ([]byte, error) {
	var sealed []byte
	err := s.readOne(ctx, "read client", nil, "SELECT data FROM own_clients WHERE issuer = $1 AND redirect = $2", []any{issuer, redirect},
		[]any{&sealed})
	if err != nil || sealed == nil {
		return nil, err
	}
	return s.opts.SecretKey.open("the client at "+issuer, "client "+issuer+" "+redirect, sealed)
}

// SaveOwnClient notes how an authorization server knows us; nil forgets it.
func (s *Store) SaveOwnClient(ctx context.Context, issuer, redirect string, data []byte) error {
	var err error
	if data == nil {
		_, err = s.exec(ctx, "DELETE FROM own_clients WHERE issuer = $1 AND redirect = $2", issuer, redirect)
	} else {
		_, err = s.exec(ctx, `INSERT INTO own_clients (issuer, redirect, data) VALUES ($1, $2, $3)
			ON CONFLICT (issuer, redirect) DO UPDATE SET data = excluded.data`,
			issuer, redirect, s.opts.SecretKey.seal("client "+issuer+" "+redirect, data))
	}
	return s.explain("save client", err)
}
