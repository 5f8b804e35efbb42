package restapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/env"
)

// environment is a client of a profile as an environment.
func (g *gateway) environment(t *testing.T, who, profile string) *env.Client {
	t.Helper()
	c, err := env.Dial(t.Context(), g.URL+"/mcp/"+profile+"/env",
		&env.DialOptions{Header: http.Header{"Authorization": {"Bearer " + g.keys[who]}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func TestChangedSessionsAreTold(t *testing.T) {
	g := newGateway(t)
	const subscribe = `{"type":"subscribe","topics":["session.created","session.updated","session.deleted"]}`
	root, ann, bob := g.listen(t, "root", subscribe), g.listen(t, "ann", subscribe), g.listen(t, "bob", subscribe)
	anns := g.environment(t, "ann", "orders")
	if _, err := anns.CreateSession(t.Context(), env.SessionOptions{ID: "ses_a", Title: "原来", Metadata: env.Metadata{"n": 1}}); err != nil {
		t.Fatal(err)
	}
	if _, err := g.environment(t, "root", "default").UpdateSession(t.Context(), "ses_a", env.SessionChange{Title: "新"}); err != nil {
		t.Fatal(err)
	}
	for range 2 { // of a session that is not there, nothing is told
		if err := anns.DeleteSession(t.Context(), "ses_a"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := g.environment(t, "bob", "orders").CreateSession(t.Context(), env.SessionOptions{ID: "ses_b"}); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]*client{"the owner": ann, "an admin": root} {
		for _, want := range []struct{ kind, title string }{{"session.created", "原来"}, {"session.updated", "新"}, {"session.deleted", "新"}} {
			e := c.next()
			if data := string(e.Data); e.Type != want.kind || !strings.Contains(data, `"title":"`+want.title+`"`) ||
				!strings.Contains(data, `"metadata":{"n":1}`) {
				t.Errorf("%s: got %s %s, want %s", name, e.Type, data, want.kind)
			}
		}
	}
	if e := bob.next(); e.Type != "session.created" || !strings.Contains(string(e.Data), "ses_b") {
		t.Errorf("another caller hears of its own alone: %s %s", e.Type, e.Data)
	}
}
