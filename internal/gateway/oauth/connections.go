package oauth

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/identity"
	"github.com/toolfit/toolfit/internal/state/store"
)

// Options configure Connections.
type Options struct {
	Store    *store.Store
	Server   func(tool.ServerID) (config.Server, bool) // as it is configured now
	Tokens   func(secrets ...string)                   // is told of every token, so that none is shown; nil: nobody is
	Replica  string                                    // names this gateway among those that share the store
	Page     func(tool.ServerID) string                // where people sign in to a server
	Values   func() string                             // where people enter values of their own
	Callback func(tool.ServerID) string                // where authorization servers send browsers back
	Document func() string                             // the address of our metadata document
	Now      func() time.Time                          // nil: time.Now
	Logger   *slog.Logger                              // nil: discard

	// Provider is a configured identity provider, and Vague tells whether it is not clear which one a server's client
	// is known to; nil: it is.
	Provider func(ctx context.Context, issuer string) (*identity.Provider, error)
	Vague    func(*config.OAuth) bool

	// Background does what no caller need wait for, with a context that ends with the gateway, which waits for it before it
	// closes the store; nil: callers wait.
	Background func(work func(context.Context))
}

// Connections has the tokens for the servers. It may be used concurrently.
type Connections struct {
	opts Options

	mu    sync.Mutex
	held  map[owned]*held
	lists map[tool.ServerID]string // whose connection a server was last listed with
	asked map[tool.ServerID]*asked // whose tokens are in memory alone

	storming sync.Mutex
	storm    map[tool.ServerID]*storm // servers that refuse new tokens

	exchanges, asserts atomic.Bool  // there are servers of these kinds
	changes            atomic.Int64 // of what people have given
}

// owned names a connection.
type owned struct {
	server tool.ServerID
	owner  string
}

// held is a connection as this gateway knows it.
type held struct {
	mu       sync.Mutex
	row      store.Connection // its version is 0 until it was read
	grant    grant
	header   *http.Header
	client   *Client       // that the header was made by
	renewing chan struct{} // closed when a renewal has ended; nil: there is none
	failure  error         // of the last renewal, which may pass
	retryAt  time.Time     // no renewal is tried before
	pause    time.Duration
}

// grant is what is kept of a connection, sealed.
type grant struct {
	For    string       `json:"for,omitempty"` // the url of the server
	Found  Found        `json:"found"`
	Client Registration `json:"client"`
	Token  Token        `json:"token"`
	Wider  []string     `json:"wider,omitempty"` // scopes that the server has asked for since
}

// New makes Connections.
func New(opts Options) *Connections {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	if opts.Tokens == nil {
		opts.Tokens = func(...string) {}
	}
	if opts.Background == nil {
		opts.Background = func(work func(context.Context)) { work(context.Background()) }
	}
	if opts.Vague == nil {
		opts.Vague = func(*config.OAuth) bool { return false }
	}
	return &Connections{opts: opts, held: map[owned]*held{}, lists: map[tool.ServerID]string{}, asked: map[tool.ServerID]*asked{},
		storm: map[tool.ServerID]*storm{}}
}

// Client gets tokens for a server. One without OAuth is a fault.NotFound.
func (c *Connections) Client(id tool.ServerID) (*Client, error) {
	cfg, ok := c.opts.Server(id)
	switch {
	case !ok:
		return nil, fault.New(fault.NotFound, "there is no server %q", id)
	case cfg.OAuth == nil:
		return nil, fault.New(fault.NotFound, "nobody signs in to %s", id).WithHint("if it takes OAuth tokens, add to it: oauth: {as: user}")
	}
	return NewClient(&cfg)
}

// ListsAs is whose connection the tools of a server were last listed with by this gateway; "": its own, or none.
func (c *Connections) ListsAs(id tool.ServerID) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lists[id]
}

// Page is where people sign in to a server.
func (c *Connections) Page(id tool.ServerID) string { return c.opts.Page(id) }

// Owner is whose connection a principal uses, and signs in for.
func (c *Client) Owner(principal string) string { return ownerOf(&c.cfg, principal) }

// maxHeld is how many connections are remembered.
const maxHeld = 10_000

func (c *Connections) hold(o owned) *held {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := c.held[o]
	if h == nil {
		if len(c.held) >= maxHeld {
			c.held = map[owned]*held{} // each is read again, once
		}
		h = &held{}
		c.held[o] = h
	}
	return h
}

// Changed makes the connections to a server be read again; "": all.
func (c *Connections) Changed(server tool.ServerID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for o, h := range c.held {
		if server == "" || o.server == server {
			h.mu.Lock()
			h.row.Version = 0
			h.header = nil // the headers of the configuration may be others, too
			h.mu.Unlock()
		}
	}
}

// read reads the row, unless it is known. The caller holds h.mu.
func (c *Connections) read(ctx context.Context, client *Client, o owned, h *held) error {
	if h.row.Version != 0 && h.client == client && h.row.State != store.NeedsLogin { // somebody may have signed in elsewhere
		return nil
	}
	row, err := c.opts.Store.Connection(ctx, o.server, o.owner)
	if fault.Is(err, fault.NotFound) {
		return c.needsLogin(o.server, "")
	}
	if err != nil {
		return err
	}
	return c.adopt(client, h, row)
}

// adopt takes over a row. The caller holds h.mu.
func (c *Connections) adopt(client *Client, h *held, row store.Connection) error {
	var g grant
	if err := json.Unmarshal(row.Grant, &g); err != nil {
		return fault.New(fault.BadConfig, "the connection to %s is stored damaged", row.Server).WithHint("sign in again")
	}
	if why := client.outdates(&g); why != "" {
		return c.needsLogin(row.Server, why)
	}
	if h.header == nil || h.client != client || g.Token.Access != h.grant.Token.Access {
		c.opts.Tokens(g.Token.Access, g.Token.Refresh, g.Client.Secret)
		h.header = client.header(&g.Token)
		h.client = client
	}
	h.row = row
	h.grant = g
	return nil
}

// outdates says why a grant no longer serves: it was for what the configuration does not say any more. A token is never
// sent to another server than the one it was granted for.
func (c *Client) outdates(g *grant) string {
	switch moved := g.For != "" && g.For != c.url.String(); {
	case moved && (g.Found.Resource == "" || !c.covers(g.Found.Resource)):
		return "its url is another since the last sign-in"
	case g.Found.Issuer == "": // a token from elsewhere
	case c.cfg.Issuer != "" && strings.TrimSuffix(c.cfg.Issuer, "/") != strings.TrimSuffix(g.Found.Issuer, "/"):
		return "its oauth.issuer is another since the last sign-in"
	case c.cfg.ClientID != "" && c.cfg.ClientID != g.Client.ClientID:
		return "its oauth.clientId is another since the last sign-in"
	}
	return ""
}

// needsLogin is the error of a call for which somebody has to sign in first.
func (c *Connections) needsLogin(server tool.ServerID, why string) error {
	return NeedsLogin(server, why).WithHint("open %s, or run: toolfit login %s", c.opts.Page(server), server)
}

// header returns the header of a connection, renewed if need be.
func (c *Connections) header(ctx context.Context, client *Client, o owned) (*http.Header, error) {
	h := c.hold(o)
	h.mu.Lock()
	if err := c.read(ctx, client, o, h); err != nil {
		h.mu.Unlock()
		return nil, err
	}
	now := c.opts.Now()
	header := h.header
	needs := h.row.State == store.NeedsLogin
	reason := h.row.Reason
	due := h.due(now)
	version := h.row.Version
	holds := h.grant.Token.Expires.IsZero() || now.Before(h.grant.Token.Expires)
	h.mu.Unlock()
	switch {
	case needs:
		return nil, c.needsLogin(o.server, reason)
	case !due:
		return header, nil
	}
	err := c.renew(ctx, client, o, h, version)
	if err != nil && holds && !fault.Is(err, fault.LoginRequired) && ctx.Err() == nil {
		return header, nil // it serves to its end
	}
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := c.read(ctx, client, o, h); err != nil { // something may have changed since
		return nil, err
	}
	return h.header, nil
}

// due tells whether the token should be renewed: shortly before it expires.
func (h *held) due(now time.Time) bool {
	t := &h.grant.Token
	if t.Expires.IsZero() || t.Refresh == "" {
		return !t.Expires.IsZero() && !now.Before(t.Expires)
	}
	return t.due(now) && !now.Before(h.retryAt)
}

// hashed is how a state is stored.
func hashed(state string) string {
	sum := sha256.Sum256([]byte(state))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// ownerOf is whose connection a caller uses.
func ownerOf(cfg *config.OAuth, caller string) string {
	if cfg.As == config.AsUser {
		return caller
	}
	return ""
}
