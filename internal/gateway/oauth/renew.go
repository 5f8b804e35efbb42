package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/store"
)

const (
	leaseTime = 30 * time.Second       // for one renewal; a gateway that dies meanwhile is replaced after it
	pollEvery = 100 * time.Millisecond // while another gateway renews
	firstWait = 2 * time.Second        // after a renewal that failed and may pass; each further wait is twice as long
	maxWait   = time.Minute
	freshTime = time.Minute // a token that is refused so soon would be refused later, too
)

// renew gets a newer version of a connection, or waits for whoever does: of all gateways one at a time asks for a new
// token, because many authorization servers end everything when an old refresh token comes twice.
func (c *Connections) renew(ctx context.Context, client *Client, o owned, h *held, version int64) error {
	h.mu.Lock()
	done := h.renewing
	began := done == nil
	if began {
		done = make(chan struct{})
		h.renewing = done
	}
	h.mu.Unlock()
	if began {
		c.opts.Background(func(gateway context.Context) { // the caller may leave; a token that was given out must be kept
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaseTime+5*time.Second)
			defer cancel()
			err := c.renewOnce(ctx, gateway, client, o, h, version)
			h.mu.Lock()
			defer h.mu.Unlock()
			h.failure = err
			h.renewing = nil
			close(done)
		})
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-done:
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.failure
}

// renewOnce gets a newer version than the one that is known. When the gateway ends, it waits for no other one.
func (c *Connections) renewOnce(ctx, gateway context.Context, client *Client, o owned, h *held, version int64) error {
	for {
		row, err := c.opts.Store.Connection(ctx, o.server, o.owner)
		switch {
		case fault.Is(err, fault.NotFound):
			return c.needsLogin(o.server, "")
		case err != nil:
			return err
		case row.Version != version:
			return c.take(client, h, row)
		}
		mine, err := c.opts.Store.LeaseConnection(ctx, &row, c.opts.Replica, leaseTime)
		if err != nil {
			return err
		}
		if mine {
			return c.renewAs(ctx, client, h, row)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-gateway.Done():
			return gateway.Err()
		case <-time.After(pollEvery):
		}
	}
}

// take adopts a row that somebody else has written.
func (c *Connections) take(client *Client, h *held, row store.Connection) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.pause = 0
	h.retryAt = time.Time{}
	if err := c.adopt(client, h, row); err != nil {
		return err
	}
	if row.State == store.NeedsLogin {
		return c.needsLogin(row.Server, row.Reason)
	}
	return nil
}

// renewAs renews as the holder of the lease.
func (c *Connections) renewAs(ctx context.Context, client *Client, h *held, row store.Connection) error {
	var g grant
	if err := json.Unmarshal(row.Grant, &g); err != nil {
		return fault.New(fault.BadConfig, "the connection to %s is stored damaged", row.Server).WithHint("sign in again")
	}
	if g.Token.Refresh == "" && g.Token.holds(c.opts.Now()) && c.refusesAll(owned{row.Server, row.Owner}) {
		return c.free(ctx, &row, c.refusing(row.Server))
	}
	if g.Token.Refresh == "" {
		return c.end(ctx, client, h, row, "the token is refused or has expired, and there is none to renew it with")
	}
	if pinned := client.Pinned(&g.Found); pinned != nil { // its secret may be new
		g.Client = *pinned
	}
	token, err := client.Refresh(ctx, &g.Found, &g.Client, &g.Token)
	var refused *RefusedError
	switch {
	case err == nil:
		g.Token = *token
		return c.write(ctx, client, h, row, &g)
	case errors.As(err, &refused) && !refused.Passes() && refused.Code == "invalid_client":
		if err := c.opts.Store.SaveOwnClient(ctx, g.Found.Issuer, c.opts.Callback(row.Server), nil); err != nil {
			c.opts.Logger.Warn("client not forgotten", "error", err)
		}
		return c.end(ctx, client, h, row, "the authorization server no longer knows this gateway")
	case errors.As(err, &refused) && !refused.Passes() && (refused.Code == "invalid_grant" || !g.Token.holds(c.opts.Now())):
		return c.end(ctx, client, h, row, "the authorization server does not renew the token ("+refused.Error()+")")
	}
	h.mu.Lock()
	h.pause = min(max(2*h.pause, firstWait), maxWait)
	h.retryAt = c.opts.Now().Add(h.pause)
	h.mu.Unlock()
	later := fault.New(fault.UpstreamDown, "the token for %s cannot be renewed now: %w", row.Server, err).WithHint("try again later")
	return c.free(ctx, &row, later)
}

// free ends the lease of a renewal that came to nothing, and returns why it did.
func (c *Connections) free(ctx context.Context, row *store.Connection, why error) error {
	if err := c.opts.Store.FreeConnection(ctx, row, c.opts.Replica); err != nil {
		c.opts.Logger.Warn("lease not freed", "error", err)
	}
	return why
}

func (t *Token) holds(now time.Time) bool { return t.Expires.IsZero() || now.Before(t.Expires) }

// write stores a renewed grant. If the lease is lost, what others have written counts.
func (c *Connections) write(ctx context.Context, client *Client, h *held, row store.Connection, g *grant) error {
	raw, err := json.Marshal(g)
	if err != nil {
		return err
	}
	row.State = store.Ready
	row.Reason = ""
	row.Grant = raw
	row.Expires = g.Token.Expires
	return c.save(ctx, client, h, row)
}

// end notes that somebody has to sign in again. The grant stays: nothing is lost by a mistake.
func (c *Connections) end(ctx context.Context, client *Client, h *held, row store.Connection, why string) error {
	row.State = store.NeedsLogin
	row.Reason = why
	return c.save(ctx, client, h, row)
}

func (c *Connections) save(ctx context.Context, client *Client, h *held, row store.Connection) error {
	mine, err := c.opts.Store.RenewConnection(ctx, &row, c.opts.Replica)
	if err != nil {
		return err
	}
	row.Version++
	if !mine {
		if row, err = c.opts.Store.Connection(ctx, row.Server, row.Owner); err != nil {
			return err
		}
	}
	return c.take(client, h, row)
}

// rejected is called when the server has refused a token that was to be good. One that was made just now ends the
// connection: it has to be got anew, maybe elsewhere.
func (c *Connections) rejected(ctx context.Context, client *Client, o owned) error {
	const why = "it refuses the token (HTTP 401)"
	h := c.hold(o)
	h.mu.Lock()
	err := c.read(ctx, client, o, h)
	row := h.row
	failure := h.failure
	fresh := c.opts.Now().Sub(h.grant.Token.Issued) < freshTime
	h.mu.Unlock()
	switch {
	case err != nil:
		return err
	case row.State == store.NeedsLogin:
		return c.needsLogin(o.server, row.Reason)
	case failure != nil:
		return failure
	case !fresh:
		return c.needsLogin(o.server, why)
	case c.refusesAll(o):
		return c.refusing(o.server)
	}
	mine, err := c.opts.Store.LeaseConnection(ctx, &row, c.opts.Replica, leaseTime)
	if err != nil || !mine {
		return c.needsLogin(o.server, why)
	}
	return c.end(ctx, client, h, row, why)
}

// widen is called when the server wants scopes that the token does not have. The next sign-in asks for them, too.
// It returns nil if they were asked for already: another sign-in would change nothing.
func (c *Connections) widen(ctx context.Context, client *Client, o owned, refusal http.Header) error {
	wanted := missing(refusal)
	h := c.hold(o)
	h.mu.Lock()
	err := c.read(ctx, client, o, h)
	row := h.row
	g := h.grant
	h.mu.Unlock()
	if err != nil || len(wanted) == 0 || subset(wanted, g.Found.Scopes) {
		return err
	}
	needs := c.needsLogin(o.server, "this call needs more rights than were granted")
	if subset(wanted, g.Wider) {
		return needs
	}
	mine, err := c.opts.Store.LeaseConnection(ctx, &row, c.opts.Replica, leaseTime)
	if err != nil || !mine {
		return needs // the next call notes it
	}
	g.Wider = union(union(g.Found.Scopes, g.Wider), wanted)
	if len(g.Wider) > maxScopes {
		g.Wider = wanted
	}
	if err := c.write(ctx, client, h, row, &g); err != nil {
		return err
	}
	return needs
}

// refused is called when the server has refused a token: a newer one is used if there is one by now, else one is
// asked for, once. True: try again.
func (c *Connections) refused(ctx context.Context, client *Client, o owned, sent *http.Header) bool {
	h := c.hold(o)
	broken := c.isRefusingAll(o.server)
	h.mu.Lock()
	err := c.read(ctx, client, o, h)
	newer := h.isNewer(sent)
	version := h.row.Version
	now := c.opts.Now()
	tooSoon := now.Before(h.retryAt) || broken && now.Sub(h.grant.Token.Issued) < freshTime
	h.mu.Unlock()
	for range 2 { // a renewal that had begun before may have found what was sent
		if err != nil || newer || tooSoon {
			break
		}
		err = c.renew(ctx, client, o, h, version)
		h.mu.Lock()
		if err == nil {
			err = c.read(ctx, client, o, h) // something may have changed since
		}
		newer = h.isNewer(sent)
		version = h.row.Version
		h.mu.Unlock()
	}
	return err == nil && newer
}

// isNewer tells whether there is another token than the one that was sent. The caller holds h.mu.
func (h *held) isNewer(sent *http.Header) bool {
	return h.header != nil && h.header.Get("Authorization") != sent.Get("Authorization") && h.row.State == store.Ready
}
