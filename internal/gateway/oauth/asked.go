package oauth

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/state/config"
)

// asked are credentials that are got anew for each caller and kept in memory alone, until they expire.
type asked struct {
	connections *Connections
	client      *Client
	get         func(ctx context.Context, caller string) (*Token, error)
	first       func(ctx context.Context) (caller string) // with whose token the gateway lists while it has none; nil: nobody's

	mu   sync.Mutex
	held map[string]*answer // by caller
	last *answer            // the newest, with which the gateway lists what there is
}

// unknownLife is how long a token is used that does not say when it expires.
const unknownLife = 5 * time.Minute

// answer is the token of one caller, or why there is none.
type answer struct {
	asking  sync.Mutex // one request at a time
	mu      sync.Mutex
	token   *Token
	header  *http.Header
	failed  error
	retryAt time.Time
}

func (c *Connections) newAsked(client *Client, get func(ctx context.Context, caller string) (*Token, error)) *asked {
	a := &asked{connections: c, client: client, get: get, held: map[string]*answer{}}
	if client.cfg.As == config.AsExchange {
		c.exchanges.Store(true)
	} else {
		c.asserts.Store(true)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked[client.id] = a
	return a
}

// Uses tells whether there are servers of a kind whose tokens are in memory alone, or have been since the start.
func (c *Connections) Uses(as string) bool {
	if as == config.AsExchange {
		return c.exchanges.Load()
	}
	return c.asserts.Load()
}

func (a *asked) of(caller string) *answer {
	a.mu.Lock()
	defer a.mu.Unlock()
	if caller == "" {
		return a.last
	}
	one := a.held[caller]
	if one == nil {
		if len(a.held) >= maxHeld {
			clear(a.held) // each is asked for again, once
		}
		one = &answer{}
		a.held[caller] = one
	}
	return one
}

// Header returns the header with a caller's token, which is asked for if need be.
func (a *asked) Header(ctx context.Context, caller string) (*http.Header, error) {
	if caller == "" && a.first != nil {
		caller = a.first(ctx)
	}
	one := a.of(caller)
	if one == nil {
		return nil, fault.New(fault.LoginRequired, "server %s has tokens for its callers only, and none has come yet", a.client.id).
			WithHint("its tools are listed when the first comes; see oauth in the guide")
	}
	now := a.connections.opts.Now()
	if header, err := one.now(now); header != nil || err != nil {
		return header, err
	}
	if caller == "" {
		return nil, fault.New(fault.LoginRequired, "server %s has tokens for its callers only, and the last has expired", a.client.id)
	}
	one.asking.Lock()
	defer one.asking.Unlock()
	if header, err := one.now(now); header != nil || err != nil { // somebody else has asked meanwhile
		return header, err
	}
	token, err := a.get(ctx, caller)
	one.mu.Lock()
	defer one.mu.Unlock()
	if err != nil {
		if !fault.NotActed(err) && ctx.Err() == nil {
			one.failed = err
			one.retryAt = now.Add(firstWait)
		}
		return nil, err
	}
	if token.Expires.IsZero() {
		token.Expires = now.Add(unknownLife)
	}
	a.connections.opts.Tokens(token.Access)
	one.token = token
	one.header = a.client.header(token)
	a.mu.Lock()
	a.last = one
	a.mu.Unlock()
	return one.header, nil
}

// now is what is known: a token that holds, or an error that is too young to ask again.
func (one *answer) now(now time.Time) (*http.Header, error) {
	one.mu.Lock()
	defer one.mu.Unlock()
	if t := one.token; t != nil {
		if !t.due(now) {
			return one.header, nil
		}
		one.token = nil
	}
	if now.Before(one.retryAt) {
		return nil, one.failed
	}
	return nil, nil
}

// Refused forgets a token, unless it is fresh: another would not help either.
func (a *asked) Refused(_ context.Context, caller string, sent *http.Header, _ http.Header) bool {
	one := a.of(caller)
	if one == nil {
		return false
	}
	one.mu.Lock()
	defer one.mu.Unlock()
	switch {
	case one.token != nil && one.header != sent:
		return true // there is a newer one
	case one.token == nil || a.connections.opts.Now().Sub(one.token.Issued) < firstWait:
		return false
	}
	one.token = nil
	return caller != ""
}

// awaiting are those for which nobody has come with a token.
func (c *Connections) awaiting() (all []*asked) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, a := range c.asked {
		a.mu.Lock()
		known := a.last != nil
		a.mu.Unlock()
		if cfg, ok := c.opts.Server(id); !known && ok && cfg.OAuth != nil && cfg.OAuth.As == a.client.cfg.As {
			all = append(all, a)
		}
	}
	return all
}

// Awaits tells whether there are servers for which nobody has come with a token, so that they cannot be listed.
func (c *Connections) Awaits() bool { return len(c.awaiting()) > 0 }

// Arrived is told when somebody has come who has tokens for such servers. It gets those tokens, and returns the servers
// that can be listed with them.
func (c *Connections) Arrived(ctx context.Context, caller string) (servers []tool.ServerID) {
	for _, a := range c.awaiting() {
		if _, err := a.Header(ctx, caller); err == nil {
			servers = append(servers, a.client.id)
		}
	}
	return servers
}

// ForgetGone drops the tokens of those for whom an identity provider has vouched, and who have signed out elsewhere since.
func (c *Connections) ForgetGone(ctx context.Context) {
	var callers []string
	c.mu.Lock()
	for _, a := range c.asked {
		if a.client.cfg.As == config.AsAssertion {
			a.mu.Lock()
			callers = slices.AppendSeq(callers, maps.Keys(a.held))
			a.mu.Unlock()
		}
	}
	c.mu.Unlock()
	for _, caller := range callers {
		if _, err := c.opts.Store.Personal(ctx, caller, IDToken); fault.Is(err, fault.NotFound) {
			c.Forget(caller)
		}
	}
}

// Forget drops the tokens that were got for a caller, who has signed out.
func (c *Connections) Forget(caller string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, a := range c.asked {
		a.mu.Lock()
		if a.last == a.held[caller] {
			a.last = nil
		}
		delete(a.held, caller)
		a.mu.Unlock()
	}
}
