package env_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/toolfit/toolfit/env"
)

// noon is a clock that stands.
func noon() time.Time { return time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC) }

func ExampleSessions() {
	var sessions env.Sessions = env.NewMemorySessions(nil) // or &env.Base{}, a *env.Client, a type of yours
	ctx := context.Background()
	s, err := sessions.CreateSession(ctx, env.SessionOptions{ID: "ses_1", Title: "first"})
	fmt.Println(s.Title, err)
	s, err = sessions.UpdateSession(ctx, "ses_1", env.SessionChange{Title: "renamed"})
	fmt.Println(s.Title, err)
	page, err := sessions.ListSessions(ctx, env.SessionFilter{})
	fmt.Println(len(page.Sessions), err)
	fmt.Println(sessions.DeleteSession(ctx, "ses_1"))
	_, err = sessions.GetSession(ctx, "ses_1")
	fmt.Println(err)
	// Output:
	// first <nil>
	// renamed <nil>
	// 1 <nil>
	// <nil>
	// Session not found: ses_1
}

func ExampleNewMemorySessions() {
	sessions := env.NewMemorySessions(&env.MemoryOptions{Now: noon})
	s, err := sessions.CreateSession(context.Background(), env.SessionOptions{})
	fmt.Println(s.Title, s.ID[:4], err)
	// Output: Session of 2026-01-02T12:00:00Z ses_ <nil>
}

func ExampleMemoryOptions() {
	sessions := env.NewMemorySessions(&env.MemoryOptions{Max: 1})
	_, err := sessions.CreateSession(context.Background(), env.SessionOptions{})
	fmt.Println(err)
	_, err = sessions.CreateSession(context.Background(), env.SessionOptions{})
	fmt.Println(err)
	// Output:
	// <nil>
	// there are 1 sessions already, which is the limit: delete some
}

func ExampleMemorySessions() {
	sessions := env.NewMemorySessions(nil)
	ctx := context.Background()
	_, err := sessions.CreateSession(ctx, env.SessionOptions{ID: "ses_1"})
	fmt.Println(err)
	_, err = sessions.CreateSession(ctx, env.SessionOptions{ID: "ses_1"})
	fmt.Println(errors.Is(err, env.ErrTaken))
	// Output:
	// <nil>
	// true
}

func ExampleSession() {
	s, err := env.NewMemorySessions(&env.MemoryOptions{Now: noon}).CreateSession(context.Background(), env.SessionOptions{
		ID: "ses_2", ParentID: "ses_1", Title: "a part of it", Directory: "/srv", Metadata: env.Metadata{"topic": "books"},
	})
	var topic string
	fmt.Println(s.ID, s.ParentID, s.Title, s.Directory, s.Metadata.Get("topic", &topic), topic, err)
	// Output: ses_2 ses_1 a part of it /srv true books <nil>
}

func ExampleSessionTimes() {
	s, err := env.NewMemorySessions(&env.MemoryOptions{Now: noon}).CreateSession(context.Background(), env.SessionOptions{})
	fmt.Println(s.Time.Created.Format(time.TimeOnly), s.Time.Updated.Equal(s.Time.Created), err)
	// Output: 12:00:00 true <nil>
}

func ExampleSessionOptions() {
	n := env.SessionOptions{ID: "ses_1"}.Filled(noon()) // for those who keep sessions themselves
	fmt.Println(n.ID, n.Title)
	// Output: ses_1 Session of 2026-01-02T12:00:00Z
}

func ExampleSessionChange() {
	base := &env.Base{}
	ctx := context.Background()
	s, _ := base.CreateSession(ctx, env.SessionOptions{Title: "old", Metadata: env.Metadata{"a": 1, "b": 1}})
	s, err := base.UpdateSession(ctx, s.ID, env.SessionChange{Title: "new", Metadata: env.Metadata{"b": 2}})
	var a, b int
	fmt.Println(s.Title, s.Metadata.Get("a", &a), a, s.Metadata.Get("b", &b), b, err)
	// Output: new true 1 true 2 <nil>
}

func ExampleSessionFilter() {
	base := &env.Base{}
	ctx := context.Background()
	for _, kind := range []string{"chat", "test", "chat"} {
		base.CreateSession(ctx, env.SessionOptions{Metadata: env.Metadata{"kind": kind}})
	}
	page, err := base.ListSessions(ctx, env.SessionFilter{Metadata: env.Metadata{"kind": "chat"}, Since: time.Now().Add(-time.Hour)})
	fmt.Println(len(page.Sessions), err)
	fmt.Println(env.SessionFilter{Limit: 1001}.Check())
	// Output:
	// 2 <nil>
	// limit: expected 1 to 1000, got 1001
}

func ExampleSessionPage() {
	base := &env.Base{}
	ctx := context.Background()
	for range 5 {
		base.CreateSession(ctx, env.SessionOptions{})
	}
	f := env.SessionFilter{Limit: 2}
	for {
		page, err := base.ListSessions(ctx, f)
		fmt.Println(len(page.Sessions), err)
		if f.Cursor = page.NextCursor; f.Cursor == "" {
			break
		}
	}
	// Output:
	// 2 <nil>
	// 2 <nil>
	// 1 <nil>
}

func ExampleWatched() {
	sessions := env.Watched(env.NewMemorySessions(nil), func(e env.SessionEvent) { fmt.Println(e.Kind, e.Session.ID) })
	ctx := context.Background()
	sessions.CreateSession(ctx, env.SessionOptions{ID: "ses_1"})
	sessions.DeleteSession(ctx, "ses_1")
	sessions.DeleteSession(ctx, "ses_1") // nothing changes
	// Output:
	// created ses_1
	// deleted ses_1
}

func ExampleSessionEvent() {
	base := &env.Base{OnSession: func(e env.SessionEvent) { fmt.Println(e.Kind, e.Session.Title) }}
	base.CreateSession(context.Background(), env.SessionOptions{Title: "a chat"})
	_, err := base.GetSession(context.Background(), "ses_none")
	fmt.Println(err)
	// Output:
	// created a chat
	// Session not found: ses_none
}

func ExampleSessionEventKind() {
	count := map[env.SessionEventKind]int{}
	sessions := env.Watched(env.NewMemorySessions(nil), func(e env.SessionEvent) { count[e.Kind]++ })
	ctx := context.Background()
	sessions.CreateSession(ctx, env.SessionOptions{ID: "ses_1"})
	sessions.UpdateSession(ctx, "ses_1", env.SessionChange{Title: "mooring"})
	sessions.DeleteSession(ctx, "ses_1")
	fmt.Println(count[env.SessionCreated], count[env.SessionUpdated], count[env.SessionDeleted])
	// Output: 1 1 1
}
