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
		owner, err := s.ClaimHome(ctx, key, replica, gone, silent)
		check(t, err)
		equal(t, owner, want)
		owner, err = s.Home(ctx, key)
		check(t, err)
		equal(t, owner, want)
	}
	if owner, err := s.ClaimHome(ctx, key, "one", "", silent); err == nil {
		t.Fatalf("a replica without a heartbeat got %q", owner)
	}
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
	owner, err := s.Home(ctx, key)
	check(t, err)
	equal(t, owner, "")
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
			_, err := one.ClaimHome(t.Context(), key, seen, "", silent)
			check(t, err)
		}
		owners := make([]string, n)
		equal(t, wins(t, one, two, n, func(s *store.Store, i int) (bool, error) {
			me := fmt.Sprint("replica", i)
			owner, err := s.ClaimHome(t.Context(), key, me, seen, silent)
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
		owner, err := s.ClaimHome(ctx, store.Home{Kind: kind, Key: key}, replica, "", silent)
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
	equal(t, n, 0) // it left a chat without an end
	claim(store.ChatLease, "会话 1", "two")
	n, err = s.TrimReplicas(ctx, silent)
	check(t, err)
	equal(t, n, 1)
	dead(nil, []string{"run_0", "run_1"})

	for _, want := range []bool{true, false} {
		changed, err := s.ChangeOutcome(ctx, "run_1", "running", "interrupted")
		check(t, err)
		equal(t, changed, want)
	}
	dead(nil, []string{"run_0"})
}
