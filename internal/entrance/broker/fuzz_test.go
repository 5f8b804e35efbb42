package broker

import (
	"net/url"
	"strings"
	"testing"
)

// FuzzRequest holds what everything after the parser relies on.
func FuzzRequest(f *testing.F) {
	f.Add("response_type=code&client_id=https://a.example/c&redirect_uri=http://127.0.0.1/cb&state=x&code_challenge=" + challengeOf("x") +
		"&code_challenge_method=S256&resource=https://t.example/mcp/")
	f.Add("client_id=a&client_id=b&redirect_uri=javascript:alert(1)&response_type=code")
	f.Add("%zz&a;b")
	f.Fuzz(func(t *testing.T, query string) {
		req, err := parseRequest(query)
		if err != nil {
			return
		}
		q, _ := url.ParseQuery(query)
		if len(q["client_id"]) != 1 || len(q["redirect_uri"]) != 1 || len(q["state"]) > 1 || q.Get("code_challenge_method") != "S256" ||
			q.Get("response_type") != "code" || !challenge.MatchString(req.Challenge) || req.Client == "" || req.Redirect == "" {
			t.Errorf("%q gives %+v", query, req)
		}
	})
}

// FuzzRedirect looks for an address that is accepted for another one and leads elsewhere, or breaks what it is written into.
func FuzzRedirect(f *testing.F) {
	for _, seed := range []string{
		"https://app.example/cb", "http://127.0.0.1:3000/cb", "http://localhost/cb?x=1", "http://[::1]:1/cb", "cursor://x/cb", "http://127.0.0.1:3000@evil/cb",
		"http://localhost\\@evil/cb", "HTTP://localhost/cb", "javascript://x/%0aalert(1)", "https://app.example/cb\r\nx: y",
	} {
		f.Add("https://app.example/cb", seed)
		f.Add("http://127.0.0.1/cb", seed)
	}
	f.Fuzz(func(t *testing.T, registered, asked string) {
		if !acceptable(registered) || !isOneOf([]string{registered}, asked) {
			return
		}
		one, err := url.Parse(registered)
		two, wrong := url.Parse(asked)
		if err != nil || wrong != nil || one.Scheme != two.Scheme || one.Hostname() != two.Hostname() || one.EscapedPath() != two.EscapedPath() ||
			one.RawQuery != two.RawQuery || two.User != nil || two.Fragment != "" || asked != registered && !isLoopback(asked) {
			t.Errorf("%q is taken for %q", asked, registered)
		}
		if strings.ContainsAny(asked, "\r\n\"'<> \\#") {
			t.Errorf("%q would break a header or a page", asked)
		}
		back, err := url.Parse(withAnswer(asked, url.Values{"code": {"c&d"}}))
		if err != nil || back.Host != two.Host || back.Query().Get("code") != "c&d" && !two.Query().Has("code") {
			t.Errorf("%q becomes %v", asked, back)
		}
	})
}

func FuzzClientID(f *testing.F) {
	for _, seed := range []string{
		"https://claude.ai/oauth/client.json", "https://claude.ai", "https://claude.ai/", "https://claude.ai/a/../b", "https://claude.ai/%2e%2e/b",
		"https://CLAUDE.ai/x", "https://me@claude.ai/x", "https://claude.ai/x?y", "https://claude.ai/x#y", "http://127.0.0.1:1/c",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, id string) {
		if !isClientID(id, false) {
			return
		}
		u, err := url.Parse(id)
		if err != nil || u.Scheme != "https" || u.Host == "" || u.Path == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" ||
			strings.Contains(id, "/../") || strings.Contains(id, "/./") || strings.ContainsAny(id, " \\\r\n\"<>") {
			t.Errorf("%q can be a client", id)
		}
	})
}

func FuzzDocument(f *testing.F) {
	f.Add([]byte(`{"client_id":"https://a.example/c","redirect_uris":["https://a.example/cb"],"client_name":"x"}`))
	f.Add([]byte(`{"client_id":"https://a.example/c","redirect_uris":[null,1]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		c, err := parseDocument(raw, "https://a.example/c")
		if err != nil {
			return
		}
		for _, one := range c.Redirects {
			if !acceptable(one) {
				t.Errorf("%q", one)
			}
		}
		if len(c.Redirects) == 0 || len([]rune(c.Name)) > 400 {
			t.Errorf("%+v", c)
		}
	})
}
