package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/gateway/call"
	"github.com/toolfit/toolfit/internal/program/app"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
)

// A stock entry has one folder for its profile, which a second browser may not use.
func TestTwoAgentsUseAStockBrowserServer(t *testing.T) {
	pages := site(t)
	for _, version := range stepVersions {
		t.Run(version, func(t *testing.T) {
			line := slices.DeleteFunc(browserServer(t, version), func(arg string) bool { return arg == "--isolated" })
			args, err := json.Marshal(line[1:])
			if err != nil {
				t.Fatal(err)
			}
			home := t.TempDir()
			path := filepath.Join(t.TempDir(), "toolfit.yaml")
			text := fmt.Sprintf("mcpServers:\n  web: {command: %s, args: %s, env: {HOME: %q, XDG_CACHE_HOME: %q}}\nprofiles:\n  "+
				"default: {tests: true}\n", line[0], args, home, home)
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			cfg, err := config.Load(path, nil)
			if err != nil {
				t.Fatal(err)
			}
			a, err := app.New(t.Context(), cfg, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer a.Close()
			ask := func(agent, tool, args string) string {
				t.Helper()
				params, err := call.NewParams(tool, json.RawMessage(args))
				if err != nil {
					t.Fatal(err)
				}
				params.Session = agent
				res, err := a.Caller.Do(t.Context(), call.Request{Principal: access.Owner(), Profile: "default", Params: params})
				if err != nil {
					t.Fatal(err)
				}
				return string(res.Raw)
			}
			for _, agent := range []string{"ann", "bob"} {
				if got := ask(agent, "web__browser_navigate", fmt.Sprintf(`{"url":"%s/ask.html?%s"}`, pages.URL, agent)); strings.Contains(got,
					`"isError":true`) {
					t.Fatalf("%s: %s", agent, got)
				}
			}
			for _, agent := range []string{"ann", "bob"} {
				if got := ask(agent, "web__browser_snapshot", `{}`); !strings.Contains(got, "ask.html?"+agent) {
					t.Errorf("%s has another's page: %s", agent, got)
				}
			}
			// Their own calls may say in words what they mean.
			if got := ask("ann", "web__browser_click", `{"selector":"the Sign in button"}`); !strings.Contains(got, "ELEMENT_NOT_FOUND") {
				t.Errorf("what is not there: %s", got)
			}
			if got := ask("ann", "web__browser_click", `{"selector":"the Delete button"}`); strings.Contains(got, "ELEMENT") ||
				!strings.Contains(got, "确定删除吗") {
				t.Errorf("what is there: %s", got)
			}
		})
	}
}
