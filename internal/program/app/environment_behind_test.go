package app_test

import (
	"context"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/env"
)

// bench is an environment with a tool of its own.
type bench struct{ env.Base }

func (*bench) Prompts(context.Context) ([]env.Prompt, error) { return nil, nil }

func (*bench) Tools(context.Context) ([]env.Tool, error) {
	return []env.Tool{env.NewTool("check", "Checks the bench.", func(context.Context, struct{}) (any, error) { return "sound", nil })}, nil
}

func TestAnEnvironmentBehindTheGatewayShowsEachToolOnce(t *testing.T) {
	for _, names := range []env.Names{"", env.NamesSlash, env.NamesUnderscore, env.NamesBoth} {
		server, err := env.NewServer(&bench{}, &env.Options{Meta: env.Meta{ID: "bench"}, Names: names})
		if err != nil {
			t.Fatal(err)
		}
		web := httptest.NewServer(server)
		t.Cleanup(func() {
			server.Close()
			web.CloseClientConnections()
			web.Close()
		})
		h := host(t, "store: t.db\nmcpServers: {inner: {url: \""+web.URL+"\"}}\nprofiles: {default: {}, bare: {names: bare}}\n")
		h.app.Catalog.Ready(t.Context(), "default")
		for _, path := range []string{"/mcp/default", "/mcp/bare"} {
			got := listed(t, h.modern(t, "root", path, "tools/list", `{}`))
			if n := count(got, "inner__env_"); n < 10 || !slices.Contains(got, "inner__env_get_description") ||
				slices.ContainsFunc(got, func(name string) bool { return strings.Contains(name, "/") }) {
				t.Errorf("%q %s: %q", names, path, got)
			}
			seen := map[string]bool{}
			for _, name := range got {
				own := strings.TrimPrefix(name, "inner__")
				if seen[own] || strings.Contains(name, "/") {
					t.Errorf("%q %s: %s stands there twice", names, path, name)
				}
				seen[own] = true
			}
			for _, name := range []string{"inner__env_get_description", "inner__env/get_description"} {
				if got := h.modern(t, "root", path, "tools/call", `{"name":"`+name+`"}`); !strings.Contains(got, `"id":"bench"`) {
					t.Errorf("%q %s: %s gives %s", names, path, name, got)
				}
			}
		}
	}
}
