package app_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/program/app"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/testkit/authserver"
)

// newAdmin makes a key of an administrator of some profiles.
func newAdmin(t *testing.T, a *app.App, name, profile string) string {
	t.Helper()
	text, key, err := access.NewKey(name, profile, access.Admin, nil)
	if err == nil {
		err = a.Store.CreateKey(t.Context(), key)
	}
	if err == nil {
		err = a.Keys.Reload(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// within waits until something is so.
func within(t *testing.T, what string, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !so(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("not within 10 s: " + what)
		}
	}
}

// TestTheTokensOfADeletedKeyAreRevoked, in the background: the deletion waits for nobody.
func TestTheTokensOfADeletedKeyAreRevoked(t *testing.T) {
	t.Setenv("TOOLFIT_SECRET_KEY", "a key for the tokens of keys")
	as := authserver.New(t)
	broken := authserver.New(t)
	a, address := serve(t, fmt.Sprintf("mcpServers:\n  b: {url: %q, oauth: {as: user}}\n  s: {url: %q, oauth: {as: user}}\n",
		broken.MCP, as.MCP))
	ann := newKey(t, a, "ann")
	admin := newAdmin(t, a, "root", "*")
	signIn(t, address, ann, "b")
	signIn(t, address, ann, "s")
	broken.Set(func() { broken.Fault = authserver.Broken; broken.At = "/revoke" })
	as.Set(func() { // it answers nothing meanwhile
		if status, said := rest(t, address, admin, "DELETE", "/keys/"+strings.Split(ann, "_")[1], ""); status != http.StatusOK {
			t.Errorf("%d %s", status, said)
		}
	})
	within(t, "the tokens are revoked", func() bool { return as.Ended() && broken.Count("/revoke") == 1 })
	rows, err := a.Store.Connections(t.Context())
	if err != nil || len(rows) != 0 {
		t.Errorf("%+v %v", rows, err)
	}
}

// TestConnectionsOfARemovedServerCanBeEnded by administrators who see all servers.
func TestConnectionsOfARemovedServerCanBeEnded(t *testing.T) {
	t.Setenv("TOOLFIT_SECRET_KEY", "a key for the tokens of removed servers")
	as := authserver.New(t)
	a, address := serve(t, fmt.Sprintf("mcpServers:\n  s: {url: %q, oauth: {as: user}}\n", as.MCP))
	ann := newKey(t, a, "ann")
	admin := newAdmin(t, a, "root", "*")
	other := newAdmin(t, a, "some", "default")
	signIn(t, address, ann, "s")
	if _, said := rest(t, address, admin, "GET", "/connections?all=true", ""); !strings.Contains(said, `"owner_name":"ann"`) ||
		strings.Contains(said, "removed") {
		t.Error(said)
	}
	a.Reload(parsed(t, a.Config().Path, "mcpServers: {}\n"))
	rows, err := a.Store.Connections(t.Context())
	if err != nil || len(rows) != 1 {
		t.Fatalf("%+v %v", rows, err)
	}
	path := "/connections/s?owner=" + rows[0].Owner
	for _, key := range []string{ann, other} {
		if status, said := rest(t, address, key, "DELETE", path, ""); status != http.StatusNotFound {
			t.Errorf("%d %s", status, said)
		}
	}
	for key, want := range map[string]string{admin: `"removed":true`, other: `{"connections":[]}`} {
		if _, said := rest(t, address, key, "GET", "/connections?all=true", ""); !strings.Contains(said, want) ||
			strings.Contains(said, "secret-") {
			t.Errorf("want %s: %s", want, said)
		}
	}
	if _, said := rest(t, address, admin, "GET", "/connections", ""); strings.Contains(said, `"server":"s"`) {
		t.Errorf("among one's own: %s", said)
	}
	if status, said := rest(t, address, admin, "DELETE", path, ""); status != http.StatusOK || !as.Ended() {
		t.Errorf("%d %s", status, said)
	}
	if status, said := rest(t, address, admin, "DELETE", path, ""); status != http.StatusNotFound {
		t.Errorf("once more: %d %s", status, said)
	}
}
