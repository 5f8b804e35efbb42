package store_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/state/store"
)

func testDocuments(t *testing.T, open func() *store.Store) {
	s := open()
	kinds := []struct {
		list   func(context.Context) ([]store.Document, error)
		save   func(context.Context, store.Document) (store.Document, error)
		remove func(context.Context, string) error
	}{{s.Agents, s.SaveAgent, s.DeleteAgent}, {s.Rules, s.SaveRule, s.DeleteRule}, {s.Recipes, s.SaveRecipe, s.DeleteRecipe}}
	ctx := t.Context()
	for _, k := range kinds {
		first, err := k.save(ctx, store.Document{ID: "b", Body: raws(" {\"n\": 1e400}\xff")})
		check(t, err)
		equal(t, first.Version, 1)
		_, err = k.save(ctx, store.Document{ID: "a\x00"})
		check(t, err)
		second, err := k.save(ctx, store.Document{ID: "b", Version: 1, Body: raws(`{"n":2}`)})
		check(t, err)
		equal(t, second, store.Document{ID: "b", Version: 2, Body: raws(`{"n":2}`), CreatedAt: first.CreatedAt, UpdatedAt: second.UpdatedAt})
		for _, stale := range []store.Document{{ID: "b", Version: 1}, {ID: "new", Version: 1}, {ID: "b", Version: store.NoVersion}} {
			if _, err := k.save(ctx, stale); !fault.Is(err, fault.Conflict) {
				t.Fatalf("save %+v: got %v, want a conflict", stale, err)
			}
		}
		third, err := k.save(ctx, store.Document{ID: "b", Body: raws(`{"n":3}`)})
		check(t, err)
		all, err := k.list(ctx)
		check(t, err)
		equal(t, len(all), 2)
		equal(t, all[1], third)
		equal(t, third.Version, 3)
		check(t, k.remove(ctx, "b"))
		if err := k.remove(ctx, "b"); !fault.Is(err, fault.NotFound) {
			t.Fatalf("delete twice: got %v, want not found", err)
		}
		if _, err := k.save(ctx, store.Document{}); !fault.Is(err, fault.BadRequest) {
			t.Fatalf("no id: got %v, want a bad request", err)
		}
	}
}

func testUses(t *testing.T, open func() *store.Store) {
	s := open()
	ctx := t.Context()
	use := func(owner string, name tool.Name, i int) store.Use {
		return store.Use{Owner: owner, Tool: name, Terms: raws(fmt.Sprintf(`["t%d"]`, i)), At: noon.Add(time.Duration(i) * time.Second)}
	}
	var want []store.Use
	for _, name := range []tool.Name{"a__x", "a__y"} {
		for i := range 35 {
			check(t, s.AddUse(ctx, use("me", name, i)))
			if i >= 5 {
				want = append(want, use("me", name, i))
			}
		}
	}
	check(t, s.AddUse(ctx, use("them", "a__x", 1)))
	check(t, s.AddUse(ctx, use("me", "a__x", 2))) // older than all that is kept
	for owner, want := range map[string][]store.Use{"me": want, "them": {use("them", "a__x", 1)}, "": nil} {
		got, err := open().Uses(ctx, owner)
		check(t, err)
		equal(t, got, want)
	}
	errs := make(chan error)
	for i := range 40 {
		go func() { errs <- s.AddUse(ctx, use("many", "a__x", i)) }()
	}
	for range 40 {
		check(t, <-errs)
	}
	check(t, s.AddUse(ctx, use("many", "a__x", 40)))
	got, err := s.Uses(ctx, "many")
	check(t, err)
	equal(t, len(got), 30)
	equal(t, got[29], use("many", "a__x", 40))
}

func testRuns(t *testing.T, open func() *store.Store) {
	s := open()
	ctx := t.Context()
	run := func(i int) store.Run {
		return store.Run{
			ID: fmt.Sprintf("run_%02d", i), At: noon.Add(time.Duration(i/2) * time.Minute), Name: fmt.Sprint("login", i%3), Outcome: "running",
			Summary: raws(`{"steps": 3}`), Report: []byte("<html>\x00\xff"),
		}
	}
	for i := range 20 {
		r := run(i)
		check(t, s.SaveRun(ctx, r))
		r.Outcome = "passed"
		r.Duration = 1234567 * time.Microsecond
		check(t, s.SaveRun(ctx, r))
		got, err := s.Run(ctx, r.ID)
		check(t, err)
		equal(t, got, r)
	}
	list := func(f store.RunFilter) (ids []string) {
		for {
			page, err := s.Runs(ctx, f)
			check(t, err)
			if len(page) == 0 {
				return ids
			}
			for _, r := range page {
				ids = append(ids, r.ID)
				if r.Report != nil || r.Duration != 1234567*time.Microsecond {
					t.Fatalf("listed %+v", r)
				}
			}
			f.Before = page[len(page)-1].Cursor()
		}
	}
	equal(t, len(list(store.RunFilter{Limit: 3})), 20)
	equal(t, list(store.RunFilter{Name: "login1", Outcome: "passed", Limit: 2})[:3], []string{"run_19", "run_16", "run_13"})
	deleted, err := s.TrimRuns(ctx, run(4).At, 0)
	check(t, err)
	equal(t, deleted, 4)
	deleted, err = s.TrimRuns(ctx, time.Time{}, 3)
	check(t, err)
	equal(t, deleted, 13)
	equal(t, list(store.RunFilter{}), []string{"run_19", "run_18", "run_17"})
	deleted, err = s.TrimRuns(ctx, time.Time{}, 3)
	check(t, err)
	equal(t, deleted, 0)
	testRunPictures(t, s, run(19))
	if _, err := s.Run(ctx, "run_00"); !fault.Is(err, fault.NotFound) {
		t.Fatalf("got %v, want not found", err)
	}
	if err := s.SaveRun(ctx, store.Run{}); !fault.Is(err, fault.BadRequest) {
		t.Fatalf("no id: got %v, want a bad request", err)
	}
}

// testRunPictures saves a run with pictures twice, then trims it away.
func testRunPictures(t *testing.T, s *store.Store, r store.Run) {
	t.Helper()
	ctx := t.Context()
	r.Pictures = []store.RunPicture{{Step: 1, Type: "image/png", Data: []byte("old")}, {Step: 7, Type: "image/png", Data: []byte("old")}}
	check(t, s.SaveRun(ctx, r))
	r.Pictures = []store.RunPicture{{Step: 3, Type: "image/jpeg", Data: []byte("\x00\xff")}, {Step: 12, Type: "", Data: []byte{}}}
	check(t, s.SaveRun(ctx, r))
	got, err := s.RunPictures(ctx, r.ID)
	check(t, err)
	equal(t, got, r.Pictures)
	one, err := s.RunPicture(ctx, r.ID, 3)
	check(t, err)
	equal(t, one, r.Pictures[0])
	brief, err := s.RunSummary(ctx, r.ID)
	check(t, err)
	if brief.ID != r.ID || string(brief.Summary) != string(r.Summary) || brief.Report != nil {
		t.Fatalf("the summary is %+v", brief)
	}
	for _, id := range []string{r.ID, "run_00"} {
		if _, err := s.RunPicture(ctx, id, 1); !fault.Is(err, fault.NotFound) {
			t.Fatalf("picture 1 of %s: got %v, want not found", id, err)
		}
	}
	if _, err := s.RunSummary(ctx, "run_00"); !fault.Is(err, fault.NotFound) {
		t.Fatalf("got %v, want not found", err)
	}
	_, err = s.TrimRuns(ctx, r.At.Add(time.Second), 0)
	check(t, err)
	got, err = s.RunPictures(ctx, r.ID)
	check(t, err)
	equal(t, len(got), 0)
}
