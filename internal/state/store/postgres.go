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
	// callerTimeout is for what a call waits for, and how long no call waits after that was not enough.
	callerTimeout = 5 * time.Second
	// Together, and with the one that listens, they leave room for ten replicas under PostgreSQL's usual
	// limit of 100 connections.
	sharedConns = 6
	appendConns = 2
	// migrateLock is the advisory lock of migrations: any number that nobody else uses.
	migrateLock = 7_089_114_205
)

var postgresDialect = dialect{
	tables: `SELECT count(*), coalesce(sum(CASE WHEN tablename IN ` + ownTables + ` THEN 1 ELSE 0 END), 0)
		FROM pg_catalog.pg_tables WHERE schemaname = current_schema()`,
	size: `SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_catalog.pg_class AS c
		JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname = current_schema() AND c.relkind = 'r'`,
	// Beside the lock: a migration may take longer than other statements.
	lock:        fmt.Sprintf("SET LOCAL statement_timeout = 0; SELECT pg_advisory_xact_lock(%d)", migrateLock),
	schema:      sortByBytes,
	look:        lookPostgres,
	place:       func(n int) string { return fmt.Sprintf("$%d", n) },
	snapshot:    sql.LevelRepeatableRead,
	timeout:     methodTimeout,
	bytes:       "pg_column_size",
	measure:     measurePostgres,
	reuse:       reusePostgres,
	appendCalls: (*Store).appendPostgres,
	now:         postgresNow,
	takeTokens:  takeTokens(postgresNow, postgresLoosely),
	holdLimit:   holdLimit(strings.Replace(postgresNow, "now()", "clock_timestamp()", 1), postgresLoosely), // now() is when it began to wait
	explain:     explainPostgres,
}

const (
	postgresNow     = "(extract(epoch FROM now()) * 1000000000)::bigint"
	postgresLoosely = "FROM (SELECT set_config('synchronous_commit', 'off', true)) AS setting"
)

// sortByBytes makes texts sort as in SQLite, and leaves out what is for SQLite only. In a language's order, ids would not
// sort by time.
func sortByBytes(text string) string {
	return strings.ReplaceAll(withoutPart(text, "sqlite"), " TEXT ", ` TEXT COLLATE "C" `)
}

// openPostgres uses one pool for everything but records. These have one of their own, so that they
// do not wait for the console.
func (s *Store) openPostgres(ctx context.Context, dsn string) error {
	s.name = "postgres"
	s.dialect = postgresDialect
	s.results = resultTable{s}
	cfg, err := parsePostgres(dsn)
	if err != nil {
		return err
	}
	s.name = showPostgres(cfg)
	version, err := s.connectSoon(ctx, cfg)
	if err != nil || version >= len(migrations()) {
		return err
	}
	return s.migrate(ctx) // without a bound: it may have much to do
}

// connectSoon makes the pools, with a connection each, and reads the version. If others have all connections of the
// database, it waits for those that they give back.
func (s *Store) connectSoon(ctx context.Context, cfg *pgx.ConnConfig) (version int, err error) {
	began := time.Now()
	for {
		bounded, cancel := s.limit(ctx)
		err = s.connect(bounded, cfg.Copy())
		if err == nil {
			version, err = s.version(bounded)
		}
		cancel()
		if !acceptsNoMore(err) || time.Since(began) > 2*idleTime || ctx.Err() != nil {
			return version, err
		}
		s.append.Close()
		s.write.Close()
		time.Sleep(4 * exitTime)
	}
}

// connect makes the pools. Where the address leads to a pooler that gives each transaction another
// connection, such as PgBouncer, they set and prepare nothing in a session.
func (s *Store) connect(ctx context.Context, cfg *pgx.ConnConfig) error {
	s.pooled = cfg.DefaultQueryExecMode != pgx.QueryExecModeCacheStatement // it is said in the address
	if !s.pooled {
		direct := withSettings(cfg)
		err := s.tryConnect(ctx, direct)
		if err != nil || !s.pooled {
			s.direct = direct.Copy()
			s.direct.RuntimeParams["application_name"] += listenerName
			return err
		}
		cfg.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	}
	return s.tryConnect(ctx, cfg)
}

// tryConnect makes the pools and looks at the database. If it finds a pooler, it sets pooled.
func (s *Store) tryConnect(ctx context.Context, cfg *pgx.ConnConfig) error {
	records := newPool(cfg, appendConns)
	records.sessions = &s.sessions
	records.db.SetConnMaxIdleTime(0) // one of them stays, so that records never wait for a connection
	// A restart of the database leaves dead connections behind. Asking first costs a round
	// trip, which only the records, who send again instead, are too many for.
	shared := newPool(cfg, sharedConns, stdlib.OptionShouldPing(func(context.Context, stdlib.ShouldPingParams) bool { return true }))
	shared.sessions = &s.sessions
	records.release = func() {
		s.giveWay()
		shared.keepIdle(0)
	}
	shared.release = func() {
		s.giveWay()
		records.keepIdle(1)
	}
	s.append = records.db
	s.write = shared.db
	s.read = shared.db
	var encoding, mode string
	const look = "SELECT current_setting('server_encoding'), current_setting('" + planMode + "')"
	err := s.append.QueryRowContext(ctx, look).Scan(&encoding, &mode)
	want := cfg.RuntimeParams[planMode]
	if refused := refusesSettings(err); !s.pooled && (refused || err == nil && mode != want) {
		s.pooled = true
		return errors.Join(s.append.Close(), s.write.Close())
	}
	switch {
	case err != nil:
		return fmt.Errorf("read encoding: %w", err)
	case encoding != "UTF8":
		return fault.New(fault.BadConfig, "store %s has the encoding %s", s.name, encoding).
			WithHint("make the database with ENCODING 'UTF8' TEMPLATE template0")
	}
	return nil
}

// planMode is the setting by which a pooler is found out: it does not pass it on.
const planMode = "plan_cache_mode"

// withSettings adds what is set for the whole session, unless the address says otherwise.
func withSettings(cfg *pgx.ConnConfig) *pgx.ConnConfig {
	cfg = cfg.Copy()
	for name, value := range map[string]string{
		"statement_timeout":                   fmt.Sprint(statementTimeout.Milliseconds()),
		"idle_in_transaction_session_timeout": fmt.Sprint(2 * statementTimeout.Milliseconds()),
		planMode:                              "force_custom_plan", // one for any value would look for a rare one as for a common one
	} {
		if cfg.RuntimeParams[name] == "" {
			cfg.RuntimeParams[name] = value
		}
	}
	return cfg
}

// refusesSettings tells whether a pooler refuses a session with settings.
func refusesSettings(err error) bool {
	e := (*pgconn.PgError)(nil)
	return errors.As(err, &e) && strings.HasPrefix(e.Message, "unsupported startup parameter")
}

// parsePostgres reads the address and adds what every connection has. Its error never quotes the address,
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
	if cfg.RuntimeParams["application_name"] == "" {
		cfg.RuntimeParams["application_name"] = "toolfit"
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
	errSettings = fault.New(fault.BadConfig, "the pooler before the store refuses an option of its address").
			WithHint("remove the option, or add it to ignore_startup_parameters of PgBouncer")
	errSlow = fault.New(fault.StoreDown, "the store does not answer in time").WithHint("check the load of the database and the network")
)

func explainPostgres(err error) *fault.Error {
	e := (*pgconn.PgError)(nil)
	answered := errors.As(err, &e)
	switch {
	case answered && postgresErrors[e.Code] != nil:
		return postgresErrors[e.Code]
	case refusesSettings(err):
		return errSettings
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

// whileCalled does what a call waits for, of so many bytes: for a shorter time than other methods, and for a
// while not at all after the database did not answer in that time.
func (s *Store) whileCalled(ctx context.Context, bytes int, do func(context.Context) error) error {
	if s.opts.Now().UnixMicro() < s.silentUntil.Load() {
		return errSlow
	}
	const perSecond = 10 << 20
	bounded, cancel := context.WithTimeout(ctx, callerTimeout+time.Duration(bytes/perSecond)*time.Second)
	defer cancel()
	err := do(bounded)
	if err != nil && bounded.Err() != nil && ctx.Err() == nil {
		s.silentUntil.Store(s.opts.Now().Add(callerTimeout).UnixMicro())
	}
	return err
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
