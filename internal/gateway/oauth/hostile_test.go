package oauth

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/gateway/httpapi"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
	"github.com/toolfit/toolfit/internal/testkit/authserver"
)

// refusedCall is a call to a server that refuses every token.
func (g *gateway) refusedCall(t *testing.T, owner string) error {
	t.Helper()
	header, err := g.credentials.Header(t.Context(), owner)
	if err != nil {
		return err
	}
	if g.credentials.Refused(t.Context(), owner, header, http.Header{}) {
		if header, err = g.credentials.Header(t.Context(), owner); err != nil {
			return err
		}
	}
	return g.credentials.(httpapi.SignIns).Rejected(t.Context(), owner, header, http.StatusUnauthorized, http.Header{})
}

// TestAServerThatRefusesEverybodyEndsFewConnections: it is broken, and nobody has to sign in again when it works.
func TestAServerThatRefusesEverybodyEndsFewConnections(t *testing.T) {
	for name, signIn := range map[string]func(*gateway, *authserver.Server, string) error{
		"tokens that can be renewed": func(g *gateway, as *authserver.Server, owner string) error { return g.signIn(t, owner) },
		"tokens from elsewhere": func(g *gateway, as *authserver.Server, owner string) error {
			return g.Keep(t.Context(), g.client, owner, &Found{}, &Registration{}, &Token{Access: as.Token(owner)})
		},
	} {
		as := authserver.New(t)
		st := openStore(t)
		g := newGateway(t, st, as, "one", asUser)
		var owners []string
		for i := range 12 {
			owners = append(owners, fmt.Sprintf("u_%d", i))
			if err := signIn(g, as, owners[i]); err != nil {
				t.Fatal(err)
			}
		}
		before := as.Count("/token")
		var last error
		for range 4 {
			for _, owner := range append(owners, "", "") {
				if last = g.refusedCall(t, owner); last == nil || fault.As(last).Hint == "" {
					t.Fatalf("%s: %v", name, last)
				}
			}
		}
		if last = g.refusedCall(t, owners[11]); !fault.Is(last, fault.UpstreamDown) || !strings.Contains(last.Error(), "of several people") {
			t.Errorf("%s: %v", name, last)
		}
		if n := as.Count("/token") - before; n > len(owners) {
			t.Errorf("%s: %d tokens were renewed", name, n)
		}
		rows, err := st.Connections(t.Context())
		ended := 0
		for _, row := range rows {
			if row.State == store.NeedsLogin {
				ended++
			}
		}
		if err != nil || ended > maxEnded {
			t.Errorf("%s: %d connections ended, %v", name, ended, err)
		}
		if err := g.call(t.Context(), owners[11]); err != nil {
			t.Errorf("%s: when it works again: %v", name, err)
		}
	}
}

// TestValuesAndTokensTogether: a refusal is understood where people have given values, too.
func TestValuesAndTokensTogether(t *testing.T) {
	as := authserver.New(t)
	st := openStore(t)
	g := newGateway(t, st, as, "one", asUser)
	if err := st.SavePersonal(t.Context(), store.Personal{Owner: "u_ann", Name: ValueName("team"), Data: []byte("blue")}); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		oauth     *config.OAuth
		status    int
		challenge string
		want      string
	}{
		"a token that is refused": {&asUser, 401, "Bearer", "it refuses the token"},
		"more rights":             {&asUser, 403, `Bearer error="insufficient_scope", scope="write"`, "more rights"},
		"a value that is refused": {nil, 401, "", "refused your own value"},
		"no rights":               {nil, 403, "", ""},
	} {
		if err := g.signIn(t, "u_ann"); err != nil {
			t.Fatal(err)
		}
		cfg := config.Server{ID: "notes", URL: as.MCP, OAuth: c.oauth, Headers: map[string]string{"X-Team": "${user:team}"}}
		credentials, err := g.Credentials(cfg)
		if err != nil {
			t.Fatal(err)
		}
		header, err := credentials.Header(t.Context(), "u_ann")
		if err != nil || header.Get("X-Team") != "blue" {
			t.Fatalf("%s: %v %v", name, header, err)
		}
		signIns, ok := credentials.(httpapi.SignIns)
		if !ok {
			t.Fatalf("%s: nobody is told", name)
		}
		err = signIns.Rejected(t.Context(), "u_ann", header, c.status, http.Header{"Www-Authenticate": {c.challenge}})
		if c.want == "" && err == nil {
			continue
		}
		if !fault.Is(err, fault.LoginRequired) || !strings.Contains(err.Error(), c.want) || fault.As(err).Hint == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestDiscoveryIsBounded: a server that names a thousand places makes us ask at a few, and no error repeats what it says.
func TestDiscoveryIsBounded(t *testing.T) {
	long := "https://as.example/" + strings.Repeat("x", 100_000)
	var many []string
	for i := range 1000 {
		many = append(many, fmt.Sprintf(`"$/as%d"`, i))
	}
	for name, c := range map[string]struct {
		challenge string
		pages     map[string]string
	}{
		"many authorization servers": {"", map[string]string{wellResource: resource("$", strings.Join(many, ","))}},
		"many challenges":            {strings.Repeat(`Bearer resource_metadata="$/no", `, 1000), map[string]string{wellResource: resource("$", `"$/as"`)}},
		"a long name":                {"", map[string]string{wellResource: resource("$", `"`+long+`"`)}},
		"a long issuer":              {"", map[string]string{wellServer: about(long, "")}},
		"a long endpoint":            {"", map[string]string{wellServer: strings.Replace(about("$", ""), "$/token", long, 1)}},
	} {
		s := newSite(t, c.pages)
		client, err := NewClient(&config.Server{ID: "notes", URL: s.URL + "/mcp", OAuth: &asUser})
		if err != nil {
			t.Fatal(err)
		}
		header := http.Header{"Www-Authenticate": {strings.ReplaceAll(c.challenge, "$", s.URL)}}
		_, err = client.Discover(t.Context(), header)
		if !fault.Is(err, fault.LoginRequired) || len(err.Error())+len(fault.As(err).Hint) > 2000 {
			t.Errorf("%s: %.300v", name, err)
		}
		if n := len(s.asked); n > 30 {
			t.Errorf("%s: %d requests", name, n)
		}
	}
	if all := scopesIn(strings.Repeat("a ", 1000)); all != nil {
		t.Errorf("%d scopes", len(all))
	}
}

// TestAClientsSecretGoesToItsIssuerAlone: the server names another authorization server, which says that it is that issuer.
func TestAClientsSecretGoesToItsIssuerAlone(t *testing.T) {
	real := newSite(t, nil)
	for name, c := range map[string]struct {
		secret, token string
		ok            bool
	}{
		"to the thief":                   {"s3cret", "$/steal", false},
		"to its issuer":                  {"s3cret", real.URL + "/token", true},
		"there is no secret to be given": {"", "$/token", true},
	} {
		evil := newSite(t, map[string]string{
			wellResource:       resource("$", `"$/as"`),
			wellServer + "/as": strings.Replace(about(real.URL, ""), "$/token", c.token, 1),
		})
		cfg := config.OAuth{As: config.AsClient, Issuer: real.URL, ClientID: "toolfit", ClientSecret: c.secret}
		client, err := NewClient(&config.Server{ID: "notes", URL: evil.URL + "/mcp", OAuth: &cfg})
		if err != nil {
			t.Fatal(err)
		}
		_, err = client.Discover(t.Context(), http.Header{})
		if (err == nil) != c.ok || err != nil && !strings.Contains(err.Error(), "would get the secret") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestAnswersOfTokenEndpoints: whatever it says, there is a token that can be sent, or none.
func TestAnswersOfTokenEndpoints(t *testing.T) {
	began := time.Unix(1_800_000_000, 0)
	for body, want := range map[string]string{
		`{"access_token":"a","expires_in":60}`:                                   "a 1m0s",
		`{"access_token":"a","expires_in":"60"}`:                                 "a 1m0s",
		`{"access_token":"a","expires_in":60.5,"token_type":"BEARER"}`:           "a 1m0.5s",
		`{"access_token":"a"}`:                                                   "a unknown",
		`{"access_token":"a","expires_in":null}`:                                 "a unknown",
		`{"access_token":"a","expires_in":-1}`:                                   "a unknown",
		`{"access_token":"a","expires_in":0}`:                                    "a unknown",
		`{"access_token":"a","expires_in":1e308}`:                                "a unknown",
		`{"access_token":"a","expires_in":1e999}`:                                "a unknown",
		`{"access_token":"a","expires_in":"NaN"}`:                                "a unknown",
		`{"access_token":"a","expires_in":"Inf"}`:                                "a unknown",
		`{"access_token":"a","expires_in":{"n":1}}`:                              "a unknown",
		`{"access_token":"` + strings.Repeat("x", 10_000) + `"}`:                 strings.Repeat("x", 10_000) + " unknown",
		`{"access_token":"a\r\nX-Admin: 1"}`:                                     "HTTP 200 unsupported_token_type",
		`{"access_token":"a b"}`:                                                 "HTTP 200 unsupported_token_type",
		`{"access_token":"тoken"}`:                                               "HTTP 200 unsupported_token_type",
		`{"access_token":"a\u0000"}`:                                             "HTTP 200 unsupported_token_type",
		`{"access_token":"a","token_type":"DPoP"}`:                               "HTTP 200 unsupported_token_type",
		`{"access_token":""}`:                                                    "HTTP 200 without a reason",
		`{"access_token":7}`:                                                     "HTTP 200 without a reason",
		`{"access_token":"a","error":"<script>alert(1)</script>"}`:               "HTTP 200 without a reason",
		`{"error":"invalid_grant","error_description":"<b>call +1 5550100</b>"}`: "HTTP 200 invalid_grant",
		`{"error":{"code":"x"}}`:                                                 "HTTP 200 without a reason",
		`[]`:                                                                     "HTTP 200 without a reason",
		`null`:                                                                   "HTTP 200 without a reason",
		`<!doctype html><title>Sign in</title>`:                                  "HTTP 200 without a reason",
		``:                                                                       "HTTP 200 without a reason",
		`{"access_token":"a"` + strings.Repeat(`,"x":[[[[`, 10_000):              "HTTP 200 without a reason",
		`{"access_token":"a","refresh_token":null,"scope":"a  b","extra":{"deep":1}}`: "a unknown",
	} {
		token, err := readToken(200, []byte(body), began, bearerType)
		got := ""
		switch {
		case err != nil:
			got = err.Error()
		case token.Expires.IsZero():
			got = token.Access + " unknown"
		default:
			got = token.Access + " " + token.Expires.Sub(began).String()
		}
		if got != want {
			t.Errorf("%.80s: %.200s", body, got)
		}
	}
}

// TestStrangeAnswersOfEveryEndpoint: registration, sign-in on another device, and revocation.
func TestStrangeAnswersOfEveryEndpoint(t *testing.T) {
	for _, said := range []string{
		"", "null", "[]", "7", "<!doctype html><b>call +1 5550100</b>", `{"client_id":7,"device_code":[]}`, `{"error":"<b>call +1 5550100</b>"}`,
		`{"error_description":"call +1 5550100"}`, strings.Repeat("[", 100_000), strings.Repeat(" ", maxBody+2), "500 call +1 5550100", "to https://evil.example/",
		`{"device_code":"x","user_code":"A","verification_uri":"javascript:alert(1)"}`,
		`{"device_code":"x","user_code":"A","verification_uri":"file:///etc/passwd"}`,
		`{"device_code":"x","user_code":"A","verification_uri":"https://u:p@login.example/"}`,
		`{"device_code":"x","user_code":"A\n\nYour computer has a virus, call +1 5550100","verification_uri":"https://login.example/"}`,
		`{"device_code":"x","user_code":"\u001b]0;x\u0007","verification_uri":"https://login.example/"}`,
		`{"device_code":"x","user_code":"` + strings.Repeat("A", 1000) + `","verification_uri":"https://login.example/"}`,
		`{"device_code":"x","user_code":"A","verification_uri":"https://login.example/","expires_in":"soon"}`,
	} {
		s := newSite(t, map[string]string{"/": said})
		client, err := NewClient(&config.Server{ID: "notes", URL: s.URL + "/mcp", OAuth: &asUser})
		if err != nil {
			t.Fatal(err)
		}
		f := &Found{Issuer: s.URL, Token: s.URL + "/", Register: s.URL + "/", Revoke: s.URL + "/", Device: s.URL + "/"}
		r := &Registration{ClientID: "x"}
		_, registered := client.RegisterAt(t.Context(), f, "https://tools.example.com/cb")
		_, device := client.BeginDevice(t.Context(), f, r)
		for what, err := range map[string]error{"registration": registered, "device": device} {
			code := fault.As(err).Code
			if err == nil || code != fault.LoginRequired && code != fault.UpstreamDown || strings.Contains(err.Error(), "5550100") || len(err.Error()) > 400 {
				t.Errorf("%s, after %.60q: %v", what, said, err)
			}
		}
		if err := client.Revoke(t.Context(), f, r, &Token{Access: "x"}); err != nil && strings.Contains(err.Error(), "5550100") {
			t.Errorf("revocation, after %.60q: %v", said, err)
		}
	}
}

// TestAnswersOfSignInsAreTakenOnce: by whoever began, and by nobody else; a code that was used is refused without a second try.
func TestAnswersOfSignInsAreTakenOnce(t *testing.T) {
	as := authserver.New(t)
	st := openStore(t)
	g := newGateway(t, st, as, "one", asUser)
	begin := func() url.Values {
		t.Helper()
		address, err := g.Begin(t.Context(), g.client, "u_ann")
		if err != nil {
			t.Fatal(err)
		}
		return browse(t, address)
	}
	first := begin()
	if err := g.Finish(t.Context(), g.client, "u_ann", first); err != nil {
		t.Fatal(err)
	}
	asked := as.Count("/token")
	second := begin()
	changed := func(name, value string) url.Values {
		other := url.Values{}
		for k, v := range begin() {
			other[k] = v
		}
		other[name] = []string{value}
		if value == "" {
			other.Del(name)
		}
		return other
	}
	for name, c := range map[string]struct {
		owner  string
		answer url.Values
	}{
		"the same again":                {"u_ann", first},
		"another's":                     {"u_bob", second},
		"nobody's":                      {"", second},
		"no state":                      {"u_ann", changed("state", "")},
		"a made-up state":               {"u_ann", changed("state", "x")},
		"another issuer":                {"u_ann", changed("iss", "https://evil.example")},
		"no issuer":                     {"u_ann", changed("iss", "")},
		"an error of another issuer":    {"u_ann", url.Values{"state": changed("x", "y")["state"], "iss": {"https://evil.example"}, "error": {"call_5550100"}}},
		"an error without an issuer":    {"u_ann", url.Values{"state": changed("x", "y")["state"], "error": {"call_5550100"}}},
		"two codes":                     {"u_ann", url.Values{"state": changed("x", "y")["state"], "iss": {as.URL}, "code": {"a", "b"}}},
		"an error with text of its own": {"u_ann", url.Values{"state": changed("x", "y")["state"], "iss": {as.URL}, "error": {"<script>5550100</script>"}}},
	} {
		err := g.Finish(t.Context(), g.client, c.owner, c.answer)
		if err == nil || strings.Contains(err.Error(), "5550100") || fault.As(err).Hint == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := as.Count("/token"); n != asked {
		t.Errorf("%d codes were sent", n-asked)
	}
	used := begin()
	used.Set("code", first.Get("code"))
	if err := g.Finish(t.Context(), g.client, "u_ann", used); !fault.Is(err, fault.LoginRequired) || as.Count("/token") != asked+1 {
		t.Errorf("a code that was used: %v, after %d requests", err, as.Count("/token")-asked)
	}
	for _, owner := range []string{"u_bob", ""} {
		if _, err := st.Connection(t.Context(), "notes", owner); !fault.Is(err, fault.NotFound) {
			t.Errorf("%q is connected: %v", owner, err)
		}
	}
}

// TestScopesDoNotGrowWithoutEnd: a server wants others with every call.
func TestScopesDoNotGrowWithoutEnd(t *testing.T) {
	as := authserver.New(t)
	g := newGateway(t, openStore(t), as, "one", asUser)
	if err := g.signIn(t, "u_ann"); err != nil {
		t.Fatal(err)
	}
	for i := range 250 {
		if err := g.rejected(t, "u_ann", 403, fmt.Sprintf(`Bearer error="insufficient_scope", scope="notes:administer-everything-%d"`, i)); !fault.Is(err, fault.LoginRequired) {
			t.Fatal(err)
		}
	}
	address, err := g.Begin(t.Context(), g.client, "u_ann")
	if err != nil || len(address) > 5000 {
		t.Errorf("%d characters, %v", len(address), err)
	}
}

// TestWhoHasSignedOutElsewhereIsForgotten, though it was missed who it is; others keep their tokens.
func TestWhoHasSignedOutElsewhereIsForgotten(t *testing.T) {
	site := newSite(t, map[string]string{wellServer: about("$", "")})
	idp := newTokenEndpoint(t, func(url.Values) (int, map[string]any) {
		return 200, map[string]any{"access_token": "theirs", "expires_in": 3600}
	})
	cfg := config.Server{ID: "notes", URL: site.URL + "/mcp", OAuth: &config.OAuth{As: config.AsAssertion, ClientID: "x"}}
	site.Config.Handler = alsoToken(site.Config.Handler)
	st := openStore(t)
	c, credentials := provided(t, st, idp, cfg, nil)
	for _, who := range []string{"ann", "bob"} {
		if err := st.SavePersonal(t.Context(), store.Personal{Owner: who, Name: IDToken, Data: []byte(`{"issuer":"https://idp","token":"x"}`)}); err != nil {
			t.Fatal(err)
		}
		if _, err := credentials.Header(t.Context(), who); err != nil {
			t.Fatal(err)
		}
	}
	if err := st.DeletePersonal(t.Context(), "ann", IDToken); err != nil {
		t.Fatal(err)
	}
	before := idp.count()
	c.ForgetGone(t.Context())
	if _, err := credentials.Header(t.Context(), "ann"); !fault.Is(err, fault.LoginRequired) {
		t.Errorf("ann still has a token: %v", err)
	}
	if _, err := credentials.Header(t.Context(), "bob"); err != nil || idp.count() != before {
		t.Errorf("bob's token is asked for again: %v", err)
	}
}

// alsoToken adds a token endpoint to a site.
func alsoToken(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/token" {
			h.ServeHTTP(w, r)
			return
		}
		fmt.Fprint(w, `{"access_token":"ours","expires_in":3600}`)
	})
}
