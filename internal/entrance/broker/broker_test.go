package broker

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/identity"
)

func TestClientSignsAPersonIn(t *testing.T) {
	w := newWorld(t, nil)
	b := w.browser()
	status, page := b.open(w.request())
	if status != 200 || !strings.Contains(page, strings.TrimPrefix(w.site.URL, "http://")) || !strings.Contains(page, "127.0.0.1:7") {
		t.Fatalf("%d %s", status, page)
	}
	if cookies := b.Jar.Cookies(must(url.Parse(w.server.URL))); len(cookies) != 0 {
		t.Errorf("there is a cookie before the click: %v", cookies)
	}
	if len(b.sent) != 0 || len(w.provider.Login.Asked) != 0 {
		t.Errorf("somebody was asked before the click")
	}
	b.allow(w.request())
	answer := b.answered()
	if !strings.HasPrefix(b.sent[0], back+"?") || answer.Get("state") != "its state" || answer.Get("iss") != w.server.URL {
		t.Fatalf("%v", b.sent)
	}
	got := w.exchange(answer.Get("code"))
	if got.Type != "Bearer" || got.ExpiresIn < 3590 || got.Scope != "mcp:tools" || !w.admits(got.Access) {
		t.Fatalf("%+v", got)
	}
	who, err := w.Admit(t.Context(), got.Access, w.server.URL+"/mcp/ops")
	if err != nil || who.Token.Client != w.client || who.Token.Expires.IsZero() || who.Token.Subject != "alice" {
		t.Errorf("%+v %+v %v", who, who.Token, err)
	}
	jwt := w.provider.Token(t, w.provider.Claims())
	id, err := w.People.(interface {
		Identify(context.Context, string) (*identity.Identity, error)
	}).Identify(t.Context(), jwt)
	if err != nil || id.ID() != who.ID {
		t.Errorf("another person with a JWT: %v %v", id, err)
	}
	again := w.refresh(got.Refresh)
	if again.Refresh == got.Refresh || !w.admits(again.Access) || !w.admits(got.Access) {
		t.Errorf("%+v", again)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestRefusalGoesToTheClient(t *testing.T) {
	w := newWorld(t, nil)
	b := w.browser()
	b.click(w.request(), url.Values{"refuse": {"1"}})
	if got := b.answered(); got.Get("error") != "access_denied" || got.Get("iss") != w.server.URL || got.Get("state") != "its state" || got.Has("code") {
		t.Errorf("%v", got)
	}
	if len(w.provider.Login.Asked) > 0 {
		t.Error("the provider was asked")
	}
}

// TestNoCodeWithoutAClick is the confused deputy: the provider signs everybody in without asking.
func TestNoCodeWithoutAClick(t *testing.T) {
	w := newWorld(t, nil)
	b := w.browser()
	b.allow(w.request()) // a good client, in this browser
	good := len(b.sent)
	evil := w.request("redirect_uri", "https://evil.example/cb", "client_id", w.site.URL+"/evil.json")
	w.document = func(rw http.ResponseWriter, r *http.Request) {
		w.says(map[string]any{"client_id": w.site.URL + r.URL.Path, "redirect_uris": []string{"https://evil.example/cb"}})(rw, r)
	}
	if status, page := b.open(evil); status != 200 || !strings.Contains(page, "evil.example") {
		t.Errorf("%d %s", status, page)
	}
	for name, from := range map[string]string{"another site": "https://evil.example", "nowhere": "null", "nobody": "", "a part of ours": w.server.URL + ".evil.example"} {
		r, _ := http.NewRequest("POST", evil, strings.NewReader(url.Values{"issuer": {w.provider.URL}}.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if from != "" {
			r.Header.Set("Origin", from)
		}
		if status, _ := b.do(r); status != 403 {
			t.Errorf("a form of %s: %d", name, status)
		}
	}
	b.open(w.server.URL + "/oauth/callback?code=x&state=x&iss=" + url.QueryEscape(w.provider.URL))
	if len(b.sent) != good {
		t.Errorf("evil got %v", b.sent[good:])
	}
	b.open(w.request())
	if len(b.sent) != good {
		t.Error("the good client got a code without a click")
	}
}

func TestCallbackIsForTheBrowserThatBegan(t *testing.T) {
	w := newWorld(t, nil)
	var callback string
	mine, other := w.browser(), w.browser()
	before := mine.CheckRedirect
	mine.CheckRedirect = func(r *http.Request, via []*http.Request) error {
		if r.URL.Path == callbackPath {
			callback = r.URL.String()
			return http.ErrUseLastResponse
		}
		return before(r, via)
	}
	mine.allow(w.request())
	if status, _ := other.open(callback); status != 404 {
		t.Errorf("another browser: %d", status)
	}
	if status, _ := mine.open(strings.Replace(callback, "state=", "state=x", 1)); status != 404 {
		t.Errorf("another state: %d", status)
	}
	if mine.open(callback); mine.answered().Get("code") == "" {
		t.Errorf("%v", mine.sent)
	}
	if status, _ := mine.open(callback); status != 404 || len(mine.sent) != 1 {
		t.Errorf("again: %d %v", status, mine.sent)
	}
	mine.CheckRedirect = before
	first, second := w.request("state", "1"), w.request("state", "2") // two tabs
	mine.allow(first)
	mine.allow(second)
	if got := mine.answered(); got.Get("state") != "2" || got.Get("code") == "" {
		t.Errorf("%v", got)
	}
	callback = ""
	mine.CheckRedirect = func(r *http.Request, via []*http.Request) error {
		callback = r.URL.String()
		return http.ErrUseLastResponse
	}
	mine.allow(w.request())
	w.pass(loginTime)
	if status, _ := mine.open(callback); status != 404 {
		t.Errorf("too late: %d", status)
	}
}

func TestWhoHasNoRightsGetsNoCode(t *testing.T) {
	for name, change := range map[string]func(*world){
		"no rights": func(w *world) { w.provider.Login.Person = map[string]any{"groups": []string{"cats"}} },
		"the provider says no": func(w *world) {
			w.provider.Login.Answer = func(v url.Values) { v.Set("error", "access_denied"); v.Del("code") }
		},
		"another provider answers": func(w *world) { w.provider.Login.Answer = func(v url.Values) { v.Set("iss", "https://evil.example") } },
		"disabled": func(w *world) {
			w.exchange(w.code())
			if _, err := w.Store.DisablePerson(t.Context(), "alice", w.now()); err != nil {
				t.Fatal(err)
			}
			w.pass(11 * time.Second)
		},
	} {
		w := newWorld(t, nil)
		change(w)
		b := w.browser()
		status, body := b.allow(w.request())
		if len(b.sent) == 0 {
			t.Errorf("%s: %d %s", name, status, body)
			continue
		}
		if got := b.answered(); got.Get("error") != "access_denied" || got.Has("code") || got.Get("iss") != w.server.URL || got.Get("state") != "its state" {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestMetadata(t *testing.T) {
	for _, open := range []bool{true, false} {
		w := newWorld(t, func(p *Parts) { p.Config = &config.Broker{Clients: p.Config.Clients, Registration: open} })
		resp := must(http.Get(w.server.URL + MetadataPath))
		var said map[string]any
		json.NewDecoder(resp.Body).Decode(&said)
		resp.Body.Close()
		for name, want := range map[string]string{
			"issuer": w.server.URL, "authorization_endpoint": w.server.URL + "/oauth/authorize", "token_endpoint": w.server.URL + "/oauth/token",
			"revocation_endpoint": w.server.URL + "/oauth/revoke",
		} {
			if said[name] != want {
				t.Errorf("%s is %v", name, said[name])
			}
		}
		if said["client_id_metadata_document_supported"] != true || said["authorization_response_iss_parameter_supported"] != true ||
			(said["registration_endpoint"] != nil) != open || resp.Header.Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%v", said)
		}
		resp = must(http.Post(w.server.URL+"/oauth/register", "application/json", strings.NewReader(`{"redirect_uris":["http://127.0.0.1/cb"]}`)))
		resp.Body.Close()
		if (resp.StatusCode == 201) != open {
			t.Errorf("registration: %s", resp.Status)
		}
	}
}

func TestGrantsEndInTime(t *testing.T) {
	w := newWorld(t, nil)
	code := w.code()
	w.pass(codeTime)
	if got := w.exchange(code); got.Error != invalidGrant {
		t.Errorf("an old code: %+v", got)
	}
	got := w.exchange(w.code())
	w.pass(accessTime)
	if w.admits(got.Access) {
		t.Error("an expired token opens")
	}
	for range 7*24 - 2 {
		w.pass(accessTime)
		if got = w.refresh(got.Refresh); got.Error != "" {
			t.Fatalf("%+v", got)
		}
	}
	w.pass(time.Hour / 2)
	if got = w.refresh(got.Refresh); got.ExpiresIn > 1800 {
		t.Errorf("%+v", got)
	}
	w.pass(time.Hour / 2)
	if again := w.refresh(got.Refresh); again.Error != invalidGrant || w.admits(got.Access) {
		t.Errorf("after a week: %+v", again)
	}
	if n, err := w.Store.TrimGrants(t.Context()); err != nil || n == 0 {
		t.Errorf("%d %v", n, err)
	}
}

func TestDisabledAndRevokedAreOut(t *testing.T) {
	w := newWorld(t, nil)
	got := w.exchange(w.code())
	if !w.admits(got.Access) {
		t.Fatal("not admitted")
	}
	elsewhere := New(w.Parts) // another gateway on the same store
	if _, err := elsewhere.Admit(t.Context(), got.Access, w.server.URL+"/mcp"); err != nil {
		t.Fatal(err)
	}
	if status, _ := w.post("/oauth/revoke", url.Values{"token": {got.Refresh}, "client_id": {"https://another.example/"}}); status != 400 || !w.admits(got.Access) {
		t.Error("another client has revoked it")
	}
	for _, token := range []string{"", "tfa_nothing", got.Access} {
		if status, _ := w.post("/oauth/revoke", url.Values{"token": {token}, "client_id": {w.client}}); status != 200 {
			t.Errorf("%q: %d", token, status)
		}
	}
	if w.admits(got.Access) || w.refresh(got.Refresh).Error != invalidGrant {
		t.Error("revoked, and still in")
	}
	if _, err := elsewhere.Admit(t.Context(), got.Access, w.server.URL+"/mcp"); err != nil {
		t.Log("it heard of it at once")
	}
	w.pass(10 * time.Second)
	if _, err := elsewhere.Admit(t.Context(), got.Access, w.server.URL+"/mcp"); !fault.Is(err, fault.Unauthorized) {
		t.Errorf("revoked, and in at another gateway: %v", err)
	}

	got = w.exchange(w.code())
	w.admits(got.Access)
	if _, err := w.Store.DisablePerson(t.Context(), "alice", w.now()); err != nil {
		t.Fatal(err)
	}
	w.pass(10 * time.Second)
	if w.admits(got.Access) || w.refresh(got.Refresh).Error != invalidGrant {
		t.Error("disabled, and still in")
	}
}

func TestWhatTheConfigurationTakesAwayIsGone(t *testing.T) {
	w := newWorld(t, nil)
	got := w.exchange(w.code())
	for name, change := range map[string]func(*Parts){
		"the client":    func(p *Parts) { p.Config = &config.Broker{Clients: []string{"https://claude.ai/**"}} },
		"another scope": func(p *Parts) { p.Scopes = []string{"mcp:tools", "mcp:more"} },
	} {
		p := w.Parts
		change(&p)
		if _, err := New(p).Admit(t.Context(), got.Access, w.server.URL+"/mcp"); !fault.Is(err, fault.Unauthorized) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTokenIsForItsResource(t *testing.T) {
	w := newWorld(t, nil)
	ops := w.exchange(w.code("resource", w.server.URL+"/mcp/ops/"))
	all := w.exchange(w.code("resource", ""))
	for path, want := range map[string][]bool{"/mcp": {false, true}, "/mcp/ops": {true, true}, "/mcp/dev": {false, true}, "/mcp/ops/env": {false, true}} {
		for i, token := range []string{ops.Access, all.Access} {
			if _, err := w.Admit(t.Context(), token, w.server.URL+path); (err == nil) != want[i] {
				t.Errorf("%s, %d: %v", path, i, err)
			}
		}
	}
	if got := w.refresh(ops.Refresh, "resource", w.server.URL+"/mcp"); got.Error != invalidTarget {
		t.Errorf("%+v", got)
	}
	if got := w.refresh(ops.Refresh, "resource", w.server.URL+"/mcp/ops"); got.Error != "" {
		t.Errorf("%+v", got)
	}
}

func TestNothingSecretIsStoredOrLogged(t *testing.T) {
	var log strings.Builder
	w := newWorld(t, func(p *Parts) {
		p.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	var providers []string
	w.provider.Login.Answer = func(v url.Values) { providers = append(providers, v.Get("code"), v.Get("state")) }
	code := w.code()
	got := w.exchange(code)
	begun := w.browser()
	begun.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	begun.allow(w.request()) // it stays at the provider
	raw := readStore(t, w)
	w.exchange(code)
	w.exchange(w.code(), "code_verifier", "wrong")
	w.provider.Login.Person = map[string]any{"groups": nil}
	w.browser().allow(w.request())
	for _, text := range append(providers, code, got.Access, got.Refresh, "of-alice", verifier) {
		secret := text[strings.LastIndexByte(text, '_')+1:]
		if strings.Contains(raw, secret) || strings.Contains(log.String(), secret) {
			t.Errorf("%.6s… is in the store or in the log", text)
		}
	}
	if !strings.Contains(raw, "alice") || !strings.Contains(log.String(), "used again") || !strings.Contains(log.String(), "no mapping gives rights") {
		t.Errorf("not all was tried: %s", &log)
	}
}
