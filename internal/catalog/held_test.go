package catalog

import (
	"fmt"
	"testing"

	"github.com/toolfit/toolfit/internal/fault"
	"github.com/toolfit/toolfit/internal/store"
	"github.com/toolfit/toolfit/internal/tool"
	"github.com/toolfit/toolfit/internal/upstream"
)

func TestToolThatIsKeptOutWaitsNoLongerUntilItChangesAgain(t *testing.T) {
	next := listing("a:1", "b:1")
	var kept store.Server
	cat := newCatalog(t, "changed", func(tool.ServerID) (upstream.Listing, error) { return next, nil }, func(s store.Server) error { kept = s; return nil })
	refresh := func(want string) {
		t.Helper()
		if err := cat.Refresh(t.Context(), "s"); err != nil {
			t.Fatal(err)
		}
		if s := cat.Servers()[0]; fmt.Sprintf("%v %v %s", s.Held, s.KeptOut, shownBy(t, cat)) != want {
			t.Errorf("held %v, kept out %v, shown %s; want %s", s.Held, s.KeptOut, shownBy(t, cat), want)
		}
	}
	decide := func(n int, err error, want int) {
		t.Helper()
		if n != want || err != nil {
			t.Errorf("%d tools, %v; want %d", n, err, want)
		}
	}
	refresh("[] [] a:1 b:1")
	next = listing("a:2", "b:2", "c:1")
	refresh("[a b c] [] ")
	n, err := cat.KeepOut(t.Context(), "s", "a", "c", "nobody")
	decide(n, err, 2)
	n, err = cat.KeepOut(t.Context(), "s", "a")
	decide(n, err, 0)
	if !kept.Tools[0].KeptOut || kept.Tools[1].KeptOut || !kept.Tools[2].KeptOut {
		t.Errorf("not stored: %+v", kept.Tools)
	}
	refresh("[b] [a c] ")
	n, err = cat.Approve(t.Context(), "s") // all that wait
	decide(n, err, 1)
	refresh("[] [a c] b:2")
	next = listing("a:3", "b:2", "c:1")
	refresh("[a] [c] b:2")
	n, err = cat.Approve(t.Context(), "s", "c")
	decide(n, err, 1)
	refresh("[a] [] b:2 c:1")
	if _, err := cat.KeepOut(t.Context(), "other", "a"); !fault.Is(err, fault.NotFound) {
		t.Errorf("another server: %v", err)
	}
}
