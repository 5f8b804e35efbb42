package oauth

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/gateway/httpapi"
	"github.com/toolfit/toolfit/internal/state/config"
)

// valuePrefix begins the names of the values for headers, among what people have given.
const valuePrefix = "value "

// ValueName is how a value for headers is named, among what people have given.
func ValueName(name string) string { return valuePrefix + name }

// personal adds headers with values that each person has given for their own calls.
type personal struct {
	inner       httpapi.Credentials
	connections *Connections
	server      tool.ServerID
	headers     map[string]string // with ${user:…} in them

	mu   sync.Mutex
	held map[string]given // by caller
}

// given are a person's headers, and what they were made of.
type given struct {
	header, base *http.Header
	change       int64
}

// PersonChanged makes what people have given be read again.
func (c *Connections) PersonChanged() { c.changes.Add(1) }

// Header is the header for a caller's request. Our own have none of anybody's values.
func (p *personal) Header(ctx context.Context, caller string) (*http.Header, error) {
	base, err := p.inner.Header(ctx, caller)
	if err != nil || caller == "" {
		return base, err
	}
	change := p.connections.changes.Load()
	p.mu.Lock()
	known, ok := p.held[caller]
	p.mu.Unlock()
	if ok && known.base == base && known.change == change {
		return known.header, nil
	}
	header := base.Clone()
	for name, text := range p.headers {
		value, err := p.fill(ctx, caller, text)
		if err != nil {
			return nil, err
		}
		header.Set(name, value)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.held) >= maxHeld {
		clear(p.held)
	}
	p.held[caller] = given{&header, base, change}
	return &header, nil
}

// fill puts a person's values into the text of a header.
func (p *personal) fill(ctx context.Context, caller, text string) (string, error) {
	for _, name := range config.UserValues(text) {
		kept, err := p.connections.opts.Store.Personal(ctx, caller, ValueName(name))
		if fault.Is(err, fault.NotFound) {
			return "", fault.New(fault.LoginRequired, "server %s needs your own value of %s", p.server, name).
				WithHint("enter it at %s, or run: toolfit connections set %s -", p.connections.opts.Values(), name)
		}
		if err != nil {
			return "", err
		}
		value := string(kept.Data)
		p.connections.opts.Tokens(value)
		text = strings.ReplaceAll(text, config.UserValue(name), value)
	}
	return text, nil
}

// Refused renews what else the requests carry.
func (p *personal) Refused(ctx context.Context, caller string, sent *http.Header, challenge http.Header) bool {
	return p.inner.Refused(ctx, caller, p.base(caller, sent), challenge)
}

// base is what a header was made of.
func (p *personal) base(caller string, sent *http.Header) *http.Header {
	p.mu.Lock()
	defer p.mu.Unlock()
	if known, ok := p.held[caller]; ok && known.header == sent {
		return known.base
	}
	return sent
}

// Rejected says who has to sign in, or to enter a value again.
func (p *personal) Rejected(ctx context.Context, caller string, sent *http.Header, status int, challenge http.Header) error {
	switch s, ok := p.inner.(httpapi.SignIns); {
	case ok:
		return s.Rejected(ctx, caller, p.base(caller, sent), status, challenge)
	case caller == "" || status != http.StatusUnauthorized:
		return nil
	}
	var names []string
	for _, text := range p.headers {
		names = append(names, config.UserValues(text)...)
	}
	slices.Sort(names)
	all := strings.Join(slices.Compact(names), ", ")
	return fault.New(fault.LoginRequired, "server %s refused your own value of %s (HTTP 401)", p.server, all).
		WithHint("enter it again at %s", p.connections.opts.Values())
}
