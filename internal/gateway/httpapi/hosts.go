package httpapi

import (
	"context"
	"maps"
	"net/url"
	"slices"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/origin"
	"github.com/toolfit/toolfit/internal/core/openapi"
)

// Hosts are the sorted origins that a remote description sends calls or client credentials to, without those that the configuration names.
func (a *API) Hosts() []string { return a.tools.Load().hosts }

func (a *API) hosts(doc *openapi.Document, ops []*openapi.Operation) []string {
	found := map[string]bool{}
	for _, op := range ops {
		found[op.Origin] = true
	}
	for _, s := range doc.Schemes() {
		if c, ok := a.cfg.API.Auth[s.Name]; ok && c.NeedsTokenURL() {
			found[originOf(s.TokenURL)] = true
		}
	}
	delete(found, "")
	delete(found, a.home)
	return slices.Sorted(maps.Keys(found))
}

func originOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return ""
	}
	return origin.Of(u)
}

// trusts refuses a host that a remote description names and that is not approved.
func (a *API) trusts(host string) error {
	if host == "" || host == a.home || a.opts.Trusted == nil || !a.cfg.API.Remote() || a.opts.Trusted(host) {
		return nil // sending fails without a host, with a clearer error
	}
	return fault.New(fault.Forbidden, "%s: its description points to %s, which is not approved", a.who, host).
		WithHint("if it is meant, run: toolfit servers approve %s", a.cfg.ID).Unsent()
}

// Base is the base address of all operations; "" if there are several.
func (a *API) Base(ctx context.Context) (string, error) {
	t, err := a.current(ctx)
	if err != nil {
		return "", err
	}
	base := ""
	for _, op := range t.byName {
		if base == "" {
			base = op.Base
		}
		if op.Base != base {
			return "", nil
		}
	}
	return base, nil
}
