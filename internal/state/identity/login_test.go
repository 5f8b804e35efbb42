package identity

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/testkit/idp"
)

const redirect = "https://tools.example.com/sign-in/callback"

func (p provider) withLogin() config.Identity {
	cfg := p.config()
	cfg.Login = &config.Login{ClientID: "toolfit", ClientSecret: "s+3"}
	return cfg
}

// browse opens the address and returns what the provider sends back with the browser.
func browse(t testing.TB, address string) url.Values {
	t.Helper()
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	to, err := resp.Location()
	if err != nil || !strings.HasPrefix(to.String(), redirect+"?") {
		t.Fatalf("%s: %v", resp.Status, err)
	}
	return to.Query()
}

// signIn signs alice in.
func signIn(t testing.TB, cfg config.Identity) (*Identity, error) {
	t.Helper()
	v := verifier(t, nil, cfg)
	l := NewLogin(cfg.Issuer, redirect)
	address, err := v.LoginURL(t.Context(), l)
	if err != nil {
		return nil, err
	}
	return v.FinishLogin(t.Context(), l, browse(t, address))
}

func TestSignIn(t *testing.T) {
	for name, c := range map[string]struct {
		login  func(*idp.Login)
		config func(*config.Identity)
		want   string // subject, name, groups, profile
	}{
		"an ID token": {nil, nil, "alice alice [eng] ops"},
		"with more":   {func(l *idp.Login) { l.Person = map[string]any{"name": "Ann", "typ": "ID"} }, nil, "alice Ann [eng] ops"},
		"no iss at all": {func(l *idp.Login) {
			noIssuer(l)
			l.Metadata = map[string]any{"authorization_response_iss_parameter_supported": nil}
		}, nil, "alice alice [eng] ops"},
		"our own azp": {func(l *idp.Login) { l.Person = map[string]any{"azp": "toolfit", "aud": []string{"x", "toolfit"}} }, nil, "alice alice [eng] ops"},
		"secret as text": {func(l *idp.Login) {
			l.Metadata = map[string]any{"token_endpoint_auth_methods_supported": []string{"client_secret_post"}}
		}, nil, "alice alice [eng] ops"},
		"no rights": {func(l *idp.Login) { l.Person = map[string]any{"groups": []string{"x"}} }, nil, "alice alice [x] forbidden"},
		"too many groups": {func(l *idp.Login) { l.Person = map[string]any{"_claim_names": map[string]any{"groups": "src"}} }, nil,
			"alice alice [] forbidden"},
		"groups from userinfo": {
			func(l *idp.Login) {
				l.Person = map[string]any{"groups": nil, "name": "Ann"}
				l.Userinfo = map[string]string{"/me": `{"sub":"alice","name":"not Ann","roles":["eng"]}`}
				l.IDToken = func(c map[string]any) { delete(c, "groups") }
			},
			func(i *config.Identity) { i.Groups = "roles"; i.Login.Userinfo = []string{i.Issuer + "/me"} },
			"alice Ann [eng] ops",
		},
		"no OpenID": {
			func(l *idp.Login) {
				l.Metadata = map[string]any{"jwks_uri": nil}
				l.Userinfo = map[string]string{"/user": `{"id":42,"name":null,"login":"Ann"}`, "/user/orgs": `[{"login":"x"},null,{"login":"eng"},{"id":1}]`}
			},
			func(i *config.Identity) {
				i.Subject = "id"
				i.Groups = "orgs.login"
				i.Login.Scopes = []string{"read:org", "read:user"}
				i.Login.Userinfo = []string{i.Issuer + "/user", i.Issuer + "/user/orgs?per_page=100"}
			},
			"42 Ann [x eng] ops",
		},
	} {
		p := newProvider(t)
		cfg := p.withLogin()
		if c.login != nil {
			c.login(&p.Login)
		}
		if c.config != nil {
			c.config(&cfg)
		}
		id, err := signIn(t, cfg)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := fmt.Sprint(id.Subject, " ", id.shown(), " ", id.Groups, " ", id.principal.Profile)
		if id.denied != nil {
			got += string(fault.As(id.denied).Code)
		}
		if got != c.want || id.Service {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func noIssuer(l *idp.Login) { l.Answer = func(q url.Values) { q.Del("iss") } }

func answers(change func(url.Values)) func(provider, *idp.Login) {
	return func(_ provider, l *idp.Login) { l.Answer = change }
}

func says(name string, value any) func(provider, *idp.Login) {
	return func(_ provider, l *idp.Login) { l.Metadata = map[string]any{name: value} }
}

func claim(name string, value any) func(provider, *idp.Login) {
	return func(_ provider, l *idp.Login) { l.Person = map[string]any{name: value} }
}

func TestFaultyProvidersLetNobodyIn(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a redirect was followed") }))
	defer elsewhere.Close()
	for name, c := range map[string]struct {
		fault func(provider, *idp.Login)
		want  string
	}{
		"no metadata":               {says("issuer", nil), "it calls itself"},
		"another issuer":            {says("issuer", "https://evil.example.com"), "it calls itself"},
		"script in place of a page": {says("authorization_endpoint", "javascript:alert(1)"), "its authorization_endpoint"},
		"no authorization endpoint": {says("authorization_endpoint", nil), "its authorization_endpoint"},
		"a fragment":                {says("authorization_endpoint", "https://x.example.com/#y"), "its authorization_endpoint"},
		"no token endpoint":         {says("token_endpoint", nil), "its token_endpoint"},
		"a file":                    {says("token_endpoint", "file:///etc/passwd"), "its token_endpoint"},
		"metadata service":          {says("token_endpoint", "http://169.254.169.254/token"), "is not public"},
		"wrong state":               {answers(func(q url.Values) { q.Set("state", "x") }), "not the answer to the sign-in"},
		"no state":                  {answers(func(q url.Values) { q.Del("state") }), "not the answer to the sign-in"},
		"state twice":               {answers(func(q url.Values) { q.Add("state", q.Get("state")) }), "state more than once"},
		"code twice":                {answers(func(q url.Values) { q.Add("code", "x") }), "code more than once"},
		"promised iss is missing":   {answers(func(q url.Values) { q.Del("iss") }), "does not say which provider"},
		"wrong iss":                 {answers(func(q url.Values) { q.Set("iss", "https://evil.example.com") }), "from another provider"},
		"iss with a slash":          {answers(func(q url.Values) { q.Set("iss", q.Get("iss")+"/") }), "from another provider"},
		"empty iss":                 {answers(func(q url.Values) { q.Set("iss", "") }), "from another provider"},
		"no code":                   {answers(func(q url.Values) { q.Del("code") }), "has no code"},
		"an unknown code":           {answers(func(q url.Values) { q.Set("code", "x") }), "it refused: invalid_grant"},
		"denied":                    {answers(func(q url.Values) { q.Set("error", "access_denied") }), "it refused: access_denied"},
		"denied, with text":         {answers(func(q url.Values) { q.Set("error", "EVIL <b>") }), "it refused: no reason is known"},
		"denied by another": {answers(func(q url.Values) {
			q.Set("error", "EVIL")
			q.Set("iss", "EVIL")
		}), "from another provider"},
		"denied elsewhere": {answers(func(q url.Values) {
			q.Set("error", "EVIL")
			q.Set("state", "x")
		}), "not the answer to the sign-in"},
		"no ID token":     {func(_ provider, l *idp.Login) { l.Token = func(a map[string]any) { delete(a, "id_token") } }, "there is none"},
		"no access token": {func(_ provider, l *idp.Login) { l.Token = func(a map[string]any) { delete(a, "access_token") } }, "its answer has none"},
		"a list":          {func(_ provider, l *idp.Login) { l.Token = func(a map[string]any) { a["id_token"] = []string{"x"} } }, "there is none"},
		"no JWT":          {func(_ provider, l *idp.Login) { l.Signed = func(string) string { return "EVIL" } }, "form: it is not a JWT"},
		"too long": {func(_ provider, l *idp.Login) {
			l.Signed = func(s string) string { return s + strings.Repeat("a", 64<<10) }
		}, "size"},
		"another signature": {func(_ provider, l *idp.Login) { l.Signed = func(s string) string { return s[:len(s)-8] + "AAAAAAAA" } }, "signature"},
		"another key": {func(p provider, l *idp.Login) {
			l.IDToken = func(claims map[string]any) {
				l.Signed = func(string) string { return idp.Sign(t, jose.EdDSA, idp.NewEd(), map[string]any{"kid": "ed"}, claims) }
			}
		}, "signature"},
		"HS256 with our secret": {func(p provider, l *idp.Login) {
			l.IDToken = func(claims map[string]any) {
				secret := []byte(strings.Repeat("s+3", 20))
				l.Signed = func(string) string { return idp.Sign(t, jose.HS256, secret, nil, claims) }
			}
		}, "form"},
		"another issuer in it":  {claim("iss", "https://evil.example.com"), "issuer"},
		"for another client":    {claim("aud", "other"), "audience"},
		"for nobody":            {claim("aud", nil), "audience"},
		"for several":           {claim("aud", []string{"toolfit", "other"}), "azp"},
		"of another client":     {claim("azp", "other"), "azp"},
		"azp is a list":         {claim("azp", []string{"toolfit"}), "azp"},
		"wrong nonce":           {claim("nonce", "x"), "nonce"},
		"no nonce":              {func(_ provider, l *idp.Login) { l.IDToken = func(c map[string]any) { delete(c, "nonce") } }, "nonce"},
		"expired":               {claim("exp", time.Now().Add(-time.Hour).Unix()), "expiry"},
		"no expiry":             {func(_ provider, l *idp.Login) { l.IDToken = func(c map[string]any) { delete(c, "exp") } }, "expiry"},
		"from the future":       {claim("iat", time.Now().Add(time.Hour).Unix()), "iat"},
		"no subject":            {func(_ provider, l *idp.Login) { l.IDToken = func(c map[string]any) { delete(c, "sub") } }, "there is no sub"},
		"a number as subject":   {claim("sub", 42), "there is no sub"},
		"an HTML page":          {instead(200, "text/html", "<h1>EVIL</h1>"), "its answer has none"},
		"an endless answer":     {instead(200, "application/json", `{"access_token":"`+strings.Repeat("a", 2<<20)), "its answer has none"},
		"an error with a page":  {instead(502, "text/html", "EVIL"), "it answered 502"},
		"an error with 200":     {instead(200, "application/json", `{"error":"bad_verification_code","error_description":"EVIL"}`), "bad_verification_code"},
		"an error that is evil": {instead(400, "application/json", `{"error":"EVIL"}`), "no reason is known"},
		"a redirect": {func(_ provider, l *idp.Login) {
			l.Instead = func(w http.ResponseWriter) {
				w.Header().Set("Location", elsewhere.URL)
				w.WriteHeader(http.StatusTemporaryRedirect)
			}
		}, "it redirects elsewhere"},
	} {
		p := newProvider(t)
		c.fault(p, &p.Login)
		id, err := signIn(t, p.withLogin())
		refused(t, name, id, err, c.want)
	}
}

func instead(status int, kind, body string) func(provider, *idp.Login) {
	return func(_ provider, l *idp.Login) {
		l.Instead = func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(status)
			w.Write([]byte(body))
		}
	}
}

func refused(t *testing.T, name string, id *Identity, err error, want string) {
	t.Helper()
	if id != nil || err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%s: %+v, %v", name, id, err)
	}
	if err != nil && (strings.Contains(err.Error(), "EVIL") || fault.As(err).Code == fault.Internal || strings.Contains(err.Error(), "\n")) {
		t.Errorf("%s: it says: %v", name, err)
	}
}

func TestFaultyUserinfoLetsNobodyIn(t *testing.T) {
	for name, c := range map[string]struct {
		said, more string
		want       string
	}{
		"nothing":         {"", "[]", "answered 404"},
		"no JSON":         {"<html>EVIL", "[]", "no JSON"},
		"a list":          {"[1]", "[]", "not an object"},
		"null":            {"null", "[]", "not an object"},
		"nobody":          {`{"name":"alice"}`, "[]", "there is no id"},
		"a fraction":      {`{"id":1.5}`, "[]", "there is no id"},
		"an empty id":     {`{"id":""}`, "[]", "there is no id"},
		"no JSON as more": {`{"id":7}`, "EVIL", "no JSON"},
		"too long":        {`{"id":7}`, `"` + strings.Repeat("x", 1<<20) + `"`, "too long"},
		"nothing as more": {`{"id":7}`, "", "answered 404"},
	} {
		p := newProvider(t)
		cfg := p.withLogin()
		cfg.Subject = "id"
		cfg.Login.Scopes = []string{"read:user"}
		cfg.Login.Userinfo = []string{p.URL + "/user", p.URL + "/user/orgs"}
		p.Login.Userinfo = map[string]string{}
		for path, said := range map[string]string{"/user": c.said, "/user/orgs": c.more} {
			if said != "" {
				p.Login.Userinfo[path] = said
			}
		}
		id, err := signIn(t, cfg)
		refused(t, name, id, err, c.want)
	}
	p := newProvider(t)
	cfg := p.withLogin()
	cfg.Login.Userinfo = []string{p.URL + "/me"}
	p.Login.Userinfo = map[string]string{"/me": `{"sub":"bob","groups":["platform"]}`}
	id, err := signIn(t, cfg)
	refused(t, "somebody else", id, err, "tells about somebody else")
}

func TestACodeIsUsedOnceAndForItsSignInOnly(t *testing.T) {
	p := newProvider(t)
	v := verifier(t, nil, p.withLogin())
	first := NewLogin(p.URL, redirect)
	second := NewLogin(p.URL, redirect)
	address, err := v.LoginURL(t.Context(), first)
	if err != nil {
		t.Fatal(err)
	}
	for name, secret := range map[string]string{"nonce": first.Nonce, "state": first.State} {
		if got := mustURL(t, address).Query().Get(name); got != secret {
			t.Errorf("%s is %q", name, got)
		}
	}
	if strings.Contains(address, first.Verifier) {
		t.Error("the address tells the verifier")
	}
	answer := browse(t, address)
	stolen := url.Values{"code": answer["code"], "iss": answer["iss"], "state": {second.State}}
	id, err := v.FinishLogin(t.Context(), second, stolen)
	refused(t, "the code of another sign-in", id, err, "invalid_grant")

	answer = browse(t, address)
	if _, err := v.FinishLogin(t.Context(), first, answer); err != nil {
		t.Fatal(err)
	}
	id, err = v.FinishLogin(t.Context(), first, answer)
	refused(t, "a second time", id, err, "invalid_grant")
	id, err = v.FinishLogin(t.Context(), Login{Issuer: p.URL, Redirect: redirect}, url.Values{"code": {"x"}})
	refused(t, "nothing was begun", id, err, "not the answer")
	id, err = v.FinishLogin(t.Context(), NewLogin("https://evil.example.com", redirect), answer)
	refused(t, "a provider that is not configured", id, err, "nobody can sign in at")
}

func mustURL(t *testing.T, address string) *url.URL {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestAnIDTokenIsNoAccessToken(t *testing.T) {
	p := newProvider(t)
	cfg := p.withLogin()
	cfg.Audiences = []string{"toolfit"}
	cfg.Scope = ""
	var token string
	p.Login.Signed = func(s string) string {
		token = s
		return s
	}
	if _, err := signIn(t, cfg); err != nil {
		t.Fatal(err)
	}
	if _, err := verifier(t, nil, cfg).Admit(t.Context(), token, resource); !fault.Is(err, fault.Unauthorized) {
		t.Errorf("admitted: %v", err)
	}
}

func TestLogins(t *testing.T) {
	with := config.Identity{Issuer: "https://a.example.com:8443/x", Login: &config.Login{ClientID: "x"}}
	named := config.Identity{Issuer: "https://b.example.com", Login: &config.Login{ClientID: "x", Name: "Bee"}}
	v := New([]config.Identity{with, {Issuer: "https://c.example.com"}, named}, nil)
	if got := fmt.Sprint(v.Logins()); got != "[https://a.example.com:8443/x https://b.example.com]" {
		t.Error(got)
	}
	if got := v.LoginName(with.Issuer) + " " + v.LoginName(named.Issuer); got != "a.example.com:8443 Bee" {
		t.Error(got)
	}
}

// TestASilentProviderIsGivenUp, and those who come next do not wait for it.
func TestASilentProviderIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := config.Identity{Issuer: "http://127.0.0.1:1", Login: &config.Login{ClientID: "x"}}
		v := New([]config.Identity{cfg}, nil)
		v.issuers[0].http.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
		for _, want := range []time.Duration{fetchTime, 0, 0} {
			began := time.Now()
			_, err := v.LoginURL(t.Context(), NewLogin(cfg.Issuer, redirect))
			refused(t, "silent", nil, err, "no answer in time")
			if took := time.Since(began); took != want {
				t.Errorf("it took %v, want %v", took, want)
			}
		}
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestAProviderInAPrivateNetworkMustBeAllowed: its token endpoint is where the metadata service of a cloud would be.
func TestAProviderInAPrivateNetworkMustBeAllowed(t *testing.T) {
	p := newProvider(t)
	other := newProvider(t)
	inside := strings.Replace(other.URL, "127.0.0.1", "127.0.0.2", 1)
	p.Login.Metadata = map[string]any{"token_endpoint": inside + "/token"}
	cfg := p.withLogin()
	id, err := signIn(t, cfg)
	refused(t, "another address", id, err, "is not public")
	cfg.Allow = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/29")}
	_, err = signIn(t, cfg) // the other provider listens elsewhere, or does not know the code
	if err == nil || strings.Contains(err.Error(), "is not public") {
		t.Errorf("it is allowed, and it says %v", err)
	}
}
