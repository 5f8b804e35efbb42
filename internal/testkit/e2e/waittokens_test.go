package e2e

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/testkit/authserver"
	"github.com/toolfit/toolfit/internal/testkit/idp"
)

// subjects notes with whose tokens a server is asked about its tasks.
type subjects struct {
	next *heldServer

	mu  sync.Mutex
	all map[string]int // by method and subject
}

func (s *subjects) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body) // what cannot be read is answered so
	var m struct{ Method string }
	if json.Unmarshal(body, &m) == nil {
		s.mu.Lock()
		s.all[m.Method+" "+r.Header.Get("X-Subject")]++
		s.mu.Unlock()
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	s.next.ServeHTTP(w, r)
}

func (s *subjects) count(what string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all[what]
}

// TestAWaitingCallGoesOnWithItsOwnersToken: the token expires while a task of the server runs, and then another replica
// goes on with it. When the owner's grant has ended, the call ends; it never goes on with the token of somebody else.
func TestAWaitingCallGoesOnWithItsOwnersToken(t *testing.T) {
	for era := range eras {
		for name, ends := range map[string]bool{"renewed": false, "ended": true} {
			t.Run(era+" server, "+name, func(t *testing.T) {
				held := newHeldServer(t, era == "modern")
				seen := &subjects{next: held, all: map[string]int{}}
				w := &signedWorld{Provider: idp.New(t), as: authserver.New(t)}
				w.as.Set(func() { w.as.Next = seen; w.as.Lifetime = 3 * time.Second })
				yaml := lines("store: "+t.TempDir()+"/shared.db", "publicURL: https://tools.example.com", "identity:",
					"- {issuer: "+w.URL+", map: [{groups: [eng], profile: default}]}",
					"mcpServers:", "  up: {url: "+w.as.MCP+", oauth: {as: user}}", "detach: 1s")
				gateways := []*gateway{replica(t, yaml, time.Second), replica(t, yaml, time.Second)}
				for _, who := range []string{"bob", "ann"} { // lists are read with bob's
					w.signIn(t, gateways[0].url, who)
				}
				ann := w.person(t, "ann")
				var id string
				eventually(t, "the call waits", func() bool {
					c, err := dialRaw(gateways[0].url+"/mcp", ann)
					if err != nil {
						t.Fatal(err)
					}
					result, err := c.request("tools/call", `{"name":"up__must","arguments":{"n":"x"}}`)
					id = handlePattern.FindString(result)
					return err == nil && id != ""
				})
				eventually(t, "the task is looked at", func() bool { return seen.count("tasks/get ann") > 0 })
				renewed := w.as.Count("/token")
				eventually(t, "the token is renewed meanwhile", func() bool { return w.as.Count("/token") > renewed })
				if ends {
					w.as.End("ann")
				}
				gateways[0].stop()
				looked := seen.count("tasks/get ann")
				if !ends {
					eventually(t, "the other replica looks at the task", func() bool { return seen.count("tasks/get ann") > looked })
					held.let("x")
				}
				result := collectAs(t, gateways[1].url, ann, id)
				if want := map[bool]string{false: "done x", true: "needs sign-in"}[ends]; !strings.Contains(result, want) {
					t.Errorf("it ended with %s", result)
				}
				for what := range seen.all {
					if strings.HasPrefix(what, "tasks/") && !strings.HasSuffix(what, " ann") || what == "tools/call bob" {
						t.Errorf("the server was asked: %s", what)
					}
				}
			})
		}
	}
}

// collectAs is collect for somebody who has to say who they are.
func collectAs(t *testing.T, url, token, id string) (result string) {
	t.Helper()
	c, err := dialRaw(url+"/mcp", token)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, id+" has ended", func() bool {
		result, err = c.request("tools/call", `{"name":"fetch_result","arguments":{"ref":"`+id+`","wait":"5s"}}`)
		return err != nil || !strings.Contains(result, "Call fetch_result again")
	})
	if err != nil {
		t.Fatalf("%s: %v", id, err)
	}
	return result
}
