package cli

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestACommandSaysWhatToDoAboutTheGatewayThatItAsks(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		io.WriteString(w, `{"error":{"code":"unauthorized","message":"the key is missing, wrong or deleted","hint":"send Authorization"}}`)
	}))
	defer srv.Close()
	w := newWorld(t)
	for _, c := range []struct{ name, url, says string }{
		{"a key goes into a flag or a variable", srv.URL, "→ give a key with --key or in TOOLFIT_KEY"},
		{"https to what has no TLS", strings.Replace(srv.URL, "http:", "https:", 1), "→ use http:// in --url"},
	} {
		if code, _, stderr := w.run(t, "tools", "--url", c.url); code != 1 || !strings.Contains(stderr, c.says) {
			t.Errorf("%s: %d %s", c.name, code, stderr)
		}
	}
}
