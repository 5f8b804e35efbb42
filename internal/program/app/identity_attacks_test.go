package app_test

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/testkit/idp"
)

const tools = "https://tools.example.com/base"

// discover is what a modern client sends first.
const discover = `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
	`"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`

// knocks are requests of clients of each revision, and those for streams and to end sessions.
var knocks = map[string]func(address string) *http.Request{
	"2024-11-05": greeting("2024-11-05"), "2025-03-26": greeting("2025-03-26"), "2025-06-18": greeting("2025-06-18"), "2025-11-25": greeting("2025-11-25"),
	"2026-07-28": func(address string) *http.Request {
		r := knock("POST", address, discover)
		r.Header.Set("Mcp-Protocol-Version", "2026-07-28")
		r.Header.Set("Mcp-Method", "server/discover")
		return r
	},
	"a stream":            func(address string) *http.Request { return knock("GET", address, "") },
	"a session that ends": func(address string) *http.Request { return knock("DELETE", address, "") },
}

func knock(method, address, body string) *http.Request {
	r, err := http.NewRequest(method, address, strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	return r
}

func greeting(revision string) func(address string) *http.Request {
	return func(address string) *http.Request {
		return knock("POST", address, strings.Replace(initialize, "2025-11-25", revision, 1))
	}
}

// answer is the status and the challenge that a request gets.
func answer(t *testing.T, r *http.Request) (int, string) {
	t.Helper()
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, strings.Join(resp.Header.Values("WWW-Authenticate"), " and ")
}

// TestATokenOpensItsOwnResourceAlone tries a token for each resource at each.
func TestATokenOpensItsOwnResourceAlone(t *testing.T) {
	p := idp.New(t)
	address := withIdentity(t, p) + "/base"
	resources := []string{"/mcp", "/mcp/ops", "/mcp/dev", "/mcp/ops/env", "/mcp/dev/env"}
	for _, of := range slices.Concat(resources, []string{"", "/", "/mcp/op", "/mcp/ops2", "/mcp/ops/en", "/mcp/OPS", "/MCP", "/api/v1", "/mcp/ops?x", "/mcp#x"}) {
		token := p.Token(t, p.Claims("aud", tools+of, "groups", "platform"))
		for _, path := range append(resources, "/api/v1/tools") {
			want := 401
			if of == "/mcp" || of == path {
				want = 200
			}
			for _, revision := range []string{"2025-11-25", "2026-07-28"} {
				r := knocks[revision](address + path)
				if strings.HasPrefix(path, "/api") {
					r = knock("GET", address+path, "")
				}
				r.Header.Set("Authorization", "Bearer "+token)
				if status, challenge := answer(t, r); status != want {
					t.Errorf("a token for %q at %s, %s: %d %s", of, path, revision, status, challenge)
				}
			}
		}
	}
	for _, aud := range []string{"https://tools.example.com/mcp", "http://tools.example.com/base/mcp", "https://tools.example.com.evil.org/base/mcp",
		"https://evil.org/base/mcp", "tools.example.com/base/mcp", "https://tools.example.com:443/base/mcp", "editor"} {
		r := knocks["2025-11-25"](address + "/mcp")
		r.Header.Set("Authorization", "Bearer "+p.Token(t, p.Claims("aud", aud)))
		if status, _ := answer(t, r); status != 401 {
			t.Errorf("a token for %s: %d", aud, status)
		}
	}
}

// TestChallengesAreTheSameInEveryRevision holds the table of challenges for clients of all revisions and for all requests.
func TestChallengesAreTheSameInEveryRevision(t *testing.T) {
	p := idp.New(t)
	address := withIdentity(t, p) + "/base/mcp/ops"
	const where = `resource_metadata="` + tools + `/.well-known/oauth-protected-resource/mcp/ops"`
	const invalid = `Bearer error="invalid_token", scope="mcp:tools", ` + where
	with := func(changes ...any) string {
		return "Bearer " + p.Token(t, p.Claims(append([]any{"aud", tools + "/mcp/ops"}, changes...)...))
	}
	for name, c := range map[string]struct {
		authorization string
		status        int
		challenge     string
	}{
		"no credential":     {"", 401, `Bearer scope="mcp:tools", ` + where},
		"wrong":             {"Bearer x", 401, invalid},
		"a JWT of nobody":   {"Bearer e30.e30.e30", 401, invalid},
		"a wrong key":       {"Bearer tf_abcdefgh_abcdefgh", 401, invalid},
		"another scheme":    {"Basic YTpi", 401, invalid},
		"an empty bearer":   {"Bearer ", 401, invalid},
		"expired":           {with("exp", 1), 401, invalid},
		"another audience":  {with("aud", tools+"/mcp/dev"), 401, invalid},
		"an ID token":       {with("at_hash", "x"), 401, invalid},
		"scope missing":     {with("scope", "openid"), 403, `Bearer error="insufficient_scope", scope="mcp:tools", ` + where},
		"no mapping":        {with("groups", "cats"), 403, ""},
		"another profile":   {with("groups", "devs"), 403, ""},
		"lower-case scheme": {strings.Replace(with("groups", "cats"), "Bearer", "bearer", 1), 403, ""},
	} {
		for kind, request := range knocks {
			r := request(address)
			if c.authorization != "" {
				r.Header.Set("Authorization", c.authorization)
			}
			if status, challenge := answer(t, r); status != c.status || challenge != c.challenge {
				t.Errorf("%s, %s: %d %s", name, kind, status, challenge)
			}
		}
	}
}

// TestHeadersSayNothingAboutACaller sends what proxies send about who has signed in there.
func TestHeadersSayNothingAboutACaller(t *testing.T) {
	p := idp.New(t)
	address := withIdentity(t, p) + "/base"
	admin := p.Token(t, p.Claims("aud", tools+"/mcp", "groups", "platform", "sub", "root"))
	forged := http.Header{}
	for _, name := range []string{"X-Forwarded-User", "X-Forwarded-Email", "X-Forwarded-Preferred-Username", "X-Forwarded-Groups", "X-Auth-Request-User",
		"X-Auth-Request-Email", "X-Auth-Request-Groups", "Remote-User", "X-Remote-User", "X-Webauth-User", "X-User", "X-User-Id", "X-Authenticated-User",
		"Cf-Access-Authenticated-User-Email", "X-Goog-Authenticated-User-Email", "X-Ms-Client-Principal-Name", "X-Amzn-Oidc-Identity", "Toolfit-User", "Toolfit-Role"} {
		forged.Set(name, "root")
	}
	for _, name := range []string{"X-Forwarded-Access-Token", "X-Auth-Request-Access-Token", "X-Amzn-Oidc-Data", "Cf-Access-Jwt-Assertion",
		"X-Goog-Iap-Jwt-Assertion", "Proxy-Authorization", "X-Api-Key", "X-Authorization"} {
		forged.Set(name, admin)
		forged.Add(name, "Bearer "+admin)
	}
	forged.Set("X-Forwarded-For", "127.0.0.1")
	forged.Set("X-Real-Ip", "127.0.0.1")
	forged.Set("Forwarded", "for=127.0.0.1;host=localhost")
	caller := p.Token(t, p.Claims("aud", tools+"/mcp"))
	for name, c := range map[string]struct {
		authorization string
		status        int // of what admins alone may do
	}{
		"nobody": {"", 401}, "a caller": {"Bearer " + caller, 403}, "an admin": {"Bearer " + admin, 200},
	} {
		for _, with := range []bool{false, true} {
			r := knock("GET", address+"/api/v1/keys", "")
			if with {
				r.Header = forged.Clone()
			}
			if c.authorization != "" {
				r.Header.Set("Authorization", c.authorization)
			}
			r.URL.RawQuery = "access_token=" + admin + "&user=root"
			if status, _ := answer(t, r); status != c.status {
				t.Errorf("%s, with forged headers %v: %d", name, with, status)
			}
		}
	}
	two := knock("GET", address+"/api/v1/keys", "")
	two.Header["Authorization"] = []string{"Bearer " + caller, "Bearer " + admin}
	if status, _ := answer(t, two); status == 200 {
		t.Errorf("the second of two tokens counts: %d", status)
	}
}
