package cli

import (
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/gateway/oauth"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
	"github.com/toolfit/toolfit/internal/testkit/authserver"
)

// connect stores a connection of somebody to a server.
func (w *world) connect(t *testing.T, as *authserver.Server, server tool.ServerID, owner string) {
	t.Helper()
	key, err := store.ParseSecretKey(w.vars["TOOLFIT_SECRET_KEY"])
	if err != nil {
		t.Fatal(err)
	}
	st, err := store.Open(t.Context(), "toolfit.db", &store.Options{SecretKey: key})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	cfg := config.Server{ID: server, URL: as.MCP, OAuth: &config.OAuth{As: config.AsUser}}
	client, err := oauth.NewClient(&cfg)
	if err == nil {
		found := &oauth.Found{Issuer: as.URL, Token: as.URL + "/token", Revoke: as.URL + "/revoke"}
		token := &oauth.Token{Access: as.Token("ann")}
		err = oauth.New(oauth.Options{Store: st}).Keep(t.Context(), client, owner, found, &oauth.Registration{}, token)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestDeletingAKeyRevokesItsTokens(t *testing.T) {
	w, as := withTracker(t)
	_, made, _ := w.run(t, "keys", "create", "ann")
	at := strings.Index(made, "tf_")
	if at < 0 {
		t.Fatal(made)
	}
	w.connect(t, as, "tracker", strings.Split(made[at:], "_")[1])
	if code, out, errs := w.run(t, "keys", "delete", "ann"); code != 0 || !as.Ended() {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
}

func TestConnectionsOfARemovedServerAreListed(t *testing.T) {
	w, as := withTracker(t)
	w.run(t, "keys", "list") // makes the store
	w.connect(t, as, "tracker", "gone")
	put(t, "toolfit.yaml", "mcpServers: {}\n")
	w.serving(t)
	_, out, errs := w.run(t, "connections", "--all")
	if !strings.Contains(out, "nobody signs in to this server any more; remove it with: toolfit logout tracker --owner gone") {
		t.Error(out, errs)
	}
	if code, out, errs := w.run(t, "logout", "tracker", "--owner", "gone"); code != 0 || !as.Ended() {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
}
