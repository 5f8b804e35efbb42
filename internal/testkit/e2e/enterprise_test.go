package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/gateway/oauth"
	"github.com/toolfit/toolfit/internal/program/app"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

// TestEnterpriseConformance runs the suite's scenario of enterprise-managed authorization against our side towards
// servers. The suite has the ID token of somebody who has signed in, but no page for it: it is put into the store.
func TestEnterpriseConformance(t *testing.T) {
	node := testparts.Need(t)
	env := []string{childEnv + "=enterprise client", "GORACE=atexit_sleep_ms=0"}
	out, results, err := suite(t, node, newSuite, env, "client", "--command", os.Args[0],
		"--scenario", "auth/enterprise-managed-authorization", "--timeout", "90000")
	if err != nil || strings.Contains(out, "OVERALL: FAILED") {
		t.Fatalf("%v\n%s", err, out)
	}
	files, _ := filepath.Glob(filepath.Join(results, "*", "checks.json"))
	nested, _ := filepath.Glob(filepath.Join(results, "*", "*", "checks.json"))
	said := ""
	for _, file := range append(files, nested...) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		said += string(data)
	}
	for _, check := range []string{"complete-flow-token-exchange", "complete-flow-jwt-bearer"} {
		if !strings.Contains(said, check) {
			t.Errorf("%s was not checked: %s\n%s", check, said, out)
		}
	}
}

// enterpriseClient is the client that the suite starts: a gateway, and somebody who lists and calls through it.
func enterpriseClient(url string) error {
	var known struct {
		ClientID     string `json:"client_id"`
		ClientSecret string `json:"client_secret"`
		LoginID      string `json:"idp_client_id"`
		IDToken      string `json:"idp_id_token"`
		Issuer       string `json:"idp_issuer"`
	}
	if err := json.Unmarshal([]byte(os.Getenv("MCP_CONFORMANCE_CONTEXT")), &known); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "toolfit-e2e-client-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	yaml := fmt.Sprintf(`
publicURL: https://tools.example.com
identity:
- {issuer: %q, login: {clientId: %q}, map: [{groups: [eng]}]}
mcpServers:
  up: {url: %q, oauth: {as: assertion, clientId: %q, clientSecret: %q}}
profiles:
  default: {names: bare}
`, known.Issuer, known.LoginID, url, known.ClientID, known.ClientSecret)
	cfg, err := config.Parse(filepath.Join(dir, "toolfit.yaml"), []byte(yaml), nil)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	a, err := app.New(ctx, cfg, &app.Options{Version: "test", Env: func(name string) (string, bool) {
		if name == "TOOLFIT_SECRET_KEY" {
			return "a key for the tests of assertions", true
		}
		return "", false
	}})
	if err != nil {
		return err
	}
	defer a.Close()
	text, key, err := access.NewKey("somebody", "default", access.Caller, nil)
	if err != nil {
		return err
	}
	data, err := json.Marshal(oauth.SignedIn{Issuer: known.Issuer, Token: known.IDToken})
	if err != nil {
		return err
	}
	if err := a.Store.CreateKey(ctx, key); err != nil {
		return err
	}
	kept := store.Personal{Owner: key.ID, Name: oauth.IDToken, Data: data, Expires: time.Now().Add(time.Hour)}
	if err := a.Store.SavePersonal(ctx, kept); err != nil {
		return err
	}
	a.SignedIn("up")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	serving, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- a.Serve(serving, l, nil) }()
	err = callSomething(ctx, "http://"+l.Addr().String()+"/api/v1", text)
	stop()
	<-ended
	return err
}

// callSomething calls the first tool that there is.
func callSomething(ctx context.Context, base, key string) error {
	ask := func(method, path, body string) (string, error) {
		req, err := http.NewRequestWithContext(ctx, method, base+path, strings.NewReader(body))
		if err != nil {
			return "", err
		}
		req.Header.Set("Authorization", "Bearer "+key)
		req.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return "", err
		}
		defer resp.Body.Close()
		said, err := io.ReadAll(resp.Body)
		return string(said), err
	}
	for {
		said, err := ask("GET", "/tools", "")
		if err != nil {
			return err
		}
		var list struct {
			Tools []struct {
				Name string `json:"name"`
			} `json:"tools"`
		}
		if err := json.Unmarshal([]byte(said), &list); err != nil {
			return fmt.Errorf("%w: %s", err, said)
		}
		if len(list.Tools) == 0 {
			select {
			case <-ctx.Done():
				state, _ := ask("GET", "/servers", "")
				return fmt.Errorf("no tools: %s", state)
			case <-time.After(100 * time.Millisecond):
			}
			continue
		}
		said, err = ask("POST", "/tools/"+list.Tools[0].Name+"/call", `{"arguments":{}}`)
		if err == nil && strings.Contains(said, `"error"`) {
			err = fmt.Errorf("call: %s", said)
		}
		return err
	}
}
