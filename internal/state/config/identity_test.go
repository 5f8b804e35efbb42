package config

import (
	"strings"
	"testing"
)

const provider = "publicURL: https://tools.example.com\nidentity:\n- issuer: https://login.example.com\n"

func TestIdentityProblems(t *testing.T) {
	for name, c := range map[string]struct{ yaml, want string }{
		"all of it": {provider + `  audiences: [api://x]
  algorithms: [RS256, EdDSA]
  scope: mcp:tools
  subject: oid
  groups: realm_access.roles
  introspect: {url: "https://login.example.com/introspect", clientId: toolfit, clientSecret: s3cret-s3cret}
  login: {name: GitHub, clientId: toolfit, clientSecret: s3cret-s3cret, scopes: ["read:user"], userinfo: ["https://api.example.com/user?x=1"]}
  allow: [10.0.0.0/8]
  map: [{groups: [eng], client: ci, scope: x, subjects: [a], role: viewer, profile: default}]
`, ""},
		"on this machine":        {"publicURL: http://127.0.0.1:8420\nidentity: [{issuer: 'http://127.0.0.1:3000', map: [{}]}]", ""},
		"no issuer":              {"publicURL: http://127.0.0.1:8420\nidentity: [{map: [{}]}]", "identity[0]: has no issuer"},
		"nobody":                 {provider, "identity[0]: lets nobody in"},
		"twice":                  {provider + "  map: [{}]\n- {issuer: 'https://login.example.com', map: [{}]}", "identity[1]: is the second entry"},
		"plain HTTP":             {"publicURL: http://127.0.0.1:8420\nidentity: [{issuer: 'http://login.example.com', map: [{}]}]", "expected an address with https"},
		"almost this machine":    {"publicURL: http://127.0.0.1:8420\nidentity: [{issuer: 'http://127.0.0.1.example.com', map: [{}]}]", "expected an address with https"},
		"a shared secret":        {provider + "  algorithms: [HS256]\n  map: [{}]", "expected RS256 or"},
		"no algorithm":           {provider + "  algorithms: []\n  map: [{}]", "is an empty list"},
		"no audience":            {provider + "  audiences: []\n  map: [{}]", "is an empty list"},
		"a role nobody has":      {provider + "  map: [{role: root}]", "expected caller or viewer or admin"},
		"a profile nobody has":   {provider + "  map: [{profile: nope}]", `there is no profile "nope"`},
		"two scopes in one":      {provider + "  scope: a b\n  map: [{}]", "expected one word"},
		"no groups in a mapping": {provider + "  map: [{groups: []}]", "is an empty list"},
		"no address of our own":  {"identity: [{issuer: 'https://login.example.com', map: [{}]}]", "identity needs publicURL"},
		"a public plain address": {strings.Replace(provider, "https", "http", 1) + "  map: [{}]", "expected an address with https"},
		"login without a client": {provider + "  login: {clientSecret: x}\n  map: [{}]", "needs clientId"},
		"login without claims":   {provider + "  login: {clientId: x, scopes: [user]}\n  map: [{}]", "needs openid in scopes, or userinfo"},
		"login in the clear":     {provider + "  login: {clientId: x, userinfo: ['http://api.example.com']}\n  map: [{}]", "expected an address with https"},
		"a network that is none": {provider + "  allow: [intranet]\n  map: [{}]", "identity[0].allow[0]"},
		"ID tokens as tokens":    {provider + "  audiences: [x]\n  login: {clientId: x}\n  map: [{}]", "ID tokens would come in"},
		"with a scope":           {provider + "  audiences: [x]\n  scope: mcp:tools\n  login: {clientId: x}\n  map: [{}]", ""},
		"half an introspection":  {provider + "  introspect: {clientId: x}\n  map: [{}]", "needs url and clientId"},
	} {
		cfg, err := Parse("toolfit.yaml", []byte(c.yaml), nil)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.want == "" && len(cfg.Identity) != 1:
			t.Errorf("%s: %+v", name, cfg.Identity)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v", name, err)
		}
	}
}
