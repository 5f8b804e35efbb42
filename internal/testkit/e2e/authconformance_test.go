package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/program/app"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

// authScenarios are those of the suite for clients that sign in; the newest revision has some more.
var (
	authScenarios = []string{
		"auth/metadata-default", "auth/metadata-var1", "auth/metadata-var2", "auth/metadata-var3", "auth/basic-cimd",
		"auth/scope-from-www-authenticate", "auth/scope-from-scopes-supported", "auth/scope-omitted-when-undefined", "auth/scope-step-up",
		"auth/scope-retry-limit", "auth/token-endpoint-auth-basic", "auth/token-endpoint-auth-post", "auth/token-endpoint-auth-none",
		"auth/pre-registration", "auth/2025-03-26-oauth-metadata-backcompat", "auth/2025-03-26-oauth-endpoint-fallback",
		"auth/resource-mismatch", "auth/offline-access-scope", "auth/offline-access-not-supported",
		"auth/client-credentials-jwt", "auth/client-credentials-basic",
	}
	newAuthScenarios = []string{
		"auth/authorization-server-migration", "auth/iss-supported", "auth/iss-not-advertised", "auth/iss-supported-missing",
		"auth/iss-wrong-issuer", "auth/iss-unexpected", "auth/iss-normalized", "auth/metadata-issuer-mismatch",
	}
	shortAuthScenarios = []string{"auth/metadata-default", "auth/scope-step-up", "auth/authorization-server-migration", "auth/client-credentials-jwt"}
)

// TestSignInConformance runs the suite for clients that sign in: a gateway has the suite's server behind it, somebody
// signs in to that, and the official client goes through the gateway.
func TestSignInConformance(t *testing.T) {
	node := testparts.Need(t)
	client := official(t, "everything-client")
	suites := map[string][]string{newSuite: shortAuthScenarios}
	if *longCalls {
		suites = map[string][]string{newSuite: slices.Concat(authScenarios, newAuthScenarios), oldSuite: authScenarios}
	}
	slots := make(chan struct{}, 2)
	for script, scenarios := range suites {
		t.Run(strings.Split(script, "/dist")[0], func(t *testing.T) {
			for _, scenario := range scenarios {
				t.Run(scenario, func(t *testing.T) {
					t.Parallel()
					slots <- struct{}{}
					defer func() { <-slots }()
					env := []string{childEnv + "=conformance sign-in", clientEnv + "=" + client, scenarioEnv + "=" + scenario, "GORACE=atexit_sleep_ms=0"}
					args := []string{"client", "--command", os.Args[0], "--scenario", scenario, "--timeout", "90000"}
					out, results, err := suite(t, node, script, env, args...)
					passed, failed := clientChecks(t, results)
					if err != nil || strings.Contains(out, "OVERALL: FAILED") || passed == 0 || len(failed) > 0 {
						t.Fatalf("%v, %d checks passed, not %q\n%s", err, passed, failed, out)
					}
				})
			}
		})
	}
}

// clientChecks reads the results of a client's scenario: how many checks passed, and those that did not.
func clientChecks(t *testing.T, results string) (passed int, failed []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(results, "*", "checks.json"))
	more, _ := filepath.Glob(filepath.Join(results, "*", "*", "checks.json"))
	for _, file := range append(files, more...) {
		var data []byte
		if data, err = os.ReadFile(file); err != nil {
			break
		}
		var all []struct{ ID, Status, Description string }
		if err = json.Unmarshal(data, &all); err != nil {
			break
		}
		for _, c := range all {
			switch c.Status {
			case "SUCCESS":
				passed++
			case "FAILURE", "WARNING":
				failed = append(failed, c.ID+": "+c.Description)
			}
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return passed, failed
}

// scenarioEnv names the scenario; older suites do not tell it.
const scenarioEnv = "E2E_SCENARIO"

// signInConfig is the configuration of a gateway whose server is a scenario.
func signInConfig(url string) (string, error) {
	var with struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
		Key    string `json:"private_key_pem"`
	}
	if text := os.Getenv("MCP_CONFORMANCE_CONTEXT"); text != "" {
		if err := json.Unmarshal([]byte(text), &with); err != nil {
			return "", err
		}
	}
	scenario := os.Getenv(scenarioEnv)
	oauth := map[string]string{"as": "gateway"}
	for name, value := range map[string]string{"clientId": with.ID, "clientSecret": with.Secret, "privateKey": with.Key} {
		if value != "" {
			oauth[name] = value
		}
	}
	switch {
	case strings.Contains(scenario, "client-credentials"):
		oauth["as"] = "client"
	case scenario == "auth/basic-cimd":
		oauth["clientId"] = "https://conformance-test.local/client-metadata.json"
	}
	server, err := json.Marshal(map[string]any{"url": url, "oauth": oauth})
	return lines("mcpServers:", "  up: "+string(server), "profiles:", "  default: {names: bare}"), err
}

// signInClient is the client that the suite starts: a gateway, somebody who signs in, and the official client.
func signInClient(address string) error {
	dir, err := os.MkdirTemp("", "toolfit-e2e-client-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	yaml, err := signInConfig(address)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, "toolfit.yaml")
	if err := os.WriteFile(path, []byte(yaml), 0o600); err != nil {
		return err
	}
	env := map[string]string{"TOOLFIT_SECRET_KEY": replicaKey, "XDG_STATE_HOME": dir}
	lookup := func(name string) (string, bool) { v, ok := env[name]; return v, ok }
	cfg, err := config.Load(path, lookup)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	secret := access.NewLocalSecret()
	a, err := app.New(ctx, cfg, &app.Options{Version: "test", Env: lookup, LocalSecret: secret})
	if err != nil {
		return err
	}
	defer a.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	serving, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- a.Serve(serving, l, nil) }()
	defer func() { stop(); <-ended }()
	url := "http://" + l.Addr().String()
	if cfg.Servers[0].OAuth.As != config.AsClient {
		if err := signInUntilServed(ctx, url, string(secret)); err != nil {
			return err
		}
	}
	a.Catalog.Ready(ctx, "default")
	client := exec.CommandContext(ctx, os.Getenv(clientEnv), url+"/mcp")
	client.Env = append(os.Environ(), "MCP_CONFORMANCE_SCENARIO=auth/metadata-default") // to it, all are a sign-in and a call
	client.Stderr = os.Stderr
	return client.Run()
}

// signInUntilServed signs in as long as the gateway says that somebody should.
func signInUntilServed(ctx context.Context, url, secret string) error {
	for range 5 {
		if err := standIn(ctx, url, "up", secret); err != nil {
			return err
		}
		again, err := servedOrWanted(ctx, url, secret)
		if !again || err != nil {
			return err
		}
	}
	return fmt.Errorf("the gateway wants one sign-in after the other")
}

// servedOrWanted waits until the tool is served, and tells whether somebody has to sign in for that.
func servedOrWanted(ctx context.Context, url, secret string) (again bool, err error) {
	said := ""
	for began := time.Now(); time.Since(began) < 5*time.Second; time.Sleep(20 * time.Millisecond) { // until the tools are listed
		if said, err = restCall(ctx, "POST", url+"/api/v1/tools/test-tool/call", secret, "{}"); err == nil {
			return false, nil
		}
		connections, _ := restCall(ctx, "GET", url+"/api/v1/connections", secret, "")
		if strings.Contains(said, "login_required") || strings.Contains(connections, "needs_login") {
			return true, nil
		}
		if !strings.Contains(said, "unknown_tool") {
			break
		}
	}
	return false, fmt.Errorf("%w: %s", err, said)
}

// standIn signs in to a server behind a gateway as a person does: it begins, goes where the browser is sent, and
// brings the answer back.
func standIn(ctx context.Context, url, server, key string) error {
	said, err := restCall(ctx, "POST", url+"/api/v1/connections/"+server, key, "")
	if err != nil {
		return fmt.Errorf("begin: %w: %s", err, said)
	}
	var begun struct{ URL string }
	if err := json.Unmarshal([]byte(said), &begun); err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, "GET", begun.URL, nil)
	if err != nil {
		return err
	}
	browser := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, Transport: plainHTTP.Transport}
	resp, err := browser.Do(req)
	if err != nil {
		return err
	}
	resp.Body.Close()
	back, err := json.Marshal(map[string]string{"url": resp.Header.Get("Location")})
	if err != nil {
		return err
	}
	if said, err = restCall(ctx, "POST", url+"/api/v1/connections/"+server+"/finish", key, string(back)); err != nil {
		return fmt.Errorf("finish: %w: %s", err, said)
	}
	return nil
}

// restCall sends a request to a gateway, with a key or, for "", as whoever is on this machine.
func restCall(ctx context.Context, method, url, key, body string) (said string, err error) {
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader([]byte(body)))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/json")
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := plainHTTP.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("HTTP %s", resp.Status)
	}
	return string(text), err
}
