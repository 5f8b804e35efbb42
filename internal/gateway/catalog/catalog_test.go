package catalog

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type fakeLister struct {
	list func(tool.ServerID) (upstream.Listing, error)
}

func (f fakeLister) List(_ context.Context, id tool.ServerID) (upstream.Listing, error) {
	return f.list(id)
}
func (fakeLister) Recognize(tool.ServerID, upstream.Listing) {}

type fakeKeeper struct {
	rows []store.Server
	save func(store.Server) error // nil: it works
}

func (f fakeKeeper) Servers(context.Context) ([]store.Server, error) { return f.rows, nil }
func (f fakeKeeper) SaveTools(_ context.Context, s store.Server) error {
	if f.save == nil {
		return nil
	}
	return f.save(s)
}
func (fakeKeeper) Server(context.Context, tool.ServerID) (store.Server, error) {
	return store.Server{}, nil
}
func (fakeKeeper) Decide(context.Context, tool.ServerID, []store.Decision) error     { return nil }
func (fakeKeeper) SaveCheck(context.Context, tool.ServerID, time.Time, string) error { return nil }

func definition(name, description string) json.RawMessage {
	raw, _ := json.Marshal(map[string]any{"name": name, "description": description, "inputSchema": map[string]any{"type": "object"}})
	return raw
}

func listing(names ...string) upstream.Listing {
	var l upstream.Listing
	for _, n := range names {
		name, description, _ := strings.Cut(n, ":")
		d, err := tool.ParseDefinition(definition(name, description))
		if err != nil {
			panic(err)
		}
		l.Tools = append(l.Tools, d)
	}
	return l
}

// world is a random set of servers with tools, and a profile to see them by.
type world struct {
	servers []config.Server
	rows    []store.Server
	profile config.Profile
}

func drawWorld(t *rapid.T) world {
	var w world
	ids := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "a-b", "x.y", "é", "服务", "1st", "very-long-server-name-that-goes-on-and-on-and-on-for-64-characters"}), 1, 5, rapid.ID).Draw(t, "servers")
	name := rapid.OneOf(
		rapid.SampledFrom([]string{"read", "t", "a__t", "b__read", "fetch_result", "a", "_x", "-", "读取文件", "read file", "b__t", "é__t", strings.Repeat("n", 200), strings.Repeat("名", 70), "x.y__t"}),
		rapid.StringMatching(`[a-zA-Z_.\- 好]{1,12}`),
	)
	for _, id := range ids {
		w.servers = append(w.servers, config.Server{ID: tool.ServerID(id)})
		row := store.Server{ID: tool.ServerID(id), ListedAt: time.Unix(1, 0)}
		for i, n := range rapid.SliceOfNDistinct(name, 0, 6, rapid.ID).Draw(t, "tools") {
			raw := definition(n, fmt.Sprint(i))
			if rapid.IntRange(0, 9).Draw(t, "task") == 0 {
				raw = append(raw[:len(raw)-1], `,"execution":{"taskSupport":"required"}}`...)
			}
			row.Tools = append(row.Tools, store.Tool{Name: n, Definition: raw})
			if rapid.IntRange(0, 9).Draw(t, "held") == 0 {
				row.Held = append(row.Held, store.Held{Kind: "tool", Name: n})
			}
		}
		w.rows = append(w.rows, row)
	}
	glob := rapid.SampledFrom([]string{"*", "a__*", "*read*", "?__t", "*__*__*", "服务__*", "b__read", "*文*", "nothing"})
	w.profile = config.Profile{
		Name: "p", All: rapid.Bool().Draw(t, "all"), Names: rapid.SampledFrom([]string{"prefixed", "bare"}).Draw(t, "names"),
		Allow: rapid.SliceOfN(glob, 0, 2).Draw(t, "allow"), Deny: rapid.SliceOfN(glob, 0, 2).Draw(t, "deny"),
	}
	for _, id := range rapid.SliceOfN(rapid.SampledFrom(ids), 0, 3).Draw(t, "in profile") {
		w.profile.Servers = append(w.profile.Servers, tool.ServerID(id))
	}
	return w
}

func (w world) view(t *rapid.T) *View {
	c, err := New(context.Background(), fakeLister{}, fakeKeeper{rows: w.rows}, &Options{Own: ownTools})
	if err != nil {
		t.Fatal(err)
	}
	c.Apply(&config.Config{Detach: config.DetachOff, Servers: w.servers, Profiles: []config.Profile{w.profile}, Approve: "auto"})
	v, err := c.View("p")
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestWhatIsShownMayBeCalledAndNothingElse is the rule that list and call never disagree.
func TestWhatIsShownMayBeCalledAndNothingElse(t *testing.T) {
	valid := regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,63}$`)
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		v := w.view(t)
		shown := map[tool.Name]string{}
		for _, e := range v.Entries {
			if !valid.MatchString(e.Shown) {
				t.Fatalf("shown name %q", e.Shown)
			}
			if found, err := v.Find(e.Shown); err != nil || found != e {
				t.Fatalf("%s is listed for %s and found as %v, %v", e.Shown, e.Name, found, err)
			}
			if shown[e.Name] != "" {
				t.Fatalf("%s is listed twice", e.Name)
			}
			shown[e.Name] = e.Shown
		}
		for _, row := range w.rows {
			for _, tl := range row.Tools {
				name := tool.Canonical(row.ID, tl.Name)
				want := !slices.ContainsFunc(row.Held, func(h store.Held) bool { return h.Name == tl.Name }) && access.Sees(w.profile, row.ID, name)
				if (shown[name] != "") != want {
					t.Fatalf("%s: listed as %q, want it listed: %v", name, shown[name], want)
				}
				delete(shown, name)
			}
		}
		if len(shown) > 0 {
			t.Fatalf("listed and nobody's: %v", shown)
		}
	})
}

func TestListIsTheEntriesAndTheSameEachTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		v := w.view(t)
		if !bytes.Equal(v.List(), w.view(t).List()) {
			t.Fatal("two lists of the same servers differ")
		}
		var list struct {
			Tools []struct{ Name, Description string }
		}
		if err := json.Unmarshal(v.List(), &list); err != nil || len(list.Tools) != len(v.Entries) {
			t.Fatalf("%d tools for %d entries, %v", len(list.Tools), len(v.Entries), err)
		}
		for i, e := range v.Entries {
			if list.Tools[i].Name != e.Shown || list.Tools[i].Description != e.Definition.Description() {
				t.Fatalf("%+v is not %s", list.Tools[i], e.Shown)
			}
		}
	})
}

func TestPrefixedNamesDoNotDependOnOtherServers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		w.profile.Names = "prefixed"
		before := w.view(t)
		w.servers = append([]config.Server{{ID: "newcomer"}}, w.servers...)
		w.rows = append(w.rows, store.Server{ID: "newcomer", ListedAt: time.Unix(1, 0), Tools: w.rows[0].Tools})
		after := w.view(t)
		for _, e := range before.Entries {
			if found, err := after.Find(e.Shown); err != nil || found.Name != e.Name {
				t.Fatalf("%s was %s and is %v, %v", e.Shown, e.Name, found, err)
			}
		}
	})
}

func TestServerCannotTakeAnothersPrefixedName(t *testing.T) {
	// In bare mode a's and c's t clash and are prefixed; b calls its own tool a__t.
	for _, order := range [][]string{{"a", "b", "c"}, {"b", "a", "c"}} {
		var w world
		for _, id := range order {
			name := "t"
			if id == "b" {
				name = "a__t"
			}
			w.servers = append(w.servers, config.Server{ID: tool.ServerID(id)})
			w.rows = append(w.rows, store.Server{ID: tool.ServerID(id), ListedAt: time.Unix(1, 0), Tools: []store.Tool{{Name: name, Definition: definition(name, "")}}})
		}
		w.profile = config.Profile{Name: "p", All: true, Names: "bare"}
		c, _ := New(t.Context(), fakeLister{}, fakeKeeper{rows: w.rows}, &Options{Own: ownTools})
		c.Apply(&config.Config{Detach: config.DetachOff, Servers: w.servers, Profiles: []config.Profile{w.profile}})
		v, _ := c.View("p")
		if e, err := v.Find("a__t"); err != nil || e.Server != "a" || len(v.Entries) != 3 {
			t.Errorf("a__t is %v, %v; %d tools", e, err, len(v.Entries))
		}
	}
}

func newCatalog(t *testing.T, approve string, list func(tool.ServerID) (upstream.Listing, error), save func(store.Server) error) *Catalog {
	t.Helper()
	c, err := New(t.Context(), fakeLister{list}, fakeKeeper{save: save}, &Options{Own: ownTools})
	if err != nil {
		t.Fatal(err)
	}
	c.Apply(&config.Config{
		Detach:  config.DetachOff,
		Servers: []config.Server{{ID: "s"}}, Profiles: []config.Profile{{Name: "p", All: true}}, Approve: approve,
	})
	return c
}

func shownBy(t *testing.T, c *Catalog) string {
	t.Helper()
	v, err := c.View("p")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range v.Entries {
		names = append(names, e.Definition.Name+":"+e.Definition.Description())
	}
	return strings.Join(names, " ")
}

func TestApproveModes(t *testing.T) {
	// The second list changes b, renames c to d with the same text, and adds e.
	first, second := listing("a:1", "b:1", "c:1"), listing("a:1", "b:2", "d:1", "e:1")
	cases := []struct{ approve, first, second, approvedB, approved string }{
		{"auto", "a:1 b:1 c:1", "a:1 b:2 d:1 e:1", "a:1 b:2 d:1 e:1", "a:1 b:2 d:1 e:1"},
		{"changed", "a:1 b:1 c:1", "a:1", "a:1 b:2", "a:1 b:2 d:1 e:1"},
		{"all", "", "", "b:2", "a:1 b:2 d:1 e:1"},
		{"suspicious", "a:1 b:1 c:1", "a:1 b:2 d:1 e:1", "a:1 b:2 d:1 e:1", "a:1 b:2 d:1 e:1"},
	}
	for _, c := range cases {
		t.Run(c.approve, func(t *testing.T) {
			next := first
			cat := newCatalog(t, c.approve, func(tool.ServerID) (upstream.Listing, error) { return next, nil }, nil)
			check := func(step, want string) {
				t.Helper()
				if got := shownBy(t, cat); got != want {
					t.Errorf("%s: shown %q, want %q", step, got, want)
				}
			}
			refresh := func() {
				t.Helper()
				if err := cat.Refresh(t.Context(), "s"); err != nil {
					t.Fatal(err)
				}
			}
			refresh()
			check("first list", c.first)
			next = second
			refresh()
			refresh() // a held tool is not let through by being listed again
			check("second list", c.second)
			cat.Approve(t.Context(), "local", "s", "b", "nobody")
			check("b approved", c.approvedB)
			cat.Approve(t.Context(), "local", "s")
			check("all approved", c.approved)
			refresh()
			check("listed once more", c.approved)
			if _, err := cat.Approve(t.Context(), "local", "other"); !fault.Is(err, fault.NotFound) {
				t.Errorf("an unknown server: %v", err)
			}
		})
	}
}

func TestFailingRefreshKeepsTheLastList(t *testing.T) {
	var fail error
	cat := newCatalog(t, "auto", func(tool.ServerID) (upstream.Listing, error) { return listing("a:1"), fail }, nil)
	if err := cat.Refresh(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	fail = fault.New(fault.UpstreamDown, "server s is gone")
	if err := cat.Refresh(t.Context(), "s"); !fault.Is(err, fault.UpstreamDown) {
		t.Errorf("got %v", err)
	}
	if got := shownBy(t, cat); got != "a:1" || cat.Servers()[0].Reason != "server s is gone" {
		t.Errorf("shown %q, reason %q", got, cat.Servers()[0].Reason)
	}
	fail = nil
	cat.Refresh(t.Context(), "s")
	if r := cat.Servers()[0].Reason; r != "" {
		t.Errorf("it is up again, and the reason is still %q", r)
	}
}

func TestRefreshThatItsCallerLeftSaysNothingAboutTheServer(t *testing.T) {
	ctx, leave := context.WithCancel(t.Context())
	c, err := New(ctx, fakeLister{func(tool.ServerID) (upstream.Listing, error) {
		leave()
		return upstream.Listing{}, ctx.Err()
	}}, fakeKeeper{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	c.Apply(&config.Config{Detach: config.DetachOff, Servers: []config.Server{{ID: "a"}}, Profiles: []config.Profile{{Name: "p", All: true}}})
	if err := c.Refresh(ctx, "a"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	view, _ := c.View("p")
	if s := c.Servers()[0]; s.Reason != "" || !s.CheckedAt.IsZero() || string(view.List()) != `{"tools":[]}` {
		t.Errorf("the server is blamed: %+v, list %s", s, view.List())
	}
}

func TestListThatCannotBeStoredIsNotServed(t *testing.T) {
	full := errors.New("disk full")
	cat := newCatalog(t, "auto", func(tool.ServerID) (upstream.Listing, error) { return listing("a:1"), nil }, func(store.Server) error { return full })
	if err := cat.Refresh(t.Context(), "s"); !errors.Is(err, full) || shownBy(t, cat) != "" {
		t.Errorf("got %v, shown %q", err, shownBy(t, cat))
	}
}

func TestApproveAndRefreshAtTheSameTime(t *testing.T) {
	var n int
	var mu sync.Mutex
	cat := newCatalog(t, "changed", func(tool.ServerID) (upstream.Listing, error) {
		mu.Lock()
		defer mu.Unlock()
		n++
		var names []string
		for i := range n % 5 {
			names = append(names, fmt.Sprintf("t%d:%d", i, n))
		}
		return listing(names...), nil
	}, func(store.Server) error {
		runtime.Gosched() // storing takes a moment, in which the other may come in between
		return nil
	})
	var work sync.WaitGroup
	for range 2 {
		work.Go(func() {
			for range 200 {
				cat.Refresh(t.Context(), "s")
			}
		})
		work.Go(func() {
			for range 200 {
				cat.Approve(t.Context(), "local", "s")
			}
		})
	}
	work.Wait()
	if _, err := cat.Approve(t.Context(), "local", "s"); err != nil {
		t.Fatal(err)
	}
	if s := cat.Servers()[0]; len(s.Held) != 0 || len(strings.Fields(shownBy(t, cat))) != s.Tools {
		t.Errorf("%d tools, held %v, shown %s", s.Tools, s.Held, shownBy(t, cat))
	}
}

func TestReadyReturnsAfterTheFirstAttempts(t *testing.T) {
	hold := make(chan struct{})
	cat := newCatalog(t, "auto", func(tool.ServerID) (upstream.Listing, error) {
		<-hold
		return upstream.Listing{}, fault.New(fault.UpstreamDown, "down")
	}, nil)
	ctx, stop := context.WithCancel(t.Context())
	var run sync.WaitGroup
	run.Go(func() { cat.Run(ctx) })
	short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	cat.Ready(short, "p")
	if short.Err() == nil {
		t.Error("ready before the server was asked")
	}
	cancel()
	close(hold)
	long, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	cat.Ready(long, "p")
	if long.Err() != nil {
		t.Error("not ready although the server was asked")
	}
	cancel()
	stop()
	run.Wait()
}

func TestStoredListIsServedBeforeAnyServerIsUp(t *testing.T) {
	row := store.Server{ID: "s", ListedAt: time.Unix(1, 0), Tools: []store.Tool{{Name: "a", Definition: definition("a", "1")}, {Name: "bad", Definition: json.RawMessage(`{}`)}}}
	c, err := New(t.Context(), fakeLister{}, fakeKeeper{rows: []store.Server{row, {ID: "gone", ListedAt: time.Unix(1, 0), Tools: row.Tools}}}, &Options{Own: ownTools})
	if err != nil {
		t.Fatal(err)
	}
	c.Apply(&config.Config{Detach: config.DetachOff, Servers: []config.Server{{ID: "s"}}, Profiles: []config.Profile{{Name: "p", All: true}}})
	c.Ready(t.Context(), "p")
	if got := shownBy(t, c); got != "a:1" {
		t.Errorf("shown %q", got)
	}
}

func TestChangedListIsAnnouncedOnlyWhereItIsAnother(t *testing.T) {
	var told []string
	next := listing("a:1")
	c, _ := New(t.Context(), fakeLister{func(tool.ServerID) (upstream.Listing, error) { return next, nil }}, fakeKeeper{}, &Options{Changed: func(p, _ string) { told = append(told, p) }})
	c.Apply(&config.Config{Detach: config.DetachOff, Servers: []config.Server{{ID: "s"}}, Approve: "auto", Profiles: []config.Profile{{Name: "p", All: true}, {Name: "none", Deny: []string{"*"}, All: true}}})
	c.Refresh(t.Context(), "s")
	c.Refresh(t.Context(), "s")
	next = listing("a:2")
	c.Refresh(t.Context(), "s")
	if !slices.Equal(told, []string{"p", "p"}) {
		t.Errorf("told of %v", told)
	}
}

func TestListNamesTheServersThatAreMissing(t *testing.T) {
	down := false
	var told int
	lister := fakeLister{func(tool.ServerID) (upstream.Listing, error) {
		if down {
			return upstream.Listing{}, fault.New(fault.UpstreamDown, "server s is down")
		}
		return listing("a:1"), nil
	}}
	c, _ := New(t.Context(), lister, fakeKeeper{}, &Options{Changed: func(string, string) { told++ }})
	c.Apply(&config.Config{Detach: config.DetachOff, Servers: []config.Server{{ID: "s"}}, Approve: "auto", Profiles: []config.Profile{{Name: "p", All: true}, {Name: "other"}}})
	c.Refresh(t.Context(), "s")
	whole, _ := c.View("p")
	told, down = 0, true
	c.Refresh(t.Context(), "s")
	v, _ := c.View("p")
	want := strings.TrimSuffix(string(whole.List()), "}") + `,"_meta":{"toolfit/unavailable":{"s":"server s is down"}}}`
	if string(v.List()) != want || !json.Valid(v.List()) {
		t.Errorf("got  %s\nwant %s", v.List(), want)
	}
	if other, _ := c.View("other"); strings.Contains(string(other.List()), "unavailable") {
		t.Errorf("a profile without the server hears of it: %s", other.List())
	}
	if _, err := v.Find("s__gone"); err == nil || strings.Contains(fault.As(err).Hint, "down") {
		t.Errorf("the last good list is known, but: %v", err)
	}
	if told != 0 {
		t.Error("the same tools were announced as others")
	}
}

func TestOldAnswerDoesNotReplaceANewerOne(t *testing.T) {
	slow, asked := make(chan struct{}), make(chan struct{}, 2)
	first := true
	c, _ := New(t.Context(), fakeLister{func(tool.ServerID) (upstream.Listing, error) {
		if first {
			first = false
			asked <- struct{}{}
			<-slow
			return listing("old:1"), nil
		}
		return listing("new:1"), nil
	}}, fakeKeeper{}, nil)
	c.Apply(&config.Config{Detach: config.DetachOff, Servers: []config.Server{{ID: "s"}}, Approve: "auto", Profiles: []config.Profile{{Name: "p", All: true}}})
	done := make(chan struct{})
	go func() { defer close(done); c.Refresh(t.Context(), "s") }()
	<-asked
	c.Refresh(t.Context(), "s")
	close(slow)
	<-done
	if v, _ := c.View("p"); len(v.Entries) != 1 || v.Entries[0].Definition.Name != "new" {
		t.Errorf("listed: %s", v.List())
	}
}

// heldNow asks the server for its list, and gives the tools that are held then.
func heldNow(t *testing.T, cat *Catalog) []Held {
	t.Helper()
	if err := cat.Refresh(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	tools, err := cat.Held("s")
	if err != nil {
		t.Fatal(err)
	}
	return tools
}

func TestHeldOfTellWhatWasLetThroughBefore(t *testing.T) {
	next := listing("a:1", "b:1")
	var kept store.Server
	cat := newCatalog(t, "changed", func(tool.ServerID) (upstream.Listing, error) { return next, nil }, func(s store.Server) error { kept = s; return nil })
	held := func() string {
		t.Helper()
		var out []string
		for _, h := range heldNow(t, cat) {
			out = append(out, fmt.Sprintf("%s: %s -> %s", h.Name, rawjson.Get(h.Was, "description"), rawjson.Get(h.Now, "description")))
		}
		return strings.Join(out, ", ")
	}
	if got := held(); got != "" {
		t.Errorf("the first list: %s", got)
	}
	next = listing("a:2", "b:1", "c:1")
	if got := held(); got != `a: "1" -> "2", c:  -> "1"` {
		t.Errorf("changed: %s", got)
	}
	next = listing("a:3", "b:1", "c:1")
	if got := held(); got != `a: "1" -> "3", c:  -> "1"` {
		t.Errorf("changed once more, against what was let through: %s", got)
	}
	if len(kept.Held) != 2 || !slices.ContainsFunc(kept.Held, func(h store.Held) bool {
		return h.Kind == "tool" && h.Name == "a" && string(rawjson.Get(h.Was, "description")) == `"1"`
	}) {
		t.Errorf("not stored: %+v", kept.Held)
	}
	cat.Approve(t.Context(), "local", "s", "a")
	next = listing("a:4", "b:1", "c:1")
	if got := held(); got != `a: "3" -> "4", c:  -> "1"` {
		t.Errorf("changed after it was approved: %s", got)
	}
}

func TestAHeldToolThatIsAgainWhatWasLetThroughIsFree(t *testing.T) {
	next := listing("a:1")
	cat := newCatalog(t, "changed", func(tool.ServerID) (upstream.Listing, error) { return next, nil }, nil)
	held := func() int { t.Helper(); return len(heldNow(t, cat)) }
	held()
	next = listing("a:2")
	if held() != 1 {
		t.Fatal("another definition is not held")
	}
	next = listing("a:1")
	if held() != 0 {
		t.Error("the definition that was let through is held")
	}
	next = listing("a:2")
	if held() != 1 {
		t.Error("the other definition passes when it comes again")
	}
	if _, err := cat.KeepOut(t.Context(), "local", "s", "a"); err != nil {
		t.Fatal(err)
	}
	next = listing("a:1")
	if held() != 0 {
		t.Error("what was kept out is gone, and what was let through still waits")
	}
	next = listing("a:1", "b:1")
	held()
	if held() != 1 {
		t.Error("a new tool is free, although nothing was let through before")
	}
}

func TestAToolOfAServerThatWasNeverListedSaysWhyItIsUnknown(t *testing.T) {
	lister := fakeLister{func(tool.ServerID) (upstream.Listing, error) {
		return upstream.Listing{}, fault.New(fault.UpstreamDown, "server s is down")
	}}
	c, _ := New(t.Context(), lister, fakeKeeper{}, &Options{Own: ownTools})
	c.Apply(&config.Config{Detach: config.DetachOff, Servers: []config.Server{{ID: "s"}}, Approve: "auto", Profiles: []config.Profile{{Name: "p", All: true}, {Name: "other"}}})
	c.Refresh(t.Context(), "s")
	for profile, want := range map[string]string{"p": "the tools of s are not known: server s is down", "other": ""} {
		v, _ := c.View(profile)
		if _, err := v.Find("s__run"); !fault.Is(err, fault.UnknownTool) || fault.As(err).Hint != want {
			t.Errorf("%s: %v, %q", profile, err, fault.As(err).Hint)
		}
	}
}

func TestOnlyWhoMayUseEveryProfileIsToldWhichThereAre(t *testing.T) {
	c, _ := New(t.Context(), fakeLister{}, fakeKeeper{}, &Options{Own: ownTools})
	var profiles []config.Profile
	for i := range 30 {
		profiles = append(profiles, config.Profile{Name: fmt.Sprintf("p%02d", i)})
	}
	c.Apply(&config.Config{Profiles: profiles})
	_, err := c.ViewFor(access.Local(), "nope")
	if hint := fault.As(err).Hint; !fault.Is(err, fault.NotFound) || !strings.HasPrefix(hint, "there are: p00, p01, ") || !strings.HasSuffix(hint, "p19, …") {
		t.Errorf("%v, %q", err, hint)
	}
	gone := access.Principal{ID: "k", Name: "k", Role: access.Caller, Profile: "gone"}
	if _, err := c.ViewFor(gone, ""); !fault.Is(err, fault.NotFound) || fault.As(err).Hint != "" {
		t.Errorf("%v, %q", err, fault.As(err).Hint)
	}
	if _, err := c.ViewFor(gone, "p01"); !fault.Is(err, fault.Forbidden) {
		t.Error(err)
	}
	if v, err := c.ViewFor(access.Local(), "p07"); err != nil || v.Profile != "p07" {
		t.Error(v, err)
	}
}

func TestWhatWasLeftOutOfAListingIsSaid(t *testing.T) {
	c := newCatalog(t, "auto", func(tool.ServerID) (upstream.Listing, error) {
		l := listing("a")
		l.Notes = []string{"5 or more tools were left out: hush is why"}
		return l, nil
	}, nil)
	c.opts.Redact = func(s string) string { return strings.ReplaceAll(s, "hush", "***") }
	if err := c.Refresh(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	if notes := c.Servers()[0].Notes; len(notes) != 1 || notes[0] != "5 or more tools were left out: *** is why" {
		t.Errorf("notes %q", notes)
	}
	v, err := c.View("p")
	if err != nil {
		t.Fatal(err)
	}
	if aside, _ := rawjson.String(rawjson.Get(v.List(), "_meta", "toolfit/setAside", "s")); !strings.Contains(aside, "was left out") || strings.Contains(aside, "why") {
		t.Errorf("the list says %q", aside)
	}
}
