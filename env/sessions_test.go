package env_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolfit/toolfit/env"
)

func TestSessions(t *testing.T) {
	for name, open := range map[string]func(t *testing.T) env.Sessions{
		"in memory":                     func(*testing.T) env.Sessions { return env.NewMemorySessions(nil) },
		"of Base":                       func(*testing.T) env.Sessions { return &env.Base{} },
		"of Base with another store":    func(*testing.T) env.Sessions { return &env.Base{Store: env.NewMemorySessions(nil)} },
		"of Base that tells of changes": func(*testing.T) env.Sessions { return &env.Base{OnSession: func(env.SessionEvent) {}} },
		"of another environment":        func(t *testing.T) env.Sessions { return connect(t, &shop{}, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { holdsSessions(t, open(t)) })
		})
	}
}

func holdsSessions(t *testing.T, s env.Sessions) {
	ctx := t.Context()
	made, err := s.CreateSession(ctx, env.SessionOptions{})
	if err != nil || !strings.HasPrefix(made.ID, "ses_") || !strings.Contains(made.Title, made.Time.Created.Format(time.RFC3339)) {
		t.Fatalf("a session without anything has an id, and a title with the time: got %+v, %v", made, err)
	}
	time.Sleep(time.Second) // of the bubble's clock
	child, err := s.CreateSession(ctx, env.SessionOptions{ID: "ses_child", ParentID: made.ID, Title: "子", Directory: "/tmp",
		Metadata: env.Metadata{"a": 1, "b": "x"}})
	if err != nil || child.ParentID != made.ID || child.Directory != "/tmp" || child.Time.Created != child.Time.Updated {
		t.Fatalf("got %+v, %v", child, err)
	}
	if _, err := s.CreateSession(ctx, env.SessionOptions{ID: "ses_child"}); !errors.Is(err, env.ErrTaken) {
		t.Errorf("got %v", err)
	}
	time.Sleep(time.Second)
	changed, err := s.UpdateSession(ctx, "ses_child", env.SessionChange{Metadata: env.Metadata{"b": nil, "c": []int{1}}})
	if err != nil || changed.Title != "子" || !changed.Time.Updated.After(child.Time.Updated) ||
		asJSON(t, changed.Metadata) != `{"a":1,"b":null,"c":[1]}` {
		t.Errorf("metadata are merged by name: got %+v, %v", changed, err)
	}
	if changed, err = s.UpdateSession(ctx, "ses_child", env.SessionChange{Title: "new"}); err != nil || changed.Title != "new" ||
		len(changed.Metadata) != 3 {
		t.Errorf("got %+v, %v", changed, err)
	}
	if got, err := s.GetSession(ctx, "ses_child"); err != nil || asJSON(t, got) != asJSON(t, changed) {
		t.Errorf("got %+v, %v", got, err)
	}
	if err := errors.Join(s.DeleteSession(ctx, "ses_child"), s.DeleteSession(ctx, "ses_child")); err != nil {
		t.Errorf("to delete twice is no error: got %v", err)
	}
	var none *env.NotFoundError
	if _, err := s.GetSession(ctx, "ses_child"); !errors.As(err, &none) || none.ID != "ses_child" {
		t.Errorf("got %v", err)
	}
	if _, err := s.UpdateSession(ctx, "ses_child", env.SessionChange{Title: "x"}); !errors.As(err, &none) {
		t.Errorf("got %v", err)
	}
}

func TestSessionPages(t *testing.T) {
	now := at(0)
	s := env.NewMemorySessions(&env.MemoryOptions{Now: func() time.Time { return now }})
	for i := range 10 {
		now = at(i / 2) // two at a time
		n := env.SessionOptions{ID: fmt.Sprintf("ses_%d", i),
			Metadata: env.Metadata{"even": i%2 == 0, "deep": map[string]any{"x": 1, "n": i}}}
		if i > 7 {
			n.ParentID = "ses_0"
		}
		if _, err := s.CreateSession(t.Context(), n); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		name   string
		filter env.SessionFilter
		want   string
	}{
		{"all, the newest first", env.SessionFilter{}, "9 8 7 6 5 4 3 2 1 0"},
		{"by metadata", env.SessionFilter{Metadata: env.Metadata{"even": true}}, "8 6 4 2 0"},
		{"by metadata, however they are written", env.SessionFilter{Metadata: env.Metadata{"deep": map[string]int{"n": 3, "x": 1}}}, "3"},
		{"by metadata of another type", env.SessionFilter{Metadata: env.Metadata{"even": "true"}}, ""},
		{"by metadata that are not there", env.SessionFilter{Metadata: env.Metadata{"odd": nil}}, ""},
		{"by time, both ends included", env.SessionFilter{Since: at(1), Until: at(2)}, "5 4 3 2"},
		{"of a parent", env.SessionFilter{ParentID: "ses_0"}, "9 8"},
	}
	for _, tt := range tests {
		for _, limit := range []int{0, 1, 3} {
			t.Run(fmt.Sprint(tt.name, " by ", limit), func(t *testing.T) {
				var ids []string
				f := tt.filter
				for f.Limit = limit; ; {
					page, err := s.ListSessions(t.Context(), f)
					if err != nil {
						t.Fatal(err)
					}
					for _, v := range page.Sessions {
						ids = append(ids, strings.TrimPrefix(v.ID, "ses_"))
					}
					if f.Cursor = page.NextCursor; f.Cursor == "" {
						break
					}
				}
				if got := strings.Join(ids, " "); got != tt.want {
					t.Errorf("got %s, want %s", got, tt.want)
				}
			})
		}
	}
}

func TestTwoClientsAtOnceLoseNoUpdate(t *testing.T) {
	base := &shop{}
	first, second := connect(t, base, nil), connect(t, base, nil)
	if _, err := first.CreateSession(t.Context(), env.SessionOptions{ID: "ses_x"}); err != nil {
		t.Fatal(err)
	}
	var work sync.WaitGroup
	for i := range 50 {
		for who, c := range []*env.Client{first, second} {
			work.Go(func() {
				if _, err := c.UpdateSession(t.Context(), "ses_x",
					env.SessionChange{Metadata: env.Metadata{fmt.Sprint(who, "-", i): i}}); err != nil {
					t.Error(err)
				}
			})
		}
	}
	work.Wait()
	if s, err := second.GetSession(t.Context(), "ses_x"); err != nil || len(s.Metadata) != 100 {
		t.Errorf("got %d, %v", len(s.Metadata), err)
	}
}

func TestChangesOfSessionsAreEvents(t *testing.T) {
	var got []string
	e := &shop{}
	e.OnSession = func(ev env.SessionEvent) { got = append(got, string(ev.Kind)+" "+ev.Session.Title) }
	c := connect(t, e, nil)
	steps := []func() error{
		func() error {
			_, err := c.CreateSession(t.Context(), env.SessionOptions{ID: "ses_1", Title: "one"})
			return err
		},
		func() error {
			_, err := c.UpdateSession(t.Context(), "ses_1", env.SessionChange{Title: "two"})
			return err
		},
		func() error { return c.DeleteSession(t.Context(), "ses_1") },
		func() error { return c.DeleteSession(t.Context(), "ses_1") },
		func() error { return e.DeleteSession(t.Context(), "ses_1") },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"created one", "updated two", "deleted two"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	s := env.NewMemorySessions(&env.MemoryOptions{Max: 2})
	for i := range 3 {
		if _, err := s.CreateSession(context.Background(), env.SessionOptions{}); (err != nil) != (i == 2) {
			t.Errorf("%d: got %v", i, err)
		}
	}
}

func TestWhatASessionHolderChangesStaysItsOwn(t *testing.T) {
	s := env.NewMemorySessions(nil)
	made, err := s.CreateSession(t.Context(), env.SessionOptions{Metadata: env.Metadata{"a": 1}})
	if err != nil {
		t.Fatal(err)
	}
	made.Metadata["a"] = 2
	if got, _ := s.GetSession(t.Context(), made.ID); asJSON(t, got.Metadata) != `{"a":1}` {
		t.Errorf("got %v", got)
	}
}

func BenchmarkListSessions(b *testing.B) {
	s := env.NewMemorySessions(nil)
	for i := range 10_000 {
		if _, err := s.CreateSession(b.Context(), env.SessionOptions{Metadata: env.Metadata{"n": i % 100}}); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if _, err := s.ListSessions(b.Context(), env.SessionFilter{Metadata: env.Metadata{"n": 7}}); err != nil {
			b.Fatal(err)
		}
	}
}

func TestSessionTakesAnIDOfAnyForm(t *testing.T) {
	c := connect(t, &shop{}, nil)
	for _, id := range []string{"chat", "2f1c-44", "a/b c", "../会话", "ses_x"} {
		made, err := c.CreateSession(t.Context(), env.SessionOptions{ID: id})
		if err != nil || made.ID != id {
			t.Errorf("%q: got %q, %v", id, made.ID, err)
		}
		if got, err := c.GetSession(t.Context(), id); err != nil || got.ID != id {
			t.Errorf("%q: got %q, %v", id, got.ID, err)
		}
	}
	page, err := c.ListSessions(t.Context(), env.SessionFilter{Limit: 2})
	for seen := len(page.Sessions); err == nil && page.NextCursor != ""; seen += len(page.Sessions) {
		if seen > 5 {
			t.Fatal("the pages do not end")
		}
		page, err = c.ListSessions(t.Context(), env.SessionFilter{Limit: 2, Cursor: page.NextCursor})
	}
	if err != nil {
		t.Error(err)
	}
}
