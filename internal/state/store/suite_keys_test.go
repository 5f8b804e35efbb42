package store_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/store"
)

func testKeyWhole(t *testing.T, open func() *store.Store) {
	s := open()
	ctx := t.Context()
	k := store.Key{ID: "id1", Name: "ci", Profile: "ops,审计", Role: "caller", Hash: []byte{1}, CreatedAt: noon, ExpiresAt: noon.Add(time.Hour),
		OldHash: []byte{0, 0xff}, OldUntil: noon.Add(time.Minute), Origin: "V"}
	check(t, s.CreateKey(ctx, k))
	other := store.Key{ID: "ci", Name: "id1", Hash: []byte{2}, CreatedAt: noon}
	check(t, s.CreateKey(ctx, other))
	for name, want := range map[string]store.Key{"id1": k, "ci": other} { // an id comes before a name
		got, err := s.Key(ctx, name)
		check(t, err)
		equal(t, got, want)
	}
	deleteKey(t, s, "ci")
	got, err := s.Key(ctx, "ci")
	check(t, err)
	equal(t, got, k)
	if _, err := s.Key(ctx, "nope"); !fault.Is(err, fault.NotFound) {
		t.Fatalf("an unknown key: %v", err)
	}
}

func testRotateKey(t *testing.T, open func() *store.Store) {
	s := open()
	ctx := t.Context()
	k := store.Key{ID: "id1", Name: "ci", Profile: "ops", Role: "caller", Hash: []byte{1}, CreatedAt: noon}
	check(t, s.CreateKey(ctx, k))
	k.Hash, k.OldHash, k.OldUntil, k.ExpiresAt = []byte{2}, []byte{1}, noon.Add(time.Hour), noon.Add(2*time.Hour)
	check(t, s.RotateKey(ctx, k, []byte{1}))
	got, err := s.Key(ctx, "ci")
	check(t, err)
	equal(t, got, k)
	late := k
	late.Hash = []byte{3}
	gone := k
	gone.ID = "gone"
	for name, err := range map[string]error{
		"who was slower": s.RotateKey(ctx, late, []byte{1}), "an unknown key": s.RotateKey(ctx, gone, []byte{2}),
	} {
		if !fault.Is(err, fault.Conflict) {
			t.Errorf("%s: %v", name, err)
		}
	}
	got, err = s.Key(ctx, "ci")
	check(t, err)
	equal(t, got, k)
}

func testUseKeys(t *testing.T, open func() *store.Store) {
	s := open()
	ctx := t.Context()
	const many = 1203 // more than one statement takes
	ids := []string{"gone"}
	for i := range many {
		id := fmt.Sprintf("id%d", i)
		ids = append(ids, id)
		check(t, s.CreateKey(ctx, store.Key{ID: id, Name: id, Hash: []byte{1}, CreatedAt: noon}))
	}
	check(t, s.UseKeys(ctx, nil, noon))
	check(t, s.UseKeys(ctx, ids, noon.Add(time.Minute)))
	check(t, s.UseKeys(ctx, ids[:2], noon)) // of a gateway that is late
	var work sync.WaitGroup
	for range 4 {
		other := open()
		work.Go(func() { check(t, other.UseKeys(ctx, ids, noon.Add(time.Minute))) })
	}
	work.Wait()
	keys, err := s.Keys(ctx)
	check(t, err)
	if len(keys) != many {
		t.Fatalf("there are %d keys", len(keys))
	}
	for _, k := range keys {
		if !k.UsedAt.Equal(noon.Add(time.Minute)) {
			t.Fatalf("%s was used at %s", k.ID, k.UsedAt)
		}
	}
	deleteKey(t, s, "id1")
	check(t, s.CreateKey(ctx, store.Key{ID: "id1", Name: "id1", Hash: []byte{1}}))
	again, err := s.Key(ctx, "id1")
	check(t, err)
	if !again.UsedAt.IsZero() {
		t.Error("the use of a deleted key is that of the next one with its id")
	}
}

func testGiveKey(t *testing.T, open func() *store.Store) {
	s := open()
	ctx := t.Context()
	given := func(id string, hash byte) store.Key {
		return store.Key{ID: id, Name: "admin", Profile: "*", Role: "admin", Hash: []byte{hash}, CreatedAt: noon, Origin: "V"}
	}
	only := func(want store.Key) {
		t.Helper()
		keys, err := s.Keys(ctx)
		check(t, err)
		equal(t, keys, []store.Key{want})
	}
	together := func(keys ...store.Key) {
		t.Helper()
		var work sync.WaitGroup
		for _, k := range keys {
			other := open()
			work.Go(func() { check(t, other.GiveKey(ctx, k)) })
		}
		work.Wait()
	}
	one := given("id1", 1)
	together(one, one, one)
	only(one)
	changed := given("id1", 2)
	check(t, s.GiveKey(ctx, changed))
	only(changed)
	next := given("id2", 3)
	together(next, next, next)
	only(next)
	together(given("id3", 4), given("id3", 4), given("id4", 5)) // one of them wins
	keys, err := s.Keys(ctx)
	check(t, err)
	if len(keys) != 1 {
		t.Fatalf("there are %+v", keys)
	}
	deleteKey(t, s, "admin")

	byHand := given("id5", 6)
	byHand.Origin = ""
	check(t, s.CreateKey(ctx, byHand))
	for _, k := range []store.Key{next, given("id5", 7)} {
		if err := s.GiveKey(ctx, k); !fault.Is(err, fault.Conflict) {
			t.Fatalf("in place of a key that was made by hand: %v", err)
		}
	}
	only(byHand)
}
