package doctor

import (
	"context"
	"crypto"
	"crypto/elliptic"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/program/app"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/testkit/idp"
)

// parsed is a configuration with an identity provider.
func parsed(t *testing.T, text string, args ...any) *config.Config {
	t.Helper()
	cfg, err := config.Parse(t.TempDir()+"/toolfit.yaml", fmt.Appendf(nil, text, args...), nil)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// said checks that there are findings as given, and no others: status, subject and message → hint.
func said(t *testing.T, d *doctor, want ...string) {
	t.Helper()
	var lines []string
	for _, f := range d.findings {
		lines = append(lines, f.Status+" "+f.Subject+": "+f.Message+" → "+f.Hint)
	}
	for i, line := range lines {
		if i >= len(want) || !regexp.MustCompile("^"+want[i]).MatchString(line) {
			t.Errorf("line %d of\n%s\nis not like %q", i, strings.Join(lines, "\n"), want)
			return
		}
	}
	if len(lines) < len(want) {
		t.Errorf("only\n%s\nwant %q", strings.Join(lines, "\n"), want)
	}
}

const one = "publicURL: http://127.0.0.1:1\nidentity: [{issuer: '%s', map: [{groups: [eng]}]}]"

// registers makes MCP clients able to sign in at the provider.
func registers(p *idp.Provider) {
	p.Login.Metadata = map[string]any{"registration_endpoint": p.URL + "/register"}
}

func TestEveryFaultOfAProviderIsExplained(t *testing.T) {
	const elsewhere = "https://login.example.com/"
	for name, c := range map[string]struct {
		make func(p *idp.Provider)
		want string
	}{
		"another name": {func(p *idp.Provider) { p.Issuer = elsewhere },
			`problem identity\[0\]: .* it calls itself "https://login.example.com/" → if that is your provider, write: issuer: https://login.example.com/$`},
		"no keys":  {func(p *idp.Provider) { p.Keys = nil }, `problem .*its keys were not read: it has no keys → the provider must publish its keys`},
		"no place": {func(p *idp.Provider) { p.Login.Metadata["jwks_uri"] = nil }, `problem .*its metadata names no keys, or none over https`},
		"keys for no one": {func(p *idp.Provider) { p.Keys = map[string]crypto.Signer{"a": idp.NewEC(elliptic.P384())} },
			`problem .*are for ES384, which algorithms does not accept → write: algorithms: \[ES384\]`},
		"it fails":        {func(p *idp.Provider) { p.Down.Store(true) }, `problem .*it answered 502 Bad Gateway → try again later, and look into its log`},
		"away":            {func(p *idp.Provider) { p.Close() }, `problem .*connection refused → start it, or correct the port`},
		"not a provider":  {func(p *idp.Provider) { p.Config.Handler = http.NotFoundHandler() }, `problem .*404 Not Found → issuer must be the address`},
		"a web page":      {func(p *idp.Provider) { p.Config.Handler = page("<!doctype html>") }, `problem .*it answered with a web page → issuer must be`},
		"other JSON":      {func(p *idp.Provider) { p.Config.Handler = page("[1]") }, `problem .*its answer is not the JSON that is expected → issuer must`},
		"JSON of another": {func(p *idp.Provider) { p.Config.Handler = page("{}") }, `problem .*it calls itself "" → issuer must be the address`},
		"elsewhere": {func(p *idp.Provider) { p.Config.Handler = http.RedirectHandler(elsewhere, http.StatusFound) },
			`problem .*it redirects elsewhere → issuer must be the address`},
	} {
		t.Run(name, func(t *testing.T) {
			p := idp.New(t)
			registers(p)
			cfg := parsed(t, one, p.URL)
			c.make(p)
			d := &doctor{Options: Options{Now: time.Now}}
			d.identity(t.Context(), cfg, false)
			said(t, d, c.want, `warning publicURL: no gateway is running`)
		})
	}
}

func page(text string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, text) })
}

func TestACertificateThatIsNotTrustedIsExplained(t *testing.T) {
	secure := httptest.NewTLSServer(page("{}"))
	defer secure.Close()
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	d := &doctor{Options: Options{Now: time.Now}}
	d.identity(t.Context(), parsed(t, one, secure.URL), false)
	said(t, d, `problem .*certificate signed by unknown authority → .*SSL_CERT_FILE`, `warning publicURL`)
	plain := httptest.NewServer(page("{}"))
	defer plain.Close()
	d = &doctor{Options: Options{Now: time.Now}}
	d.identity(t.Context(), parsed(t, one, strings.Replace(plain.URL, "http:", "https:", 1)), false)
	said(t, d, `problem .*it speaks http → write the address with http://`, `warning publicURL`)
	d = &doctor{Options: Options{Now: time.Now}}
	d.identity(t.Context(), parsed(t, one, "https://login.invalid"), false)
	said(t, d, `problem .*its host name is not known → check the host name`, `warning publicURL`)
}

func TestASilentProviderIsNotWaitedForLong(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	silent := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-ctx.Done() }))
	defer silent.Close()
	defer cancel()
	limited, stop := context.WithTimeout(t.Context(), 100*time.Millisecond) // it is 10 s
	defer stop()
	d := &doctor{Options: Options{Now: time.Now}}
	d.identity(limited, parsed(t, one, silent.URL), false)
	said(t, d, `problem .*no answer in time → can this machine reach it\?`, `warning publicURL`)
}

func TestClockOfAProviderIsCompared(t *testing.T) {
	p := idp.New(t)
	registers(p)
	for off, want := range map[time.Duration]string{
		2 * time.Minute:   `warning identity\[0\]: its clock is (2m[01]s|1m59s) behind the clock of this machine; .* → set both`,
		-90 * time.Second: `warning identity\[0\]: its clock is 1m(29|30|31)s ahead of the clock of this machine`,
		10 * time.Second:  `warning publicURL`,
	} {
		d := &doctor{Options: Options{Now: func() time.Time { return time.Now().Add(off) }}}
		d.identity(t.Context(), parsed(t, one, p.URL), false)
		if len(d.findings) > 2 {
			d.findings = d.findings[:2]
		}
		said(t, d, `ok identity\[0\]: http://\S+ answers: 3 keys for RS256, PS256, ES256, EdDSA → $`, want)
	}
}

func TestWhatAProviderCannotDoIsSaid(t *testing.T) {
	for name, c := range map[string]struct {
		metadata map[string]any
		more     string
		want     []string
	}{
		"no registration": {nil, "", []string{`ok`, `warning identity\[0\]: it registers no clients by itself: .* → add a broker, .* docs/identity.md`}},
		"no S256": {map[string]any{"client_id_metadata_document_supported": true, "code_challenge_methods_supported": nil}, "",
			[]string{`ok`, `warning identity\[0\]: it does not list S256`}},
		"no sign-in": {map[string]any{"authorization_endpoint": nil}, "", []string{`ok`, `warning identity\[0\]: it names no authorization_endpoint`}},
		"asked": {map[string]any{"registration_endpoint": "x"}, "introspect: {url: '%[1]s/introspect', clientId: toolfit, clientSecret: s+3}, ",
			[]string{`ok`, `ok identity\[0\].introspect: answers`}},
		"asked by a stranger": {map[string]any{"registration_endpoint": "x"}, "introspect: {url: '%[1]s/introspect', clientId: toolfit, clientSecret: x}, ",
			[]string{`ok`, `problem identity\[0\].introspect: .*it answered 401 Unauthorized → check clientId and clientSecret`}},
		"asked elsewhere": {map[string]any{"registration_endpoint": "x"}, "introspect: {url: '%[1]s/keys', clientId: toolfit, clientSecret: x}, ",
			[]string{`ok`, `problem identity\[0\].introspect: .*→ introspect.url must be`}},
		"on a page": {map[string]any{"registration_endpoint": "x"}, "login: {clientId: toolfit, clientSecret: s+3}, ",
			[]string{`ok`, `ok identity\[0\].login: .* needs the redirect URI http://127.0.0.1:1/base/sign-in/callback`}},
		"on a page, as a stranger": {map[string]any{"registration_endpoint": "x"}, "login: {clientId: toolfit, clientSecret: x}, ",
			[]string{`ok`, `problem identity\[0\].login: the provider does not accept clientId and clientSecret: it answered invalid_client → check both`}},
		"no page": {map[string]any{"registration_endpoint": "x", "token_endpoint": "http://127.0.0.1:1/token"}, "login: {clientId: x}, ",
			[]string{`ok`, `problem identity\[0\].login: .*its token endpoint does not answer as one: connection refused → start it`}},
		"on a page alone": {map[string]any{"registration_endpoint": "x", "jwks_uri": nil}, "login: {clientId: toolfit, clientSecret: s+3, scopes: [user], userinfo: ['%[1]s/user']}, ",
			[]string{`ok .*it signs nothing`, `ok identity\[0\].login`}},
	} {
		t.Run(name, func(t *testing.T) {
			p := idp.New(t)
			p.Login.Metadata = c.metadata
			d := &doctor{Options: Options{Now: time.Now}}
			d.identity(t.Context(), parsed(t, "publicURL: http://127.0.0.1:1/base/\nidentity: [{issuer: '%[1]s', "+c.more+"map: [{}]}]", p.URL), false)
			said(t, d, append(c.want, `warning publicURL`)...)
		})
	}
}

func TestATokenEndpointThatAnswersAnythingIsFound(t *testing.T) {
	for answer, want := range map[string]string{
		`{"access_token": "x", "token_type": "Bearer"}`: `it gives a token for a code that nobody has`,
		"<html>": `its token endpoint does not answer as one`,
		"":       `its token endpoint does not answer as one`,
	} {
		p := idp.New(t)
		registers(p)
		p.Login.Instead = func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, answer)
		}
		d := &doctor{Options: Options{Now: time.Now}}
		d.identity(t.Context(), parsed(t, "publicURL: http://127.0.0.1:1\nidentity: [{issuer: '%s', login: {clientId: x}, map: [{}]}]", p.URL), false)
		said(t, d, `ok identity`, `problem identity\[0\].login: .*`+want, `warning publicURL`)
	}
}

func TestAMappingBehindAnotherIsFound(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want string // "": all are used
	}{
		"different groups":      {"{groups: [a]}, {groups: [b]}, {}", ""},
		"everybody first":       {"{}, {groups: [a], role: admin}", `map\[1\]: is never used: map\[0\] comes first`},
		"the same":              {"{groups: [a]}, {groups: [a], role: admin}", `map\[1\]`},
		"fewer of them":         {"{groups: [a, b]}, {groups: [b]}", `map\[1\]`},
		"one more":              {"{groups: [a, b]}, {groups: [b, c]}", ""},
		"more is asked":         {"{groups: [a]}, {groups: [a], client: x}", `map\[1\]`},
		"less is asked":         {"{groups: [a], client: x}, {groups: [a]}", ""},
		"other clients":         {"{client: x}, {client: y}", ""},
		"the scope of all":      {"{scope: all}, {groups: [a]}", `map\[1\]`},
		"a scope of some":       {"{scope: some}, {groups: [a]}", ""},
		"everybody as admin":    {"{groups: [a]}, {role: admin}", `map\[1\]: makes everybody an administrator`},
		"subjects after groups": {"{groups: [a]}, {subjects: [a]}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := &doctor{}
			cfg := parsed(t, "publicURL: http://127.0.0.1:1\nidentity: [{issuer: 'http://127.0.0.1:1', scope: all, map: [%s]}]", c.text)
			d.mappings("m", &cfg.Identity[0])
			if c.want == "" {
				said(t, d)
			} else {
				said(t, d, `warning m\.`+c.want)
			}
		})
	}
}

func TestAMappingForTheWholeWorldIsFound(t *testing.T) {
	d := &doctor{}
	d.mappings("m", &config.Identity{Issuer: "https://accounts.google.com", Map: []config.Mapping{{Groups: []string{"example.com"}}, {}}})
	said(t, d, `warning m\.map\[1\]: lets in everybody with an account at https://accounts.google.com, which anybody can have → add groups`)
}

// TestWhatClientsSeeIsChecked has a gateway behind a proxy that spoils what goes through it.
func TestWhatClientsSeeIsChecked(t *testing.T) {
	const known = "/.well-known/oauth-protected-resource"
	p := idp.New(t)
	registers(p)
	var gateway http.Handler
	var spoil func(w http.ResponseWriter, r *http.Request) bool
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if spoil == nil || !spoil(w, r) {
			gateway.ServeHTTP(w, r)
		}
	}))
	defer front.Close()
	const file = "basePath: /base\npublicURL: %s/base\nstore: t.db\nidentity: [{issuer: '%s', map: [{groups: [eng]}]}]"
	cfg := parsed(t, file, front.URL, p.URL)
	handler := func(cfg *config.Config) http.Handler {
		a, err := app.New(t.Context(), cfg, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { a.Close() })
		return a.Handler()
	}
	right := handler(cfg)
	gateway = right
	without := func(name string) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			rec := httptest.NewRecorder()
			right.ServeHTTP(rec, r)
			rec.Header().Del(name)
			for k, v := range rec.Header() {
				w.Header()[k] = v
			}
			w.WriteHeader(rec.Code)
			w.Write(rec.Body.Bytes())
			return true
		}
	}
	instead := func(prefix string, h http.Handler) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.HasPrefix(r.URL.Path, prefix) {
				return false
			}
			h.ServeHTTP(w, r)
			return true
		}
	}
	below := "/base" + known
	for name, c := range map[string]struct {
		gateway http.Handler
		spoil   func(w http.ResponseWriter, r *http.Request) bool
		want    string
	}{
		"all is well":       {right, nil, `ok publicURL: http://\S+/base/mcp tells clients where to sign in`},
		"nothing there":     {http.NotFoundHandler(), nil, `problem publicURL: \S+/base/.well-known/\S+ answers 404 Not Found: 404 page not found → let the proxy`},
		"a web page":        {right, instead(below, page("<html>")), `problem publicURL: \S+ leads to a web page of http://\S+, not to the gateway`},
		"something else":    {right, instead(below, page("{}")), `problem publicURL: \S+ answers with something other than the metadata`},
		"another resource":  {right, instead(below, page(`{"resource": "https://x.example.com"}`)), `problem publicURL: \S+ speaks for "https://x.example.com"`},
		"not at the host":   {right, instead(known, http.NotFoundHandler()), `warning publicURL: \S+ answers 404 .*; some clients look there first`},
		"no CORS":           {right, without("Access-Control-Allow-Origin"), `problem publicURL: clients in web pages cannot read`},
		"no challenge":      {right, without("WWW-Authenticate"), `problem publicURL: \S+/mcp does not tell clients where to sign in`},
		"a page at /mcp":    {right, instead("/base/mcp", page("hello")), `problem publicURL: \S+/mcp answers 200 OK to a client that is not signed in`},
		"another provider":  {handler(parsed(t, file, front.URL, "https://other.example.com")), nil, `problem publicURL: \S+ sends clients to other identity providers: https://other`},
		"another gateway":   {handler(parsed(t, file, "https://other.example.com", p.URL)), nil, `problem publicURL: \S+ leads to another gateway, whose publicURL is https://other.example.com/base`},
		"without providers": {handler(parsed(t, "basePath: /base\nstore: t.db")), nil, `problem publicURL: \S+ answers 401 Unauthorized`},
	} {
		t.Run(name, func(t *testing.T) {
			gateway = c.gateway
			spoil = c.spoil
			d := &doctor{Options: Options{Now: time.Now}}
			d.identity(t.Context(), cfg, true)
			said(t, d, `ok identity`, c.want)
		})
	}
	front.Close()
	d := &doctor{Options: Options{Now: time.Now}}
	d.identity(t.Context(), cfg, true)
	said(t, d, `ok identity`, `warning publicURL: this machine cannot reach http://\S+: connection refused → check publicURL`)
}

func TestTheBrokerIsLookedFor(t *testing.T) {
	p := idp.New(t) // which registers no clients; with the broker it need not
	base := ""
	status := http.StatusOK
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/base/mcp":
			w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+base+`/.well-known/oauth-protected-resource/mcp"`)
			w.WriteHeader(http.StatusUnauthorized)
		case "/.well-known/oauth-authorization-server/base":
			w.WriteHeader(status)
			fmt.Fprintf(w, `{"issuer": %q}`, base)
		default:
			w.Header().Set("Access-Control-Allow-Origin", "*")
			fmt.Fprintf(w, `{"resource": %q, "authorization_servers": [%q, "http://127.0.0.1:1"]}`, base+"/mcp", base)
		}
	}))
	defer front.Close()
	base = front.URL + "/base"
	cfg := parsed(t, `publicURL: %s
identity:
- {issuer: '%s', login: {clientId: toolfit, clientSecret: s+3}, map: [{}]}
- {issuer: 'http://127.0.0.1:1', map: [{}]}
broker: {registration: true}`, base, p.URL)
	for code, want := range map[int]string{
		http.StatusOK:       `ok publicURL: \S+/base/mcp tells clients where to sign in`,
		http.StatusNotFound: `problem publicURL: clients look for the broker at \S+/.well-known/oauth-authorization-server/base, which answers 404`,
	} {
		status = code
		d := &doctor{Options: Options{Now: time.Now}}
		d.identity(t.Context(), cfg, true)
		said(t, d, `ok identity\[0\]: `, `ok identity\[0\].login: .* needs the redirect URIs \S+/base/sign-in/callback and \S+/base/oauth/callback`,
			`problem identity\[1\]`, want)
	}
}
