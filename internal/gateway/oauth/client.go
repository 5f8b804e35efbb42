// Package oauth gets tokens for the servers behind the gateway: it finds their authorization servers, registers
// there, sends people to sign in, keeps what they get, and renews it. Of several gateways any can finish what
// another has begun.
//
// Nothing that an authorization server says about itself is trusted before it is checked, no token or code is put
// into an error, and every address is dialed through the guard.
package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/guard"
	"github.com/toolfit/toolfit/internal/base/origin"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/state/config"
)

const (
	fetchTime = 10 * time.Second // for everything that one step needs
	maxBody   = 1 << 20

	maxAddress = 2 << 10 // of what others name
	maxPlaces  = 5       // that one of them may name: we fetch from each
)

// Client gets tokens for one server.
type Client struct {
	id   tool.ServerID
	url  *url.URL
	cfg  config.OAuth
	http *http.Client
	own  *http.Client      // for the server itself, which may be in a private network
	more map[string]string // headers of the configuration
	api  bool              // it is an HTTP API, no MCP server
}

// NewClient makes the client of a server with OAuth.
func NewClient(cfg *config.Server) (*Client, error) {
	address := cfg.URL
	var allow []netip.Prefix
	if cfg.API != nil {
		address = cfg.API.Base
		allow = cfg.API.Allow
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil, fault.New(fault.BadConfig, "server %s: %w", cfg.ID, err)
	}
	guarded := guard.New(allow, address, cfg.OAuth.Issuer).Trusting(cfg.OAuth.Issuer)
	others, err := dialing(guarded, cfg.Proxy)
	if err != nil {
		return nil, err
	}
	own, err := dialing(guarded.Trusting(address), cfg.Proxy)
	if err != nil {
		return nil, err
	}
	return &Client{cfg.ID, u, *cfg.OAuth, others, own, cfg.Headers, cfg.API != nil}, nil
}

func dialing(g guard.Guard, proxy string) (*http.Client, error) {
	transport := g.Environment()
	if proxy != "" {
		var err error
		if transport, err = g.Through(proxy); err != nil {
			return nil, err
		}
	}
	return &http.Client{Transport: transport, CheckRedirect: origin.Stay}, nil
}

// dials is what sends a request to an address.
func (c *Client) dials(to *url.URL) *http.Client {
	if origin.Same(to, c.url) {
		return c.own
	}
	return c.http
}

// header is what a request with the token has.
func (c *Client) header(t *Token) *http.Header {
	header := http.Header{}
	for name, value := range c.more {
		header.Set(name, value)
	}
	header.Set("Authorization", "Bearer "+t.Access)
	return &header
}

// unusable is the error of a server at which nobody can sign in.
func (c *Client) unusable(why string, args ...any) *fault.Error {
	return fault.New(fault.LoginRequired, "server %s needs sign-in, and that is not possible: "+why, append([]any{c.id}, args...)...)
}

// acceptable tells whether what is not from the configuration may be used: https, or http if the server itself has
// no more than that and both are on this machine.
func (c *Client) acceptable(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" || len(address) > maxAddress {
		return false
	}
	local := c.url.Scheme == "http" && guard.IsLoopback(c.url.Hostname())
	return u.Scheme == "https" || u.Scheme == "http" && local && guard.IsLoopback(u.Hostname())
}

// errNotJSON is the error of a page, or of anything else that is no JSON object.
var errNotJSON = errors.New("it did not answer with JSON")

func (c *Client) getJSON(ctx context.Context, address string, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Mcp-Protocol-Version", "2025-11-25")
	status, body, err := c.do(req)
	switch {
	case err != nil:
		return err
	case status != http.StatusOK:
		return &RefusedError{Status: status}
	case json.Unmarshal(body, into) != nil:
		return errNotJSON
	}
	return nil
}

// postForm sends a form, and follows no redirect: it may contain a secret.
func (c *Client) postForm(ctx context.Context, address string, form url.Values, header http.Header) (status int, body []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		return 0, nil, err
	}
	for name, values := range header {
		req.Header[name] = values
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	return c.do(req)
}

func (c *Client) do(req *http.Request) (status int, body []byte, err error) {
	req.Header.Set("User-Agent", "toolfit")
	resp, err := c.dials(req.URL).Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	body, err = io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	if err == nil && len(body) > maxBody {
		err = errors.New("its answer is too long")
	}
	return resp.StatusCode, body, err
}
