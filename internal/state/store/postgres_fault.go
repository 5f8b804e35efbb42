package store

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/toolfit/toolfit/internal/base/fault"
)

// postgresErrors are what a user can repair, by PostgreSQL's codes.
var postgresErrors = map[string]*fault.Error{
	"28P01": errNotLetIn, "28000": errNotLetIn,
	"3D000": fault.New(fault.BadConfig, "the store has no such database").WithHint("make it: createdb NAME"),
	"3F000": errNoTables, "42501": errNoTables,
	"25006": fault.New(fault.BadConfig, "the store is read-only").
		WithHint("give the address of the primary, or add target_session_attrs=read-write to it"),
	"53100": errDiskFull,
	"53300": fault.New(fault.StoreDown, "the store takes no more connections").WithHint("raise max_connections, or run fewer replicas"),
	"57014": errSlow, "55P03": errSlow,
}

var (
	errNotLetIn = fault.New(fault.BadConfig, "the store does not let this user in").
			WithHint("check the user and the password in the address, and pg_hba.conf")
	errNoTables = fault.New(fault.BadConfig, "the store does not let this user make or change tables").
			WithHint("let the user own the database, or grant it CREATE on the schema")
	errSlow = fault.New(fault.StoreDown, "the store does not answer in time").WithHint("check the load of the database and the network")
)

func explainPostgres(err error) *fault.Error {
	e := (*pgconn.PgError)(nil)
	answered := errors.As(err, &e)
	switch {
	case answered && postgresErrors[e.Code] != nil:
		return postgresErrors[e.Code]
	case answered && lostConn(err):
		return fault.New(fault.StoreDown, "the store is shutting down or starting").WithHint("wait until it is up")
	case answered:
		return nil
	case errors.Is(err, context.DeadlineExceeded), pgconn.Timeout(err):
		return errSlow
	case lostConn(err):
		return fault.New(fault.StoreDown, "the store cannot be reached").
			WithHint("check that PostgreSQL runs there and that the address is right")
	}
	return nil
}

// lostConn tells whether the connection is lost or could not be made, so that another may work.
func lostConn(err error) bool {
	if e := (*pgconn.PgError)(nil); errors.As(err, &e) {
		// Shutdown, crash, not yet up, and the whole class of connection errors.
		return strings.HasPrefix(e.Code, "57P0") || strings.HasPrefix(e.Code, "08")
	}
	var connect *pgconn.ConnectError
	var network net.Error
	return errors.As(err, &connect) || errors.As(err, &network) ||
		errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) ||
		pgconn.SafeToRetry(err)
}

// oneLine shows an error with several attempts in one line, without duplicates and without what the
// driver says before them: the name of the store has it.
type oneLine struct{ error }

func (e oneLine) Error() string {
	err := e.error
	if connect := (*pgconn.ConnectError)(nil); errors.As(err, &connect) {
		err = connect.Unwrap()
	}
	var attempts []string
	for line := range strings.Lines(err.Error()) {
		if line = strings.Join(strings.Fields(line), " "); line != "" && !slices.Contains(attempts, line) {
			attempts = append(attempts, line)
		}
	}
	return strings.Join(attempts, "; ")
}

func (e oneLine) Unwrap() error { return e.error }
