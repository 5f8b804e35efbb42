package store_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/store"
)

type metadata = map[string]json.RawMessage

func raws(text string) json.RawMessage { return json.RawMessage(text) }

func testSessions(t *testing.T, open func() *store.Store) {
	s := open()
	ctx := t.Context()
	for i, odd := range oddTexts {
		id := fmt.Sprint("ses_", i, odd)
		want := store.Session{
			ID: id, Parent: odd, Owner: odd, Title: odd, Directory: odd,
			Metadata: metadata{"a" + odd: raws(` {"b": 1e400, "é":[]} `), "n": raws("null"), "long": raws(`"` + strings.Repeat("长", 100) + `"`)},
		}
		created, err := s.CreateSession(ctx, want)
		check(t, err)
		want.CreatedAt = created.CreatedAt
		want.UpdatedAt = created.UpdatedAt
		equal(t, created, want)
		if since := time.Since(created.CreatedAt); since < 0 || since > time.Minute || created.UpdatedAt != created.CreatedAt {
			t.Fatalf("times %v and %v", created.CreatedAt, created.UpdatedAt)
		}
		got, err := s.Session(ctx, id)
		check(t, err)
		equal(t, got, want)
	}
	id := "ses_1\x00"
	title := "new"
	got, err := s.UpdateSession(ctx, id, store.SessionChange{Title: &title, Metadata: metadata{"n": raws("2"), "m": raws("[]")}})
	check(t, err)
	equal(t, []string{got.Title, string(got.Metadata["n"]), string(got.Metadata["m"])}, []string{"new", "2", "[]"})
	equal(t, len(got.Metadata), 4)
	again, err := s.UpdateSession(ctx, id, store.SessionChange{})
	check(t, err)
	if again.Title != "new" || again.UpdatedAt.Before(got.UpdatedAt) {
		t.Fatalf("got %+v", again)
	}
	for range 2 {
		check(t, s.DeleteSession(ctx, id))
	}
	_, readErr := s.Session(ctx, id)
	_, updateErr := s.UpdateSession(ctx, id, store.SessionChange{Title: &title})
	for _, err := range []error{readErr, updateErr, s.AppendMessages(ctx, id, raws("{}"))} {
		if !fault.Is(err, fault.NotFound) {
			t.Errorf("got %v, want not found", err)
		}
	}
}

func testSessionsAtOnce(t *testing.T, open func() *store.Store) {
	one := open()
	two := open()
	ctx := t.Context()
	_, err := one.CreateSession(ctx, store.Session{ID: "ses_1"})
	check(t, err)
	var wg sync.WaitGroup
	const each = 25
	for w := range 4 {
		s := []*store.Store{one, two}[w%2]
		wg.Go(func() {
			for i := range each {
				change := metadata{fmt.Sprint(w, "_", i): raws(fmt.Sprint(i)), "shared": raws(fmt.Sprint(w)), "also shared": raws("1")}
				if _, err := s.UpdateSession(ctx, "ses_1", store.SessionChange{Metadata: change}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	got, err := one.Session(ctx, "ses_1")
	check(t, err)
	equal(t, len(got.Metadata), 4*each+2)
}

func testSessionOwner(t *testing.T, open func() *store.Store) {
	s := open()
	ctx := t.Context()
	title := "theirs"
	_, err := s.CreateSession(ctx, store.Session{ID: "ses_1", Owner: "k1", Title: "mine", Metadata: metadata{"a": raws("1")}})
	check(t, err)
	_, updateErr := s.UpdateSession(ctx, "ses_1", store.SessionChange{Owner: "k2", Title: &title, Metadata: metadata{"a": raws("2")}})
	_, takeErr := s.TakeSession(ctx, "ses_1", "k2")
	_, noneErr := s.TakeSession(ctx, "ses_2", "")
	for _, err := range []error{updateErr, takeErr, noneErr} {
		if !fault.Is(err, fault.NotFound) {
			t.Errorf("got %v, want not found", err)
		}
	}
	was, err := s.UpdateSession(ctx, "ses_1", store.SessionChange{Owner: "k1"})
	check(t, err)
	equal(t, []string{was.Title, string(was.Metadata["a"])}, []string{"mine", "1"})
	taken, err := s.TakeSession(ctx, "ses_1", "k1")
	check(t, err)
	equal(t, taken, was)
	if _, err := s.TakeSession(ctx, "ses_1", "k1"); !fault.Is(err, fault.NotFound) {
		t.Errorf("taken twice: %v", err)
	}
}

func sessionIDs(sessions []store.Session) (ids []string) {
	for _, v := range sessions {
		ids = append(ids, v.ID)
	}
	return ids
}

func testSessionPages(t *testing.T, open func() *store.Store) {
	s := open()
	ctx := t.Context()
	var all []store.Session
	for i := range 30 {
		long := strings.Repeat("x", 150*(i%3))
		v, err := s.CreateSession(ctx, store.Session{
			ID: fmt.Sprintf("ses_%02d", i), Owner: fmt.Sprint("k", i%2), Parent: fmt.Sprint("p", i%5),
			Metadata: metadata{"kind": raws(fmt.Sprintf(`{"a": %d, "b":"x"}`, i%3)), "long": raws(`"` + long + `"`),
				fmt.Sprint("n", i): raws("true")},
		})
		check(t, err)
		all = append(all, v)
	}
	slices.Reverse(all)
	cases := []struct {
		name   string
		filter store.SessionFilter
		match  func(i int) bool
	}{
		{"all", store.SessionFilter{}, func(int) bool { return true }},
		{"of an owner", store.SessionFilter{Owner: "k1"}, func(i int) bool { return i%2 == 1 }},
		{"of a parent", store.SessionFilter{Parent: "p3"}, func(i int) bool { return i%5 == 3 }},
		{"with a value, however it is written", store.SessionFilter{Metadata: metadata{"kind": raws(` {"b" :"\u0078","a":1}`)}},
			func(i int) bool { return i%3 == 1 }},
		{"with a long value", store.SessionFilter{Metadata: metadata{"long": raws(`"` + strings.Repeat("x", 300) + `"`)}},
			func(i int) bool { return i%3 == 2 }},
		{"with two values", store.SessionFilter{Owner: "k0", Metadata: metadata{"kind": raws(`{"a":0,"b":"x"}`), "n6": raws("true")}},
			func(i int) bool { return i == 6 }},
		{"with another value", store.SessionFilter{Metadata: metadata{"n6": raws(`"true"`)}}, func(int) bool { return false }},
		{"in a span", store.SessionFilter{Since: all[20].CreatedAt, Until: all[20].CreatedAt}, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var want []string
			for i, v := range all {
				if c.match != nil && c.match(29-i) || c.match == nil && v.CreatedAt.Equal(all[20].CreatedAt) {
					want = append(want, v.ID)
				}
			}
			got, err := s.Sessions(ctx, c.filter)
			check(t, err)
			slices.Sort(want)
			ids := sessionIDs(got)
			slices.Sort(ids) // the clock may give two the same time
			equal(t, ids, want)
			var paged []store.Session
			for c.filter.Limit = 4; ; c.filter.Before = paged[len(paged)-1].Cursor() {
				page, err := s.Sessions(ctx, c.filter)
				check(t, err)
				if len(page) == 0 {
					break
				}
				paged = append(paged, page...)
			}
			equal(t, paged, got)
		})
	}
}

func testWrongSessions(t *testing.T, open func() *store.Store) {
	s := open()
	ctx := t.Context()
	_, err := s.CreateSession(ctx, store.Session{ID: "ses_1", Metadata: metadata{"a": raws("1")}})
	check(t, err)
	long := strings.Repeat("x", 3000)
	deep := strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000)
	for name, v := range map[string]store.Session{
		"no id": {}, "a long id": {ID: long},
		"a long name":      {ID: "ses_2", Metadata: metadata{long: raws("1")}},
		"no value":         {ID: "ses_2", Metadata: metadata{"a": nil}},
		"half a value":     {ID: "ses_2", Metadata: metadata{"a": raws(`{"b":`)}},
		"two values":       {ID: "ses_2", Metadata: metadata{"a": raws(`1 2`)}},
		"a value too deep": {ID: "ses_2", Metadata: metadata{"a": raws(deep)}},
	} {
		if _, err := s.CreateSession(ctx, v); !fault.Is(err, fault.BadRequest) {
			t.Errorf("%s: got %v, want a bad request", name, err)
		}
	}
	if _, err := s.CreateSession(ctx, store.Session{ID: "ses_1"}); !fault.Is(err, fault.Conflict) {
		t.Errorf("a taken id: got %v, want a conflict", err)
	}
	_, changeErr := s.UpdateSession(ctx, "ses_1", store.SessionChange{Metadata: metadata{"a": raws("2"), "b": raws("")}})
	_, filterErr := s.Sessions(ctx, store.SessionFilter{Metadata: metadata{"a": raws("")}})
	_, cursorErr := s.Sessions(ctx, store.SessionFilter{Before: "ses_1"})
	for _, err := range []error{changeErr, filterErr, cursorErr} {
		if !fault.Is(err, fault.BadRequest) {
			t.Errorf("got %v, want a bad request", err)
		}
	}
	got, err := s.Session(ctx, "ses_1")
	check(t, err)
	equal(t, got.Metadata, metadata{"a": raws("1")})
}

func testMessages(t *testing.T, open func() *store.Store) {
	one := open()
	two := open()
	ctx := t.Context()
	for _, id := range []string{"ses_1", "ses_2"} {
		_, err := one.CreateSession(ctx, store.Session{ID: id})
		check(t, err)
	}
	var wg sync.WaitGroup
	for w := range 4 {
		s := []*store.Store{one, two}[w%2]
		wg.Go(func() {
			for i := range 20 {
				if err := s.AppendMessages(ctx, "ses_1", raws(fmt.Sprint(w, i, 0)), raws(fmt.Sprint(w, i, 1)), raws("\x00\xff")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	check(t, one.AppendMessages(ctx, "ses_2"))
	check(t, one.AppendMessages(ctx, "ses_2", nil))
	var all []store.Message
	for after := int64(0); ; {
		page, err := two.Messages(ctx, "ses_1", after, 7)
		check(t, err)
		if len(page) == 0 {
			break
		}
		all = append(all, page...)
		after = page[len(page)-1].Position
	}
	equal(t, len(all), 240)
	last := map[byte]int{}
	for i, m := range all {
		equal(t, m.Position, int64(i+1))
		if i%3 != 0 {
			continue
		}
		var w, n, part int
		_, err := fmt.Sscan(string(m.Body), &w, &n, &part)
		check(t, err)
		equal(t, string(all[i+1].Body), fmt.Sprint(w, n, 1))
		equal(t, string(all[i+2].Body), "\x00\xff")
		equal(t, n, last[byte(w)])
		last[byte(w)]++
	}
	end, err := two.LastMessages(ctx, "ses_1", 5)
	check(t, err)
	equal(t, end, all[235:])
	check(t, one.AppendMessages(ctx, "ses_2", raws(`{"role":"a"}`), raws(`{"role":"b"}`), raws(`{"role":"a","x":1}`), raws("\xff"),
		raws(`x{"role":"b"}`)))
	for text, want := range map[string]int64{`{"role":"a"`: 4, `{"role":"b"`: 3, `{"role":"c"`: 0, "\xff": 5} {
		if at, err := two.LastMessageWithPrefix(ctx, "ses_2", "nothing", text); err != nil || at != want {
			t.Errorf("the last that begins with %q: %d, %v, want %d", text, at, err, want)
		}
	}
	end, err = two.LastMessages(ctx, "nobody", 5)
	check(t, err)
	equal(t, len(end), 0)
	check(t, one.DeleteSession(ctx, "ses_1"))
	left, err := two.Messages(ctx, "ses_1", 0, 0)
	check(t, err)
	equal(t, len(left), 0)
	left, err = two.Messages(ctx, "ses_2", 0, 0)
	check(t, err)
	equal(t, len(left), 6)
}

func testTrimSessions(t *testing.T, open func() *store.Store) {
	s := open()
	other := open()
	ctx := t.Context()
	const many = 250 // more than two steps
	for i := range many {
		_, err := s.CreateSession(ctx, store.Session{ID: fmt.Sprintf("ses_%03d", i), Metadata: metadata{"n": raws("1")}})
		check(t, err)
	}
	check(t, s.AppendMessages(ctx, "ses_000", raws(`"old"`)))
	last, err := s.Session(ctx, "ses_000")
	check(t, err)
	before := last.UpdatedAt.Add(time.Microsecond)
	for last.UpdatedAt.Before(before) { // the oldest session goes on
		check(t, s.AppendMessages(ctx, "ses_001", raws(`"new"`)))
		last, err = s.Session(ctx, "ses_001")
		check(t, err)
	}
	deleted, err := s.TrimSessions(ctx, time.Time{}, store.SessionLimits{})
	check(t, err)
	equal(t, deleted, int64(0))
	var sum [2]int64
	var wg sync.WaitGroup
	for i, one := range []*store.Store{s, other} {
		wg.Go(func() {
			var err error
			if sum[i], err = one.TrimSessions(ctx, before, store.SessionLimits{}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	equal(t, sum[0]+sum[1], int64(many-1))
	left, err := s.Sessions(ctx, store.SessionFilter{})
	check(t, err)
	equal(t, sessionIDs(left), []string{"ses_001"})
	gone, err := s.Messages(ctx, "ses_000", 0, 0)
	check(t, err)
	stays, err := s.Messages(ctx, "ses_001", 0, 0)
	check(t, err)
	if len(gone) != 0 || len(stays) == 0 {
		t.Errorf("%d messages of a session that is gone, %d of the other", len(gone), len(stays))
	}
}
