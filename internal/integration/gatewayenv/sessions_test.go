package gatewayenv_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/toolfit/toolfit/env"
	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/access"
)

func TestSessionsInTheStoreAreCreatedChangedAndDeleted(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ctx, mine := t.Context(), w.Sessions(caller("k1", "default"))
		s, err := mine.CreateSession(ctx, env.SessionOptions{ID: "ses_1", ParentID: "ses_0", Directory: "/数据",
			Metadata: env.Metadata{"a": 1, "b": "<\x00>"}})
		if err != nil || s.Title == "" || s.Time.Created.IsZero() || !s.Time.Created.Equal(s.Time.Updated) {
			t.Fatalf("%+v, %v", s, err)
		}
		if _, err := mine.CreateSession(ctx, env.SessionOptions{ID: "ses_1"}); !errors.Is(err, env.ErrTaken) {
			t.Errorf("taken: %v", err)
		}
		s, err = mine.UpdateSession(ctx, "ses_1", env.SessionChange{Title: "新", Metadata: env.Metadata{"a": 2, "c": nil}})
		var a int
		var b string
		if err != nil || s.Title != "新" || s.Directory != "/数据" || !s.Metadata.Get("a", &a) || a != 2 || !s.Metadata.Get("b", &b) ||
			b != "<\x00>" || len(s.Metadata) != 3 {
			t.Errorf("%+v, %v", s, err)
		}
		if got, err := mine.GetSession(ctx, "ses_1"); err != nil || got.Title != "新" || got.ParentID != "ses_0" {
			t.Errorf("%+v, %v", got, err)
		}
		for range 2 {
			if err := mine.DeleteSession(ctx, "ses_1"); err != nil {
				t.Errorf("delete: %v", err)
			}
		}
		var none *env.NotFoundError
		if _, err := mine.UpdateSession(ctx, "ses_1", env.SessionChange{Title: "x"}); !errors.As(err, &none) || none.Kind != "Session" ||
			none.ID != "ses_1" {
			t.Errorf("update of a deleted one: %v", err)
		}
		if want := []string{"created k1 ses_1", "updated k1 ses_1", "deleted k1 ses_1"}; !slices.Equal(w.events, want) {
			t.Errorf("told %q, want %q: each change once, and nothing of what changed nothing", w.events, want)
		}
	})
}

func TestASessionOfAnotherIsNotThere(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ctx, mine, other := t.Context(), w.Sessions(caller("k1", "default")), w.Sessions(caller("k2", "default"))
		if _, err := mine.CreateSession(ctx, env.SessionOptions{ID: "ses_1", Title: "mine"}); err != nil {
			t.Fatal(err)
		}
		var none *env.NotFoundError
		if _, err := other.GetSession(ctx, "ses_1"); !errors.As(err, &none) {
			t.Errorf("get: %v", err)
		}
		if _, err := other.UpdateSession(ctx, "ses_1", env.SessionChange{Title: "theirs"}); !errors.As(err, &none) {
			t.Errorf("update: %v", err)
		}
		if err := other.DeleteSession(ctx, "ses_1"); err != nil {
			t.Errorf("delete: %v", err)
		}
		if page, err := other.ListSessions(ctx, env.SessionFilter{}); err != nil || len(page.Sessions) != 0 {
			t.Errorf("list: %v, %v", page, err)
		}
		if s, err := w.Sessions(viewer("v")).GetSession(ctx, "ses_1"); err != nil || s.Title != "mine" {
			t.Errorf("a viewer reads all: %+v, %v", s, err)
		}
		eye := w.Sessions(viewer("v"))
		_, made := eye.CreateSession(ctx, env.SessionOptions{})
		_, changed := eye.UpdateSession(ctx, "ses_1", env.SessionChange{Title: "seen"})
		for _, err := range []error{made, changed, eye.DeleteSession(ctx, "ses_1")} {
			if !fault.Is(err, fault.Forbidden) {
				t.Errorf("a viewer changes none: %v", err)
			}
		}
		if s, err := w.Sessions(access.Owner()).UpdateSession(ctx, "ses_1", env.SessionChange{Title: "ours"}); err != nil ||
			s.Title != "ours" {
			t.Errorf("an admin changes all: %+v, %v", s, err)
		}
		if want := []string{"created k1 ses_1", "updated k1 ses_1"}; !slices.Equal(w.events, want) {
			t.Errorf("told %q: the owner stays the same", w.events)
		}
	})
}

func TestOfTwoClientsAtOnceNoUpdateIsLost(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		if _, err := w.Sessions(caller("k1", "default")).CreateSession(t.Context(), env.SessionOptions{ID: "ses_1"}); err != nil {
			t.Fatal(err)
		}
		const clients, changes = 4, 15
		var work sync.WaitGroup
		for n := range clients {
			client := w.ask(t, caller("k1", "default"), "default")
			work.Go(func() {
				for i := range changes {
					if _, err := client.UpdateSession(t.Context(), "ses_1",
						env.SessionChange{Metadata: env.Metadata{fmt.Sprint(n, ".", i): i}}); err != nil {
						t.Error(err)
					}
				}
			})
		}
		work.Wait()
		s, err := w.Sessions(access.Owner()).GetSession(t.Context(), "ses_1")
		if err != nil || len(s.Metadata) != clients*changes {
			t.Errorf("%d changes are left of %d, %v", len(s.Metadata), clients*changes, err)
		}
	})
}

func TestOfManyWhoDeleteASessionOneIsToldOf(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		mine := w.Sessions(caller("k1", "default"))
		if _, err := mine.CreateSession(t.Context(), env.SessionOptions{ID: "ses_1"}); err != nil {
			t.Fatal(err)
		}
		var work sync.WaitGroup
		for range 8 {
			work.Go(func() {
				if err := mine.DeleteSession(t.Context(), "ses_1"); err != nil {
					t.Error(err)
				}
			})
		}
		work.Wait()
		if len(w.events) != 2 {
			t.Errorf("told %q", w.events)
		}
	})
}

func TestAPageOfLargeSessionsEndsEarly(t *testing.T) {
	w := newWorld(t, t.TempDir()+"/t.db")
	mine := w.Sessions(caller("k1", "default"))
	large := env.Metadata{"text": strings.Repeat("x", 60<<10)}
	for range 105 {
		if _, err := mine.CreateSession(t.Context(), env.SessionOptions{Metadata: large}); err != nil {
			t.Fatal(err)
		}
	}
	all, pages := 0, 0
	for f := (env.SessionFilter{Limit: 1000}); f.Cursor != "" || pages == 0; pages++ {
		page, err := mine.ListSessions(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		all, f.Cursor = all+len(page.Sessions), page.NextCursor
	}
	if all != 105 || pages != 2 {
		t.Errorf("%d sessions on %d pages", all, pages)
	}
	if _, err := mine.CreateSession(t.Context(),
		env.SessionOptions{Metadata: env.Metadata{"text": strings.Repeat("x", 70<<10)}}); err == nil ||
		!strings.Contains(err.Error(), "bytes of metadata") {
		t.Errorf("too large: %v", err)
	}
	s, err := mine.CreateSession(t.Context(), env.SessionOptions{ID: "ses_big", Metadata: large})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := mine.UpdateSession(t.Context(), s.ID,
		env.SessionChange{Title: "new", Metadata: env.Metadata{"more": strings.Repeat("y", 10<<10)}}); err == nil {
		t.Error("it grew too large bit by bit")
	}
	if s, err := mine.GetSession(t.Context(), s.ID); err != nil || s.Title == "new" || len(s.Metadata) != 1 {
		t.Errorf("a change that is refused changes nothing: %v, %v", s.Title, err)
	}
}

func TestSessionsArePagedWithoutGapsOrRepeats(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		mine := w.Sessions(caller("k1", "default"))
		for i := range 25 {
			if _, err := mine.CreateSession(t.Context(),
				env.SessionOptions{ID: fmt.Sprintf("ses_%02d", i), Metadata: env.Metadata{"even": i%2 == 0}}); err != nil {
				t.Fatal(err)
			}
		}
		client := w.ask(t, caller("k1", "default"), "default")
		var ids []string
		f := env.SessionFilter{Limit: 4, Metadata: env.Metadata{"even": true}}
		for {
			page, err := client.ListSessions(t.Context(), f)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range page.Sessions {
				ids = append(ids, s.ID)
			}
			if f.Cursor = page.NextCursor; f.Cursor == "" {
				break
			}
		}
		slices.Sort(ids)
		if len(ids) != 13 || len(slices.Compact(ids)) != 13 {
			t.Errorf("got %q", ids)
		}
	})
}
