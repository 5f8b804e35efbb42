package store_test

import (
	"database/sql"
	"fmt"
	"net"
	"net/url"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/store"
	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

func TestPostgres(t *testing.T) {
	pg := testparts.NeedPostgres(t)
	suite(t, func(t *testing.T) string { return pg.Schema(t) }, rawPostgres)
}

// Poolers that keep no prepared statements need this mode.
func TestPostgresWithoutPreparedStatements(t *testing.T) {
	pg := testparts.NeedPostgres(t)
	for i, test := range []func(*testing.T, func() *store.Store){
		testBytes, testKeys, testOddText, testBatches, testTrimSize, testFilter, testSavings, testResultPages, testTrimOwner,
		testSessionPages, testMessages, testDocuments, testUses, testRuns,
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			dsn := pg.Schema(t) + "&default_query_exec_mode=exec"
			test(t, func() *store.Store { return open(t, dsn, nil) })
		})
	}
	for i, test := range []func(*testing.T, string, rawFunc){
		testWaitingWhole, testWaitingForward, testWaitingLeases, testWaitingLimits, testWaitingPages, testTrimWaiting,
	} {
		t.Run(fmt.Sprint("waiting ", i), func(t *testing.T) { test(t, pg.Schema(t)+"&default_query_exec_mode=exec", rawPostgres) })
	}
}

func rawPostgres(t *testing.T, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open("pgx", dsn)
	check(t, err)
	t.Cleanup(func() { db.Close() })
	return db
}

func TestPostgresSortsByBytesInADatabaseOfALanguage(t *testing.T) {
	pg := testparts.NeedPostgres(t)
	dsn := pg.Database(t, "TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en'")
	testByteOrder(t, func() *store.Store { return open(t, dsn, nil) })
}

func TestPostgresUsesTheSchemaOfTheAddress(t *testing.T) {
	pg := testparts.NeedPostgres(t)
	dsn := pg.Database(t)
	db := rawPostgres(t, dsn)
	for _, statement := range []string{"CREATE TABLE public.calls (another INTEGER)", "CREATE SCHEMA gateway"} {
		_, err := db.Exec(statement)
		check(t, err)
	}
	testTwoHandles(t, func() *store.Store { return open(t, dsn+"&search_path=gateway", nil) })
	refused(t, dsn, "another program")
	refused(t, dsn+"&search_path=missing", "make or change tables")
}

// change returns the address after a change to its parts.
func change(t *testing.T, dsn string, f func(u *url.URL)) string {
	t.Helper()
	u, err := url.Parse(dsn)
	check(t, err)
	f(u)
	return u.String()
}

func TestPostgresRefusals(t *testing.T) {
	pg := testparts.NeedPostgres(t)
	good := pg.Database(t)
	check(t, pg.Exec("postgres", "CREATE ROLE guest LOGIN PASSWORD 'hunter2'"))
	t.Cleanup(func() { pg.Exec("postgres", "DROP ROLE guest") })
	latin := pg.Database(t, "TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'")
	cases := []struct {
		name, dsn string
		says      string
	}{
		{"a wrong password", change(t, good, func(u *url.URL) { u.User = url.UserPassword(u.User.Username(), "hunter2") }), "password"},
		{"an unknown user", change(t, good, func(u *url.URL) { u.User = url.UserPassword("nobody", "hunter2") }), "let this user in"},
		{"a missing database", change(t, good, func(u *url.URL) { u.Path = "/missing" }), "no such database"},
		{"a user that may not make tables", change(t, good, func(u *url.URL) { u.User = url.UserPassword("guest", "hunter2") }),
			"make or change tables"},
		{"a read-only database", good + "&default_transaction_read_only=on", "read-only"},
		{"an encoding that cannot hold every text", latin, "LATIN1"},
		{"an address that is none", "postgres://u:hunter2%zz@h/db", "cannot be understood"},
		{"a port that is none", "postgres://u:hunter2@h:hunter2/db", "cannot be understood"},
		{"a missing certificate", "postgres://u:hunter2@h/db?sslmode=verify-full&sslrootcert=/missing/root.crt", "root.crt"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			refused(t, c.dsn, c.says)
			_, err := store.Open(t.Context(), c.dsn, nil)
			if text := err.Error(); strings.Contains(text, "hunter2") || strings.Contains(text, "loopback-only") || strings.Contains(text, "\n") {
				t.Fatalf("got %q, want one line without the password", text)
			}
		})
	}
}

func TestUnreachablePostgresIsSaidSo(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	addr := l.Addr().String()
	check(t, l.Close())
	unreachable(t, "postgres://u:hunter2@"+addr+"/db?sslmode=disable", "cannot be reached")
	_, err = store.Open(t.Context(), "postgres://u@"+addr+"/db", nil) // tried with TLS and without
	if text := fault.As(err).Message; strings.Count(text, "connection refused") != 1 {
		t.Errorf("each attempt is told: %s", text)
	}
}

func TestSilentPostgresIsGivenUp(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0") // it takes connections and never answers
	check(t, err)
	defer l.Close()
	unreachable(t, "postgres://u:hunter2@"+l.Addr().String()+"/db?sslmode=disable&connect_timeout=1", "store postgres://u@127.0.0.1:")
}

func unreachable(t *testing.T, dsn, says string) {
	t.Helper()
	_, err := store.Open(t.Context(), dsn, nil)
	if f := fault.As(err); f.Hint == "" || !strings.Contains(f.Message, says) || strings.Contains(err.Error(), "hunter2") {
		t.Fatalf("got %v, want a fault that says %q", err, says)
	}
}

func TestPostgresThatComesBackIsUsedAgainAndLostNothingAcknowledged(t *testing.T) {
	pg := testparts.OwnPostgres(t)
	s := open(t, pg.Schema(t), &store.Options{Durable: true})
	ctx := t.Context()
	acknowledged := 0
	add := func() error {
		err := s.AppendCalls(ctx, []store.Call{sampleCall(acknowledged)})
		if err == nil {
			acknowledged++
		}
		return err
	}
	for round, stop := range []func(testing.TB){pg.Stop, pg.Crash} {
		for range 50 {
			check(t, add())
		}
		check(t, s.SaveTools(ctx, sampleServer("a")))
		stop(t)
		for range 3 {
			_, readErr := s.Servers(ctx)
			for _, err := range []error{add(), s.SaveTools(ctx, sampleServer("b")), readErr} {
				f := fault.As(err)
				if err == nil || f.Hint == "" || !strings.Contains(f.Message, "cannot be reached") && !strings.Contains(f.Message, "shutting down") {
					t.Fatalf("round %d, while it is away: got %v, want a fault that says so", round, err)
				}
			}
		}
		pg.Start(t)
		check(t, add()) // at once: every lost connection is replaced
		check(t, s.SaveTools(ctx, sampleServer("a")))
	}
	for i := range acknowledged {
		_, err := s.Call(ctx, sampleCall(i).ID)
		check(t, err)
	}
	servers, err := s.Servers(ctx)
	check(t, err)
	equal(t, servers, []store.Server{sampleServer("a")})

	// A restart between two calls is not even seen.
	odd := sampleCall(1000)
	odd.Message = "sent twice\x00\U0010FE41"
	pg.Stop(t)
	pg.Start(t)
	check(t, s.AppendCalls(ctx, []store.Call{odd}))
	got, err := s.Call(ctx, odd.ID)
	check(t, err)
	equal(t, got, odd)
	check(t, s.SaveCheck(ctx, "a", noon, ""))
}

func TestStatementThatTakesTooLongIsSaidSo(t *testing.T) {
	pg := testparts.NeedPostgres(t)
	dsn := pg.Database(t)
	s := open(t, dsn+"&statement_timeout=2000", nil)
	tx, err := rawPostgres(t, dsn).Begin()
	check(t, err)
	defer tx.Rollback()
	_, err = tx.Exec("LOCK TABLE servers")
	check(t, err)
	err = s.SaveCheck(t.Context(), "a", noon, "")
	if f := fault.As(err); f.Hint == "" || !strings.Contains(f.Message, "in time") {
		t.Fatalf("got %v, want a fault that says so", err)
	}
	check(t, tx.Rollback())
	check(t, s.SaveCheck(t.Context(), "a", noon, ""))
}

func TestPostgresConnectionsAreBounded(t *testing.T) {
	pg := testparts.NeedPostgres(t)
	dsn := pg.Database(t)
	s := open(t, dsn, nil)
	errs := make(chan error)
	const many = 64
	for i := range many {
		go func() {
			_, err := s.Calls(t.Context(), store.CallFilter{})
			if err == nil {
				err = s.AppendCalls(t.Context(), []store.Call{sampleCall(i)})
			}
			errs <- err
		}()
	}
	for range many {
		check(t, <-errs)
	}
	var conns int
	check(t, rawPostgres(t, dsn).QueryRow("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'toolfit' AND datname = "+
		"current_database()").Scan(&conns))
	if conns < 2 || conns > 8 {
		t.Fatalf("%d connections", conns)
	}
}

func BenchmarkPostgresAppendCalls(b *testing.B) {
	pg := testparts.NeedPostgres(b)
	for _, size := range []int{1, 64, 256} {
		b.Run(fmt.Sprintf("batch=%d", size), func(b *testing.B) { benchmarkAppend(b, pg.Database(b), size, sampleCall) })
	}
}
