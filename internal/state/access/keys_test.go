package access_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/store"
)

// source is a function as the place of the keys.
type source func() ([]store.Key, error)

func (s source) Keys(context.Context) ([]store.Key, error)        { return s() }
func (s source) DisabledPeople(context.Context) ([]string, error) { return nil, nil }

// shelf is a place of keys that counts how often it is read.
type shelf struct {
	mu    sync.Mutex
	rows  []store.Key
	err   error
	reads int
	out   []string // who is disabled
}

func (s *shelf) DisabledPeople(context.Context) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out, s.err
}

func (s *shelf) Keys(context.Context) ([]store.Key, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads++
	return s.rows, s.err
}

func (s *shelf) set(err error, rows ...store.Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rows, s.err = rows, err
}

func (s *shelf) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reads
}

func newKey(t testing.TB, name string) (string, store.Key) {
	t.Helper()
	text, row, err := access.NewKey(name, "ops", access.Caller, nil)
	if err != nil {
		t.Fatal(err)
	}
	return text, row
}

func works(t *testing.T, keys *access.Keys, text string, want bool) {
	t.Helper()
	_, err := keys.Authenticate(t.Context(), text)
	if (err == nil) != want || err != nil && !fault.Is(err, fault.Unauthorized) {
		t.Fatalf("key works: %v (%v), want %v", err == nil, err, want)
	}
}

func reads(t *testing.T, s *shelf, want int) {
	t.Helper()
	if got := s.count(); got != want {
		t.Fatalf("the store was read %d times, want %d", got, want)
	}
}

func TestKnownKeyReadsTheStoreOnce(t *testing.T) {
	text, row := newKey(t, "a")
	s := &shelf{rows: []store.Key{row}}
	keys := access.New(s, nil)
	for range 100 {
		who, err := keys.Authenticate(t.Context(), text)
		if err != nil || who != (access.Principal{ID: row.ID, Name: "a", Kind: access.KindKey, Role: access.Caller, Profile: "ops"}) {
			t.Fatalf("got %+v, %v", who, err)
		}
	}
	reads(t, s, 1)
}

func TestNewKeyOfAnotherProcessWorksAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		text, row := newKey(t, "a")
		s := &shelf{}
		keys := access.New(s, nil)
		if err := keys.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.set(nil, row)
		var wg sync.WaitGroup
		for range 8 { // also for callers that come together
			wg.Go(func() { works(t, keys, text, true) })
		}
		wg.Wait()
		reads(t, s, 2)
	})
}

func TestTheFirstKeyClosesTheDoorWithinASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{}
		keys := access.New(s, nil)
		for range 20 {
			if keys.Any() {
				t.Fatal("there are no keys yet")
			}
			time.Sleep(73 * time.Millisecond) // fake time
		}
		_, row := newKey(t, "made-by-another-process")
		s.set(nil, row)
		time.Sleep(time.Second - time.Nanosecond)
		if !keys.Any() {
			t.Error("the door is still open")
		}
	})
}

func TestUnknownKeysReadTheStoreOnceASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, other := newKey(t, "other")
		s := &shelf{rows: []store.Key{other}}
		keys := access.New(s, nil)
		if err := keys.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		for range 50 {
			works(t, keys, "tf_aaaaaaaa_wrong", false)
		}
		reads(t, s, 2)
		time.Sleep(time.Second) // fake time
		works(t, keys, "tf_aaaaaaaa_wrong", false)
		reads(t, s, 3)
	})
}

func TestDeletedKeyStopsWorking(t *testing.T) {
	cases := []struct {
		name  string
		pause time.Duration
		first bool // whether the first call after the pause still passes
	}{
		{"right away the snapshot is used", 4 * time.Second, true},
		{"after five seconds one call passes while the keys are read", 6 * time.Second, true},
		{"after ten seconds no call passes", 10 * time.Second, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				text, row := newKey(t, "a")
				s := &shelf{rows: []store.Key{row}}
				keys := access.New(s, nil)
				works(t, keys, text, true)
				s.set(nil)
				time.Sleep(c.pause) // fake time
				works(t, keys, text, c.first)
				synctest.Wait()
				if c.pause > 5*time.Second {
					works(t, keys, text, false)
				}
			})
		})
	}
}

func TestStoreOutageLeavesKeysInForce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		text, row := newKey(t, "a")
		s := &shelf{rows: []store.Key{row}}
		keys := access.New(s, nil)
		works(t, keys, text, true)
		s.set(errors.New("disk gone"))
		time.Sleep(time.Hour) // fake time
		for range 50 {
			works(t, keys, text, true)
		}
		reads(t, s, 2)
		s.set(nil)
		time.Sleep(time.Second)
		works(t, keys, text, false)
	})
}

// silent is a place of keys that answers once.
type silent struct {
	rows  []store.Key
	asked bool
}

func (s *silent) DisabledPeople(context.Context) ([]string, error) { return nil, nil }

func (s *silent) Keys(ctx context.Context) ([]store.Key, error) {
	if s.asked {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	s.asked = true
	return s.rows, nil
}

func TestAStoreThatDoesNotAnswerHoldsUpFewAndNotForLong(t *testing.T) {
	text, row := newKey(t, "a")
	now := time.Now()
	keys := access.New(&silent{rows: []store.Key{row}}, &access.Options{Now: func() time.Time { return now }})
	works(t, keys, text, true)
	now = now.Add(11 * time.Second) // the keys are stale
	began := time.Now()
	works(t, keys, text, true)
	if took := time.Since(began); took > 4*time.Second {
		t.Errorf("a caller waited for %v", took)
	}
	began = time.Now()
	for range 50 {
		now = now.Add(100 * time.Millisecond)
		works(t, keys, text, true)
	}
	if took := time.Since(began); took > time.Second {
		t.Errorf("those after it waited for %v", took)
	}
}

func TestAny(t *testing.T) {
	_, row := newKey(t, "a")
	odd := row
	odd.Role = "emperor"
	cases := []struct {
		name string
		rows []store.Key
		err  error
		want bool
	}{
		{"no keys", nil, nil, false},
		{"one key", []store.Key{row}, nil, true},
		{"a row that is not understood still closes the door", []store.Key{odd}, nil, true},
		{"a store that cannot be read closes the door", nil, errors.New("disk gone"), true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := access.New(&shelf{rows: c.rows, err: c.err}, nil).Any(); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestAnySeesTheFirstKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{}
		keys := access.New(s, nil)
		if keys.Any() {
			t.Fatal("there are no keys yet")
		}
		_, row := newKey(t, "a")
		s.set(nil, row)
		time.Sleep(10 * time.Second) // fake time
		if !keys.Any() {
			t.Fatal("the first key was not seen")
		}
	})
}

func TestRowsThatAreNotOursOpenNothing(t *testing.T) {
	text, row := newKey(t, "a")
	short, odd := row, row
	short.Hash = row.Hash[:16]
	odd.Role = ""
	for _, r := range []store.Key{short, odd} {
		works(t, access.New(&shelf{rows: []store.Key{r}}, nil), text, false)
	}
}

func BenchmarkAuthenticate(b *testing.B) {
	text, row := newKey(b, "a")
	rows := []store.Key{row}
	for range 1000 {
		_, other := newKey(b, "b")
		rows = append(rows, other)
	}
	keys := access.New(&shelf{rows: rows}, nil)
	ctx := context.Background()
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := keys.Authenticate(ctx, text); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

func TestDisabledPeopleAreOutWithinTenSeconds(t *testing.T) {
	s := &shelf{}
	now := time.Unix(1e9, 0)
	keys := access.New(s, &access.Options{Now: func() time.Time { return now }})
	ctx := t.Context()
	if err := keys.CheckPerson(ctx, "u_ann", "Ann"); err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	s.out = []string{"u_ann"}
	s.mu.Unlock()
	now = now.Add(10 * time.Second)
	if err := keys.CheckPerson(ctx, "u_ann", "Ann"); !fault.Is(err, fault.Forbidden) || !strings.Contains(err.Error(), "Ann is disabled") {
		t.Errorf("got %v", err)
	}
	if err := keys.CheckPerson(ctx, "u_bob", "Bob"); err != nil {
		t.Error(err)
	}
	s.set(errors.New("away"))
	now = now.Add(time.Hour)
	if err := keys.CheckPerson(ctx, "u_ann", "Ann"); !fault.Is(err, fault.Forbidden) {
		t.Errorf("the store is away, and it says %v", err)
	}
	if err := access.New(s, nil).CheckPerson(ctx, "u_bob", "Bob"); err == nil {
		t.Error("somebody came in before it was known who is disabled")
	}
}
