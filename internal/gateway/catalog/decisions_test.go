package catalog

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

// replica is one of several gateways with one store.
type replica struct {
	t    *testing.T
	cat  *Catalog
	next upstream.Listing
}

func newReplica(t *testing.T, s *store.Store) *replica {
	t.Helper()
	r := &replica{t: t}
	cat, err := New(t.Context(), fakeLister{func(tool.ServerID) (upstream.Listing, error) { return r.next, nil }}, s, &Options{Own: ownTools})
	if err != nil {
		t.Fatal(err)
	}
	cat.Apply(&config.Config{
		Detach: config.DetachOff, Servers: []config.Server{{ID: "s", Refresh: time.Hour}}, Approve: "changed",
		Profiles: []config.Profile{{Name: "p", All: true}},
	})
	r.cat = cat
	return r
}

// lists refreshes and compares what waits, what is kept out and what callers see.
func (r *replica) lists(next, want string) {
	r.t.Helper()
	r.next = listing(next)
	if err := r.cat.Refresh(r.t.Context(), "s"); err != nil {
		r.t.Fatal(err)
	}
	r.shows(want)
}

func (r *replica) shows(want string) {
	r.t.Helper()
	s := r.cat.Servers()[0]
	if got := fmt.Sprintf("%v %v %s", s.Held, s.KeptOut, shownBy(r.t, r.cat)); got != want {
		r.t.Errorf("held, kept out, shown: %q, want %q", got, want)
	}
}

func TestDecisionsAndPinsHoldForAllThatShareAStore(t *testing.T) {
	s, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "toolfit.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	a := newReplica(t, s)
	b := newReplica(t, s)
	decide := func(n int, err error) {
		t.Helper()
		if n != 1 || err != nil {
			t.Fatalf("%d decided, %v", n, err)
		}
	}
	a.lists("x:1", "[] [] x:1")
	b.lists("x:2", "[x] [] ") // its first listing, and still a change
	a.lists("x:2", "[x] [] ")
	decide(a.cat.Approve(t.Context(), "ann", "s", "x"))
	a.shows("[] [] x:2")
	b.lists("x:2", "[] [] x:2")
	newReplica(t, s).shows("[] [] x:2")

	b.lists("x:3", "[x] [] ")
	a.lists("x:3", "[x] [] ")
	decide(b.cat.KeepOut(t.Context(), "bob", "s", "x"))
	a.lists("x:3", "[] [x] ")
	b.lists("x:3", "[] [x] ")
	newReplica(t, s).shows("[] [x] ")
	decide(a.cat.Approve(t.Context(), "ann", "s", "x"))
	b.lists("x:3", "[] [] x:3")

	a.lists("x:2", "[] [] x:2") // it was approved once
	b.lists("x:4", "[x] [] ")
	stored, err := s.Server(t.Context(), "s")
	if err != nil || len(stored.Decisions) != 2 || stored.Decisions[0].By != "ann" || stored.Decisions[1].By != "ann" {
		t.Errorf("%+v, %v", stored.Decisions, err)
	}
}

// TestAReplicaServesWhatAnotherHasStored lists nothing at the other.
func TestAReplicaServesWhatAnotherHasStored(t *testing.T) {
	s, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "toolfit.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	a := newReplica(t, s)
	b := newReplica(t, s)
	b.cat.lister = fakeLister{func(tool.ServerID) (upstream.Listing, error) {
		t.Error("it was listed again")
		return upstream.Listing{}, nil
	}}
	decide := func(n int, err error) {
		t.Helper()
		if n != 1 || err != nil {
			t.Fatalf("%d decided, %v", n, err)
		}
	}
	follow := func(want string) {
		t.Helper()
		stamps, err := s.Stamps(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := b.cat.Follow(t.Context(), stamps); err != nil {
				t.Fatal(err)
			}
			if n := len(b.cat.pending); n > 1 {
				t.Errorf("served %d times", n)
			}
		}
		b.cat.serve()
		b.shows(want)
	}
	follow("[] [] ")
	a.lists("x:1", "[] [] x:1")
	follow("[] [] x:1")
	if due := b.cat.takeDue(); len(due) > 0 {
		t.Error("it is due though another has just listed it")
	}
	a.lists("x:2", "[x] [] ")
	follow("[x] [] ")
	decide(b.cat.KeepOut(t.Context(), "bob", "s", "x"))
	decide(b.cat.Approve(t.Context(), "bob", "s", "x"))
	a.lists("x:2", "[] [] x:2")
	follow("[] [] x:2")
	a.lists("x:3", "[x] [] ")
	decide(b.cat.Approve(t.Context(), "bob", "s", "x")) // though it has not followed yet
	b.shows("[] [] x:3")
	a.lists("x:4", "[x] [] ")
	decide(a.cat.Approve(t.Context(), "ann", "s", "x"))
	follow("[] [] x:4")

	many := newReplica(t, s)
	for i := range 3 * fewRows {
		if err := s.SaveTools(t.Context(), store.Server{ID: tool.ServerID(fmt.Sprint("s", i)), ListedAt: time.Now()}); err != nil {
			t.Fatal(err)
		}
	}
	stamps, err := s.Stamps(t.Context())
	if err != nil || many.cat.Follow(t.Context(), stamps) != nil || len(many.cat.servers) != 1+3*fewRows {
		t.Errorf("%d servers, %v", len(many.cat.servers), err)
	}
}
