package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/gateway/httpapi"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
	"github.com/toolfit/toolfit/internal/testkit/authserver"
)

func openStore(t *testing.T) *store.Store {
	t.Helper()
	key, err := store.ParseSecretKey("a key for the tests of connections")
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), t.TempDir()+"/toolfit.db", &store.Options{SecretKey: key})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// gateway is one gateway on a store, with one server.
type gateway struct {
	*Connections
	client      *Client
	credentials httpapi.Credentials
}

func newGateway(t *testing.T, st *store.Store, as *authserver.Server, name string, o config.OAuth) *gateway {
	t.Helper()
	cfg := config.Server{ID: "notes", URL: as.MCP, OAuth: &o}
	c := New(Options{
		Store: st, Replica: name, Document: func() string { return "" },
		Server:     func(id tool.ServerID) (config.Server, bool) { return cfg, id == cfg.ID },
		Page:       func(id tool.ServerID) string { return "http://127.0.0.1:8420/connect/" + string(id) },
		Values:     func() string { return "http://127.0.0.1:8420/connections" },
		Callback:   func(id tool.ServerID) string { return "http://127.0.0.1:8420/connect/" + string(id) + "/callback" },
		Background: func(work func(context.Context)) { go work(context.Background()) },
	})
	client, err := NewClient(&cfg)
	if err != nil {
		t.Fatal(err)
	}
	credentials, err := c.Credentials(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return &gateway{c, client, credentials}
}

// browse follows a sign-in to the callback, and returns what the browser brings back.
func browse(t *testing.T, address string) url.Values {
	t.Helper()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	to, err := resp.Location()
	if err != nil {
		t.Fatalf("%s: %v", resp.Status, err)
	}
	return to.Query()
}

// signIn signs an owner in.
func (g *gateway) signIn(t *testing.T, owner string) error {
	t.Helper()
	address, err := g.Begin(t.Context(), g.client, owner)
	if err != nil {
		return err
	}
	return g.Finish(t.Context(), g.client, owner, browse(t, address))
}

// call sends a request to the server as the gateway would, with one retry.
func (g *gateway) call(ctx context.Context, owner string) error {
	for again := true; ; again = false {
		header, err := g.credentials.Header(ctx, owner)
		if err != nil {
			return err
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, g.client.url.String(), strings.NewReader("{}"))
		if err != nil {
			return err
		}
		req.Header = header.Clone()
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		resp.Body.Close()
		if resp.StatusCode == 200 {
			return nil
		}
		if !again || !g.credentials.Refused(ctx, owner, header, resp.Header) {
			return errors.New(resp.Status)
		}
	}
}

var asUser = config.OAuth{As: config.AsUser}

func TestSignInCallRenewSignOut(t *testing.T) {
	as := authserver.New(t)
	as.Set(func() { as.Scopes = []string{"notes:read"} })
	st := openStore(t)
	one := newGateway(t, st, as, "one", asUser)
	two := newGateway(t, st, as, "two", asUser)
	ctx := t.Context()
	err := one.call(ctx, "u_alice")
	if !fault.Is(err, fault.LoginRequired) || !strings.Contains(fault.As(err).Hint, "http://127.0.0.1:8420/connect/notes") {
		t.Fatalf("without a sign-in: %v", err)
	}
	address, err := one.Begin(ctx, one.client, "u_alice")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(address, "notes%3Aread") {
		t.Errorf("the scope is missing: %s", address)
	}
	if err := two.Finish(ctx, two.client, "u_alice", browse(t, address)); err != nil { // what one began another finishes
		t.Fatal(err)
	}
	for _, g := range []*gateway{one, two} {
		if err := g.call(ctx, "u_alice"); err != nil {
			t.Error(err)
		}
		if err := g.call(ctx, "u_bob"); !fault.Is(err, fault.LoginRequired) {
			t.Errorf("another's connection: %v", err)
		}
	}
	as.EndAll() // early
	if err := one.call(ctx, "u_alice"); err != nil {
		t.Errorf("after an early end: %v", err)
	}
	if err := two.call(ctx, "u_alice"); err != nil || as.Count("/token") != 2 {
		t.Errorf("the other takes it over: %v, after %d requests", err, as.Count("/token"))
	}
	if n := as.Count("/register"); n != 1 {
		t.Errorf("registered %d times", n)
	}
	if err := one.SignOut(ctx, one.client.id, "u_alice"); err != nil || !as.Ended() {
		t.Errorf("sign-out: %v, ended: %v", err, as.Ended())
	}
	if err := one.call(ctx, "u_alice"); !fault.Is(err, fault.LoginRequired) {
		t.Errorf("after the sign-out: %v", err)
	}
}

func TestFaultsOfAuthorizationServers(t *testing.T) {
	for f, want := range map[authserver.Fault]string{
		authserver.WrongIssuer: `calls itself "https://other.example.com"`,
		authserver.LyingIss:    "the answer is from another server",
		authserver.MissingIss:  "does not say which server it is from",
		authserver.NoPKCE:      "does not say that it has PKCE",
		authserver.NoRegister:  "does not register clients by itself",
		authserver.Refuses:     "it refused: access_denied",
		authserver.NoToken:     "it gave no token: HTTP 200 bad_verification_code",
		authserver.OtherType:   "it gave no token",
		authserver.Forgetful:   "it gave no token: HTTP 401 invalid_client",
	} {
		as := authserver.New(t)
		as.Set(func() { as.Fault = f })
		g := newGateway(t, openStore(t), as, "one", asUser)
		err := g.signIn(t, "u_alice")
		if !fault.Is(err, fault.LoginRequired) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "5550100") {
			t.Errorf("%s: %v", f, err)
		}
		if fault.As(err).Hint == "" {
			t.Errorf("%s: no hint", f)
		}
		as.Set(func() { as.Fault = authserver.None })
		if err := g.signIn(t, "u_alice"); err != nil {
			t.Errorf("%s, and well again: %v", f, err)
		}
	}
	for _, at := range []string{"/register", "/token"} {
		for _, f := range []authserver.Fault{authserver.Broken, authserver.Busy, authserver.HTML, authserver.Huge, authserver.Redirects} {
			as := authserver.New(t)
			as.Set(func() { as.Fault = f; as.At = at })
			g := newGateway(t, openStore(t), as, "one", asUser)
			err := g.signIn(t, "u_alice")
			if code := fault.As(err).Code; code != fault.LoginRequired && code != fault.UpstreamDown || len(err.Error()) > 300 {
				t.Errorf("%s at %s: %s %v", f, at, code, err)
			}
			as.Set(func() { as.Fault = authserver.None })
			if err := g.signIn(t, "u_alice"); err != nil {
				t.Errorf("%s at %s, and well again: %v", f, at, err)
			}
		}
	}
}

// TestRefreshRace: at expiry, three gateways with fifty calls each ask once for a new token, at a server that ends
// everything if an old one comes twice.
func TestRefreshRace(t *testing.T) {
	as := authserver.New(t)
	as.Set(func() { as.Lifetime = 2 * time.Second })
	st := openStore(t)
	var gateways []*gateway
	for i := range 3 {
		gateways = append(gateways, newGateway(t, st, as, fmt.Sprint("g", i), asUser))
	}
	if err := gateways[0].signIn(t, "u_alice"); err != nil {
		t.Fatal(err)
	}
	as.Set(func() { as.Lifetime = time.Hour })
	time.Sleep(1900 * time.Millisecond)
	var work sync.WaitGroup
	for _, g := range gateways {
		for range 50 {
			work.Go(func() {
				if err := g.call(t.Context(), "u_alice"); err != nil {
					t.Error(err)
				}
			})
		}
	}
	work.Wait()
	if n := as.Count("/token"); n != 2 {
		t.Errorf("%d requests for tokens, not one for the code and one for the renewal", n)
	}
}

func TestRenewalThatFails(t *testing.T) {
	as := authserver.New(t)
	as.Set(func() { as.Lifetime = 10 * time.Minute })
	g := newGateway(t, openStore(t), as, "one", asUser)
	now := time.Now()
	g.opts.Now = func() time.Time { return now }
	if err := g.signIn(t, "u_alice"); err != nil {
		t.Fatal(err)
	}
	for _, f := range []authserver.Fault{authserver.Broken, authserver.Busy, authserver.HTML} {
		as.Set(func() { as.Fault = f; as.At = "/token" })
		now = now.Add(9*time.Minute + 10*time.Second)
		if err := g.call(t.Context(), "u_alice"); err != nil {
			t.Errorf("%s, and the token still holds: %v", f, err)
		}
		before := as.Count("/token")
		if err := g.call(t.Context(), "u_alice"); err != nil || as.Count("/token") != before {
			t.Errorf("%s: it is asked again at once, or %v", f, err)
		}
		now = now.Add(-9*time.Minute - 10*time.Second)
	}
	as.Set(func() { as.Fault = authserver.Forgetful })
	now = now.Add(9*time.Minute + 30*time.Second)
	err := g.call(t.Context(), "u_alice")
	if !fault.Is(err, fault.LoginRequired) || !strings.Contains(err.Error(), "no longer knows this gateway") {
		t.Errorf("forgotten: %v", err)
	}
	as.Set(func() { as.Fault = authserver.None })
	if err := g.signIn(t, "u_alice"); err != nil {
		t.Errorf("registered anew: %v", err)
	}
	if err := g.call(t.Context(), "u_alice"); err != nil {
		t.Error(err)
	}
}

func TestClientCredentials(t *testing.T) {
	as := authserver.New(t)
	as.Add("ci", "s+3 cret")
	g := newGateway(t, openStore(t), as, "one", config.OAuth{As: config.AsClient, ClientID: "ci", ClientSecret: "s+3 cret"})
	for range 3 {
		if err := g.call(t.Context(), "u_alice"); err != nil {
			t.Fatal(err)
		}
	}
	if n := as.Count("/token"); n != 1 {
		t.Errorf("%d tokens", n)
	}
	wrong := newGateway(t, openStore(t), as, "one", config.OAuth{As: config.AsClient, ClientID: "ci", ClientSecret: "x"})
	if err := wrong.call(t.Context(), ""); !fault.Is(err, fault.LoginRequired) || !strings.Contains(fault.As(err).Hint, "clientSecret") {
		t.Errorf("a wrong secret: %v", err)
	}
}

// rejected is what the gateway says after the server has refused a call for good.
func (g *gateway) rejected(t *testing.T, owner string, status int, challenge string) error {
	t.Helper()
	header, err := g.credentials.Header(t.Context(), owner)
	if err != nil {
		t.Fatal(err)
	}
	return g.credentials.(httpapi.SignIns).Rejected(t.Context(), owner, header, status, http.Header{"Www-Authenticate": {challenge}})
}

func TestWiderSignIn(t *testing.T) {
	as := authserver.New(t)
	as.Set(func() { as.Scopes = []string{"read"} })
	st := openStore(t)
	one := newGateway(t, st, as, "one", asUser)
	two := newGateway(t, st, as, "two", asUser)
	if err := one.signIn(t, "u_alice"); err != nil {
		t.Fatal(err)
	}
	for _, challenge := range []string{``, `Bearer scope="write"`, `Bearer error="insufficient_scope"`,
		`Bearer error="insufficient_scope", scope="read"`} {
		if err := one.rejected(t, "u_alice", 403, challenge); err != nil {
			t.Errorf("%s: no sign-in helps, and %v", challenge, err)
		}
	}
	for _, g := range []*gateway{one, two, one} {
		err := g.rejected(t, "u_alice", 403, `Bearer error="insufficient_scope", scope="write read"`)
		if !fault.Is(err, fault.LoginRequired) || !strings.Contains(err.Error(), "more rights") {
			t.Errorf("it wants more: %v", err)
		}
		if err := g.call(t.Context(), "u_alice"); err != nil {
			t.Errorf("what was granted still holds: %v", err)
		}
	}
	short, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if two.Await(short, two.client, "u_alice") {
		t.Error("nobody has signed in for more")
	}
	address, err := two.Begin(t.Context(), two.client, "u_alice")
	if err != nil || !strings.Contains(address, "scope=read+write&") {
		t.Fatalf("%s %v", address, err)
	}
	if err := one.Finish(t.Context(), one.client, "u_alice", browse(t, address)); err != nil {
		t.Fatal(err)
	}
	if !two.Await(t.Context(), two.client, "u_alice") {
		t.Error("somebody has signed in for more")
	}
	if err := one.rejected(t, "u_alice", 403, `Bearer error="insufficient_scope", scope="write"`); err != nil {
		t.Errorf("asked for again and again: %v", err)
	}
}

// TestNewTokenThatIsRefused: it has to be got anew, and a call by another gateway sees at once that it was.
func TestNewTokenThatIsRefused(t *testing.T) {
	as := authserver.New(t)
	st := openStore(t)
	one := newGateway(t, st, as, "one", asUser)
	two := newGateway(t, st, as, "two", asUser)
	if err := one.signIn(t, "u_alice"); err != nil {
		t.Fatal(err)
	}
	if err := two.call(t.Context(), "u_alice"); err != nil {
		t.Fatal(err)
	}
	if err := two.rejected(t, "u_alice", 401, "Bearer"); !fault.Is(err, fault.LoginRequired) ||
		!strings.Contains(err.Error(), "it refuses the token") {
		t.Errorf("refused: %v", err)
	}
	if err := two.call(t.Context(), "u_alice"); !fault.Is(err, fault.LoginRequired) {
		t.Errorf("it was to be got anew: %v", err)
	}
	if err := one.signIn(t, "u_alice"); err != nil {
		t.Fatal(err)
	}
	if err := two.call(t.Context(), "u_alice"); err != nil {
		t.Errorf("signed in at another gateway: %v", err)
	}
}

// TestListsOfPersonalServers: the gateway itself uses the connection of the first who has signed in, or its own.
func TestListsOfPersonalServers(t *testing.T) {
	as := authserver.New(t)
	g := newGateway(t, openStore(t), as, "one", asUser)
	if err := g.call(t.Context(), ""); !fault.Is(err, fault.LoginRequired) {
		t.Errorf("nobody has signed in: %v", err)
	}
	for _, owner := range []string{"u_alice", "u_bob"} {
		if err := g.signIn(t, owner); err != nil {
			t.Fatal(err)
		}
	}
	for _, owner := range []string{"u_alice", "u_bob"} {
		own, err := g.credentials.Header(t.Context(), owner)
		if err != nil {
			t.Fatal(err)
		}
		if first, err := g.credentials.Header(t.Context(), ""); err != nil || first.Get("Authorization") != own.Get("Authorization") {
			t.Errorf("not the token of %s: %v", owner, err)
		}
		if err := g.SignOut(t.Context(), g.client.id, owner); err != nil {
			t.Fatal(err)
		}
	}
	if err := g.call(t.Context(), ""); !fault.Is(err, fault.LoginRequired) {
		t.Errorf("all have signed out: %v", err)
	}
}

// TestChangesDuringARenewal: what others write meanwhile does not make a renewal end without a new token.
func TestChangesDuringARenewal(t *testing.T) {
	as := authserver.New(t)
	g := newGateway(t, openStore(t), as, "one", asUser)
	if err := g.signIn(t, "u_alice"); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var noise sync.WaitGroup
	noise.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				g.Changed("notes")
			}
		}
	})
	for range 30 {
		as.EndAll()
		if err := g.call(t.Context(), "u_alice"); err != nil {
			t.Error(err)
		}
	}
	as.Set(func() { as.Lifetime = time.Microsecond }) // each is due at once
	as.EndAll()
	for range 100 {
		if header, err := g.credentials.Header(t.Context(), "u_alice"); err != nil || header == nil {
			t.Error(header, err)
		} else if as.EndAll(); !g.credentials.Refused(t.Context(), "u_alice", header, nil) {
			t.Error("it is not renewed")
		}
	}
	close(stop)
	noise.Wait()
}

// TestAGatewayThatEndsKeepsTheTokenItAskedFor: the old refresh token is spent by then. It does not wait for another gateway.
func TestAGatewayThatEndsKeepsTheTokenItAskedFor(t *testing.T) {
	as := authserver.New(t)
	as.Set(func() { as.Lifetime = time.Microsecond })
	st := openStore(t)
	g := newGateway(t, st, as, "ending", asUser)
	if err := g.signIn(t, "u_alice"); err != nil {
		t.Fatal(err)
	}
	as.Set(func() { as.Lifetime = time.Hour })
	var ctx, ending context.Context
	var leave, end func()
	var work sync.WaitGroup
	g.opts.Background = func(do func(context.Context)) {
		leave()
		end()
		work.Go(func() { do(ending) })
	}
	callAndEnd := func() error {
		ctx, leave = context.WithCancel(t.Context())
		ending, end = context.WithCancel(t.Context())
		err := g.call(ctx, "u_alice")
		work.Wait()
		return err
	}

	row, err := st.Connection(t.Context(), "notes", "u_alice")
	if err != nil {
		t.Fatal(err)
	}
	if mine, err := st.LeaseConnection(t.Context(), &row, "another", leaseTime); !mine || err != nil {
		t.Fatal(mine, err)
	}
	callAndEnd()
	if h := g.hold(owned{"notes", "u_alice"}); !errors.Is(h.failure, context.Canceled) || as.Count("/token") != 1 {
		t.Errorf("while another renews: %v", h.failure)
	}
	if err := st.FreeConnection(t.Context(), &row, "another"); err != nil {
		t.Fatal(err)
	}

	callAndEnd()
	if err := newGateway(t, st, as, "next", asUser).call(t.Context(), "u_alice"); err != nil || as.Count("/token") != 2 {
		t.Errorf("%v, after %d requests for tokens", err, as.Count("/token"))
	}
}
