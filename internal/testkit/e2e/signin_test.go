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
	"os/exec"
	"strings"
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
		if req = agreed(resp.Request, string(page)); req == nil && found == nil {
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

func TestClientsSignInByThemselves(t *testing.T) {
	issuer := identityProvider(t)
	g := signedIn(t, issuer)
	const back = "http://127.0.0.1:7/callback"
	for era, revision := range eras {
		t.Run("Go SDK, "+era, func(t *testing.T) {
			handler, err := auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
				DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{
					Metadata: &oauthex.ClientRegistrationMetadata{RedirectURIs: []string{back}, TokenEndpointAuthMethod: "none", ClientName: "test"},
				},
				RedirectURL: back, AcceptUnadvertisedIss: true, Client: plainHTTP,
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
