package console_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestServersPageSaysWhichVariableAServerLacks(t *testing.T) {
	w := newWorld(t, "mcpServers:\n  shop: {builtin: demo-shop}\n  web: {url: \"${CONSOLE_TEST_NOT_SET}\"}\n")
	for path, want := range map[string]string{
		"/servers": "server web is out of service: mcpServers.web.url: environment variable CONSOLE_TEST_NOT_SET is not set",
		"/tools":   "list_orders",
	} {
		resp, err := http.Get(w.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		page, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || !strings.Contains(string(page), want) {
			t.Errorf("%s: %v, does not say %q", path, err, want)
		}
	}
}
