package e2e

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

// identityProvider starts an identity provider, and returns its issuer.
func identityProvider(t *testing.T, args ...string) string {
	t.Helper()
	node := testparts.Need(t)
	node.NeedPackage(t, "oidc-provider")
	cmd := exec.CommandContext(t.Context(), node.Program(), append([]string{nodeScript(t, node, "provider.mjs")}, args...)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		cmd.Wait()
		t.Fatalf("the identity provider did not start: %s", stderr.String())
	}
	return strings.TrimSpace(line)
}

// person follows redirects as a browser does, and agrees to what is asked, until a redirect leads to the client.
func person(ctx context.Context, start, back string) (url.Values, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	var found url.Values
	browser := &http.Client{Jar: jar, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		if strings.HasPrefix(r.URL.String(), back) {
			found = r.URL.Query()
			return http.ErrUseLastResponse
		}
		if len(via) > 20 {
			return errors.New("too many redirects")
		}
		return nil
	}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, start, nil)
	if err != nil {
		return nil, err
	}
	for found == nil {
		resp, err := browser.Do(req)
		if err != nil {
			return nil, err
		}
		page, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if req = agreed(ctx, resp.Request, string(page)); req == nil && found == nil {
			return nil, fmt.Errorf("the sign-in ended at %s with %s: %s", resp.Request.URL, resp.Status, page)
		}
	}
	return found, nil
}

// signedIn serves with an identity provider.
func signedIn(t *testing.T, issuer string) *gateway {
	t.Helper()
	l := listen(t)
	return serveOn(t, l, write(t, lines("publicURL: http://"+l.Addr().String(), "identity:", "- issuer: "+issuer, "  scope: mcp:tools",
		"  map: [{groups: [eng], profile: default}]")+bare(everythingServer(t, true))))
}

// signingIn lets a client of the Go SDK register and sign in by itself, also where answers name a server that did not
// promise it.
func signingIn(t *testing.T, client *http.Client, unadvertised bool) auth.OAuthHandler {
	t.Helper()
	const back = "http://127.0.0.1:7/callback"
	handler, err := auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{
			Metadata: &oauthex.ClientRegistrationMetadata{RedirectURIs: []string{back}, TokenEndpointAuthMethod: "none", ClientName: "test",
				GrantTypes: []string{"authorization_code", "refresh_token"}},
		},
		RedirectURL: back, AcceptUnadvertisedIss: unadvertised, Client: client,
		AuthorizationCodeFetcher: func(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			q, err := person(ctx, args.URL, back)
			if err != nil {
				return nil, err
			}
			return &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return handler
}

// TestASessionOutlivesItsTokens has tokens of so few seconds that the client gets a new one for each request.
func TestASessionOutlivesItsTokens(t *testing.T) {
	issuer := identityProvider(t, "alice", "0", "[]", "3")
	server := newCurious(t)
	l := listen(t)
	g := serveOn(t, l, write(t, lines("publicURL: http://"+l.Addr().String(), "identity:", "- issuer: "+issuer, "  scope: mcp:tools",
		"  map: [{groups: [eng], profile: default}]")+bare(server.url)))
	for era, revision := range eras {
		t.Run(era, func(t *testing.T) {
			var asked atomic.Int32
			counting := &http.Client{Timeout: patience, Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
				if r.URL.Path == "/token" {
					asked.Add(1)
				}
				return plainHTTP.Transport.RoundTrip(r)
			})}
			heard := make(chan string, 10)
			transport := &mcp.StreamableClientTransport{Endpoint: g.url + "/mcp", OAuthHandler: signingIn(t, counting, true)}
			s := connectAs(t, transport, revision, hearing(heard))
			id := s.ID()
			for range 3 {
				before := asked.Load()
				if text := callText(t, s, "plain", map[string]any{}); text != "plain" || asked.Load() == before {
					t.Errorf("%q, with %d requests for tokens", text, asked.Load()-before)
				}
			}
			hears(t, server, s, heard)
			if s.ID() != id {
				t.Errorf("another session: %s, %s", id, s.ID())
			}
		})
	}
}

func TestClientsSignInByThemselves(t *testing.T) {
	issuer := identityProvider(t)
	g := signedIn(t, issuer)
	for era, revision := range eras {
		t.Run("Go SDK, "+era, func(t *testing.T) {
			handler := signingIn(t, plainHTTP, true)
			s := connectAs(t, &mcp.StreamableClientTransport{Endpoint: g.url + "/mcp", OAuthHandler: handler}, revision, nil)
			if text := callText(t, s, "test_simple_text", map[string]any{}); text == "" {
				t.Errorf("%q", text)
			}
		})
	}
	for _, line := range []string{"1", "2"} {
		t.Run("TypeScript SDK "+line, func(t *testing.T) {
			said := nodeClient(t, testparts.Need(t), "signin.mjs", g.url+"/mcp", line)
			if said["text"] == "" || said["tools"].(float64) < 5 {
				t.Errorf("%v", said)
			}
		})
	}
}

// browser is what programs find when they look for a browser: it follows redirects and shows nobody anything. It returns
// the variables of their environment that lead them to it.
func browser(t *testing.T) []string {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("needs Linux: elsewhere programs are told of no other browser")
	}
	path := filepath.Join(t.TempDir(), "browser")
	script := fmt.Sprintf("#!/bin/sh\n%s=browser exec %q \"$1\"\n", childEnv, os.Args[0])
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return append(os.Environ(), "BROWSER="+path, "DISPLAY=", "WAYLAND_DISPLAY=", "XDG_CURRENT_DESKTOP=", "HOME="+t.TempDir())
}

// browse opens an address as the browser of the tests.
func browse(address string) error {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return err
	}
	client := &http.Client{Jar: jar, Timeout: patience}
	next, err := http.NewRequest(http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	for next != nil {
		resp, err := client.Do(next)
		if err != nil {
			return err
		}
		page, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("the sign-in ended at %s with %s", resp.Request.URL, resp.Status)
		}
		next = agreed(context.Background(), resp.Request, string(page))
	}
	return nil
}

// eachWay runs a test with a gateway whose clients sign in at the provider, and one where they do so through the broker,
// in each era.
func eachWay(t *testing.T, test func(t *testing.T, g *gateway, era string)) {
	for way, g := range map[string]*gateway{"at the provider": signedIn(t, identityProvider(t)), "through the broker": withBroker(t)} {
		for era := range eras {
			t.Run(way+", "+era, func(t *testing.T) { test(t, g, era) })
		}
	}
}

func TestTheInspectorSignsInByItself(t *testing.T) {
	eachWay(t, func(t *testing.T, g *gateway, era string) {
		l := listen(t)
		back := "http://" + l.Addr().String() + "/oauth/callback"
		l.Close()
		command := testparts.Need(t).Command("mcp-inspector", "--cli", g.url+"/mcp", "--transport", "http", "--protocol-era", era,
			"--callback-url", back, "--method", "tools/call", "--tool-name", "test_simple_text")
		ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
		defer cancel()
		cmd := exec.CommandContext(ctx, command[0], command[1:]...)
		cmd.Env = append(browser(t), "MCP_AUTO_OPEN_ENABLED=true", "DBUS_SESSION_BUS_ADDRESS=")
		out, err := cmd.Output()
		if err != nil || !strings.Contains(string(out), "simple text response") {
			t.Errorf("%v\n%s\n%s", err, out, errorOutput(err))
		}
	})
}

func TestMCPRemoteSignsInByItself(t *testing.T) {
	eachWay(t, func(t *testing.T, g *gateway, protocol string) {
		if protocol == "modern" {
			protocol = "auto" // the modern era where a server has it
		}
		command := testparts.Need(t).Command("mcp-remote", g.url+"/mcp", "--allow-http", "--protocol", protocol)
		cmd := exec.Command(command[0], command[1:]...)
		cmd.Env = append(browser(t), "MCP_REMOTE_CONFIG_DIR="+t.TempDir())
		var said safeBuffer
		cmd.Stderr = &said
		s := connect(t, &mcp.CommandTransport{Command: cmd}, nil)
		if text := callText(t, s, "test_simple_text", map[string]any{}); text == "" || !strings.Contains(said.String(), "authoriz") {
			t.Errorf("%q\n%s", text, &said)
		}
	})
}
