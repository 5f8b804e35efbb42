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

// explainPostgres returns the fault for what a user can repair.
func explainPostgres(err error) *fault.Error {
	if e := (*pgconn.PgError)(nil); errors.As(err, &e) {
		return explainCode(e, err)
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded), pgconn.Timeout(err):
		return fault.New(fault.StoreDown, "the store does not answer in time").WithHint("check the load of the database and the network")
	case lostConn(err):
		return fault.New(fault.StoreDown, "the store cannot be reached").
			WithHint("check that PostgreSQL runs there and that the address is right")
	}
	return nil
}

// explainCode judges what the database itself said. The codes are PostgreSQL's.
func explainCode(e *pgconn.PgError, err error) *fault.Error {
	switch e.Code {
	case "28P01", "28000":
		return fault.New(fault.BadConfig, "the store does not let this user in").
			WithHint("check the user and the password in the address, and pg_hba.conf")
	case "3D000":
		return fault.New(fault.BadConfig, "the store has no such database").WithHint("make it: createdb NAME")
	case "3F000", "42501":
		return fault.New(fault.BadConfig, "the store does not let this user make or change tables").
			WithHint("let the user own the database, or grant it CREATE on the schema")
	case "25006":
		return fault.New(fault.BadConfig, "the store is read-only").
			WithHint("give the address of the primary, or add target_session_attrs=read-write to it")
	case "53100":
		return fault.New(fault.StoreDown, "the store cannot grow: its disk is full").WithHint("free space on the database's disk")
	case "53300":
		return fault.New(fault.StoreDown, "the store takes no more connections").WithHint("raise max_connections, or run fewer replicas")
	case "57014", "55P03":
		return fault.New(fault.StoreDown, "the store does not answer in time").WithHint("check the load of the database")
	}
	if lostConn(err) {
		return fault.New(fault.StoreDown, "the store is shutting down or starting").WithHint("wait until it is up")
	}
	return nil
}

// lostConn tells whether the connection is gone or could not be made, so that another
// one may do better.
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

// oneLine shows an error that lists several attempts in one line, each of them once. What
// the driver says before them, the user and the database, is in the name of the store.
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
