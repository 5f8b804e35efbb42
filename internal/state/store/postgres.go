package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/toolfit/toolfit/internal/base/fault"
)

const (
	// connectTimeout is for each address.
	connectTimeout = 5 * time.Second
	// A method's timeout is a little longer than that of a statement, so that the database ends first.
	statementTimeout = 30 * time.Second
	methodTimeout    = 35 * time.Second
	// Together they leave room for ten replicas under PostgreSQL's usual limit of 100 connections.
	sharedConns = 6
	appendConns = 2
	// migrateLock is the advisory lock of migrations: any number that nobody else uses.
	migrateLock = 7_089_114_205
)

var postgresDialect = dialect{
	tables: `SELECT count(*), coalesce(sum(CASE WHEN tablename IN ` + ownTables + ` THEN 1 ELSE 0 END), 0)
		FROM pg_catalog.pg_tables WHERE schemaname = current_schema()`,
	// Beside the lock: a migration may take longer than other statements.
	lock:        fmt.Sprintf("SET LOCAL statement_timeout = 0; SELECT pg_advisory_xact_lock(%d)", migrateLock),
	schema:      sortByBytes,
	place:       func(n int) string { return fmt.Sprintf("$%d", n) },
	snapshot:    sql.LevelRepeatableRead,
	timeout:     methodTimeout,
	bytes:       "pg_column_size",
	measure:     measurePostgres,
	reuse:       reusePostgres,
	appendCalls: (*Store).appendPostgres,
	explain:     explainPostgres,
}

// sortByBytes makes texts sort as in SQLite. In a language's order, ids would not sort by time.
func sortByBytes(text string) string {
	return strings.ReplaceAll(text, " TEXT ", ` TEXT COLLATE "C" `)
}

// openPostgres uses one pool for everything but records. These have one of their own, with other
// guarantees in a crash, and so that they do not wait for the console.
func (s *Store) openPostgres(ctx context.Context, dsn string) error {
	s.name = "postgres"
	s.dialect = postgresDialect
	s.results = resultTable{s}
	cfg, err := parsePostgres(dsn)
	if err != nil {
		return err
	}
	s.name = showPostgres(cfg)
	forCalls := cfg.Copy()
	forCalls.RuntimeParams["synchronous_commit"] = "off"
	if s.opts.Durable {
		forCalls.RuntimeParams["synchronous_commit"] = "on"
	}
	s.append = openPool(forCalls, appendConns)
	// A plan for any value would look for a rare one as for a common one.
	cfg.RuntimeParams["plan_cache_mode"] = "force_custom_plan"
	// A restart of the database leaves dead connections behind. Asking first costs a round
	// trip, which only the records, who send again instead, are too many for.
	s.write = openPool(cfg, sharedConns, stdlib.OptionShouldPing(func(context.Context, stdlib.ShouldPingParams) bool { return true }))
	s.read = s.write
	bounded, cancel := s.limit(ctx)
	defer cancel()
	if err := s.checkEncoding(bounded); err != nil {
		return err
	}
	version, err := s.version(bounded)
	if err != nil {
		return err
	}
	if version == len(migrations()) {
		return nil
	}
	return s.migrate(ctx) // without a bound: it may have much to do
}

// parsePostgres reads the address and adds missing timeouts. Its error never quotes the address,
// which may contain the password.
func parsePostgres(dsn string) (*pgx.ConnConfig, error) {
	cfg, err := pgx.ParseConfig(dsn)
	if file := (*fs.PathError)(nil); errors.As(err, &file) {
		return nil, fault.New(fault.BadConfig, "the store's address names a file that cannot be read: %w", file).
			WithHint("check sslcert, sslkey, sslrootcert and passfile")
	}
	if err != nil {
		return nil, fault.New(fault.BadConfig, "the store's address cannot be understood").
			WithHint("write postgres://USER:PASSWORD@HOST:PORT/DATABASE, odd characters of the password as %%XX")
	}
	if cfg.ConnectTimeout == 0 || cfg.ConnectTimeout > time.Minute {
		cfg.ConnectTimeout = connectTimeout
	}
	for name, value := range map[string]string{
		"application_name":                    "toolfit",
		"statement_timeout":                   fmt.Sprint(statementTimeout.Milliseconds()),
		"idle_in_transaction_session_timeout": fmt.Sprint(2 * statementTimeout.Milliseconds()),
	} {
		if cfg.RuntimeParams[name] == "" {
			cfg.RuntimeParams[name] = value
		}
	}
	return cfg, nil
}

// showPostgres is the address without its password and options.
func showPostgres(cfg *pgx.ConnConfig) string {
	u := url.URL{Scheme: "postgres", User: url.User(cfg.User), Path: "/" + cfg.Database}
	if strings.HasPrefix(cfg.Host, "/") { // a socket
		u.RawQuery = "host=" + cfg.Host
	} else {
		u.Host = fmt.Sprintf("%s:%d", cfg.Host, cfg.Port)
	}
	return u.String()
}

func openPool(cfg *pgx.ConnConfig, conns int, opts ...stdlib.OptionOpenDB) *sql.DB {
	db := sql.OpenDB(exactConnector(cfg, opts...))
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	db.SetConnMaxIdleTime(5 * time.Minute)
	db.SetConnMaxLifetime(time.Hour) // so that connections move when the address does
	return db
}

// checkEncoding refuses a database that cannot hold every text.
func (s *Store) checkEncoding(ctx context.Context) error {
	var encoding string
	if err := s.write.QueryRowContext(ctx, "SHOW server_encoding").Scan(&encoding); err != nil {
		return fmt.Errorf("read encoding: %w", err)
	}
	if encoding != "UTF8" {
		return fault.New(fault.BadConfig, "store %s has the encoding %s", s.name, encoding).
			WithHint("make the database with ENCODING 'UTF8' TEMPLATE template0")
	}
	return nil
}

// postgresErrors are what a user can repair, by PostgreSQL's codes.
var postgresErrors = map[string]*fault.Error{
	"28P01": errNotLetIn, "28000": errNotLetIn,
	"3D000": fault.New(fault.BadConfig, "the store has no such database").WithHint("make it: createdb NAME"),
	"3F000": errNoTables, "42501": errNoTables,
	"25006": fault.New(fault.BadConfig, "the store is read-only").
		WithHint("give the address of the primary, or add target_session_attrs=read-write to it"),
	"53100": errDiskFull,
	"53300": fault.New(fault.StoreDown, "the store accepts no more connections").WithHint("raise max_connections, or run fewer replicas"),
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
