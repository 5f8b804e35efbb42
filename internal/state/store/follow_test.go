package store_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/state/store"
	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

// follower hears what others change in a store.
type follower struct {
	*store.Store
	mu    sync.Mutex
	heard []store.Change
	times int
}

func follow(t *testing.T, s *store.Store) *follower {
	t.Helper()
	f := &follower{Store: s}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.Follow(ctx, func(changes []store.Change) error {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.times++
			f.heard = append(f.heard, changes...)
			return nil
		})
	}()
	t.Cleanup(func() {
		stop()
		<-ended
	})
	return f
}

// listening waits until changes are told, and forgets what was heard until then.
func listening(t *testing.T, f *follower) {
	t.Helper()
	within(t, "it listens", f.Listening)
	within(t, "it has looked at everything", func() bool { return f.has(store.Change{}) })
	time.Sleep(100 * time.Millisecond)
	f.forget()
}

func (f *follower) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.heard = nil
	f.times = 0
}

func (f *follower) has(c store.Change) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Contains(f.heard, c)
}

func within(t *testing.T, what string, so func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !so(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within a minute: %s", what)
		}
	}
}

// changeAll changes everything that others follow, and returns what they hear.
func changeAll(t *testing.T, s *store.Store) (changes []store.Change) {
	t.Helper()
	ctx := t.Context()
	changed := func(table, key string, err error) {
		t.Helper()
		check(t, err)
		changes = append(changes, store.Change{Table: table, Key: key})
	}
	changed("server_configs", "世界", s.SaveServerConfig(ctx, "世界", []byte("{}"), false))
	changed("keys", "k1", s.CreateKey(ctx, store.Key{ID: "k1", Name: "ann", Hash: []byte{1}}))
	check(t, s.SavePerson(ctx, store.Person{ID: "u_1", SeenAt: noon}))
	_, err := s.DisablePerson(ctx, "u_1", noon)
	changed("people", "u_1", err)
	_, err = s.SaveRule(ctx, store.Document{ID: "r 1", Body: []byte("{}")})
	changed("rules", "r 1", err)
	_, err = s.SaveRecipe(ctx, store.Document{ID: "totals", Body: []byte("{}")})
	changed("recipes", "totals", err)
	_, err = s.SaveAgent(ctx, store.Document{ID: "a\x00\xff", Body: []byte("{}")})
	changed("agents", "a\x00\xff", err)
	changed("servers", "x", s.SaveTools(ctx, sampleServer("x")))
	changed("decisions", "x", s.Decide(ctx, "x", []store.Decision{{Kind: "tool", Name: "one", Verdict: store.Approved, At: noon}}))
	changed("uses", "ann", s.AddUse(ctx, store.Use{Owner: "ann", Tool: "t", Terms: []byte("[]"), At: noon}))
	w := store.Waiting{ID: "c_1", Owner: "ann", State: store.Working, Replica: "r", Lease: time.Now(), Expires: time.Now().Add(time.Hour)}
	check(t, s.AddWaiting(ctx, w, store.WaitingLimits{}))
	w, err = s.Waiting(ctx, "", "c_1")
	check(t, err)
	w.State = store.Completed
	_, err = s.SaveWaiting(ctx, &w)
	changed("waiting", "c_1", err)
	return changes
}

func TestOtherGatewaysHearOfEveryChangeButTheirOwn(t *testing.T) {
	dsn := testparts.NeedPostgres(t).Schema(t)
	us := follow(t, open(t, dsn, nil))
	them := follow(t, open(t, dsn, nil))
	stranger := follow(t, open(t, testparts.NeedPostgres(t).Schema(t), nil))
	for _, f := range []*follower{us, them, stranger} {
		listening(t, f)
	}
	want := changeAll(t, us.Store)
	within(t, "the others have heard of all", func() bool {
		return !slices.ContainsFunc(want, func(c store.Change) bool { return !them.has(c) })
	})
	if !slices.Equal(them.heard, want) {
		t.Errorf("heard %q,\nnot %q", them.heard, want)
	}
	if len(us.heard) > 0 || len(stranger.heard) > 0 {
		t.Errorf("one hears %q of itself, and %q of another store", us.heard, stranger.heard)
	}
	them.forget()
	check(t, us.UseKeys(t.Context(), []string{"k1"}, noon))
	check(t, us.DeleteServerConfig(t.Context(), "世界"))
	deleteKey(t, us.Store, "ann")
	within(t, "what is deleted is heard of", func() bool {
		return them.has(store.Change{Table: "server_configs", Key: "世界"}) && them.has(store.Change{Table: "keys", Key: "k1"})
	})
	if len(them.heard) != 2 {
		t.Errorf("that a key was used is heard of: %q", them.heard)
	}
}

func TestWhatNobodyFollowsIsNotTold(t *testing.T) {
	dsn := testparts.NeedPostgres(t).Schema(t)
	us := follow(t, open(t, dsn, nil))
	s := open(t, dsn, nil)
	listening(t, us)
	ctx := t.Context()
	check(t, s.SaveCheck(ctx, "x", noon, "")) // new
	check(t, s.SaveCheck(ctx, "x", noon, "down"))
	w := store.Waiting{ID: "c_1", Owner: "ann", State: store.Working, Replica: "r", Lease: time.Now(), Expires: time.Now().Add(time.Hour)}
	check(t, s.AddWaiting(ctx, w, store.WaitingLimits{}))
	_, err := s.RenewWaiting(ctx, "r", time.Now().Add(time.Minute))
	check(t, err)
	w, err = s.Waiting(ctx, "", "c_1")
	check(t, err)
	w.Message = "half done"
	_, err = s.SaveWaiting(ctx, &w)
	check(t, err)
	check(t, s.AppendCalls(ctx, []store.Call{sampleCall(1)}))
	long := strings.Repeat("long ", 2000)
	check(t, s.AddUse(ctx, store.Use{Owner: long, Tool: "t", Terms: []byte("[]"), At: noon}))
	within(t, "a key that is too long is left out", func() bool { return us.has(store.Change{Table: "uses"}) })
	if want := []store.Change{{Table: "servers", Key: "x"}, {Table: "uses"}}; !slices.Equal(us.heard, want) {
		t.Errorf("heard %q", us.heard)
	}
}

func TestCallsAreToldToThoseWhoWantThem(t *testing.T) {
	dsn := testparts.NeedPostgres(t).Schema(t)
	us := follow(t, open(t, dsn, nil))
	listening(t, us)
	for _, durable := range []bool{false, true} {
		them := follow(t, open(t, dsn, &store.Options{Durable: durable}))
		listening(t, them)
		check(t, us.Want(t.Context(), store.CallsTable, "more"))
		within(t, "they know that we want it", func() bool { return them.Wanted(store.CallsTable) && them.Wanted("more") })
		if us.Wanted(store.CallsTable) || them.Wanted("less") {
			t.Error("what nobody wants is wanted")
		}
		var calls []store.Call
		for i := range 1000 {
			c := sampleCall(i)
			c.ID = fmt.Sprintf("c_%v_%020d", durable, i)
			calls = append(calls, c)
		}
		var told []string
		more := 0
		for _, batch := range [][]store.Call{calls[:3], calls[3:]} {
			us.forget()
			check(t, them.AppendCalls(t.Context(), batch))
			within(t, "we hear of them", func() bool {
				us.mu.Lock()
				defer us.mu.Unlock()
				return len(us.heard) == 1
			})
			ids, left := store.ToldCalls(us.heard[0])
			told = append(told, ids...)
			more += left
		}
		if len(told)+more != 1000 || len(told) < 250 || told[0] != calls[0].ID {
			t.Errorf("told of %d and %d more", len(told), more)
		}
		got, err := us.CallsByID(t.Context(), told)
		check(t, err)
		if len(got) != len(told) || got[0].ID != calls[0].ID {
			t.Errorf("%d of %d read", len(got), len(told))
		}
	}
}

// TestAFloodOfChangesIsPassedOnTogether: how many of them at once depends on how fast they come, but none is lost.
func TestAFloodOfChangesIsPassedOnTogether(t *testing.T) {
	dsn := testparts.NeedPostgres(t).Schema(t)
	us := follow(t, open(t, dsn, nil))
	listening(t, us)
	db := rawPostgres(t, dsn)
	_, err := db.ExecContext(t.Context(), `INSERT INTO rules (id, version, body, created_at, updated_at)
		SELECT 'r' || n, 1, '', 0, 0 FROM generate_series(1, 10000) AS n`)
	check(t, err)
	within(t, "all are told, one by one or as the rest", func() bool {
		return us.has(store.Change{Table: "rules"}) || us.has(store.Change{Table: "rules", Key: "r10000"})
	})
	us.mu.Lock()
	defer us.mu.Unlock()
	t.Logf("10,000 changes were passed on %d times, as %d", us.times, len(us.heard))
	if us.times > 1000 {
		t.Error("they were passed on nearly one by one")
	}
}

func TestALostConnectionLosesNoChanges(t *testing.T) {
	pg := testparts.NeedPostgres(t)
	dsn := pg.Schema(t)
	us := follow(t, open(t, dsn, nil))
	listening(t, us)
	check(t, pg.Exec("postgres", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'toolfit listener'"))
	within(t, "it looks at everything again", func() bool { return us.has(store.Change{}) && us.Listening() })
	us.forget()
	s := open(t, dsn, nil)
	check(t, s.CreateKey(t.Context(), store.Key{ID: "k1", Name: "ann", Hash: []byte{1}}))
	within(t, "it listens again", func() bool { return us.has(store.Change{Table: "keys", Key: "k1"}) })
}

func TestAfterAnErrorAnythingMayHaveChanged(t *testing.T) {
	s := open(t, t.TempDir()+"/x.db", nil)
	ctx, stop := context.WithCancel(t.Context())
	times := 0
	s.Follow(ctx, func(changes []store.Change) error {
		if !slices.Equal(changes, []store.Change{{}}) {
			t.Errorf("got %q", changes)
		}
		if times++; times == 2 {
			stop()
		}
		return fmt.Errorf("not now")
	})
}

// Where nobody tells, others are noticed all the same.
func TestChangesAreFoundWithoutBeingTold(t *testing.T) {
	t.Run("SQLite", func(t *testing.T) {
		path := t.TempDir() + "/x.db"
		us := follow(t, open(t, path, nil))
		within(t, "it has looked", func() bool { return us.has(store.Change{}) })
		time.Sleep(1500 * time.Millisecond)
		us.forget()
		changeAll(t, us.Store)
		check(t, us.AppendCalls(t.Context(), []store.Call{sampleCall(1)}))
		time.Sleep(2500 * time.Millisecond)
		if len(us.heard) > 0 {
			t.Errorf("it hears %q of itself", us.heard)
		}
		deleteKey(t, open(t, path, nil), "k1")
		within(t, "the change is found", func() bool { return us.has(store.Change{}) })
		check(t, us.Want(t.Context(), "x"))
	})
	t.Run("PgBouncer", func(t *testing.T) {
		pg := testparts.NeedPostgres(t)
		_, database, _ := strings.Cut(pg.Database(t), "/test_")
		database, _, _ = strings.Cut("test_"+database, "?")
		us := follow(t, open(t, pg.Bouncer(t, database), nil))
		within(t, "it has looked", func() bool { return us.has(store.Change{}) })
		us.forget()
		within(t, "it looks again", func() bool { return us.has(store.Change{}) })
		if us.Listening() {
			t.Error("it listens")
		}
	})
}

func TestStampsChangeWithListsAndDecisions(t *testing.T) {
	for name, dsn := range map[string]string{"SQLite": t.TempDir() + "/x.db", "PostgreSQL": testparts.NeedPostgres(t).Schema(t)} {
		t.Run(name, func(t *testing.T) {
			s := open(t, dsn, nil)
			ctx := t.Context()
			srv := sampleServer("x")
			seen := map[store.Stamp]bool{}
			for i, change := range []func() error{
				func() error { return s.SaveTools(ctx, srv) },
				func() error {
					return s.Decide(ctx, "x", []store.Decision{{Name: "one", At: noon}, {Name: "two", At: noon}})
				},
				func() error { return s.Decide(ctx, "x", []store.Decision{{Name: "one", At: noon.Add(-time.Hour)}}) },
				func() error { srv.ListedAt = noon.Add(time.Microsecond); return s.SaveTools(ctx, srv) },
			} {
				check(t, change())
				check(t, s.SaveCheck(ctx, "x", noon.Add(time.Hour), "down"))
				stamps, err := s.Stamps(ctx)
				check(t, err)
				row, err := s.Server(ctx, "x")
				check(t, err)
				if stamps["x"] != row.Stamp() || seen[row.Stamp()] {
					t.Errorf("change %d: %v, of the row %v", i, stamps["x"], row.Stamp())
				}
				seen[row.Stamp()] = true
			}
		})
	}
}
