package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

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
