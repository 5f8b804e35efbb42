package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolfit/toolfit/internal/testkit/authserver"
	"github.com/toolfit/toolfit/internal/testkit/idp"
	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

// signedWorld is people who sign in to a server behind gateways. Its one tool says whose token has come.
type signedWorld struct {
	*idp.Provider
	as *authserver.Server
}

// newSignedWorld makes one with a server of an era.
func newSignedWorld(t *testing.T, era string) *signedWorld {
	t.Helper()
	server := mcp.NewServer(&mcp.Implementation{Name: "who", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{Name: "who", InputSchema: map[string]any{"type": "object"}},
		func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "token of " + r.Extra.Header.Get("X-Subject") + "."}}}, nil
		})
	w := &signedWorld{Provider: idp.New(t), as: authserver.New(t)}
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server },
		&mcp.StreamableHTTPOptions{Stateless: era == "modern"})
	w.as.Set(func() { w.as.Next = handler })
	t.Cleanup(func() {
		w.as.CloseClientConnections()
		for s := range server.Sessions() {
			s.Close()
		}
	})
	return w
}

func (w *signedWorld) config(store string) string {
	return lines("store: "+store, "publicURL: https://tools.example.com", "identity:",
		"- {issuer: "+w.URL+", map: [{groups: [eng], profile: default}]}",
		"mcpServers:", "  up: {url: "+w.as.MCP+", oauth: {as: user}}", "profiles:", "  default: {names: bare}")
}

// person is the token of somebody for the gateways.
func (w *signedWorld) person(t *testing.T, name string) string {
	t.Helper()
	return w.Token(t, w.Claims("sub", name, "name", name, "aud", "https://tools.example.com/mcp"))
}

// signIn signs somebody in to the server, through a gateway.
func (w *signedWorld) signIn(t *testing.T, url, name string) {
	t.Helper()
	w.as.Set(func() { w.as.Subject = name })
	if err := standIn(t.Context(), url, "up", w.person(t, name)); err != nil {
		t.Fatal(err)
	}
}

// served waits until somebody's call goes through.
func (w *signedWorld) served(t *testing.T, url, name string) {
	t.Helper()
	token := w.person(t, name)
	eventually(t, "the call of "+name+" goes through", func() bool { return callWho(t.Context(), url, token, name) == nil })
}

func callWho(ctx context.Context, url, token, name string) error {
	said, err := restCall(ctx, "POST", url+"/api/v1/tools/who/call", token, "{}")
	if err == nil && !strings.Contains(said, "token of "+name+".") {
		err = fmt.Errorf("another's token")
	}
	if err != nil {
		return fmt.Errorf("%s: %w: %s", name, err, said)
	}
	return nil
}

// TestTokensOfManyPeopleAreNotMixed: fifty people with twenty calls each at once, through one gateway and through two.
func TestTokensOfManyPeopleAreNotMixed(t *testing.T) {
	for era := range eras {
		t.Run(era+" server", func(t *testing.T) {
			w := newSignedWorld(t, era)
			yaml := w.config(t.TempDir() + "/shared.db")
			gateways := []*gateway{replica(t, yaml, 0), replica(t, yaml, 0)}
			var people []string
			for i := range 50 {
				people = append(people, fmt.Sprintf("person-%d", i))
				w.signIn(t, gateways[i%2].url, people[i])
			}
			for _, g := range gateways {
				w.served(t, g.url, people[0])
			}
			for _, through := range [][]*gateway{gateways[:1], gateways} {
				var work sync.WaitGroup
				for _, name := range people {
					token := w.person(t, name)
					for i := range 20 {
						work.Go(func() {
							if err := callWho(t.Context(), through[i%len(through)].url, token, name); err != nil {
								t.Error(err)
							}
						})
					}
				}
				work.Wait()
			}
		})
	}
}

// TestRefreshRaceOfReplicas: when the token has expired, or has been revoked early, three gateways with fifty calls each
// ask for a new one once, and no call fails.
func TestRefreshRaceOfReplicas(t *testing.T) {
	w := newSignedWorld(t, "modern")
	yaml := w.config(testparts.NeedPostgres(t).Schema(t))
	gateways := []*gateway{replica(t, yaml, 0), replica(t, yaml, 0), replica(t, yaml, 0)}
	var expires time.Time
	asked := 0
	for lifetime := 10 * time.Second; ; lifetime *= 2 { // long enough for every gateway to have the token before it is renewed
		w.as.Set(func() { w.as.Lifetime = lifetime })
		w.signIn(t, gateways[0].url, "alice")
		expires = time.Now().Add(lifetime)
		asked = w.as.Count("/token")
		for _, g := range gateways {
			w.served(t, g.url, "alice")
		}
		if w.as.Count("/token") == asked {
			break
		}
		if lifetime > time.Minute {
			t.Fatal("the token is renewed before it expires")
		}
	}
	w.as.Set(func() { w.as.Lifetime = time.Hour })
	race := func(what string, want int) {
		var work sync.WaitGroup
		token := w.person(t, "alice")
		for _, g := range gateways {
			for range 50 {
				work.Go(func() {
					if err := callWho(t.Context(), g.url, token, "alice"); err != nil {
						t.Errorf("%s: %v", what, err)
					}
				})
			}
		}
		work.Wait()
		if n := w.as.Count("/token"); n != want {
			t.Errorf("%s: %d requests for tokens, not %d", what, n, want)
		}
	}
	time.Sleep(time.Until(expires))
	race("expired", asked+1)
	w.as.EndAll()
	race("revoked", asked+2)
}

// TestARenewalWhoseGatewayIsKilled: another gateway renews when the turn of the killed one is over.
func TestARenewalWhoseGatewayIsKilled(t *testing.T) {
	if !*longCalls {
		t.Skip("it takes half a minute: run with -long")
	}
	w := newSignedWorld(t, "legacy")
	path := write(t, w.config(testparts.NeedPostgres(t).Schema(t)))
	var all []*running
	for range 2 {
		addr := freeAddress(t)
		cmd := exec.Command(program(t), "serve", "--config", path, "--listen", addr)
		cmd.Env = append(os.Environ(), "TOOLFIT_SECRET_KEY="+replicaKey, "TOOLFIT_REPLICA_URL=http://"+addr)
		all = append(all, runCommand(t, cmd))
	}
	w.signIn(t, all[0].url, "alice")
	for _, r := range all {
		w.served(t, r.url, "alice")
	}
	before := w.as.Count("/token")
	w.as.EndAll()
	w.as.Set(func() { w.as.Fault = authserver.Slow; w.as.At = "/token" }) // what is sent is never acted on
	token := w.person(t, "alice")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() { _ = callWho(ctx, all[0].url, token, "alice") }()
	eventually(t, "the first gateway renews", func() bool { return w.as.Count("/token") > before })
	began := time.Now()
	all[0].Process.Kill()
	all[0].waitExit(t)
	w.as.Set(func() { w.as.Fault = authserver.None })
	if err := callWho(t.Context(), all[1].url, token, "alice"); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > 35*time.Second {
		t.Errorf("it took %v", took)
	} else {
		t.Log("healed after", took)
	}
}

// bearing sends a token with every request.
func bearing(token string) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+token)
		return plainStreams.Transport.RoundTrip(r)
	})
}

// TestSignInDuringACall: clients that can show pages show the one on which people sign in, and then the call goes
// through. Others, and people who decline, get the error with all that it takes.
func TestSignInDuringACall(t *testing.T) {
	w := newSignedWorld(t, "legacy")
	g := replica(t, w.config(t.TempDir()+"/shared.db"), 0)
	w.signIn(t, g.url, "first") // for the list
	w.served(t, g.url, "first")
	for era, revision := range eras {
		t.Run(era+" client", func(t *testing.T) {
			call := func(name string, opts *mcp.ClientOptions) *mcp.CallToolResult {
				t.Helper()
				transport := &mcp.StreamableClientTransport{Endpoint: g.url + "/mcp", HTTPClient: &http.Client{Transport: bearing(w.person(t, name))}}
				session := connectAs(t, transport, revision, opts)
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "who", Arguments: map[string]any{}})
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				return result
			}
			url := &mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapabilities{URL: &mcp.URLElicitationCapabilities{}}}
			asked := 0
			willing := era + "-willing"
			result := call(willing, &mcp.ClientOptions{Capabilities: url,
				ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
					asked++
					if r.Params.Mode != "url" || r.Params.URL != "https://tools.example.com/connect/up" ||
						!strings.Contains(r.Params.Message, "Sign in to up") {
						t.Errorf("asked %+v", r.Params)
					}
					w.signIn(t, g.url, willing)
					return &mcp.ElicitResult{Action: "accept"}, nil
				}})
			if text := shownText(result); result.IsError || text != "token of "+willing+"." || asked != 1 {
				t.Errorf("after the sign-in, asked %d times: %s", asked, text)
			}
			refusing := &mcp.ClientOptions{Capabilities: url,
				ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
					return &mcp.ElicitResult{Action: "decline"}, nil
				}}
			for name, opts := range map[string]*mcp.ClientOptions{"refusing": refusing, "form": answering(), "silent": {}} {
				checkLoginRequired(t, name, call(era+"-"+name, opts))
			}
		})
	}
}

// shownText is all the text of a result.
func shownText(r *mcp.CallToolResult) (text string) {
	for _, c := range r.Content {
		if c, ok := c.(*mcp.TextContent); ok {
			text += c.Text
		}
	}
	return text
}

// checkLoginRequired checks the error of a call for which nobody has signed in.
func checkLoginRequired(t *testing.T, name string, r *mcp.CallToolResult) {
	t.Helper()
	text := shownText(r)
	typed, _ := json.Marshal(r.Meta["toolfit/error"])
	for _, want := range []string{"server up needs sign-in", "https://tools.example.com/connect/up", "toolfit login up"} {
		if !strings.Contains(text, want) {
			t.Errorf("%s: %q is missing in %q", name, want, text)
		}
	}
	if !r.IsError || !strings.Contains(string(typed), `"login_required"`) {
		t.Errorf("%s: %v %s", name, r.IsError, typed)
	}
}

func TestSignInDuringACallOfATypeScriptClient(t *testing.T) {
	node := testparts.Need(t)
	w := newSignedWorld(t, "modern")
	g := replica(t, w.config(t.TempDir()+"/shared.db"), 0)
	w.signIn(t, g.url, "first")
	w.served(t, g.url, "first")
	person := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { w.signIn(t, g.url, r.URL.Path[1:]) }))
	defer person.Close()
	for _, mode := range []string{"legacy", "modern"} {
		said := nodeClient(t, node, "client-signin.mjs", g.url+"/mcp", mode, person.URL+"/ts-"+mode, w.person(t, "ts-"+mode))
		if said["text"] != "token of ts-"+mode+"." || fmt.Sprint(said["shown"]) != "[https://tools.example.com/connect/up]" {
			t.Errorf("%s: %v", mode, said)
		}
	}
}
