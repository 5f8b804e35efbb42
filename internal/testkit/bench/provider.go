package main

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"net"
	"net/http"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// resource is what the tokens are for. Nobody resolves the name.
const resource = "https://tools.example.com/mcp"

// provider is an identity provider with one key, of the kind that most have.
type provider struct {
	issuer string
	key    *rsa.PrivateKey
}

// newProvider serves until ctx ends.
func newProvider(ctx context.Context) (*provider, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &provider{issuer: "http://" + l.Addr().String(), key: key}
	srv := &http.Server{Handler: p}
	context.AfterFunc(ctx, func() { srv.Close() })
	go srv.Serve(l)
	return p, nil
}

func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/keys" {
		json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: crypto.PublicKey(p.key.Public()), KeyID: "1", Use: "sig"}}})
		return
	}
	json.NewEncoder(w).Encode(map[string]string{"issuer": p.issuer, "jwks_uri": p.issuer + "/keys"})
}

// token is one with the claims that tokens usually have.
func (p *provider) token() (string, error) {
	opts := (&jose.SignerOptions{}).WithType("at+jwt").WithHeader("kid", "1")
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: p.key}, opts)
	if err != nil {
		return "", err
	}
	now := time.Now()
	claims, err := json.Marshal(map[string]any{
		"iss": p.issuer, "sub": "7b3e9c52-64f5-4c7e-9a0c-3a1f1f6f1c11", "aud": resource, "client_id": "bench", "scope": "openid mcp:tools",
		"iat": now.Unix(), "exp": now.Add(time.Hour).Unix(), "name": "Bench", "groups": []string{"eng", "platform", "everybody"},
	})
	if err != nil {
		return "", err
	}
	signed, err := signer.Sign(claims)
	if err != nil {
		return "", err
	}
	return signed.CompactSerialize()
}
