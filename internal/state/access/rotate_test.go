package access_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/store"
)

func TestParseExpiry(t *testing.T) {
	now := time.Date(2026, 11, 16, 12, 0, 0, 0, time.Local)
	cases := []struct {
		name, text string
		want       time.Time
		fails      string
	}{
		{"nothing is never", "", time.Time{}, ""},
		{"never", "never", time.Time{}, ""},
		{"days", "90d", now.Add(90 * 24 * time.Hour), ""},
		{"hours", "12h", now.Add(12 * time.Hour), ""},
		{"a day is the last one", "2027-01-31", time.Date(2027, 2, 1, 0, 0, 0, 0, time.Local), ""},
		{"also today", "2026-11-16", time.Date(2026, 11, 17, 0, 0, 0, 0, time.Local), ""},
		{"a time", "2027-01-31T10:00:00Z", time.Date(2027, 1, 31, 10, 0, 0, 0, time.UTC), ""},
		{"yesterday", "2026-11-15", time.Time{}, "in the past"},
		{"now", "0", time.Time{}, "in the past"},
		{"a negative time", "-1d", time.Time{}, "no time"},
		{"a day that does not exist", "2027-02-31", time.Time{}, "no time"},
		{"words", "下周", time.Time{}, "no time"},
		{"much too long", "99999999d", time.Time{}, "no time"},
		{"the end of time", "9999-12-31", time.Time{}, "more than 100 years"},
		{"a huge text", strings.Repeat("9", 1<<20), time.Time{}, "no time"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := access.ParseExpiry(c.text, now)
			if c.fails != "" {
				if !fault.Is(err, fault.BadRequest) || !strings.Contains(err.Error(), c.fails) || len(err.Error()) > 300 {
					t.Fatalf("got %v, want %q", err, c.fails)
				}
				return
			}
			if err != nil || !got.Equal(c.want) {
				t.Errorf("got %v, %v; want %v", got, err, c.want)
			}
		})
	}
}

func TestSeveralProfiles(t *testing.T) {
	cases := []struct {
		name, profile string
		role          access.Role
		fails         string
	}{
		{"two", "ops,audit", access.Caller, ""},
		{"one twice", "ops,audit,ops", access.Caller, "named twice"},
		{"an empty one", "ops,,audit", access.Caller, "is empty"},
		{"an empty one at the end", "ops,", access.Admin, "is empty"},
		{"all is not one of several", "ops,*", access.Admin, "stands alone"},
		{"all is for admins", "ops,*", access.Caller, "needs one profile"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, row, err := access.NewKey("k", c.profile, c.role, nil)
			if c.fails == "" && (err != nil || row.Profile != c.profile) ||
				c.fails != "" && (!fault.Is(err, fault.BadRequest) || !strings.Contains(err.Error(), c.fails)) {
				t.Errorf("%+v, %v", row, err)
			}
		})
	}
	who := access.Principal{Profile: "ops,audit"}
	for profiles, want := range map[string]bool{"ops": true, "audit,ops": true, "ops,dev": false, "*": false, "": false} {
		if who.HasAll(profiles) != want {
			t.Errorf("%q: %v", profiles, !want)
		}
	}
	if !(access.Principal{Profile: "*"}).HasAll("ops,*") {
		t.Error("all is not all")
	}
}

// rotated is the key with another secret.
func rotated(t *testing.T, k store.Key, how access.Rotation) (string, store.Key) {
	t.Helper()
	text, row, err := access.Rotate(k, how, time.Now(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if row.ID != k.ID || !strings.HasPrefix(text, "tf_"+k.ID+"_") {
		t.Fatalf("the id has changed: %s", row.ID)
	}
	return text, row
}

func TestTheOldSecretWorksUntilTheOverlapEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, row := newKey(t, "a")
		s := &shelf{rows: []store.Key{row}}
		keys := access.New(s, nil)
		works(t, keys, first, true)
		second, row := rotated(t, row, access.Rotation{Overlap: "1h"})
		s.set(nil, row)
		works(t, keys, second, true) // at once, though nobody told
		works(t, keys, first, true)
		time.Sleep(time.Hour - time.Nanosecond) // fake time
		works(t, keys, first, true)
		time.Sleep(time.Nanosecond)
		works(t, keys, first, false)
		works(t, keys, second, true)

		third, row := rotated(t, row, access.Rotation{})
		fourth, row := rotated(t, row, access.Rotation{})
		s.set(nil, row)
		time.Sleep(time.Second)
		works(t, keys, fourth, true)
		works(t, keys, third, true)
		works(t, keys, second, false) // rotated twice: the oldest has ended
		fifth, row := rotated(t, row, access.Rotation{Overlap: "0"})
		s.set(nil, row)
		if err := keys.Follow(t.Context()); err != nil {
			t.Fatal(err)
		}
		works(t, keys, fourth, false)
		works(t, keys, fifth, true)
	})
}

func TestAnExpiredKeyIsRefusedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		text, row := newKey(t, "a")
		row.ExpiresAt = time.Now().Add(time.Minute)
		s := &shelf{rows: []store.Key{row}}
		keys := access.New(s, nil)
		works(t, keys, text, true)
		time.Sleep(time.Minute - time.Nanosecond) // fake time
		works(t, keys, text, true)
		if !keys.Has(row.ID) {
			t.Error("it has gone too early")
		}
		time.Sleep(time.Nanosecond)
		_, err := keys.Authenticate(t.Context(), text)
		if !fault.Is(err, fault.Unauthorized) || !strings.Contains(err.Error(), "the key a has expired") {
			t.Errorf("got %v", err)
		}
		_, err = keys.Authenticate(t.Context(), text[:len(text)-1]+"_")
		if err == nil || strings.Contains(err.Error(), "expired") {
			t.Errorf("without its secret: %v", err)
		}
		if keys.Has(row.ID) || !keys.Any() {
			t.Errorf("has %v, any %v", keys.Has(row.ID), keys.Any())
		}
		if _, _, err := access.Rotate(row, access.Rotation{}, time.Now(), nil); !fault.Is(err, fault.BadRequest) {
			t.Errorf("rotated without an expiry: %v", err)
		}
		next, row := rotated(t, row, access.Rotation{Expires: "90d"})
		s.set(nil, row)
		time.Sleep(time.Second) // the wrong secret has caused a reload just now
		works(t, keys, next, true)
		works(t, keys, text, false) // what has expired does not come back
	})
}

func TestRotationsThatAreRefused(t *testing.T) {
	_, row := newKey(t, "a")
	given := row
	given.Origin = access.AdminKeyVariable
	cases := []struct {
		name  string
		key   store.Key
		how   access.Rotation
		code  fault.Code
		fails string
	}{
		{"a negative overlap", row, access.Rotation{Overlap: "-1h"}, fault.BadRequest, "how long"},
		{"an overlap in words", row, access.Rotation{Overlap: "一天"}, fault.BadRequest, "how long"},
		{"an expiry in the past", row, access.Rotation{Expires: "2001-01-01"}, fault.BadRequest, "in the past"},
		{"a key that a variable has", given, access.Rotation{}, fault.Conflict, "TOOLFIT_ADMIN_KEY"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			text, _, err := access.Rotate(c.key, c.how, time.Now(), nil)
			if !fault.Is(err, c.code) || !strings.Contains(err.Error(), c.fails) || text != "" {
				t.Errorf("%q, %v", text, err)
			}
		})
	}
	if _, _, err := access.Rotate(row, access.Rotation{}, time.Now(), bytes.NewReader(nil)); err == nil {
		t.Error("a secret was made of no randomness")
	}
}

func TestGivenKey(t *testing.T) {
	text, err := access.NewText()
	if err != nil {
		t.Fatal(err)
	}
	row, err := access.GivenKey(text)
	if err != nil || row.Name != "admin" || row.Role != "admin" || row.Profile != "*" {
		t.Fatalf("%+v, %v", row, err)
	}
	works(t, access.New(&shelf{rows: []store.Key{row}}, nil), text, true)
	secret := text[12:]
	for name, bad := range map[string]string{
		"empty": "", "words": "hunter2", "no prefix": text[3:], "no secret": text[:12], "a short secret": text[:12+31],
		"a long one": text + strings.Repeat("a", 200), "one letter": "tf_abcdefgh_" + strings.Repeat("a", 40),
		"a word again and again": "tf_abcdefgh_" + strings.Repeat("changeme", 5), "capitals in the id": "tf_ABCDEFGH_" + secret,
		"a line break": text + "\n" + secret, "spaces": text[:12] + " " + secret, "quotes": `"` + text + `"`, "Chinese": "tf_abcdefgh_" + secret + "密",
	} {
		_, err := access.GivenKey(bad)
		if !fault.Is(err, fault.BadConfig) {
			t.Errorf("%s: %v", name, err)
		} else if strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), secret[:8]) {
			t.Errorf("%s: the error repeats it: %v", name, err)
		}
	}
}

// ledger notes what is written of uses.
type ledger struct {
	rows []string
	err  error
}

func (l *ledger) UseKeys(_ context.Context, ids []string, at time.Time) error {
	if l.err != nil {
		return l.err
	}
	for _, id := range slices.Sorted(slices.Values(ids)) {
		l.rows = append(l.rows, id+" "+at.UTC().Format("15:04:05"))
	}
	return nil
}

func TestUsesAreWrittenOncePerKeyAndMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // begins at midnight
		one, row1 := newKey(t, "one")
		_, row2 := newKey(t, "unused")
		s := &shelf{rows: []store.Key{row1, row2}}
		keys := access.New(s, nil)
		to := &ledger{}
		write := func(want ...string) {
			t.Helper()
			to.rows = nil
			late, err := keys.WriteUses(t.Context(), to)
			if !slices.Equal(to.rows, want) || !errors.Is(err, to.err) || len(late) > 0 {
				t.Fatalf("written %q, %v, late %q; want %q", to.rows, err, late, want)
			}
		}
		write()
		for range 3 {
			works(t, keys, one, true)
			time.Sleep(11 * time.Second) // fake time; the keys are read again meanwhile
		}
		write(row1.ID + " 00:00:00")
		works(t, keys, one, true)
		write()
		time.Sleep(30 * time.Second)
		works(t, keys, one, true)
		to.err = errors.New("disk gone")
		write()
		to.err = nil
		write(row1.ID + " 00:01:00")
		write()
		works(t, keys, one[:20], false) // a wrong secret is no use
		write()

		row1.ExpiresAt = time.Now()
		s.set(nil, row1)
		if err := keys.Follow(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		works(t, keys, one, false)
		late, err := keys.WriteUses(t.Context(), to)
		if err != nil || !slices.Equal(late, []string{"one"}) {
			t.Fatalf("late %q, %v", late, err)
		}
		write()
	})
}

func TestWhatWasOpenedWithAnOldSecretEndsWithIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, row := newKey(t, "a")
		_, other := newKey(t, "b")
		s := &shelf{rows: []store.Key{row, other}}
		keys := access.New(s, nil)
		ended := func(want ...string) {
			t.Helper()
			if err := keys.Follow(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := keys.Ended(); !slices.Equal(got, want) {
				t.Fatalf("ended %q, want %q", got, want)
			}
		}
		ended()
		ended()
		_, row = rotated(t, row, access.Rotation{Overlap: "1h"})
		s.set(nil, row, other)
		ended()
		time.Sleep(time.Hour)
		ended(row.ID)
		ended()
		_, row = rotated(t, row, access.Rotation{Overlap: "0"})
		s.set(nil, row, other)
		ended(row.ID)
		_, row = rotated(t, row, access.Rotation{})
		s.set(nil, row, other)
		ended()
		_, row = rotated(t, row, access.Rotation{})
		s.set(nil, row, other)
		ended(row.ID)
	})
}
