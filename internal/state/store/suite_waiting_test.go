package store_test

import (
	"bytes"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/state/store"
)

// sampleWaiting is the i-th of many waiting calls of two owners.
func sampleWaiting(i int) store.Waiting {
	at := noon.Add(time.Duration(i) * time.Millisecond)
	return store.Waiting{
		ID: string(store.AppendCallTime(nil, at)) + "0n0de0n0", Owner: fmt.Sprint("k", i%2), Profile: "default", Server: "cloud",
		Tool: "cloud__deploy", State: store.Working, For: store.ForServer, Message: "uploading", Attempt: 1, Again: i%3 == 0,
		Replica: "one", Lease: noon.Add(time.Minute), Created: at, Updated: noon, Expires: noon.Add(24 * time.Hour),
		Body: []byte(`{"args":{}}`),
	}
}

// fakeClock is a clock that stands until it is moved.
type fakeClock struct{ after atomic.Int64 }

func (c *fakeClock) now() time.Time          { return noon.Add(time.Duration(c.after.Load())) }
func (c *fakeClock) pass(d time.Duration)    { c.after.Add(int64(d)) }
func (c *fakeClock) options() *store.Options { return &store.Options{Now: c.now} }

func atNoon(t *testing.T, dsn string) *store.Store {
	t.Helper()
	return open(t, dsn, new(fakeClock).options())
}

func addAll(t *testing.T, s *store.Store, n int) {
	t.Helper()
	for i := range n {
		check(t, s.AddWaiting(t.Context(), sampleWaiting(i), store.WaitingLimits{}))
	}
}

func waitingIDs(calls []store.Waiting) (out []string) {
	for _, w := range calls {
		out = append(out, w.ID)
	}
	return out
}

func testWaitingWhole(t *testing.T, dsn string, _ rawFunc) {
	s := atNoon(t, dsn)
	ctx := t.Context()
	bodies := []string{"", "{}", "\x00\xff\n", strings.Repeat("长", 1<<20)}
	for i, odd := range slices.Concat(oddTexts, bodies) {
		want := sampleWaiting(i)
		want.Version = int64(i)
		want.Body = []byte(odd)
		want.Questions = []byte(odd)
		if len(odd) < 100 {
			want.ID, want.Owner, want.Server, want.Tool = want.ID+odd, want.Owner+odd, tool.ServerID(odd), tool.Name(odd)
			want.Profile = odd
			want.Ref = odd
			want.Replica = "r" + odd
		}
		check(t, s.AddWaiting(ctx, want, store.WaitingLimits{}))
		for _, s := range []*store.Store{s, atNoon(t, dsn)} {
			got, err := s.Waiting(ctx, want.Owner, want.ID)
			check(t, err)
			if !bytes.Equal(got.Body, want.Body) || !bytes.Equal(got.Questions, want.Questions) || got.Answer != nil {
				t.Fatalf("%d and %d bytes came back of %d", len(got.Body), len(got.Questions), len(want.Body))
			}
			was := want // quicker without the long ones
			for _, w := range []*store.Waiting{&was, &got} {
				w.Body = nil
				w.Questions = nil
			}
			equal(t, got, was)
		}
	}
}

func testWaitingMessage(t *testing.T, dsn string, _ rawFunc) {
	s := atNoon(t, dsn)
	ctx := t.Context()
	long := strings.Repeat("等", 1000)
	for i, text := range []string{long, "a" + long, "bad \xff\x00 bytes", strings.Repeat("x", 1<<20)} {
		w := sampleWaiting(i)
		w.Message = text
		check(t, s.AddWaiting(ctx, w, store.WaitingLimits{}))
		added, err := s.Waiting(ctx, "", w.ID)
		check(t, err)
		if saved, err := s.SaveWaiting(ctx, &w); err != nil || !saved {
			t.Fatal(saved, err)
		}
		got, err := s.Waiting(ctx, "", w.ID)
		check(t, err)
		equal(t, got, w)
		equal(t, added.Message, w.Message)
		want := text[:min(len(text), 1000)]
		begins := strings.HasPrefix(strings.ReplaceAll(want, "\xff", ""), w.Message)
		if !utf8.ValidString(w.Message) || !begins || len(w.Message) < len(want)-2 {
			t.Errorf("%q was kept as %q", want, w.Message)
		}
	}
}

func testWaitingWrong(t *testing.T, dsn string, _ rawFunc) {
	s := atNoon(t, dsn)
	for name, change := range map[string]func(w *store.Waiting){
		"no id":            func(w *store.Waiting) { w.ID = "" },
		"a long id":        func(w *store.Waiting) { w.ID = strings.Repeat("c", 3000) },
		"no owner":         func(w *store.Waiting) { w.Owner = "" },
		"a long owner":     func(w *store.Waiting) { w.Owner = strings.Repeat("o", 3000) },
		"no state":         func(w *store.Waiting) { w.State = "" },
		"an unknown state": func(w *store.Waiting) { w.State = "done" },
		"no expiry":        func(w *store.Waiting) { w.Expires = time.Time{} },
		"one of a list":    func(w *store.Waiting) { w.Version = -1 },
	} {
		w := sampleWaiting(1)
		change(&w)
		if err := s.AddWaiting(t.Context(), w, store.WaitingLimits{}); err == nil {
			t.Errorf("%s: it was added", name)
		}
	}
	w := sampleWaiting(1)
	check(t, s.AddWaiting(t.Context(), w, store.WaitingLimits{Owner: 9, Total: 9}))
	for range 2 {
		if err := s.AddWaiting(t.Context(), w, store.WaitingLimits{Owner: 9, Total: 9}); !fault.Is(err, fault.Conflict) {
			t.Fatalf("got %v, want a conflict", err)
		}
	}
	w.State = "done"
	if saved, err := s.SaveWaiting(t.Context(), &w); saved || err == nil {
		t.Errorf("an unknown state was saved: %v", err)
	}
	if claimed, err := s.ClaimWaiting(t.Context(), &w, "", noon); claimed || err == nil {
		t.Errorf("nobody claimed it: %v", err)
	}
	if _, err := s.RenewWaiting(t.Context(), "", noon); err == nil {
		t.Error("nobody renewed it")
	}
	for _, bad := range []string{"x", "1", "x.y", "' OR ''='"} {
		if _, err := s.WaitingCalls(t.Context(), store.WaitingFilter{Before: bad}); !fault.Is(err, fault.BadRequest) {
			t.Errorf("cursor %q: got %v", bad, err)
		}
	}
}

func testWaitingUnknown(t *testing.T, dsn string, _ rawFunc) {
	clock := new(fakeClock)
	s := open(t, dsn, clock.options())
	ctx := t.Context()
	expired := sampleWaiting(1)
	theirs := sampleWaiting(2)
	mine := sampleWaiting(3)
	expired.Owner = mine.Owner
	theirs.Owner = "them"
	expired.Expires = noon.Add(time.Hour)
	for _, w := range []store.Waiting{expired, theirs, mine} {
		check(t, s.AddWaiting(ctx, w, store.WaitingLimits{}))
	}
	clock.pass(time.Hour)
	for _, id := range []string{expired.ID, theirs.ID, "c_unknown", "", "c' OR ''='"} {
		_, err := s.Waiting(ctx, mine.Owner, id)
		if !fault.Is(err, fault.NotFound) || fault.As(err).Message != fmt.Sprintf("there is no waiting call %q", id) {
			t.Fatalf("%q: got %v, want not found", id, err)
		}
	}
	_, err := s.Waiting(ctx, mine.Owner, mine.ID)
	check(t, err)
	_, err = s.Waiting(ctx, "", theirs.ID)
	check(t, err)
}

func testWaitingForward(t *testing.T, dsn string, _ rawFunc) {
	s := atNoon(t, dsn)
	ctx := t.Context()
	states := []store.WaitState{store.Working, store.InputRequired, store.Completed, store.Failed, store.Cancelled}
	i := 0
	for _, from := range states {
		for _, to := range states {
			i++
			w := sampleWaiting(i)
			w.State = from
			w.Answer = []byte("first")
			check(t, s.AddWaiting(ctx, w, store.WaitingLimits{}))
			before, err := s.Waiting(ctx, "", w.ID)
			check(t, err)
			equal(t, before.Replica == "" && before.For == "" && before.Lease.IsZero(), before.Ended())
			w = before
			w.State = to
			w.Answer = []byte("second")
			saved, err := s.SaveWaiting(ctx, &w)
			check(t, err)
			got, err := s.Waiting(ctx, "", w.ID)
			check(t, err)
			if before.Ended() {
				equal(t, saved, false)
				equal(t, got, before)
				claimed, err := s.ClaimWaiting(ctx, &got, "two", noon)
				check(t, err)
				equal(t, claimed, false)
				continue
			}
			equal(t, saved, true)
			equal(t, got, w)
			equal(t, got.Version, before.Version+1)
			equal(t, got.Replica == "" && got.For == "" && got.Lease.IsZero(), got.Ended())
			stale := before
			saved, err = s.SaveWaiting(ctx, &stale)
			check(t, err)
			equal(t, saved, false)
			equal(t, stale, before)
		}
	}
}

func testWaitingPages(t *testing.T, dsn string, _ rawFunc) {
	s := atNoon(t, dsn)
	ctx := t.Context()
	const n = 30
	var all []store.Waiting
	for i := range n {
		w := sampleWaiting(i)
		if i%4 == 1 {
			w.Created = sampleWaiting(i - 1).Created // two at the same moment
		}
		if i%5 == 0 {
			w.State = store.Failed
			w.For = ""
			w.Replica = ""
			w.Lease = time.Time{}
		}
		if i == 7 {
			w.Expires = noon
		}
		check(t, s.AddWaiting(ctx, w, store.WaitingLimits{}))
		if i != 7 {
			w.Body = nil
			w.Version = -1
			all = append([]store.Waiting{w}, all...)
		}
	}
	for _, f := range []store.WaitingFilter{{}, {Owner: "k1"}, {Open: true}, {Owner: "k0", Open: true}, {Owner: "nobody"}} {
		var want, got []store.Waiting
		for _, w := range all {
			if (f.Owner == "" || f.Owner == w.Owner) && !(f.Open && w.Ended()) {
				want = append(want, w)
			}
		}
		for f.Limit = 4; ; f.Before = got[len(got)-1].Cursor() {
			page, err := s.WaitingCalls(ctx, f)
			check(t, err)
			if len(page) == 0 {
				break
			}
			got = append(got, page...)
		}
		equal(t, got, want)
	}
	if saved, err := s.SaveWaiting(ctx, &all[0]); saved || err == nil {
		t.Errorf("a call of a list lost its sealed parts: %v", err)
	}
}

func testTrimWaiting(t *testing.T, dsn string, raw rawFunc) {
	clock := new(fakeClock)
	s := open(t, dsn, clock.options())
	ctx := t.Context()
	addAll(t, s, 5)
	young := sampleWaiting(5)
	young.Expires = young.Expires.Add(time.Microsecond)
	check(t, s.AddWaiting(ctx, young, store.WaitingLimits{}))
	n, err := s.TrimWaiting(ctx)
	check(t, err)
	equal(t, n, 0)
	clock.pass(24 * time.Hour)
	for _, want := range []int64{5, 0} {
		n, err = s.TrimWaiting(ctx)
		check(t, err)
		equal(t, n, want)
	}
	got, err := s.Waiting(ctx, "", young.ID)
	check(t, err)
	equal(t, got, young)
	var left int
	check(t, raw(t, dsn).QueryRow("SELECT count(*) FROM waiting").Scan(&left))
	equal(t, left, 1)
}

func testEncryptedWaiting(t *testing.T, dsn string, raw func(t *testing.T, dsn string) *sql.DB) {
	ctx := t.Context()
	with := new(fakeClock).options()
	with.SecretKey = secretKey(t, "correct horse battery staple")
	want := sampleWaiting(1)
	want.Body = []byte("a private word")
	want.Questions = []byte("a private word")
	want.Answer = []byte("a private word")
	check(t, open(t, dsn, with).AddWaiting(ctx, want, store.WaitingLimits{}))
	var kept [3][]byte
	check(t, raw(t, dsn).QueryRow("SELECT body, questions, answer FROM waiting").Scan(&kept[0], &kept[1], &kept[2]))
	if all := bytes.Join(kept[:], nil); bytes.Contains(all, []byte("private")) {
		t.Errorf("kept in plain text: %q", all)
	}
	got, err := open(t, dsn, with).Waiting(ctx, want.Owner, want.ID)
	check(t, err)
	equal(t, got, want)
	for _, key := range []store.SecretKey{{}, secretKey(t, "another horse battery staple")} {
		other := new(fakeClock).options()
		other.SecretKey = key
		s := open(t, dsn, other)
		got, err := s.Waiting(ctx, want.Owner, want.ID)
		check(t, err)
		if !fault.Is(got.Err, fault.BadConfig) || got.Body != nil || got.Questions != nil || got.Answer != nil || got.Tool != want.Tool {
			t.Errorf("got %+v", got)
		}
		if saved, err := s.SaveWaiting(ctx, &got); saved || !fault.Is(err, fault.BadConfig) {
			t.Errorf("its sealed parts were lost: %v, %v", saved, err)
		}
	}
	_, err = raw(t, dsn).Exec("UPDATE waiting SET owner = 'thief'")
	check(t, err)
	got, err = open(t, dsn, with).Waiting(ctx, "thief", want.ID)
	check(t, err)
	if got.Err == nil || got.Body != nil {
		t.Errorf("another owner reads %q", got.Body)
	}
	got.State = store.Failed
	got.Message = got.Err.Error()
	saved, err := open(t, dsn, with).SaveWaiting(ctx, &got)
	check(t, err)
	equal(t, saved, true)
}
