package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/config"
)

// tokens are credentials by caller; the first one of ann is too old.
type tokens struct{ renewed bool }

func (c *tokens) Header(_ context.Context, caller string) (*http.Header, error) {
	if caller == "eve" {
		return nil, fault.New(fault.LoginRequired, "eve has to sign in")
	}
	token := "of-" + caller
	if caller == "ann" && !c.renewed {
		token = "old"
	}
	return &http.Header{"Authorization": {"Bearer " + token}}, nil
}

func (c *tokens) Refused(context.Context, string, *http.Header, http.Header) bool {
	c.renewed = true
	return true
}

func TestEachCallerHasATokenOfTheirOwn(t *testing.T) {
	w := newWorld(t)
	w.mux.HandleFunc("/v2/secret", func(out http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "Bearer old" {
			out.WriteHeader(http.StatusUnauthorized)
			return
		}
		fmt.Fprintf(out, `{"as":%q}`, r.Header.Get("Authorization"))
	})
	plain := w.api(t, func(s *config.Server) { s.OAuth = &config.OAuth{As: config.AsUser} })
	made := func(change func(*config.Server)) *API {
		cfg := plain.cfg
		api := *cfg.API
		cfg.API = &api
		if change != nil {
			change(&cfg)
		}
		a, err := New(cfg, &Options{Credentials: &tokens{}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(a.Close)
		return a
	}
	a := made(nil)
	as := func(a *API, caller string) (string, error) {
		raw, err := a.Serve(t.Context(),
			&mcp.Request{Method: "tools/call", Caller: caller, Params: json.RawMessage(`{"name":"secret","arguments":{}}`)})
		return string(raw), err
	}
	for _, caller := range []string{"bob", "ann", "bob"} { // no auth is configured: the token is what the description wants
		if got, err := as(a, caller); err != nil || !strings.Contains(got, "Bearer of-"+caller) {
			t.Errorf("%s: %s %v", caller, got, err)
		}
	}
	if _, err := as(a, "eve"); !fault.Is(err, fault.LoginRequired) {
		t.Errorf("eve: %v", err)
	}
	if notes := a.Notes(); len(notes) != 1 || !strings.Contains(notes[0], "key") { // the key of another scheme is missing
		t.Errorf("%q", notes)
	}
	elsewhere := made(func(s *config.Server) {
		text, err := os.ReadFile(s.API.Spec)
		if err != nil {
			t.Fatal(err)
		}
		s.API.Spec += ".other"
		other := strings.Replace(string(text), `"url":"/v2"`, `"url":"http://127.0.0.1:1/v2"`, 1)
		if err := os.WriteFile(s.API.Spec, []byte(other), 0o600); err != nil {
			t.Fatal(err)
		}
		s.API.Base = ""
	})
	if _, err := as(elsewhere, "bob"); !fault.Is(err, fault.Forbidden) {
		t.Errorf("another host: %v", err)
	}
}

// signIns are credentials that note which refusals they are told of.
type signIns struct {
	tokens
	told []int
}

func (*signIns) Refused(context.Context, string, *http.Header, http.Header) bool { return false }

func (c *signIns) Rejected(_ context.Context, _ string, _ *http.Header, status int, _ http.Header) error {
	c.told = append(c.told, status)
	return fault.New(fault.LoginRequired, "sign in")
}

// TestARefusalOfAnotherCredentialEndsNoSignIn: the key of the configuration was wrong, and not what the person has.
func TestARefusalOfAnotherCredentialEndsNoSignIn(t *testing.T) {
	w := newWorld(t)
	for _, status := range []int{401, 403} {
		w.mux.HandleFunc(fmt.Sprintf("/v2/pets/%d", status), func(out http.ResponseWriter, _ *http.Request) { out.WriteHeader(status) })
	}
	w.mux.HandleFunc("/v2/keyed", func(out http.ResponseWriter, _ *http.Request) { out.WriteHeader(401) })
	cfg := w.api(t, func(s *config.Server) {
		s.OAuth = &config.OAuth{As: config.AsUser}
		s.API.Auth = map[string]config.Credential{"key": {Value: "wrong"}}
	}).cfg
	credentials := &signIns{}
	a, err := New(cfg, &Options{Credentials: credentials})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	if got, err := call(t, a, "keyed", "{}"); err != nil || !strings.Contains(got, "401") || len(credentials.told) != 0 {
		t.Errorf("%s %v, told %v", got, err, credentials.told)
	}
	for i, status := range []int{401, 403} {
		if _, err := call(t, a, "getPet", fmt.Sprintf(`{"id":%d}`, status)); !fault.Is(err, fault.LoginRequired) || len(credentials.told) != i+1 {
			t.Errorf("%d: %v, told %v", status, err, credentials.told)
		}
	}
}
