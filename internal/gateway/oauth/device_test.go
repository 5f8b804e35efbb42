package oauth

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/testkit/authserver"
)

// TestSignInOnAnotherDevice begins at one gateway and ends at others; nobody else can end it.
func TestSignInOnAnotherDevice(t *testing.T) {
	as := authserver.New(t)
	st := openStore(t)
	one := newGateway(t, st, as, "one", config.OAuth{As: config.AsUser})
	two := newGateway(t, st, as, "two", config.OAuth{As: config.AsUser})
	as.Set(func() { as.Pending = 2 })
	d, state, err := one.BeginDevice(t.Context(), one.client, "ann")
	if err != nil || d.UserCode == "" || d.Page != as.URL+"/activate" || d.Interval != time.Second {
		t.Fatalf("%+v %v", d, err)
	}
	if _, err := two.FinishDevice(t.Context(), two.client, "bob", state); !fault.Is(err, fault.NotFound) {
		t.Errorf("another's: %v", err)
	}
	for _, g := range []*gateway{one, two} {
		if again, err := g.FinishDevice(t.Context(), g.client, "ann", state); again != time.Second || err != nil {
			t.Fatalf("not yet: %s %v", again, err)
		}
	}
	as.Set(func() { as.Fault, as.At = authserver.Broken, "/token" })
	if again, err := two.FinishDevice(t.Context(), two.client, "ann", state); again == 0 || err != nil {
		t.Fatalf("while the authorization server is away: %s %v", again, err)
	}
	as.Set(func() { as.Fault = authserver.None })
	if again, err := two.FinishDevice(t.Context(), two.client, "ann", state); again != 0 || err != nil {
		t.Fatalf("done: %s %v", again, err)
	}
	if err := one.call(t.Context(), "ann"); err != nil {
		t.Errorf("call: %v", err)
	}
	if _, err := one.FinishDevice(t.Context(), one.client, "ann", state); !fault.Is(err, fault.NotFound) {
		t.Errorf("twice: %v", err)
	}
}

func TestSignInOnAnotherDeviceThatComesToNothing(t *testing.T) {
	as := authserver.New(t)
	g := newGateway(t, openStore(t), as, "one", config.OAuth{As: config.AsUser})
	_, state, err := g.BeginDevice(t.Context(), g.client, "ann")
	if err != nil {
		t.Fatal(err)
	}
	as.Set(func() { as.Fault = authserver.Refuses })
	if _, err := g.FinishDevice(t.Context(), g.client, "ann", state); !fault.Is(err, fault.LoginRequired) ||
		!strings.Contains(err.Error(), "access_denied") {
		t.Errorf("refused: %v", err)
	}
	as.Set(func() { as.Fault, as.At = authserver.HTML, "/device" })
	if _, _, err := g.BeginDevice(t.Context(), g.client, "ann"); !fault.Is(err, fault.LoginRequired) ||
		!strings.Contains(err.Error(), "gave no code") {
		t.Errorf("a page: %v", err)
	}
	as.Set(func() { as.Fault = authserver.None })
	address, err := g.Begin(t.Context(), g.client, "ann")
	if err != nil {
		t.Fatal(err)
	}
	u, _ := url.Parse(address) // it is our own
	if _, err := g.FinishDevice(t.Context(), g.client, "ann", u.Query().Get("state")); !fault.Is(err, fault.BadRequest) {
		t.Errorf("a sign-in in a browser: %v", err)
	}
}
