package oauth

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/gateway/httpapi"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/identity"
	"github.com/toolfit/toolfit/internal/state/store"
	"github.com/toolfit/toolfit/internal/testkit/authserver"
)

// tokenEndpoint is where an identity provider or an authorization server gives tokens.
type tokenEndpoint struct {
	*httptest.Server
	mu     sync.Mutex
	asked  []url.Values
	basic  []string
	answer func(form url.Values) (int, map[string]any)
}

func newTokenEndpoint(t *testing.T, answer func(form url.Values) (int, map[string]any)) *tokenEndpoint {
	t.Helper()
	e := &tokenEndpoint{answer: answer}
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.ParseForm()
		e.mu.Lock()
		defer e.mu.Unlock()
		e.asked = append(e.asked, r.PostForm)
		id, _, _ := r.BasicAuth()
		e.basic = append(e.basic, id)
		status, said := e.answer(r.PostForm)
		w.WriteHeader(status)
		json.NewEncoder(w).Encode(said)
	}))
	t.Cleanup(e.Close)
	return e
}

func (e *tokenEndpoint) count() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.asked)
}

// provided are credentials whose identity provider is the endpoint.
func provided(t *testing.T, st *store.Store, idp *tokenEndpoint, cfg config.Server, now func() time.Time) (*Connections, httpapi.Credentials) {
	t.Helper()
	c := New(Options{
		Store: st, Now: now, Page: func(id tool.ServerID) string { return "http://here/connect/" + string(id) },
		Server: func(tool.ServerID) (config.Server, bool) { return cfg, true }, Values: func() string { return "http://here/connections" },
		Provider: func(_ context.Context, issuer string) (*identity.Provider, error) {
			return &identity.Provider{Issuer: issuer, TokenEndpoint: idp.URL, ClientID: "console", ClientSecret: "s", HTTP: idp.Client()}, nil
		},
	})
	credentials, err := c.Credentials(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c, credentials
}

// TestASecretGoesToTheProviderThatKnowsItsClient: with several, it is not sent to whoever issued the caller's token.
func TestASecretGoesToTheProviderThatKnowsItsClient(t *testing.T) {
	idp := newTokenEndpoint(t, func(url.Values) (int, map[string]any) { return 200, map[string]any{"access_token": "x"} })
	cfg := config.Server{ID: "s", URL: "https://tools.example.com/mcp",
		OAuth: &config.OAuth{As: config.AsExchange, ClientID: "us", ClientSecret: "x"}}
	c, credentials := provided(t, openStore(t), idp, cfg, time.Now)
	c.opts.Vague = func(o *config.OAuth) bool { return o.IsVague(make([]config.Identity, 2)) }
	if _, err := credentials.Header(sentBy(t.Context(), "u_a", "one"), "u_a"); !fault.Is(err, fault.BadConfig) || idp.count() != 0 {
		t.Errorf("%v, asked %d times", err, idp.count())
	}
}

func sentBy(ctx context.Context, owner, text string) context.Context {
	return access.WithSent(ctx, access.Sent{Owner: owner, Issuer: "https://idp", Text: text})
}

func TestTheCallersTokenIsExchangedAtItsIssuer(t *testing.T) {
	idp := newTokenEndpoint(t, func(form url.Values) (int, map[string]any) {
		return 200, map[string]any{"access_token": "for-" + form.Get("subject_token"), "token_type": "Bearer", "expires_in": 600}
	})
	now := time.Now()
	var mu sync.Mutex
	clock := func() time.Time { mu.Lock(); defer mu.Unlock(); return now }
	cfg := config.Server{ID: "s", URL: "https://tools.example.com/mcp",
		OAuth: &config.OAuth{As: config.AsExchange, ClientID: "us", ClientSecret: "x"}}
	c, credentials := provided(t, openStore(t), idp, cfg, clock)
	want := func(ctx context.Context, caller, token string) {
		t.Helper()
		header, err := credentials.Header(ctx, caller)
		if err != nil || header.Get("Authorization") != "Bearer "+token {
			t.Errorf("%s: %v %v", caller, header, err)
		}
	}
	if _, err := credentials.Header(t.Context(), ""); !fault.Is(err, fault.LoginRequired) || !c.Awaits() {
		t.Errorf("nobody has come: %v", err)
	}
	var all sync.WaitGroup
	for i := range 20 {
		for n := range 5 {
			all.Go(func() {
				owner := fmt.Sprintf("u_%d", i)
				header, err := credentials.Header(sentBy(t.Context(), owner, fmt.Sprintf("%d-%d", i, n)), owner)
				if err != nil || !strings.HasPrefix(header.Get("Authorization"), fmt.Sprintf("Bearer for-%d-", i)) {
					t.Errorf("%s: %v %v", owner, header, err)
				}
			})
		}
	}
	all.Wait()
	if idp.count() != 20 {
		t.Errorf("asked %d times for 20 callers", idp.count())
	}
	form := idp.asked[0]
	if form.Get("grant_type") != exchangeGrant || form.Get("resource") != cfg.URL || idp.basic[0] != "us" ||
		form.Get("subject_token_type") != accessType {
		t.Errorf("asked with %v as %s", form, idp.basic[0])
	}
	want(sentBy(t.Context(), "u_a", "one"), "u_a", "for-one")
	want(t.Context(), "u_a", "for-one") // until it expires, nobody has to send anything
	want(t.Context(), "", "for-one")
	if c.Awaits() {
		t.Error("somebody has come")
	}
	mu.Lock()
	now = now.Add(time.Hour)
	mu.Unlock()
	for name, ctx := range map[string]context.Context{"none": t.Context(), "another's": sentBy(t.Context(), "u_b", "two")} {
		before := idp.count()
		if _, err := credentials.Header(ctx, "u_a"); !fault.Is(err, fault.LoginRequired) || idp.count() != before {
			t.Errorf("%s: %v", name, err)
		}
	}
	want(sentBy(t.Context(), "u_a", "three"), "u_a", "for-three")
	if _, err := credentials.Header(sentBy(t.Context(), "u_a", "x"), "abcdefgh"); !fault.Is(err, fault.LoginRequired) ||
		!strings.Contains(err.Error(), "key") {
		t.Errorf("a key: %v", err)
	}
	c.Forget("u_a")
	want(sentBy(t.Context(), "u_a", "four"), "u_a", "for-four")
}

func TestAnExchangeThatIsRefusedSaysWhatToDo(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		said   map[string]any
		code   fault.Code
	}{
		"refused": {400, map[string]any{"error": "invalid_grant", "error_description": "secret"}, fault.LoginRequired},
		"away":    {503, nil, fault.UpstreamDown},
		"other":   {200, map[string]any{"access_token": "x", "token_type": "N_A"}, fault.LoginRequired},
		"nothing": {200, map[string]any{}, fault.LoginRequired},
	} {
		idp := newTokenEndpoint(t, func(url.Values) (int, map[string]any) { return c.status, c.said })
		cfg := config.Server{ID: "s", URL: "https://tools.example.com/mcp", OAuth: &config.OAuth{As: config.AsExchange, ClientID: "us"}}
		_, credentials := provided(t, openStore(t), idp, cfg, nil)
		for range 2 { // the second is answered from memory
			_, err := credentials.Header(sentBy(t.Context(), "u_a", "the-token"), "u_a")
			if !fault.Is(err, c.code) || strings.Contains(fmt.Sprint(err, fault.As(err).Hint), "the-token") || fault.As(err).Hint == "" {
				t.Errorf("%s: %v", name, err)
			}
		}
		if idp.count() != 1 {
			t.Errorf("%s: asked %d times", name, idp.count())
		}
	}
	idp := newTokenEndpoint(t, func(url.Values) (int, map[string]any) { return 200, nil })
	cfg := config.Server{ID: "s", URL: "https://x", OAuth: &config.OAuth{As: config.AsExchange, ClientID: "us", Issuer: "https://other"}}
	_, credentials := provided(t, openStore(t), idp, cfg, nil)
	if _, err := credentials.Header(sentBy(t.Context(), "u_a", "x"), "u_a"); !fault.Is(err, fault.LoginRequired) || idp.count() != 0 {
		t.Errorf("of another issuer: %v", err)
	}
}

func TestTheIdentityProviderVouches(t *testing.T) {
	as := authserver.New(t)
	idp := newTokenEndpoint(t, func(form url.Values) (int, map[string]any) {
		if form.Get("subject_token") != "id-of-ann" {
			return 400, map[string]any{"error": "invalid_grant"}
		}
		return 200, map[string]any{"access_token": "jag", "token_type": "N_A", "issued_token_type": idJAGType}
	})
	st := openStore(t)
	cfg := config.Server{ID: "s", URL: as.MCP, OAuth: &config.OAuth{As: config.AsAssertion, ClientID: "us", ClientSecret: "x"}}
	_, credentials := provided(t, st, idp, cfg, nil)
	if _, err := credentials.Header(t.Context(), "u_ann"); !fault.Is(err, fault.LoginRequired) ||
		!strings.Contains(fault.As(err).Hint, "sign in") {
		t.Errorf("before the sign-in: %v", err)
	}
	data, _ := json.Marshal(SignedIn{Issuer: "https://idp", Token: "id-of-ann"})
	if err := st.SavePersonal(t.Context(), store.Personal{Owner: "u_ann", Name: IDToken, Data: data}); err != nil {
		t.Fatal(err)
	}
	_, err := credentials.Header(t.Context(), "u_ann")
	if !fault.Is(err, fault.LoginRequired) || !strings.Contains(err.Error(), as.URL) { // this server takes no assertions
		t.Errorf("%v", err)
	}
	form := idp.asked[0]
	if form.Get("audience") != as.URL || form.Get("resource") != as.MCP || form.Get("requested_token_type") != idJAGType ||
		form.Get("subject_token_type") != idType || idp.basic[0] != "console" {
		t.Errorf("asked with %v as %s", form, idp.basic[0])
	}
	if as.Count("/token") != 1 {
		t.Errorf("the authorization server was asked %d times", as.Count("/token"))
	}
}

func TestPeoplesOwnHeaders(t *testing.T) {
	st := openStore(t)
	cfg := config.Server{ID: "jira", URL: "https://jira.example.com", Headers: map[string]string{
		"X-Token": "Basic ${user:mail}:${user:token}", "X-Shared": "yes",
	}}
	c, credentials := provided(t, st, nil, cfg, nil)
	set := func(owner, name, value string) {
		t.Helper()
		if err := st.SavePersonal(t.Context(), store.Personal{Owner: owner, Name: ValueName(name), Data: []byte(value)}); err != nil {
			t.Fatal(err)
		}
		c.PersonChanged()
	}
	own, err := credentials.Header(t.Context(), "")
	if err != nil || own.Get("X-Token") != "" || own.Get("X-Shared") != "yes" {
		t.Errorf("our own: %v %v", own, err)
	}
	set("ann", "mail", "ann@x")
	_, err = credentials.Header(t.Context(), "ann")
	if !fault.Is(err, fault.LoginRequired) || !strings.Contains(fault.As(err).Hint, "toolfit connections set token -") {
		t.Errorf("without a value: %v", err)
	}
	for _, who := range []string{"ann", "bob"} {
		set(who, "mail", who+"@x")
		set(who, "token", "t-"+who)
	}
	for _, who := range []string{"ann", "bob", "ann"} {
		header, err := credentials.Header(t.Context(), who)
		again, _ := credentials.Header(t.Context(), who)
		if err != nil || header.Get("X-Token") != "Basic "+who+"@x:t-"+who || header.Get("X-Shared") != "yes" || header != again {
			t.Errorf("%s: %v %v", who, header, err)
		}
	}
	set("ann", "token", "new")
	if header, err := credentials.Header(t.Context(), "ann"); err != nil || header.Get("X-Token") != "Basic ann@x:new" {
		t.Errorf("after a change: %v %v", header, err)
	}
	rejects := credentials.(httpapi.SignIns)
	err = rejects.Rejected(t.Context(), "ann", own, http.StatusUnauthorized, nil)
	if !fault.Is(err, fault.LoginRequired) || !strings.Contains(err.Error(), "refused your own value of mail, token") {
		t.Errorf("a value that is refused: %v", err)
	}
	if err := rejects.Rejected(t.Context(), "ann", own, http.StatusForbidden, nil); err != nil {
		t.Errorf("an account that may not: %v", err)
	}
}
