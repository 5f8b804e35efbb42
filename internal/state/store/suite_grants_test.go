package store_test

import (
	"crypto/sha256"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/store"
)

func hashOf(text string) []byte {
	sum := sha256.Sum256([]byte(text))
	return sum[:]
}

func token(text string, kind store.TokenKind, expires time.Time) store.GrantToken {
	return store.GrantToken{Hash: hashOf(text), Kind: kind, ExpiresAt: expires}
}

// clock is a time that tests set.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func testGrants(t *testing.T, dsn string, _ rawFunc) {
	c := &clock{noon}
	one, two := open(t, dsn, &store.Options{Now: c.now}), open(t, dsn, &store.Options{Now: c.now})
	ctx := t.Context()
	g := store.Grant{
		ID: "g1", Person: "u_1", Client: "https://a.example/客户", Redirect: "http://127.0.0.1/cb", Resource: "https://t/mcp",
		Scopes: []string{"mcp:tools", "b"}, Challenge: "x", ExpiresAt: noon.Add(time.Minute),
	}
	code := token("c", store.CodeToken, noon.Add(time.Minute))
	check(t, one.CreateGrant(ctx, g, code))
	g.CreatedAt = noon
	got, err := two.Grant(ctx, "g1")
	check(t, err)
	equal(t, got, g)

	exchange := func(s *store.Store, old store.GrantToken, until time.Time, want bool, fresh ...store.GrantToken) {
		t.Helper()
		var spent time.Time
		if old.Kind == store.RefreshToken {
			spent = c.at.Add(time.Minute)
		}
		ok, err := s.ExchangeToken(ctx, "g1", old, spent, until, fresh...)
		check(t, err)
		equal(t, ok, want)
	}
	week := noon.Add(7 * 24 * time.Hour)
	exchange(two, token("wrong", store.CodeToken, noon), week, false)
	exchange(two, token("c", store.RefreshToken, noon), week, false) // what it is not
	exchange(two, code, week, true, token("a1", store.AccessToken, noon.Add(time.Hour)), token("r1", store.RefreshToken, week))
	exchange(one, code, week.Add(week.Sub(noon)), false) // once, and it does not make the grant longer
	g.ExpiresAt = week
	got, expires, err := one.GrantOf(ctx, hashOf("a1"))
	check(t, err)
	equal(t, got, g)
	equal(t, expires, noon.Add(time.Hour))

	refresh := token("r1", store.RefreshToken, week)
	exchange(one, refresh, week, true, token("a2", store.AccessToken, noon.Add(time.Hour)), token("r2", store.RefreshToken, week))
	c.at = noon.Add(59 * time.Second)
	exchange(two, refresh, week, true, token("r3", store.RefreshToken, week))
	c.at = noon.Add(61 * time.Second)
	exchange(two, refresh, week, false)
	exchange(two, token("r3", store.RefreshToken, week), week, true)
	c.at = noon.Add(time.Hour)
	if _, _, err := one.GrantOf(ctx, hashOf("a2")); !fault.Is(err, fault.NotFound) {
		t.Errorf("an expired token: %v", err)
	}
	n, err := one.TrimGrants(ctx)
	check(t, err)
	equal(t, n, 5) // the code, both access tokens, r1 and r3, which are spent
	exchange(two, refresh, week, false)

	check(t, two.EndGrant(ctx, "g1"))
	check(t, two.EndGrant(ctx, "g1"))
	if _, err := one.Grant(ctx, "g1"); !fault.Is(err, fault.NotFound) {
		t.Errorf("an ended grant: %v", err)
	}
	exchange(one, token("r2", store.RefreshToken, week), week, false)
	if n, err := one.TrimGrants(ctx); err != nil || n != 0 {
		t.Errorf("%d tokens of the ended grant were left, %v", n, err)
	}
}

// testGrantsAtOnce exchanges one code at many gateways, and ends grants meanwhile.
func testGrantsAtOnce(t *testing.T, dsn string, _ rawFunc) {
	stores := []*store.Store{open(t, dsn, nil), open(t, dsn, nil)}
	soon := time.Now().Add(time.Minute)
	for i := range 10 {
		id := fmt.Sprint("g", i)
		check(t, stores[0].CreateGrant(t.Context(), store.Grant{ID: id, ExpiresAt: soon}, token("c"+id, store.CodeToken, soon)))
		var won atomic.Int32
		var work sync.WaitGroup
		for n := range 8 {
			work.Go(func() {
				s := stores[n%2]
				fresh := token(fmt.Sprint(id, n), store.AccessToken, soon)
				ok, err := s.ExchangeToken(t.Context(), id, token("c"+id, store.CodeToken, soon), time.Time{}, soon, fresh)
				if err != nil {
					t.Error(err)
				}
				if ok {
					won.Add(1)
				}
				if n == 7 && i%2 == 0 {
					if err := s.EndGrant(t.Context(), id); err != nil {
						t.Error(err)
					}
				}
			})
		}
		work.Wait()
		if won.Load() > 1 || won.Load() == 0 && i%2 == 1 {
			t.Errorf("a code was exchanged %d times", won.Load())
		}
	}
}

func testLogins(t *testing.T, dsn string, _ rawFunc) {
	c := &clock{noon}
	one, two := open(t, dsn, &store.Options{Now: c.now}), open(t, dsn, &store.Options{Now: c.now})
	ctx := t.Context()
	for _, name := range []string{"a", "b"} {
		check(t, one.SaveLogin(ctx, hashOf(name), []byte("\x00sealed"), noon.Add(time.Minute)))
	}
	sealed, err := two.TakeLogin(ctx, hashOf("a"))
	check(t, err)
	equal(t, string(sealed), "\x00sealed")
	c.at = noon.Add(time.Minute)
	for _, name := range []string{"a", "b", "c"} { // taken, expired, unknown
		if _, err := one.TakeLogin(ctx, hashOf(name)); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	client := store.OAuthClient{ID: "c1", Name: "编辑器", Redirects: []string{"http://127.0.0.1/a", "x://y"}, ExpiresAt: c.at.Add(time.Hour)}
	check(t, one.SaveClient(ctx, client))
	got, err := two.Client(ctx, "c1")
	check(t, err)
	equal(t, got, client)
	check(t, two.KeepClient(ctx, "c1", c.at.Add(2*time.Hour)))
	check(t, two.KeepClient(ctx, "c1", c.at)) // not earlier
	c.at = c.at.Add(time.Hour)
	if _, err := one.Client(ctx, "c1"); err != nil {
		t.Error(err)
	}
	c.at = c.at.Add(time.Hour)
	if _, err := one.Client(ctx, "c1"); !fault.Is(err, fault.NotFound) {
		t.Errorf("an expired client: %v", err)
	}
	n, err := one.TrimGrants(ctx)
	check(t, err)
	equal(t, n, 2)
}
