// Package idp is an identity provider for tests: it signs whatever it is told to, and can be made to fail.
//
//	p := idp.New(t)
//	token := p.Token(t, p.Claims("aud", "https://tools.example.com/mcp"))
package idp

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
)

// RSAKey is slow to make, so that all tests share it.
var RSAKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
})

// Provider is an identity provider.
type Provider struct {
	*httptest.Server
	t       testing.TB
	Fetches atomic.Int32 // of its keys
	Down    atomic.Bool  // it answers nothing but errors

	Mu      sync.Mutex // guards what follows, while it serves
	Keys    map[string]crypto.Signer
	Control string                    // the header Cache-Control of its keys
	Extra   string                    // more keys, as JSON with a comma in front
	Issuer  string                    // it calls itself so
	Opaque  map[string]map[string]any // what it says about opaque tokens, to the client toolfit with the secret s+3
	Login   Login
}

// New starts a provider with a key of each kind.
func New(t testing.TB) *Provider {
	t.Helper()
	p := &Provider{t: t, Keys: map[string]crypto.Signer{"rsa": RSAKey(), "ec": NewEC(elliptic.P256()), "ed": NewEd()}}
	p.Server = httptest.NewServer(http.HandlerFunc(p.serve))
	t.Cleanup(p.Close)
	p.Issuer = p.URL
	return p
}

// NewEC makes a key.
func NewEC(curve elliptic.Curve) crypto.Signer {
	key, err := ecdsa.GenerateKey(curve, rand.Reader)
	if err != nil {
		panic(err)
	}
	return key
}

// NewEd makes a key.
func NewEd() crypto.Signer {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		panic(err)
	}
	return key
}

func (p *Provider) serve(w http.ResponseWriter, r *http.Request) {
	p.Mu.Lock()
	defer p.Mu.Unlock()
	if p.Down.Load() {
		http.Error(w, "away", http.StatusBadGateway)
		return
	}
	switch {
	case r.URL.Path == "/.well-known/openid-configuration":
		json.NewEncoder(w).Encode(p.about())
	case r.URL.Path == "/authorize":
		p.authorize(w, r)
	case r.URL.Path == "/token":
		p.token(w, r)
	case r.URL.Path == "/keys":
		p.Fetches.Add(1)
		var set []string
		for id, key := range p.Keys {
			raw, _ := json.Marshal(jose.JSONWebKey{Key: key.Public(), KeyID: id, Use: "sig"})
			set = append(set, string(raw))
		}
		w.Header().Set("Cache-Control", p.Control)
		w.Write([]byte(`{"keys":[` + strings.Join(set, ",") + p.Extra + `]}`))
	case r.URL.Path == "/introspect":
		id, secret, _ := r.BasicAuth()
		if id != "toolfit" || secret != "s%2B3" { // encoded, as RFC 6749 says
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		said := p.Opaque[r.FormValue("token")]
		if said == nil {
			said = map[string]any{"active": false}
		}
		json.NewEncoder(w).Encode(said)
	default:
		p.userinfo(w, r)
	}
}

// Claims are those of a usual token, with changes: name and value in turn, where nil takes one away.
func (p *Provider) Claims(changes ...any) map[string]any {
	c := map[string]any{
		"iss": p.URL, "sub": "alice", "azp": "editor", "groups": []string{"eng"}, "scope": "mcp:tools openid",
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

// Sign makes a token.
func Sign(t testing.TB, alg jose.SignatureAlgorithm, key any, headers map[string]any, claims any) string {
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

// Token makes a token of the provider.
func (p *Provider) Token(t testing.TB, claims any) string {
	t.Helper()
	return Sign(t, jose.EdDSA, p.Keys["ed"], map[string]any{"kid": "ed"}, claims)
}
