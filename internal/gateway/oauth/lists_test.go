package oauth

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
	"github.com/toolfit/toolfit/internal/testkit/authserver"
)

// listsAs is whose token the gateway lists with; "": nobody's.
func (g *gateway) listsAs(t *testing.T, as *authserver.Server) (subject string) {
	t.Helper()
	as.Set(func() {
		as.Next = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { subject = r.Header.Get("X-Subject") })
	})
	if err := g.call(t.Context(), ""); err != nil && !fault.Is(err, fault.LoginRequired) {
		t.Fatal(err)
	}
	return subject
}

func TestListsAreReadWithTheFirstConnectionThatServes(t *testing.T) {
	as := authserver.New(t)
	st := openStore(t)
	g := newGateway(t, st, as, "one", asUser)
	if got := g.listsAs(t, as); got != "" {
		t.Errorf("before anybody has signed in: %q", got)
	}
	for _, name := range []string{"alice", "bob"} {
		as.Set(func() { as.Subject = name })
		if err := g.signIn(t, "u_"+name); err != nil {
			t.Fatal(err)
		}
		if err := st.SavePerson(t.Context(), store.Person{ID: "u_" + name, Subject: name, Name: name, SeenAt: time.Now()}); err != nil {
			t.Fatal(err)
		}
	}
	if got := g.listsAs(t, as); got != "alice" {
		t.Errorf("both have signed in: %q", got)
	}
	if _, err := st.DisablePerson(t.Context(), "u_alice", time.Now()); err != nil {
		t.Fatal(err)
	}
	if got := g.listsAs(t, as); got != "bob" {
		t.Errorf("alice is disabled: %q", got)
	}
	if _, err := st.DisablePerson(t.Context(), "u_alice", time.Time{}); err != nil {
		t.Fatal(err)
	}
	if err := g.SignOut(t.Context(), g.client.id, "u_alice"); err != nil {
		t.Fatal(err)
	}
	if got := g.listsAs(t, as); got != "bob" {
		t.Errorf("alice has signed out: %q", got)
	}
	as.Set(func() { as.Subject = "carol" })
	if err := g.signIn(t, "u_carol"); err != nil {
		t.Fatal(err)
	}
	as.End("bob")
	if got := g.listsAs(t, as); got != "carol" {
		t.Errorf("what bob was granted has ended: %q", got)
	}
	if err := g.Keep(t.Context(), g.client, "", &Found{}, &Registration{}, &Token{Access: as.Token("robot")}); err != nil {
		t.Fatal(err)
	}
	if got := g.listsAs(t, as); got != "robot" {
		t.Errorf("the gateway has a connection of its own: %q", got)
	}
}

func TestAConnectionIsForTheSettingsOfItsSignIn(t *testing.T) {
	as := authserver.New(t)
	as.Add("pinned", "")
	st := openStore(t)
	if err := newGateway(t, st, as, "one", asUser).signIn(t, "u_alice"); err != nil {
		t.Fatal(err)
	}
	other := authserver.New(t)
	for name, c := range map[string]struct {
		as    *authserver.Server
		oauth config.OAuth
		want  string // "": it serves
	}{
		"the same":         {as, asUser, ""},
		"the same issuer":  {as, config.OAuth{As: config.AsUser, Issuer: as.URL}, ""},
		"another url":      {other, asUser, "its url is another"},
		"another issuer":   {as, config.OAuth{As: config.AsUser, Issuer: other.URL}, "its oauth.issuer is another"},
		"another clientId": {as, config.OAuth{As: config.AsUser, ClientID: "pinned"}, "its oauth.clientId is another"},
		"the gateway's":    {as, config.OAuth{As: config.AsGateway}, "needs sign-in"},
	} {
		g := newGateway(t, st, c.as, "one", c.oauth)
		err := g.call(t.Context(), "u_alice")
		if c.want == "" && err != nil || c.want != "" && (!fault.Is(err, fault.LoginRequired) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := other.Count("/mcp"); n != 0 {
		t.Errorf("the token was sent to another server %d times", n)
	}
}

func TestHeadersOfTheConfigurationChangeAtOnce(t *testing.T) {
	as := authserver.New(t)
	g := newGateway(t, openStore(t), as, "one", asUser)
	if err := g.signIn(t, "u_alice"); err != nil {
		t.Fatal(err)
	}
	old := g.credentials
	for _, tenant := range []string{"a", "b"} {
		cfg := config.Server{ID: "notes", URL: as.MCP, OAuth: &asUser, Headers: map[string]string{"X-Tenant": tenant}}
		credentials, err := g.Connections.Credentials(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := old.Header(t.Context(), "u_alice"); err != nil { // a session that ends just now
			t.Fatal(err)
		}
		header, err := credentials.Header(t.Context(), "u_alice")
		if err != nil || header.Get("X-Tenant") != tenant {
			t.Errorf("%v %v", header, err)
		}
	}
}
