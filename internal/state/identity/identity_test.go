package identity

import (
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/testkit/idp"
)

func TestGoodTokensAreAdmitted(t *testing.T) {
	p := newProvider(t)
	v := verifier(t, nil, p.config())
	with := func(alg jose.SignatureAlgorithm, kid string) string {
		return idp.Sign(t, alg, p.Keys[kid], map[string]any{"kid": kid}, p.good())
	}
	for name, token := range map[string]string{
		"RS256": with(jose.RS256, "rsa"), "PS256": with(jose.PS256, "rsa"), "ES256": with(jose.ES256, "ec"), "EdDSA": with(jose.EdDSA, "ed"),
		"no kid, and one key that fits": idp.Sign(t, jose.ES256, p.Keys["ec"], nil, p.good()),
		"typ JWT":                       idp.Sign(t, jose.EdDSA, p.Keys["ed"], map[string]any{"kid": "ed", "typ": "JWT"}, p.good()),
		"typ at+jwt":                    idp.Sign(t, jose.EdDSA, p.Keys["ed"], map[string]any{"kid": "ed", "typ": "application/at+jwt"}, p.good()),
		"several audiences":             p.Token(t, p.good("aud", []string{"other", resource})),
		"a final slash":                 p.Token(t, p.good("aud", resource+"/")),
		"for all resources":             p.Token(t, p.good("aud", "https://tools.example.com/mcp")),
		"scp as a list":                 p.Token(t, p.good("scope", nil, "scp", []string{"a", "mcp:tools"})),
		"expired within the skew":       p.Token(t, p.good("exp", time.Now().Add(-30*time.Second).Unix())),
		"a time with a fraction":        p.Token(t, p.good("exp", float64(time.Now().Unix())+100.5)),
	} {
		who, err := v.Admit(t.Context(), token, resource)
		want := access.Principal{
			ID: about(p.URL, "alice").ID(), Name: "alice", Kind: access.KindUser, Role: access.Caller, Profile: "ops", Token: who.Token,
		}
		if err != nil || who != want || who.Token.Subject != "alice" {
			t.Errorf("%s: %+v, %v", name, who, err)
		}
	}
}

func about(issuer, subject string) *Identity {
	return &Identity{Identity: access.Identity{Issuer: issuer, Subject: subject}}
}

func encoded(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }

func TestForgedTokensAreRefused(t *testing.T) {
	p := newProvider(t)
	other := newProvider(t)
	cfg := p.config()
	v := verifier(t, nil, cfg)
	ed := map[string]any{"kid": "ed"}
	good := p.Token(t, p.good())
	parts := strings.Split(good, ".")
	claims, _ := json.Marshal(p.good())
	public, _ := x509.MarshalPKIXPublicKey(idp.RSAKey().Public())
	jwk, _ := json.Marshal(jose.JSONWebKey{Key: other.Keys["ed"].Public(), KeyID: "ed"})
	var embedded map[string]any
	json.Unmarshal(jwk, &embedded)
	small, _ := rsa.GenerateKey(rand.Reader, 1024)
	p.Extra = fmt.Sprintf(`,{"kty":"RSA","kid":"small","n":%q,"e":"AQAB"}`, base64.RawURLEncoding.EncodeToString(small.N.Bytes())) +
		`,{"kty":"oct","kid":"oct","k":"c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0"}`
	smallToken := encoded(`{"alg":"RS256","kid":"small"}`) + "." + encoded(string(claims)) + "." + encoded("x")
	withClaims := func(changes ...any) string { return p.Token(t, p.good(changes...)) }
	withHeader := func(headers map[string]any) string {
		headers["kid"] = "ed"
		return idp.Sign(t, jose.EdDSA, p.Keys["ed"], headers, p.good())
	}
	hour := time.Hour
	for name, token := range map[string]string{
		"empty": "", "a dot": ".", "two dots": "..", "four parts": good + ".x", "spaces": " " + good, "too long": strings.Repeat("a", 8<<10) + "." + good,
		"no signature":                     parts[0] + "." + parts[1] + ".",
		"another payload":                  parts[0] + "." + encoded(strings.Replace(string(claims), "alice", "bob", 1)) + "." + parts[2],
		"another header":                   encoded(`{"alg":"EdDSA","kid":"ec"}`) + "." + parts[1] + "." + parts[2],
		"a cut signature":                  good[:len(good)-8],
		"alg none":                         encoded(`{"alg":"none"}`) + "." + parts[1] + ".",
		"alg NONE with signature":          encoded(`{"alg":"NONE","kid":"ed"}`) + "." + parts[1] + "." + parts[2],
		"no alg":                           encoded(`{"kid":"ed"}`) + "." + parts[1] + "." + parts[2],
		"alg is a list":                    encoded(`{"alg":["EdDSA"],"kid":"ed"}`) + "." + parts[1] + "." + parts[2],
		"HS256 with the public key":        idp.Sign(t, jose.HS256, public, map[string]any{"kid": "rsa"}, p.good()),
		"HS256 with a published secret":    idp.Sign(t, jose.HS256, []byte("secretsecretsecretsecretsecretsecret"), map[string]any{"kid": "oct"}, p.good()),
		"RS512, not configured":            idp.Sign(t, jose.RS512, p.Keys["rsa"], map[string]any{"kid": "rsa"}, p.good()),
		"ES384, not configured":            idp.Sign(t, jose.ES384, idp.NewEC(elliptic.P384()), map[string]any{"kid": "ec"}, p.good()),
		"RS256 with the id of an EC key":   idp.Sign(t, jose.RS256, p.Keys["rsa"], map[string]any{"kid": "ec"}, p.good()),
		"ES256 with the id of an RSA key":  idp.Sign(t, jose.ES256, p.Keys["ec"], map[string]any{"kid": "rsa"}, p.good()),
		"a key of 1024 bits":               smallToken,
		"an unknown key":                   idp.Sign(t, jose.EdDSA, idp.NewEd(), map[string]any{"kid": "mine"}, p.good()),
		"another key by the same id":       idp.Sign(t, jose.EdDSA, idp.NewEd(), ed, p.good()),
		"kid is a path":                    idp.Sign(t, jose.EdDSA, idp.NewEd(), map[string]any{"kid": "../../dev/null"}, p.good()),
		"jwk in the header":                idp.Sign(t, jose.EdDSA, other.Keys["ed"], map[string]any{"kid": "ed", "jwk": embedded}, p.good()),
		"jku in the header":                idp.Sign(t, jose.EdDSA, other.Keys["ed"], map[string]any{"kid": "ed", "jku": other.URL + "/keys"}, p.good()),
		"x5u in the header":                idp.Sign(t, jose.EdDSA, other.Keys["ed"], map[string]any{"kid": "ed", "x5u": other.URL}, p.good()),
		"crit":                             withHeader(map[string]any{"crit": []string{"exp"}, "exp": 1}),
		"crit b64":                         withHeader(map[string]any{"crit": []string{"b64"}}),
		"typ of an assertion":              withHeader(map[string]any{"typ": "oauth-id-jag+jwt"}),
		"typ of a logout token":            withHeader(map[string]any{"typ": "logout+jwt"}),
		"typ of a proof":                   withHeader(map[string]any{"typ": "dpop+jwt"}),
		"typ is a number":                  withHeader(map[string]any{"typ": 1}),
		"claims are a list":                idp.Sign(t, jose.EdDSA, p.Keys["ed"], ed, []byte(`[1]`)),
		"claims are null":                  idp.Sign(t, jose.EdDSA, p.Keys["ed"], ed, []byte(`null`)),
		"claims are no JSON":               idp.Sign(t, jose.EdDSA, p.Keys["ed"], ed, []byte(`{"iss"`)),
		"another issuer, signed by itself": other.Token(t, other.good()),
		"our issuer, signed by another":    other.Token(t, p.good()),
		"issuer with a slash":              withClaims("iss", p.URL+"/"),
		"issuer in capitals":               withClaims("iss", strings.ToUpper(p.URL)),
		"no issuer":                        withClaims("iss", nil),
		"issuer is a list":                 withClaims("iss", []string{p.URL}),
		"another audience":                 withClaims("aud", "https://other.example.com/mcp"),
		"another profile":                  withClaims("aud", "https://tools.example.com/mcp/dev"),
		"audience in capitals":             withClaims("aud", strings.ToUpper(resource)),
		"audience with more behind":        withClaims("aud", resource+"/env"),
		"audience is the client":           withClaims("aud", "editor"),
		"no audience":                      withClaims("aud", nil),
		"empty audience":                   withClaims("aud", ""),
		"no audience in the list":          withClaims("aud", []string{}),
		"audience is a number":             withClaims("aud", 7),
		"expired":                          withClaims("exp", time.Now().Add(-2*time.Minute).Unix()),
		"no expiry":                        withClaims("exp", nil),
		"expiry is null":                   idp.Sign(t, jose.EdDSA, p.Keys["ed"], ed, []byte(strings.Replace(string(claims), `"exp":`, `"exp":null,"x":`, 1))),
		"expiry is a text":                 withClaims("exp", "2099-01-01"),
		"expiry beyond all times":          withClaims("exp", 1e300),
		"not yet valid":                    withClaims("nbf", time.Now().Add(hour).Unix()),
		"issued in the future":             withClaims("iat", time.Now().Add(hour).Unix()),
		"an ID token":                      withClaims("at_hash", "x"),
		"an ID token of Keycloak":          withClaims("typ", "ID"),
		"no subject and no client":         withClaims("sub", nil, "azp", nil),
		"subject is a number":              withClaims("sub", 7),
		"subject is empty":                 withClaims("sub", ""),
		"subject is null":                  idp.Sign(t, jose.EdDSA, p.Keys["ed"], ed, []byte(strings.Replace(string(claims), `"sub":`, `"sub":null,"x":`, 1))),
		"JSON in place of a token":         `{"payload":"` + parts[1] + `","protected":"` + parts[0] + `","signature":"` + parts[2] + `"}`,
		"an opaque token":                  "gho_16C7e42F292c6912E7710c838347Ae178B4a",
	} {
		who, err := v.Admit(t.Context(), token, resource)
		if !fault.Is(err, fault.Unauthorized) || who != (access.Principal{}) {
			t.Errorf("%s: %+v, %v", name, who, err)
		}
		if err != nil && err.Error() != errInvalid().Error() {
			t.Errorf("%s: the sender learns %v", name, err)
		}
	}
	if _, err := v.Admit(t.Context(), good, resource); err != nil {
		t.Errorf("the good token: %v", err)
	}
}

// TestIDTokensAreRefusedWhereTheAudienceIsAClient: there they have the audience that access tokens have.
func TestIDTokensAreRefusedWhereTheAudienceIsAClient(t *testing.T) {
	p := newProvider(t)
	cfg := p.config()
	cfg.Audiences = []string{"editor"}
	v := verifier(t, nil, cfg)
	for name, claims := range map[string]map[string]any{
		"with a hash of the access token": p.good("aud", "editor", "at_hash", "x"),
		"with a hash of the code":         p.good("aud", "editor", "c_hash", "x"),
		"of Keycloak":                     p.good("aud", "editor", "typ", "ID"),
	} {
		if _, err := v.Admit(t.Context(), p.Token(t, claims), resource); !fault.Is(err, fault.Unauthorized) {
			t.Errorf("%s: %v", name, err)
		}
	}
	idToken := p.Token(t, p.good("aud", "editor", "scope", nil, "nonce", "x")) // nothing tells it apart but what it lacks
	if _, err := v.Admit(t.Context(), idToken, resource); !LacksScope(err) {
		t.Errorf("without a mark: %v", err)
	}
	if _, err := v.Admit(t.Context(), p.Token(t, p.good("aud", "editor")), resource); err != nil {
		t.Errorf("an access token: %v", err)
	}
}

func TestStrangersDoNotFillTheLog(t *testing.T) {
	p := newProvider(t)
	var said strings.Builder
	now := time.Now()
	v := New([]config.Identity{p.config()}, &Options{Now: func() time.Time { return now }, Logger: slog.New(slog.NewTextHandler(&said, nil))})
	for range 2 {
		for i := range 1000 {
			if _, err := v.Admit(t.Context(), fmt.Sprint("no token ", i), resource); err == nil {
				t.Fatal("admitted")
			}
		}
		now = now.Add(time.Minute)
	}
	if n := strings.Count(said.String(), "\n"); n != 2*maxLogged+1 || !strings.Contains(said.String(), "count=980") {
		t.Errorf("%d lines: %s", n, said.String())
	}
}

func TestWhatATokenGives(t *testing.T) {
	p := newProvider(t)
	cfg := p.config()
	for name, c := range map[string]struct {
		change func(*config.Identity)
		claims map[string]any
		want   string // role, profile, name
	}{
		"the first mapping that fits":  {nil, p.good("groups", []string{"eng", "platform"}), "admin * alice"},
		"by client":                    {nil, p.good("groups", nil, "sub", "ci-bot", "azp", "ci-bot"), "caller ci ci-bot"},
		"no mapping":                   {nil, p.good("groups", []string{"sales"}), "forbidden"},
		"no groups":                    {nil, p.good("groups", nil), "forbidden"},
		"groups left out by Entra":     {nil, p.good("_claim_names", map[string]any{"groups": "src1"}), "forbidden"},
		"groups as one text":           {nil, p.good("groups", "eng"), "caller ops alice"},
		"groups of another kind":       {nil, p.good("groups", map[string]any{"eng": true}), "forbidden"},
		"a name decides nothing":       {nil, p.good("name", "Ann"), "caller ops Ann"},
		"no scope":                     {nil, p.good("scope", "openid"), "scope"},
		"a path":                       {func(i *config.Identity) { i.Groups = "realm_access.roles" }, p.good("realm_access", map[string]any{"roles": []string{"eng"}}), "caller ops alice"},
		"a claim with dots":            {func(i *config.Identity) { i.Groups = "https://x.example/g" }, p.good("https://x.example/g", []string{"eng"}), "caller ops alice"},
		"another claim as the subject": {func(i *config.Identity) { i.Subject = "oid" }, p.good("oid", "42"), "caller ops 42"},
		"a subject that is missing":    {func(i *config.Identity) { i.Subject = "oid" }, p.good(), "unauthorized"},
		"an audience of its own":       {func(i *config.Identity) { i.Audiences = []string{"api://x"} }, p.good("aud", "api://x"), "caller ops alice"},
		"not ours then":                {func(i *config.Identity) { i.Audiences = []string{"api://x"} }, p.good(), "unauthorized"},
	} {
		one := cfg
		if c.change != nil {
			c.change(&one)
		}
		who, err := verifier(t, nil, one).Admit(t.Context(), p.Token(t, c.claims), resource)
		got := fmt.Sprint(who.Role, " ", who.Profile, " ", who.Name)
		if LacksScope(err) {
			got = "scope"
		} else if err != nil {
			got = string(fault.As(err).Code)
		}
		if got != c.want {
			t.Errorf("%s: %s (%v), want %s", name, got, err, c.want)
		}
	}
}

func TestIDsAreOfOnePerson(t *testing.T) {
	service := about("https://a", "x")
	service.Service = true
	seen := map[string]bool{}
	for _, id := range []*Identity{
		about("https://a", "x"), about("https://b", "x"), about("https://a", "y"), about("https://ax", ""), about("https://a\x00x", ""), service,
	} {
		if seen[id.ID()] || !strings.HasPrefix(id.ID(), "u_") {
			t.Errorf("%+v: %s", id, id.ID())
		}
		seen[id.ID()] = true
	}
	again := about("https://a", "x")
	again.Name = "Ann"
	again.Groups = []string{"g"}
	again.Client = "c"
	if !seen[again.ID()] {
		t.Error("another token, another id")
	}
}

// FuzzClaims signs whatever comes: what the provider says is never more than its claims.
func FuzzClaims(f *testing.F) {
	p := newProvider(f)
	cfg := p.config()
	cfg.Groups = "realm_access.roles"
	v := verifier(f, nil, cfg)
	good, _ := json.Marshal(p.good("realm_access", map[string]any{"roles": []string{"eng"}}))
	f.Add(good)
	f.Add([]byte(strings.Replace(string(good), `"sub":"alice"`, `"sub":"ci-bot","azp":"ci-bot","SUB":"x"`, 1)))
	f.Add([]byte(`{"iss":"` + p.URL + `","aud":["` + resource + `"],"exp":1e99,"_claim_names":{"realm_access.roles":"x"}}`))
	f.Fuzz(func(t *testing.T, claims []byte) {
		token := idp.Sign(t, jose.EdDSA, p.Keys["ed"], map[string]any{"kid": "ed"}, claims)
		who, err := v.Admit(t.Context(), token, resource)
		if err != nil {
			return
		}
		if strings.Contains(string(claims), `\`) {
			return // what follows looks at the text
		}
		says := func(text string) bool { return strings.Contains(string(claims), text) }
		if who.Token.Subject == "" || !says(who.Token.Subject) || !says(p.URL) || !says("tools.example.com/mcp") ||
			who.Role == access.Admin && !says("platform") {
			t.Errorf("%+v from %s", who, claims)
		}
	})
}
