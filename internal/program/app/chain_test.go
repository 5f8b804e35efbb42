package app_test

import (
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/testkit/idp"
)

// TestTwoGatewaysInAChain: the first exchanges its callers' tokens for ones that the second takes, so that both know who
// calls; neither passes on what was meant for it.
func TestTwoGatewaysInAChain(t *testing.T) {
	p := idp.New(t)
	token := func(who, resource string) string {
		return p.Token(t, p.Claims("sub", who, "name", who, "aud", resource))
	}
	const first, second = "https://first.example.com/mcp", "https://second.example.com/mcp"
	owners := map[string]string{} // by the token for the first
	p.Login.Exchange = func(form url.Values) map[string]any {
		who, ok := owners[form.Get("subject_token")]
		if !ok || form.Get("audience") != "second" {
			return map[string]any{"error": "invalid_grant"}
		}
		return map[string]any{"access_token": token(who, second), "token_type": "Bearer", "expires_in": 600}
	}
	upstream, seen := whoServer(t)
	identity := fmt.Sprintf("identity:\n- {issuer: %q, map: [{groups: [eng]}]}\n", p.URL)
	_, behind := serve(t, "publicURL: https://second.example.com\n"+identity+
		fmt.Sprintf("mcpServers: {s: {url: %q, headers: {Authorization: \"Bearer swapped-by-second\"}}}\n", upstream))
	_, front := serve(t, "publicURL: https://first.example.com\n"+identity+
		fmt.Sprintf("mcpServers: {b: {url: %q, oauth: {as: exchange, resource: second, clientId: us, clientSecret: a-secret}}}\n", "http://"+behind+"/mcp"))
	people := []string{"ann", "bob", "eve"}
	tokens := map[string]string{}
	p.Mu.Lock()
	for _, who := range people {
		tokens[who] = token(who, first)
		owners[tokens[who]] = who
	}
	p.Mu.Unlock()
	call := func(who string) string {
		_, said := rest(t, front, tokens[who], "POST", "/tools/b__s__who/call", "{}")
		return said
	}
	for deadline := time.Now().Add(20 * time.Second); !strings.Contains(call("ann"), "called as swapped-by-second"); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("never listed: ", call("ann"))
		}
	}
	var all sync.WaitGroup
	for i := range 15 {
		all.Go(func() {
			if said := call(people[i%3]); !strings.Contains(said, "called as swapped-by-second") {
				t.Error(said)
			}
		})
	}
	all.Wait()
	for _, who := range people[1:] { // ann has waited for the list
		if _, said := rest(t, behind, token(who, second), "GET", "/calls", ""); strings.Count(said, `"s__who"`) != 5 {
			t.Errorf("the second gateway knows of other calls of %s: %s", who, said)
		}
	}
	for who, text := range tokens {
		if status, said := rest(t, behind, text, "GET", "/calls", ""); status != 401 {
			t.Errorf("the second takes the token of %s for the first: %d %s", who, status, said)
		}
	}
	for _, got := range seen() {
		if got != "swapped-by-second" {
			t.Errorf("the server got %.20s…", got)
		}
	}
}
