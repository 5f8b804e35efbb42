package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/testkit/authserver"
)

// signIn signs somebody in to a server, as the browser of an authorization server's page does.
func signIn(t *testing.T, address, key, server string) string {
	t.Helper()
	_, said := rest(t, address, key, "POST", "/connections/"+server, "")
	var begun struct{ URL string }
	if err := json.Unmarshal([]byte(said), &begun); err != nil || begun.URL == "" {
		t.Fatal(said)
	}
	browser := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := browser.Get(begun.URL)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	_, said = rest(t, address, key, "POST", "/connections/"+server+"/finish", fmt.Sprintf(`{"url":%q}`, resp.Header.Get("Location")))
	return said
}

// TestPeopleSignInToAnHTTPAPI: it takes the same road as an MCP server. Who has not signed in is told so, a token that is
// refused is renewed once, and a call that needs more rights asks for them.
func TestPeopleSignInToAnHTTPAPI(t *testing.T) {
	t.Setenv("TOOLFIT_SECRET_KEY", "a key for the tokens of an API")
	as := authserver.New(t)
	narrow := false // the token has too few scopes; it is changed between calls only
	as.Set(func() {
		as.Next = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if narrow {
				w.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="pets:write"`)
				w.WriteHeader(http.StatusForbidden)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"you are":%q}`, r.Header.Get("X-Subject"))
		})
	})
	spec := filepath.Join(t.TempDir(), "pets.json")
	const text = `{"openapi":"3.1.0","info":{"title":"Pets","version":"1"},
		"paths":{"/who":{"get":{"operationId":"who","responses":{"200":{"description":"ok"}}}}}}`
	if err := os.WriteFile(spec, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	a, address := serve(t, fmt.Sprintf("apis:\n  pets: {spec: %q, base: %q, oauth: {as: user}}\n", spec, as.MCP))
	a.Catalog.Ready(t.Context(), "default")
	ann := newKey(t, a, "ann")
	call := func(want string) {
		t.Helper()
		if _, said := rest(t, address, ann, "POST", "/tools/pets__who/call", `{}`); !strings.Contains(said, want) {
			t.Errorf("want %s: %s", want, said)
		}
	}
	call("login_required")
	call("/connect/pets")
	if as.Count("/mcp/who") != 0 {
		t.Error("it was called before anybody had signed in")
	}
	if said := signIn(t, address, ann, "pets"); !strings.Contains(said, `"connected":"pets"`) {
		t.Fatal(said)
	}
	call("alice")
	as.EndAll()
	renewals := as.Count("/token")
	call("alice")
	if n := as.Count("/token") - renewals; n != 1 {
		t.Errorf("a token that was refused was renewed %d times", n)
	}
	narrow = true
	call("this call needs more rights than were granted")
	narrow = false
	_, said := rest(t, address, ann, "POST", "/connections/pets", "")
	if !strings.Contains(said, "scope=pets%3Awrite") {
		t.Errorf("the next sign-in does not ask for more: %s", said)
	}
	as.End("alice")
	call("login_required")
	call("does not renew the token")
	as.Set(func() { as.Subject = "ann" })
	signIn(t, address, ann, "pets")
	call(`ann`)
	as.EndAll()
	as.Set(func() { as.Fault = authserver.Broken; as.At = "/token" })
	call("cannot be renewed now")
}
