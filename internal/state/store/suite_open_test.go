package store_test

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/store"
)

type rawFunc = func(t *testing.T, dsn string) *sql.DB

func testRestart(t *testing.T, dsn string, _ rawFunc) {
	ctx := t.Context()
	s, err := store.Open(ctx, dsn, &store.Options{Durable: true})
	check(t, err)
	srv := sampleServer("a")
	key := store.Key{ID: "i", Name: "n", Hash: []byte{1}, CreatedAt: noon}
	check(t, s.SaveTools(ctx, srv))
	check(t, s.CreateKey(ctx, key))
	check(t, s.AppendCalls(ctx, []store.Call{sampleCall(1)}))
	check(t, s.SaveServerConfig(ctx, "a", []byte(`{}`), false))
	check(t, s.SaveResult(ctx, sampleResult(1)))
	waiting := sampleWaiting(1)
	waiting.Expires = time.Now().Add(time.Hour).Truncate(time.Microsecond).UTC()
	check(t, s.AddWaiting(ctx, waiting, store.WaitingLimits{}))
	saved, err := s.SaveWaiting(ctx, &waiting)
	check(t, err)
	equal(t, saved, true)
	check(t, s.Close())

	s = open(t, dsn, nil)
	servers, err := s.Servers(ctx)
	check(t, err)
	equal(t, servers, []store.Server{srv})
	keys, err := s.Keys(ctx)
	check(t, err)
	equal(t, keys, []store.Key{key})
	call, err := s.Call(ctx, sampleCall(1).ID)
	check(t, err)
	equal(t, call, sampleCall(1))
	configs, err := s.ServerConfigs(ctx)
	check(t, err)
	equal(t, len(configs), 1)
	result, err := s.Result(ctx, sampleResult(1).Owner, sampleResult(1).Ref)
	check(t, err)
	equal(t, result, sampleResult(1))
	stillWaiting, err := s.Waiting(ctx, waiting.Owner, waiting.ID)
	check(t, err)
	equal(t, stillWaiting, waiting)
}

func testManyOpen(t *testing.T, dsn string, _ rawFunc) {
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			s, err := store.Open(t.Context(), dsn, nil)
			if err != nil {
				t.Error(err)
				return
			}
			if err := errors.Join(s.Patient(), s.SaveTools(t.Context(), sampleServer("a"))); err != nil {
				t.Error(err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	servers, err := open(t, dsn, nil).Servers(t.Context())
	check(t, err)
	equal(t, servers, []store.Server{sampleServer("a")})
}

// A number that two files share would change the order of those that were released.
func TestEveryMigrationHasTheNumberOfItsPlace(t *testing.T) {
	files, err := os.ReadDir("migrations")
	check(t, err)
	for i, f := range files {
		if !strings.HasPrefix(f.Name(), fmt.Sprintf("%04d_", i+1)) {
			t.Errorf("migration %d is %s", i+1, f.Name())
		}
	}
}

func TestAMigrationThatTakesAwayNamesWhatProgramsMustKnow(t *testing.T) {
	texts := map[string]string{"1_a": "CREATE", "2_b": "-- what\nCREATE", "3_c": "-- needs: 2\r\nDROP", "4_d": "CREATE"}
	read := func(name string) ([]byte, error) { return []byte(texts[strings.TrimPrefix(name, "migrations/")]), nil }
	names := []string{"migrations/1_a", "migrations/2_b", "migrations/3_c", "migrations/4_d"}
	for n, want := range []int{0, 0, 0, 2, 2} {
		got, err := store.Oldest(names[:n], read)
		check(t, err)
		equal(t, got, want)
	}
	texts["4_d"] = "-- needs: 7\nDROP"
	if _, err := store.Oldest(names, read); err == nil || !strings.Contains(err.Error(), `4_d needs "7"`) {
		t.Errorf("a migration that there is not: %v", err)
	}
}

// refused opens the store and wants it refused with these words.
func refused(t *testing.T, dsn string, says ...string) {
	t.Helper()
	s, err := store.Open(t.Context(), dsn, nil)
	if err == nil {
		s.Close()
		t.Fatal("it was opened")
	}
	if !fault.Is(err, fault.BadConfig) || fault.As(err).Hint == "" {
		t.Fatalf("got %v, want a bad_config with a hint", err)
	}
	for _, word := range says {
		if !strings.Contains(err.Error(), word) {
			t.Fatalf("got %v, want it to say %q", err, word)
		}
	}
}

func testNewer(t *testing.T, dsn string, raw rawFunc) {
	s, err := store.Open(t.Context(), dsn, nil)
	check(t, err)
	check(t, s.Close())
	db := raw(t, dsn)
	_, err = db.Exec("UPDATE schema_version SET version = 1000, oldest = 999")
	check(t, err)
	refused(t, dsn, "schema version 1000", "newer toolfit")
	unchanged := func() {
		t.Helper()
		var version int
		check(t, db.QueryRow("SELECT version FROM schema_version").Scan(&version))
		equal(t, version, 1000)
	}
	unchanged()
	_, err = db.Exec("UPDATE schema_version SET oldest = 1")
	check(t, err)
	_, err = db.Exec("ALTER TABLE calls ADD COLUMN later TEXT NOT NULL DEFAULT ''")
	check(t, err)
	s = open(t, dsn, nil)
	check(t, s.AppendCalls(t.Context(), []store.Call{sampleCall(1)}))
	call, err := s.Call(t.Context(), sampleCall(1).ID)
	check(t, err)
	equal(t, call, sampleCall(1))
	unchanged()
}

func testOtherProgram(t *testing.T, dsn string, raw rawFunc) {
	db := raw(t, dsn)
	for _, table := range []string{"bookmarks (url TEXT)", "schema_version (version INTEGER)"} { // the second name is a common one
		_, err := db.Exec("CREATE TABLE " + table)
		check(t, err)
		refused(t, dsn, "another program")
	}
	if _, err := db.Exec("SELECT * FROM calls"); err == nil {
		t.Fatal("tables were made")
	}
}
