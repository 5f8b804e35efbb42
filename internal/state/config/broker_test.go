package config

import (
	"strings"
	"testing"
)

func TestBrokerProblems(t *testing.T) {
	const signIn = provider + "  login: {clientId: toolfit, clientSecret: s3cret-s3cret}\n  map: [{}]\n"
	for name, c := range map[string]struct{ yaml, want string }{
		"clients":                  {signIn + `broker: {clients: ["https://claude.ai/**", "https://*.example.com/mcp/*", "http://127.0.0.1:1/c"]}`, ""},
		"registration alone":       {signIn + "broker: {registration: true}", ""},
		"nobody":                   {signIn + "broker: {}", "broker: lets no client in"},
		"an empty list":            {signIn + "broker: {clients: []}", "is an empty list"},
		"everybody":                {signIn + "broker: {clients: ['https://*']}", "expected a pattern"},
		"every host":               {signIn + "broker: {clients: ['https://*/**']}", "has * within the host"},
		"a part of a host":         {signIn + "broker: {clients: ['https://claude.*/**']}", "has * within the host"},
		"no path":                  {signIn + "broker: {clients: ['https://claude.ai']}", "expected a pattern"},
		"plain HTTP":               {signIn + "broker: {clients: ['http://claude.ai/**']}", "expected a pattern"},
		"a name":                   {signIn + "broker: {clients: [claude]}", "expected a pattern"},
		"no login":                 {provider + "  map: [{}]\nbroker: {registration: true}", "broker: needs an identity provider at which people sign in"},
		"no identity":              {"broker: {registration: true}", "broker: needs an identity provider at which people sign in"},
		"registration is no word":  {signIn + "broker: {registration: maybe}", "expected true or false"},
		"an address with somebody": {signIn + "broker: {clients: ['https://me@claude.ai/**']}", "expected a pattern"},
	} {
		_, err := Parse("toolfit.yaml", []byte(c.yaml), nil)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestClientsFitPatterns(t *testing.T) {
	b := &Broker{Clients: []string{"https://claude.ai/**", "https://*.example.com/mcp/*.json"}}
	for address, want := range map[string]bool{
		"https://claude.ai/oauth/client":             true,
		"https://claude.ai/":                         true,
		"https://claude.ai.evil.com/x":               false,
		"https://evil.com/https://claude.ai/x":       false,
		"https://claude.aix/":                        false,
		"https://a.example.com/mcp/client.json":      true,
		"https://a.example.com/mcp/x/client.json":    false,
		"https://a.example.com/mcp/clientXjson":      false,
		"https://evil.com/.example.com/mcp/a.json":   false,
		"https://a.example.com/mcp/client.json\nxyz": false,
	} {
		if got := b.MatchClient(address); got != want {
			t.Errorf("%s: %v", address, got)
		}
	}
}
