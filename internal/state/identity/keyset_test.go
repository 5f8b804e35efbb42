package identity

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/testkit/idp"
)

// clock can be set.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time       { return time.Now().Add(time.Duration(c.ahead.Load())) }
func (c *clock) pass(d time.Duration) { c.ahead.Add(int64(d)) }

func TestUnknownKeysCauseFewFetches(t *testing.T) {
	p := newProvider(t)
	v := verifier(t, nil, p.config())
	key := idp.NewEd()
	var wg sync.WaitGroup
	for w := range 10 {
		wg.Go(func() {
			for i := range 1000 {
				token := idp.Sign(t, jose.EdDSA, key, map[string]any{"kid": fmt.Sprint("k", w, "-", i)}, p.good())
				if _, err := v.Admit(t.Context(), token, resource); !fault.Is(err, fault.Unauthorized) {
					t.Errorf("admitted: %v", err)
				}
			}
		})
	}
	wg.Wait()
	if n := p.Fetches.Load(); n > 2 {
		t.Errorf("%d fetches", n)
	}
}

func TestProviderThatIsAway(t *testing.T) {
	p := newProvider(t)
	p.Down.Store(true)
	var c clock
	v := verifier(t, c.now, p.config())
	long := p.good("exp", time.Now().Add(100*time.Hour).Unix())
	first := p.Token(t, long)
	if _, err := v.Admit(t.Context(), first, resource); !fault.Is(err, fault.UpstreamDown) {
		t.Errorf("without keys: %v", err)
	}
	p.Down.Store(false)
	c.pass(retryAfter)
	if _, err := v.Admit(t.Context(), first, resource); err != nil {
		t.Fatal(err)
	}
	p.Down.Store(true)
	for range 23 {
		c.pass(time.Hour)
		if _, err := v.Admit(t.Context(), p.Token(t, long), resource); err != nil {
			t.Fatalf("a signed-in user is refused: %v", err)
		}
	}
	c.pass(2 * time.Hour)
	if _, err := v.Admit(t.Context(), first, resource); !fault.Is(err, fault.UpstreamDown) {
		t.Errorf("keys of yesterday: %v", err)
	}
}

// silentProvider are keys of a provider that takes requests and, once it is silent, never answers.
type silentProvider struct {
	keySet
	clock
	silent  atomic.Bool
	fetches atomic.Int32
}

func newSilentProvider() *silentProvider {
	p := &silentProvider{}
	key := jose.JSONWebKey{Key: idp.NewEd().Public(), KeyID: "ed"}
	p.keySet.now = p.clock.now
	p.changed = func() {}
	p.fetch = func(context.Context) ([]jose.JSONWebKey, time.Duration, error) {
		p.fetches.Add(1)
		if !p.silent.Load() {
			return []jose.JSONWebKey{key}, minFresh, nil
		}
		time.Sleep(20 * time.Millisecond) // so that others come meanwhile
		p.pass(fetchTime)
		return nil, 0, context.DeadlineExceeded
	}
	return p
}

// askAtOnce lets many ask for the key at once, and returns how many found it.
func (p *silentProvider) askAtOnce(t *testing.T) (found int32) {
	var wg sync.WaitGroup
	var n atomic.Int32
	for range 100 {
		wg.Go(func() {
			if _, err := p.find(t.Context(), "ed", jose.EdDSA); err == nil {
				n.Add(1)
			}
		})
	}
	wg.Wait()
	return n.Load()
}

func TestSignedInUsersDoNotWaitForASilentProvider(t *testing.T) {
	p := newSilentProvider()
	p.askAtOnce(t)
	p.silent.Store(true)
	p.fetches.Store(0)
	p.pass(minFresh + lateBy)
	if n := p.askAtOnce(t); n != 100 || p.fetches.Load() != 1 {
		t.Errorf("%d found the key, after %d fetches", n, p.fetches.Load())
	}
	p.fetching.Lock() // as while it is asked again
	late := time.AfterFunc(10*time.Second, func() {
		t.Error("they waited")
		p.fetching.Unlock()
	})
	p.pass(time.Hour)
	if n := p.askAtOnce(t); n != 100 {
		t.Errorf("%d found the key", n)
	}
	if late.Stop() {
		p.fetching.Unlock()
	}
	p.silent.Store(false)
	p.pass(retryAfter)
	for deadline := time.Now().Add(time.Minute); p.away.Load(); time.Sleep(time.Millisecond) {
		p.askAtOnce(t)
		if time.Now().After(deadline) {
			t.Fatal("it is not used again")
		}
	}
}

func TestStrangersDoNotQueueForASilentProvider(t *testing.T) {
	p := newSilentProvider()
	p.silent.Store(true)
	if n := p.askAtOnce(t); n != 0 || p.fetches.Load() != 1 {
		t.Errorf("%d found a key, after %d fetches", n, p.fetches.Load())
	}
}

func TestWithdrawnKeyIsRefused(t *testing.T) {
	p := newProvider(t)
	p.Control = "public, max-age=600"
	var c clock
	v := verifier(t, c.now, p.config())
	token := p.Token(t, p.good("exp", time.Now().Add(100*time.Hour).Unix()))
	if _, err := v.Admit(t.Context(), token, resource); err != nil {
		t.Fatal(err)
	}
	p.Mu.Lock()
	p.Keys["ed"] = idp.NewEd()
	p.Mu.Unlock()
	c.pass(10*time.Minute + lateBy)
	if _, err := v.Admit(t.Context(), token, resource); !fault.Is(err, fault.Unauthorized) {
		t.Errorf("after the key was withdrawn: %v", err)
	}
	if _, err := v.Admit(t.Context(), p.Token(t, p.good()), resource); err != nil {
		t.Errorf("with the new key: %v", err)
	}
}

func TestNewKeyIsFound(t *testing.T) {
	p := newProvider(t)
	var c clock
	v := verifier(t, c.now, p.config())
	if _, err := v.Admit(t.Context(), p.Token(t, p.good()), resource); err != nil {
		t.Fatal(err)
	}
	p.Mu.Lock()
	p.Keys["next"] = idp.NewEd()
	p.Mu.Unlock()
	c.pass(unknownFor)
	token := idp.Sign(t, jose.EdDSA, p.Keys["next"], map[string]any{"kid": "next"}, p.good())
	if _, err := v.Admit(t.Context(), token, resource); err != nil {
		t.Error(err)
	}
}

func TestProviderThatLies(t *testing.T) {
	for name, change := range map[string]func(p provider){
		"another name":  func(p provider) { p.Issuer = "https://other.example.com" },
		"too many keys": func(p provider) { p.Extra = strings.Repeat(`,{"kty":"oct","k":"eA"}`, maxKeys) },
		"too long":      func(p provider) { p.Extra = strings.Repeat(" ", maxBody) },
		"no JSON":       func(p provider) { p.Extra = `<html>` },
	} {
		p := newProvider(t)
		change(p)
		_, err := verifier(t, nil, p.config()).Admit(t.Context(), p.Token(t, p.good()), resource)
		if !fault.Is(err, fault.UpstreamDown) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOpaqueTokens(t *testing.T) {
	p := newProvider(t)
	cfg := p.config()
	cfg.Introspect = &config.Introspection{URL: p.URL + "/introspect", ClientID: "toolfit", ClientSecret: "s+3"}
	said := func(changes ...any) map[string]any { return p.good(append([]any{"active", true}, changes...)...) }
	p.Opaque = map[string]map[string]any{
		"good": said(), "no-issuer": said("iss", nil), "other-issuer": said("iss", "https://other"), "other-audience": said("aud", "x"),
		"no-audience": said("aud", nil), "no-expiry": said("exp", nil), "expired": said("exp", 1000), "inactive": said("active", false),
		"active-as-text": said("active", "true"), "too-long": said("x", strings.Repeat("x", maxClaims)),
	}
	v := verifier(t, nil, cfg)
	for token, want := range map[string]bool{
		"good": true, "no-issuer": true, "other-issuer": false, "other-audience": false, "no-audience": false, "no-expiry": false,
		"expired": false, "inactive": false, "active-as-text": false, "too-long": false, "unknown": false,
	} {
		for range 2 {
			if _, err := v.Admit(t.Context(), token, resource); (err == nil) != want || err != nil && !fault.Is(err, fault.Unauthorized) {
				t.Errorf("%s: %v", token, err)
			}
		}
	}
	jwt := idp.Sign(t, jose.EdDSA, idp.NewEd(), map[string]any{"kid": "ed"}, p.good())
	p.Opaque[jwt] = said()
	if _, err := v.Admit(t.Context(), jwt, resource); err == nil {
		t.Error("a JWT with a wrong signature was asked for")
	}
}

func TestExplainShowsEveryCheck(t *testing.T) {
	p := newProvider(t)
	v := verifier(t, nil, p.config())
	steps := func(r *Report) string {
		var all []string
		for _, s := range r.Steps {
			all = append(all, s.Name)
			if s.Err != nil {
				all = append(all, "!")
			}
		}
		return strings.Join(all, " ")
	}
	for token, want := range map[string]string{
		p.Token(t, p.good()):                "issuer algorithm signature expiry subject client groups map[0] rights audience scope",
		p.Token(t, p.good("aud", "x")):      "issuer algorithm signature expiry subject client groups map[0] rights audience !",
		p.Token(t, p.good("iss", "x")):      "issuer !",
		p.Token(t, p.good("groups", "cat")): "issuer algorithm signature expiry subject client groups map[0] map[1] map[2] audience scope rights !",
		"opaque":                            "form !",
	} {
		if got := steps(v.Explain(t.Context(), token, "ops")); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}

func FuzzToken(f *testing.F) {
	p := newProvider(f)
	v := verifier(f, nil, p.config())
	f.Add(p.Token(f, p.good()))
	f.Add("a.b.c")
	good := p.Token(f, p.good())
	f.Fuzz(func(t *testing.T, token string) {
		who, err := v.Admit(t.Context(), token, resource)
		if err == nil && token != good && !strings.HasPrefix(token, good[:strings.LastIndexByte(good, '.')]) {
			t.Errorf("admitted %+v: %s", who, token)
		}
	})
}

func BenchmarkAdmit(b *testing.B) {
	p := newProvider(b)
	v := verifier(b, nil, p.config())
	token := p.Token(b, p.good())
	b.ReportAllocs()
	for b.Loop() {
		if _, err := v.Admit(b.Context(), token, resource); err != nil {
			b.Fatal(err)
		}
	}
}
