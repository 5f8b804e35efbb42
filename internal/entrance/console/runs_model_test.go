package console_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/state/access"
)

func TestARunMayAskTheModelsOfThePerson(t *testing.T) {
	w := browsing(t, nil, `  quiet: {}
models:
  small: {url: "http://127.0.0.1:1/v1"}
  large: {url: "http://127.0.0.1:1/v1"}
agents:
  helper: {model: small}
`)
	for i, c := range []struct {
		name, profile string
		role          access.Role
		small, large  bool
	}{
		{"an administrator has all", access.AnyProfile, access.Admin, true, true},
		{"a caller has those of its agents", "default", access.Caller, true, false},
		{"a caller without agents has none", "quiet", access.Caller, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := w.person()
			p.signIn(w.key(fmt.Sprint("key-", i), c.profile, c.role))
			_, page := p.ask("GET", "/runs", nil)
			if small, large := strings.Contains(page, `value="small"`), strings.Contains(page, `value="large"`); small != c.small ||
				large != c.large {
				t.Errorf("small %t, large %t", small, large)
			}
			if c.large {
				return
			}
			_, page = p.ask("POST", "/runs", url.Values{"steps": {"open http://127.0.0.1:1/"}, "model": {"large"}})
			if !strings.Contains(page, "there is no model") || !strings.Contains(page, "open http://127.0.0.1:1/</textarea>") {
				t.Errorf("a model of others: %s", page)
			}
		})
	}
}
