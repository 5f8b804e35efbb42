package env

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"

	"github.com/toolfit/toolfit/internal/base/origin"
)

// DialOptions are options for Dial.
type DialOptions struct {
	HTTP   *http.Client // nil: one that keeps Header to the address it was given for
	Header http.Header  // sent with every request, such as Authorization
}

// Dial connects to a server over Streamable HTTP. If the address has no path, /mcp is tried too.
func Dial(ctx context.Context, address string, opts *DialOptions) (*Client, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("dial %q: expected an address such as http://localhost:3000", address)
	}
	c, err := dial(ctx, u, opts)
	if (u.Path == "" || u.Path == "/") && noMCP(err) {
		inner, innerErr := dial(ctx, u.JoinPath("mcp"), opts)
		if !noMCP(innerErr) {
			c = inner
			err = innerErr
		}
	}
	if err != nil {
		return nil, fmt.Errorf("dial %s: %w", origin.Shown(address), err)
	}
	return c, nil
}

// careful is the default client.
var careful = &http.Client{CheckRedirect: origin.Redirect}

func dial(ctx context.Context, u *url.URL, opts *DialOptions) (*Client, error) {
	at := address{url: u.String(), http: careful}
	if opts != nil {
		at.header = opts.Header
		if opts.HTTP != nil {
			at.http = opts.HTTP
		}
	}
	g, err := greet(ctx, &remote{address: at})
	if err != nil {
		return nil, err
	}
	return newClient(&lasting{address: at, turn: make(chan struct{}, 1), greeted: g}), nil
}

// lasting initializes again when the server has lost the session, as after a restart.
type lasting struct {
	address address
	turn    chan struct{} // held by the one who greets

	mu      sync.Mutex
	greeted *greeted
}

func (l *lasting) now() *greeted {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.greeted
}

func (l *lasting) ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	g := l.now()
	res, err := g.ask(ctx, method, params)
	var status *StatusError
	if !errors.As(err, &status) || status.Code != http.StatusNotFound || g.modern {
		return res, err
	}
	g, err = l.again(ctx, g)
	if err != nil {
		return nil, err
	}
	return g.ask(ctx, method, params)
}

// again initializes, unless another request has done so. Running requests keep their session.
func (l *lasting) again(ctx context.Context, old *greeted) (*greeted, error) {
	select {
	case l.turn <- struct{}{}:
		defer func() { <-l.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if g := l.now(); g != old {
		return g, nil
	}
	g, err := greet(ctx, &remote{address: l.address})
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.greeted = g
	return g, nil
}

func (l *lasting) Close() error { return l.now().Close() }

var errNotMCP = errors.New("the server answered something that is not MCP")

// noMCP tells whether something other than an MCP server answered.
func noMCP(err error) bool {
	var status *StatusError
	if errors.As(err, &status) {
		return status.Code == http.StatusNotFound || status.Code == http.StatusMethodNotAllowed
	}
	return errors.Is(err, errNotMCP)
}
