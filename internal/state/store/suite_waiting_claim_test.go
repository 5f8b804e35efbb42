package store_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/store"
)

// wins counts how many of n that try at once, on two handles, succeed.
func wins(t *testing.T, one, two *store.Store, n int, try func(s *store.Store, i int) (bool, error)) int {
	t.Helper()
	var won atomic.Int64
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			s := one
			if i%2 == 1 {
				s = two
			}
			ok, err := try(s, i)
			if err != nil {
				t.Error(err)
			}
			if ok {
				won.Add(1)
			}
		})
	}
	wg.Wait()
	return int(won.Load())
}

func testWaitingClaim(t *testing.T, dsn string, _ rawFunc) {
	clock := new(fakeClock)
	one := open(t, dsn, clock.options())
	two := open(t, dsn, clock.options())
	ctx := t.Context()
	free := sampleWaiting(1)
	free.Replica = ""
	lost := sampleWaiting(2)
	check(t, one.AddWaiting(ctx, free, store.WaitingLimits{}))
	check(t, one.AddWaiting(ctx, lost, store.WaitingLimits{}))
	if claimed, err := one.ClaimWaiting(ctx, &lost, "two", noon); claimed || err != nil {
		t.Fatalf("claimed while the lease runs: %v, %v", claimed, err)
	}
	clock.pass(time.Minute + time.Microsecond)
	for _, w := range []store.Waiting{free, lost} {
		got := make([]store.Waiting, 50)
		equal(t, wins(t, one, two, len(got), func(s *store.Store, i int) (bool, error) {
			mine := w
			claimed, err := s.ClaimWaiting(ctx, &mine, fmt.Sprint("replica", i), clock.now().Add(time.Minute))
			if claimed {
				got[i] = mine
			}
			return claimed, err
		}), 1)
		stored, err := two.Waiting(ctx, "", w.ID)
		check(t, err)
		won := slices.IndexFunc(got, func(w store.Waiting) bool { return w.ID != "" })
		got[won].Lease = got[won].Lease.UTC()
		equal(t, stored, got[won])
		equal(t, stored.Attempt, 2)
		equal(t, wins(t, one, two, 50, func(s *store.Store, i int) (bool, error) {
			mine := stored
			mine.Message = fmt.Sprint(i)
			return s.SaveWaiting(ctx, &mine)
		}), 1)
	}
}

func testWaitingLeases(t *testing.T, dsn string, _ rawFunc) {
	clock := new(fakeClock)
	s := open(t, dsn, clock.options())
	ctx := t.Context()
	addAll(t, s, 6)
	want := waitingIDs([]store.Waiting{sampleWaiting(0), sampleWaiting(1), sampleWaiting(2), sampleWaiting(3)})
	done := sampleWaiting(4)
	done.State = store.Completed
	other := sampleWaiting(5)
	other.Replica = "two"
	for _, w := range []*store.Waiting{&done, &other} {
		if saved, err := s.SaveWaiting(ctx, w); err != nil || !saved {
			t.Fatal(saved, err)
		}
	}
	renewed, err := s.RenewWaiting(ctx, "one", noon.Add(time.Hour))
	check(t, err)
	slices.Sort(renewed)
	equal(t, renewed, want)

	clock.pass(2 * time.Minute)
	lost, err := s.LostWaiting(ctx, 0)
	check(t, err)
	equal(t, lost, []store.Waiting{other})

	// Who saves with the lease that it has read does not shorten the one that was renewed.
	first := sampleWaiting(0)
	saved, err := s.SaveWaiting(ctx, &first)
	check(t, err)
	equal(t, saved, true)
	lost, err = s.LostWaiting(ctx, 0)
	check(t, err)
	equal(t, waitingIDs(lost), []string{other.ID})

	clock.pass(time.Hour)
	lost, err = s.LostWaiting(ctx, 3)
	check(t, err)
	equal(t, waitingIDs(lost), []string{other.ID, want[0], want[1]})
	if claimed, err := s.ClaimWaiting(ctx, &lost[1], "three", clock.now().Add(time.Hour)); err != nil || !claimed {
		t.Fatal(claimed, err)
	}
	renewed, err = s.RenewWaiting(ctx, "one", clock.now().Add(time.Hour))
	check(t, err)
	slices.Sort(renewed)
	equal(t, renewed, want[1:]) // the first was taken over
	clock.pass(23 * time.Hour)
	lost, err = s.LostWaiting(ctx, 0)
	check(t, err)
	equal(t, lost, nil) // they have expired
}

// Of a claim and a renewal at once, one wins: the call never has two that work on it.
func testWaitingClaimOrRenew(t *testing.T, dsn string, _ rawFunc) {
	clock := new(fakeClock)
	one := open(t, dsn, clock.options())
	two := open(t, dsn, clock.options())
	ctx := t.Context()
	const n = 40
	addAll(t, one, n)
	clock.pass(2 * time.Minute)
	claimed := make([]bool, n)
	var renewed []string
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range claimed {
			w := sampleWaiting(i)
			var err error
			if claimed[i], err = two.ClaimWaiting(ctx, &w, "two", clock.now().Add(time.Hour)); err != nil {
				t.Error(err)
			}
		}
	})
	wg.Go(func() {
		var err error
		if renewed, err = one.RenewWaiting(ctx, "one", clock.now().Add(time.Hour)); err != nil {
			t.Error(err)
		}
	})
	wg.Wait()
	for i := range claimed {
		w, err := one.Waiting(ctx, "", sampleWaiting(i).ID)
		check(t, err)
		if claimed[i] == slices.Contains(renewed, w.ID) || (w.Replica == "two") != claimed[i] || !w.Lease.Equal(clock.now().Add(time.Hour)) {
			t.Errorf("claimed is %v, renewed %v, and the row has %s until %v", claimed[i], slices.Contains(renewed, w.ID), w.Replica, w.Lease)
		}
	}
}

func testWaitingLimits(t *testing.T, dsn string, _ rawFunc) {
	clock := new(fakeClock)
	one := open(t, dsn, clock.options())
	two := open(t, dsn, clock.options())
	ctx := t.Context()
	over := 0
	if strings.HasPrefix(dsn, "postgres") {
		over = 11 // two pools of six connections
	}
	limits := store.WaitingLimits{Owner: 20, Total: 30}
	add := func(s *store.Store, i int) (bool, error) {
		err := s.AddWaiting(ctx, sampleWaiting(i), limits)
		if fault.Is(err, fault.UpstreamBusy) {
			return false, nil
		}
		return err == nil, err
	}
	own := wins(t, one, two, 50, func(s *store.Store, i int) (bool, error) { return add(s, 2*i) })
	if own < 20 || own > 20+over {
		t.Errorf("one owner has %d, want 20", own)
	}
	all := own + wins(t, one, two, 50, func(s *store.Store, i int) (bool, error) { return add(s, 2*i+1) })
	if all < 30 || all > max(30, own)+over {
		t.Errorf("there are %d in all, want 30", all)
	}
	for i, says := range map[int]string{200: fmt.Sprintf("you have %d waiting calls", own), 201: "too many calls are waiting in all"} {
		err := one.AddWaiting(ctx, sampleWaiting(i), limits)
		if !fault.Is(err, fault.UpstreamBusy) || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, want %q", err, says)
		}
	}
	open, err := one.WaitingCalls(ctx, store.WaitingFilter{Owner: "k1", Open: true})
	check(t, err)
	for _, w := range open { // those that have ended make room
		w, err := one.Waiting(ctx, "k1", w.ID)
		check(t, err)
		w.State = store.Cancelled
		saved, err := one.SaveWaiting(ctx, &w)
		check(t, err)
		equal(t, saved, true)
	}
	check(t, one.AddWaiting(ctx, sampleWaiting(301), limits))
	clock.pass(25 * time.Hour) // as do those that have expired
	young := sampleWaiting(302)
	young.Expires = clock.now().Add(time.Hour)
	check(t, one.AddWaiting(ctx, young, store.WaitingLimits{Owner: 1, Total: 1}))
}
