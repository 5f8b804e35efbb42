package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/store"
)

const silent = 20 * time.Second

func beat(t *testing.T, s *store.Store, ids ...string) {
	t.Helper()
	for _, id := range ids {
		check(t, s.BeatReplica(t.Context(), store.Replica{ID: id, URL: "http://" + id, Version: "1"}))
	}
}

func testReplicas(t *testing.T, dsn string, _ rawFunc) {
	clock := new(fakeClock)
	s := open(t, dsn, clock.options())
	alive := func(want ...string) {
		t.Helper()
		found, err := s.Replicas(t.Context(), silent)
		check(t, err)
		var ids []string
		for _, r := range found {
			equal(t, r.URL, "http://"+r.ID)
			equal(t, r.Version, "1")
			ids = append(ids, r.ID)
		}
		equal(t, ids, want)
	}
	alive()
	beat(t, s, "two", "one")
	alive("one", "two")
	clock.pass(silent - time.Second)
	beat(t, s, "one")
	clock.pass(time.Second)
	alive("one")
	n, err := s.TrimReplicas(t.Context(), silent)
	check(t, err)
	equal(t, n, 1)
	beat(t, s, "two")
	check(t, s.DropReplica(t.Context(), "one"))
	check(t, s.DropReplica(t.Context(), "one"))
	alive("two")
	if err := s.BeatReplica(t.Context(), store.Replica{}); !fault.Is(err, fault.BadRequest) {
		t.Fatalf("no id: got %v, want a bad request", err)
	}
}

func testHomes(t *testing.T, dsn string, _ rawFunc) {
	clock := new(fakeClock)
	s := open(t, dsn, clock.options())
	ctx := t.Context()
	key := store.Home{Kind: "session", Key: "会话 1"}
	claim := func(replica, gone, want string) {
		t.Helper()
		owner, data, err := s.ClaimHome(ctx, key, replica, gone, silent)
		check(t, err)
		equal(t, owner, want)
		equal(t, data, nil)
	}
	claim("without a heartbeat", "", "without a heartbeat")
	beat(t, s, "one", "two", "three")
	claim("one", "", "one")
	claim("one", "", "one")
	claim("two", "", "one")
	claim("two", "three", "one") // the owner is another than the one that was seen
	claim("two", "one", "two")
	claim("one", "one", "two")
	clock.pass(silent)
	beat(t, s, "one", "three")
	claim("three", "", "three")
	check(t, s.DropHome(ctx, key, "two"))
	claim("one", "", "three")
	check(t, s.DropHome(ctx, key, "three"))
	claim("one", "", "one")
	check(t, s.DropReplica(ctx, "one"))
	claim("two", "", "two")
}

func testHomeData(t *testing.T, dsn string, _ rawFunc) {
	clock := new(fakeClock)
	s := open(t, dsn, clock.options())
	ctx := t.Context()
	key := store.Home{Kind: "seat", Key: "files 会话"}
	claim := func(s *store.Store, replica, want, data string) {
		t.Helper()
		owner, got, err := s.ClaimHome(ctx, key, replica, "", silent)
		check(t, err)
		equal(t, owner, want)
		equal(t, string(got), data)
	}
	beat(t, s, "one", "two")
	claim(s, "one", "one", "")
	check(t, s.StoreHome(ctx, key, "two", []byte("another's")))
	claim(s, "two", "one", "")
	check(t, s.StoreHome(ctx, key, "one", []byte("what is held")))
	claim(s, "two", "one", "what is held")
	check(t, s.DropReplica(ctx, "one")) // what is stored outlives it
	claim(s, "two", "two", "what is held")
	clock.pass(2 * time.Hour)
	_, err := s.TrimReplicas(ctx, time.Hour)
	check(t, err)
	claim(s, "alone", "alone", "what is held")
	for range 3 {
		clock.pass(23 * time.Hour)
		_, err = s.TrimReplicas(ctx, time.Hour)
		check(t, err)
		claim(s, "alone", "alone", "what is held")
	}
	check(t, s.EndHome(ctx, "会话"))
	check(t, s.EndHome(ctx, "会话"))
	for _, want := range []bool{true, false} {
		over, err := s.HasEnded(ctx, "会话")
		check(t, err)
		equal(t, over, want)
		clock.pass(25 * time.Hour)
		_, err = s.TrimReplicas(ctx, time.Hour)
		check(t, err)
	}
	claim(s, "alone", "alone", "")
}

func testHomeSecret(t *testing.T, dsn string, _ rawFunc) {
	first, err := store.ParseSecretKey("the first of two keys")
	check(t, err)
	second, err := store.ParseSecretKey("the second of two keys")
	check(t, err)
	key := store.Home{Kind: "seat", Key: "files 1"}
	s := open(t, dsn, &store.Options{SecretKey: first})
	_, _, err = s.ClaimHome(t.Context(), key, "one", "", silent)
	check(t, err)
	check(t, s.StoreHome(t.Context(), key, "one", []byte("a secret id")))
	check(t, s.Close())
	s = open(t, dsn, &store.Options{SecretKey: second})
	_, data, err := s.ClaimHome(t.Context(), key, "two", "", silent)
	check(t, err)
	if data == nil || len(data) != 0 {
		t.Errorf("what another key has sealed: got %q, want that there was something", data)
	}
}

func testClaimHome(t *testing.T, dsn string, _ rawFunc) {
	one := open(t, dsn, nil)
	two := open(t, dsn, nil)
	const n = 40
	for i := range n {
		beat(t, one, fmt.Sprint("replica", i))
	}
	key := store.Home{Kind: "session", Key: "1"}
	before := ""
	beat(t, one, "old")
	for _, seen := range []string{"", "old"} { // nobody's, and one whose owner does not answer
		if seen != "" {
			check(t, one.DropHome(t.Context(), key, before))
			_, _, err := one.ClaimHome(t.Context(), key, seen, "", silent)
			check(t, err)
		}
		owners := make([]string, n)
		equal(t, wins(t, one, two, n, func(s *store.Store, i int) (bool, error) {
			me := fmt.Sprint("replica", i)
			owner, _, err := s.ClaimHome(t.Context(), key, me, seen, silent)
			owners[i] = owner
			return owner == me, err
		}), 1)
		before = owners[0]
		for _, owner := range owners {
			equal(t, owner, before)
		}
	}
}

func testLeases(t *testing.T, dsn string, _ rawFunc) {
	clock := new(fakeClock)
	s := open(t, dsn, clock.options())
	ctx := t.Context()
	beat(t, s, "one", "two")
	claim := func(kind, key, replica string) {
		t.Helper()
		owner, _, err := s.ClaimHome(ctx, store.Home{Kind: kind, Key: key}, replica, "", silent)
		check(t, err)
		equal(t, owner, replica)
	}
	run := func(id, outcome string) {
		t.Helper()
		check(t, s.SaveRun(ctx, store.Run{ID: id, At: clock.now(), Outcome: outcome, Summary: []byte("{}"), Report: []byte("{}")}))
	}
	dead := func(chats, runs []string) {
		t.Helper()
		homes, err := s.DeadHomes(ctx, store.ChatLease, silent, 0)
		check(t, err)
		var keys []string
		for _, h := range homes {
			equal(t, h.Kind, store.ChatLease)
			keys = append(keys, h.Key)
		}
		equal(t, keys, chats)
		rows, err := s.DeadRuns(ctx, "running", silent, 0)
		check(t, err)
		keys = nil
		for _, r := range rows {
			keys = append(keys, r.ID)
		}
		equal(t, keys, runs)
	}
	claim(store.ChatLease, "会话 1", "one")
	claim(store.ChatLease, "chat 2", "two")
	claim(store.RunLease, "run_1", "one")
	claim(store.RunLease, "run_2", "two")
	claim("session", "chat 2", "one")
	run("run_1", "running")
	run("run_2", "running")
	run("run_3", "passed")
	dead(nil, nil)
	run("run_0", "running") // without a lease
	dead(nil, []string{"run_0"})

	check(t, s.LeaveReplica(ctx, "one"))
	found, err := s.Replicas(ctx, silent)
	check(t, err)
	equal(t, len(found), 1)
	owner, err := s.Home(ctx, store.Home{Kind: "session", Key: "chat 2"})
	check(t, err)
	equal(t, owner, "")
	dead(nil, []string{"run_0"})

	clock.pass(silent)
	beat(t, s, "two")
	dead([]string{"会话 1"}, []string{"run_0", "run_1"})
	n, err := s.TrimReplicas(ctx, silent)
	check(t, err)
	equal(t, n, 1)
	dead([]string{"会话 1"}, []string{"run_0", "run_1"})
	claim(store.ChatLease, "会话 1", "two")
	dead(nil, []string{"run_0", "run_1"})

	for _, want := range []bool{true, false} {
		changed, err := s.ChangeOutcome(ctx, "run_1", "running", "interrupted")
		check(t, err)
		equal(t, changed, want)
	}
	dead(nil, []string{"run_0"})
}
