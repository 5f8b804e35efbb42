package e2e

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/testkit/idp"
	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

// TestADisabledPersonIsOutOnEveryGateway: of two gateways on one store, within ten seconds, streams included.
func TestADisabledPersonIsOutOnEveryGateway(t *testing.T) {
	stores := map[string]func(*testing.T) string{
		"SQLite":     func(t *testing.T) string { return t.TempDir() + "/toolfit.db" },
		"PostgreSQL": func(t *testing.T) string { return testparts.NeedPostgres(t).Schema(t) },
	}
	for name, dsn := range stores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := idp.New(t)
			yaml := lines("publicURL: https://tools.example.com", "store: "+dsn(t), "identity:", "- issuer: "+p.URL,
				"  map: [{groups: [platform], role: admin}, {groups: [eng], profile: default}]")
			gateways := []*gateway{replica(t, yaml, 0), replica(t, yaml, 0)}
			token := func(changes ...any) string {
				return p.Token(t, p.Claims(append(changes, "aud", "https://tools.example.com/mcp")...))
			}
			admin := token("sub", "root", "groups", []string{"platform"})
			alice := token("name", "Alice 王")
			bob := token("sub", "bob", "name", "Alice 王")
			for _, g := range gateways {
				for _, who := range []string{alice, bob} {
					if status, said := g.as(t, who, "GET", "/api/v1/tools"); status != 200 {
						t.Fatalf("%d %s", status, said)
					}
				}
			}
			stream := openStream(t, gateways[1].url+"/mcp", alice)
			id := ""
			eventually(t, "both are listed", func() bool {
				status, said := gateways[0].as(t, admin, "GET", "/api/v1/people?q=ali")
				var list struct {
					People []struct{ ID, Subject string }
				}
				if err := json.Unmarshal([]byte(said), &list); err != nil || status != 200 {
					t.Fatalf("%d %s", status, said)
				}
				for _, one := range list.People {
					if one.Subject == "alice" {
						id = one.ID
					}
				}
				return id != "" && len(list.People) == 2
			})
			if status, said := gateways[0].as(t, alice, "POST", "/api/v1/people/"+id+"/disable"); status != 403 {
				t.Fatalf("she did it herself: %d %s", status, said)
			}
			if status, said := gateways[0].as(t, admin, "POST", "/api/v1/people/"+id+"/disable"); status != 200 {
				t.Fatalf("%d %s", status, said)
			}
			began := time.Now()
			for _, g := range gateways {
				eventually(t, "she is out", func() bool {
					status, said := g.as(t, alice, "GET", "/api/v1/tools")
					return status == 403 && strings.Contains(said, "Alice 王 is disabled here")
				})
			}
			<-stream
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("it took %v", took)
			}
			if status, said := gateways[1].as(t, bob, "GET", "/api/v1/tools"); status != 200 {
				t.Errorf("another of her name: %d %s", status, said)
			}
			if status, said := gateways[1].as(t, admin, "POST", "/api/v1/people/"+id+"/enable"); status != 200 {
				t.Fatalf("%d %s", status, said)
			}
			eventually(t, "she is in again", func() bool {
				status, _ := gateways[0].as(t, alice, "GET", "/api/v1/tools")
				return status == 200
			})
		})
	}
}

// as sends a request with a token.
func (g *gateway) as(t *testing.T, token, method, path string) (status int, said string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, g.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	resp, err := plainHTTP.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

// openStream begins a session and listens to it. The channel is closed when the stream ends.
func openStream(t *testing.T, address, token string) <-chan struct{} {
	t.Helper()
	send := func(method, body, session string) *http.Response {
		r, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		if session != "" {
			r.Header.Set("Mcp-Session-Id", session)
			r.Header.Set("Mcp-Protocol-Version", "2025-06-18")
		}
		resp, err := plainHTTP.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		return resp
	}
	begun := send("POST", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},`+
		`"clientInfo":{"name":"test","version":"1"}}}`, "")
	begun.Body.Close()
	session := begun.Header.Get("Mcp-Session-Id")
	send("POST", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, session).Body.Close()
	stream := send("GET", "", session)
	if stream.StatusCode != 200 {
		t.Fatalf("the stream: %s", stream.Status)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer stream.Body.Close()
		_, _ = io.Copy(io.Discard, stream.Body)
	}()
	return ended
}
