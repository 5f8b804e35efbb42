package identity

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/toolfit/toolfit/internal/state/config"
)

const resource = "https://tools.example.com/mcp/ops"

// rsaKey is slow to make, so that all tests share it.
var rsaKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
})

// provider is an identity provider.
type provider struct {
	*httptest.Server
	fetches atomic.Int32 // of its keys
	down    atomic.Bool

	mu      sync.Mutex
	keys    map[string]crypto.Signer
	control string
	extra   string // more keys, as JSON with a comma in front
	issuer  string // it calls itself so
	opaque  map[string]map[string]any
}

func newProvider(t testing.TB) *provider {
	t.Helper()
	p := &provider{keys: map[string]crypto.Signer{"rsa": rsaKey(), "ec": newEC(elliptic.P256()), "ed": newEd()}}
	p.Server = httptest.NewServer(http.HandlerFunc(p.serve))
	t.Cleanup(p.Close)
	p.issuer = p.URL
	return p
}

func newEC(curve elliptic.Curve) crypto.Signer {
	key, err := ecdsa.GenerateKey(curve, rand.Reader)
	if err != nil {
		panic(err)
	}
	return key
}

func newEd() crypto.Signer {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		panic(err)
	}
	return key
}

func (p *provider) serve(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.down.Load() {
		http.Error(w, "away", http.StatusBadGateway)
		return
	}
	switch {
	case r.URL.Path == "/.well-known/openid-configuration":
		json.NewEncoder(w).Encode(map[string]any{"issuer": p.issuer, "jwks_uri": p.URL + "/keys"})
	case r.URL.Path == "/keys":
		p.fetches.Add(1)
		var set []string
		for id, key := range p.keys {
			raw, _ := json.Marshal(jose.JSONWebKey{Key: key.Public(), KeyID: id, Use: "sig"})
			set = append(set, string(raw))
		}
		w.Header().Set("Cache-Control", p.control)
		w.Write([]byte(`{"keys":[` + strings.Join(set, ",") + p.extra + `]}`))
	case r.URL.Path == "/introspect":
		id, secret, _ := r.BasicAuth()
		if id != "toolfit" || secret != "s%2B3" { // encoded, as RFC 6749 says
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		said := p.opaque[r.FormValue("token")]
		if said == nil {
			said = map[string]any{"active": false}
		}
		json.NewEncoder(w).Encode(said)
	default:
		http.NotFound(w, r)
	}
}

// good are the claims of a token that is accepted.
func (p *provider) good(changes ...any) map[string]any {
	c := map[string]any{
		"iss": p.URL, "sub": "alice", "aud": resource, "azp": "editor", "groups": []string{"eng"}, "scope": "mcp:tools openid",
		"exp": time.Now().Add(time.Hour).Unix(), "iat": time.Now().Unix(),
	}
	for i := 0; i < len(changes); i += 2 {
		name := changes[i].(string)
		c[name] = changes[i+1]
		if changes[i+1] == nil {
			delete(c, name)
		}
	}
	return c
}

// sign makes a token.
func sign(t testing.TB, alg jose.SignatureAlgorithm, key any, headers map[string]any, claims any) string {
	t.Helper()
	opts := &jose.SignerOptions{}
	for name, value := range headers {
		opts.WithHeader(jose.HeaderKey(name), value)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: key}, opts)
	if err != nil {
		t.Fatal(err)
	}
	payload, ok := claims.([]byte)
	if !ok {
		payload, _ = json.Marshal(claims)
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		t.Fatal(err)
	}
	text, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// token is a token of the provider.
func (p *provider) token(t testing.TB, claims any) string {
	t.Helper()
	return sign(t, jose.EdDSA, p.keys["ed"], map[string]any{"kid": "ed"}, claims)
}

func (p *provider) config() config.Identity {
	return config.Identity{Issuer: p.URL, Scope: "mcp:tools", Map: []config.Mapping{
		{Groups: []string{"platform"}, Role: "admin"},
		{Groups: []string{"eng"}, Profile: "ops"},
		{Client: "ci-bot", Profile: "ci"},
	}}
}

func verifier(t testing.TB, now func() time.Time, providers ...config.Identity) *Verifier {
	t.Helper()
	return New(providers, &Options{Base: "https://tools.example.com/mcp", Now: now})
}
