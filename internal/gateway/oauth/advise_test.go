package oauth

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/testkit/authserver"
)

func TestAdviceSaysWhatIsMissing(t *testing.T) {
	const redirect = "https://tools.example.com/connect/notes/callback"
	bare := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("WWW-Authenticate", "Bearer")
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(bare.Close)
	open := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(open.Close)
	for fails, hint := range map[authserver.Fault]string{
		authserver.None: "add to notes: oauth: {as: user}; then run: toolfit login notes",
		authserver.NoRegister: "register toolfit there with the redirect URI " + redirect + ", and add to notes: " +
			"oauth: {as: user, clientId: …, clientSecret: …}",
		authserver.WrongIssuer: `if you trust that one, add to notes: oauth: {as: user, issuer: "https://other.example.com"}`,
		authserver.NoPKCE:      "if it has, add to notes: oauth: {as: user, pkce: assume}",
	} {
		as := authserver.New(t)
		as.Set(func() { as.Fault = fails })
		got, ready := WantsSignIn(t.Context(), config.Server{ID: "notes", URL: as.MCP}, "https://tools.example.com/oauth/client.json", redirect)
		if !fault.Is(got, fault.LoginRequired) || got.Hint != hint || ready != (fails == authserver.None) {
			t.Errorf("%s: %v", fails, got)
		}
	}
	got, _ := WantsSignIn(t.Context(), config.Server{ID: "notes", URL: bare.URL}, "", redirect)
	if got == nil || got.Hint != `if you have a token, add to notes: headers: {Authorization: "Bearer ${TOKEN}"}` {
		t.Errorf("no metadata: %v", got)
	}
	for _, address := range []string{open.URL, "http://127.0.0.1:1/mcp", "://"} {
		if got, _ := WantsSignIn(t.Context(), config.Server{ID: "notes", URL: address}, "", redirect); got != nil {
			t.Errorf("%s: %v", address, got)
		}
	}
}
