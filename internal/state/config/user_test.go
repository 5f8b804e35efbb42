package config

import (
	"path/filepath"
	"testing"
)

func TestPeoplesOwnValuesAreInHeadersOnly(t *testing.T) {
	cfg := parse(t, "toolfit.yaml", `
mcpServers:
  a: {url: "https://a", headers: {X: "Bearer ${user:jira_token}", Y: "${A}"}}
  b: {url: "https://b", headers: {X: "plain-text"}}
apis:
  c: {spec: c.json, base: "https://c", headers: {X: "${user:c-1.x}"}, oauth: {as: user}}
`, "A", "alpha")
	for i, want := range []bool{true, false, true} {
		if got := cfg.Servers[i].Personal(); got != want {
			t.Errorf("server %d: %v", i, got)
		}
	}
	if got := cfg.Servers[0].Headers["X"]; got != "Bearer ${user:jira_token}" {
		t.Errorf("got %q", got)
	}
	for _, secret := range cfg.Secrets {
		if secret == "Bearer ${user:jira_token}" {
			t.Error("a reference is redacted")
		}
	}
	const unnamed = " does not name a value; write letters, digits, dots, hyphens and underscores, such as ${user:jira_token}"
	const elsewhere = ": tokens are for that address, and sent nowhere else"
	const only = " is each person's own value, which only headers of servers and APIs can have"
	for text, problem := range map[string]string{
		`mcpServers: {a: {command: x, env: {T: "${user:t}"}}}`:           "mcpServers.a.env.T: ${user:t}" + only,
		`mcpServers: {a: {command: x, args: ["${user:t}"]}}`:             "mcpServers.a.args[0]: ${user:t}" + only,
		`mcpServers: {a: {url: "https://${user:t}"}}`:                    "mcpServers.a.url: ${user:t}" + only,
		`mcpServers: {a: {url: "https://a", headers: {X: "${user:}"}}}`:  "mcpServers.a.headers.X: ${user:}" + unnamed,
		`mcpServers: {a: {url: "https://a", headers: {X: "${user:中}"}}}`: "mcpServers.a.headers.X: ${user:中}" + unnamed,
		`apis: {c: {spec: c.json, oauth: {as: user}}}`:                   "apis.c: needs base in addition to oauth" + elsewhere,
		`mcpServers: {a: {url: "https://a", oauth: {as: assertion}}}`:    "mcpServers.a.oauth: needs clientId",
	} {
		wantProblem(t, "toolfit.yaml", text, "toolfit.yaml:1: "+problem)
	}
}

func TestAClientThatExchangesTokensNamesItsProvider(t *testing.T) {
	const providers = `publicURL: https://tools.example.com
identity: [{issuer: "https://one.example.com", map: [{groups: [a]}]}, {issuer: "https://two.example.com", map: [{groups: [a]}]}]
`
	wantProblem(t, "toolfit.yaml",
		providers+`mcpServers: {a: {url: "https://a", oauth: {as: exchange, clientId: us, clientSecret: s3cret-s3cret}}}`,
		"toolfit.yaml:3: mcpServers.a: needs issuer in oauth: there are several identity providers, and its client is known to one")
	parse(t, "toolfit.yaml", providers+`mcpServers:
  a: {url: "https://a", oauth: {as: exchange, clientId: us, clientSecret: s3cret-s3cret, issuer: "https://two.example.com"}}
  b: {url: "https://b", oauth: {as: assertion, clientId: us, clientSecret: s3cret-s3cret}} # it is sent to the server's own
`)
}

func TestAnAddedServerHasItsOAuthOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "toolfit.yaml")
	s := Server{ID: "a", URL: "https://a", OAuth: &OAuth{As: AsUser, Scopes: []string{"read"}}}
	if err := AddServer(path, s); err != nil {
		t.Fatal(err)
	}
	cfg, err := Load(path, nil)
	if err != nil || cfg.Servers[0].OAuth == nil || cfg.Servers[0].OAuth.As != AsUser {
		t.Errorf("%+v %v", cfg, err)
	}
}
