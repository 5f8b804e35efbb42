package app_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/testkit/idp"
)

// withIdentity is a gateway below /base, known to others as https://tools.example.com/base.
func withIdentity(t *testing.T, p *idp.Provider) string {
	t.Helper()
	_, address := serve(t, fmt.Sprintf(`
basePath: /base
publicURL: https://tools.example.com/base
profiles: {ops: {}, dev: {}}
identity:
- issuer: %s
  scope: mcp:tools
  map:
  - {groups: [platform], role: admin}
  - {groups: [eng], profile: ops}
  - {groups: [devs], profile: dev}
`, p.URL))
	return "http://" + address
}

// ask sends an initialize with a token, "" is none, and returns the answer.
func ask(t *testing.T, address, token string) *http.Response {
	t.Helper()
	r, err := http.NewRequest("POST", address, strings.NewReader(initialize))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

func TestHowToGetInIsSaid(t *testing.T) {
	p := idp.New(t)
	address := withIdentity(t, p)
	const ops = "https://tools.example.com/base/mcp/ops"
	const all = "https://tools.example.com/base/mcp"
	where := func(path string) string {
		return `resource_metadata="https://tools.example.com/base/.well-known/oauth-protected-resource` + path + `"`
	}
	good := p.Token(t, p.Claims("aud", ops))
	for name, c := range map[string]struct {
		path, token string
		status      int
		challenge   string
	}{
		"no credential":              {"/mcp/ops", "", 401, `Bearer scope="mcp:tools", ` + where("/mcp/ops")},
		"no credential, own profile": {"/mcp", "", 401, `Bearer scope="mcp:tools", ` + where("/mcp")},
		"an environment":             {"/mcp/ops/env", "", 401, `Bearer scope="mcp:tools", ` + where("/mcp/ops/env")},
		"good":                       {"/mcp/ops", good, 200, ""},
		"for all paths":              {"/mcp/ops", p.Token(t, p.Claims("aud", all)), 200, ""},
		"wrong":                      {"/mcp/ops", "x.y.z", 401, `Bearer error="invalid_token", scope="mcp:tools", ` + where("/mcp/ops")},
		"a wrong key":                {"/mcp/ops", "tf_abcdefgh_x", 401, `Bearer error="invalid_token", scope="mcp:tools", ` + where("/mcp/ops")},
		"expired":                    {"/mcp/ops", p.Token(t, p.Claims("aud", ops, "exp", 1)), 401, `Bearer error="invalid_token", scope="mcp:tools", ` + where("/mcp/ops")},
		"another path's":             {"/mcp/dev", good, 401, `Bearer error="invalid_token", scope="mcp:tools", ` + where("/mcp/dev")},
		"one path's for all":         {"/mcp", good, 401, `Bearer error="invalid_token", scope="mcp:tools", ` + where("/mcp")},
		"no scope":                   {"/mcp/ops", p.Token(t, p.Claims("aud", ops, "scope", "x")), 403, `Bearer error="insufficient_scope", scope="mcp:tools", ` + where("/mcp/ops")},
		"no rights":                  {"/mcp/ops", p.Token(t, p.Claims("aud", ops, "groups", "cats")), 403, ""},
		"another profile":            {"/mcp/ops", p.Token(t, p.Claims("aud", all, "groups", "devs")), 403, ""},
	} {
		resp := ask(t, address+"/base"+c.path, c.token)
		said, _ := io.ReadAll(resp.Body)
		if resp.StatusCode != c.status || resp.Header.Get("WWW-Authenticate") != c.challenge {
			t.Errorf("%s: %d %q %s", name, resp.StatusCode, resp.Header.Get("WWW-Authenticate"), said)
		}
	}
}

func TestMetadataOfEachResource(t *testing.T) {
	p := idp.New(t)
	address := withIdentity(t, p)
	const known = "/.well-known/oauth-protected-resource"
	for path, want := range map[string]string{
		"/base" + known + "/mcp":       "https://tools.example.com/base/mcp",
		known + "/base/mcp":            "https://tools.example.com/base/mcp",
		known + "/base/mcp/ops":        "https://tools.example.com/base/mcp/ops",
		"/base" + known + "/mcp/ops":   "https://tools.example.com/base/mcp/ops",
		known + "/base/mcp/ops/env":    "https://tools.example.com/base/mcp/ops/env",
		known + "/base/mcp/%E5%B7%A5":  "https://tools.example.com/base/mcp/%E5%B7%A5",
		known + "/base/mcp/v1.2":       "https://tools.example.com/base/mcp/v1.2",
		known + "/base/mcpx":           "",
		known + "/other/mcp":           "",
		"/base" + known:                "",
		"/base" + known + "/api/v1":    "",
		"/base" + known + "/mcp/../..": "",
	} {
		r, _ := http.NewRequest("GET", address+path, nil)
		r.Header.Set("Origin", "https://page.example.com")
		r.Header.Set("Sec-Fetch-Site", "cross-site")
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		var said struct {
			Resource string   `json:"resource"`
			Servers  []string `json:"authorization_servers"`
			Scopes   []string `json:"scopes_supported"`
		}
		json.NewDecoder(resp.Body).Decode(&said)
		resp.Body.Close()
		if said.Resource != want {
			t.Errorf("%s: %q (%s)", path, said.Resource, resp.Status)
		}
		if want == "" {
			continue
		}
		if !slices.Equal(said.Servers, []string{p.URL}) || !slices.Equal(said.Scopes, []string{"mcp:tools"}) {
			t.Errorf("%s: %+v", path, said)
		}
		if resp.Header.Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s: pages may not read it", path)
		}
		r.Host = "evil.example.com"
		resp, err = http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusForbidden {
			t.Errorf("%s for another host: %s", path, resp.Status)
		}
	}
}
