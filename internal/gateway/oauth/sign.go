package oauth

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/store"
)

// loginTime is how long a sign-in may take.
const loginTime = 10 * time.Minute

// probe asks the server without a token how to get in.
func (c *Client) probe(ctx context.Context) (http.Header, error) {
	_, header, err := c.knock(ctx, "")
	return header, err
}

// knock sends the server a request that does nothing, with a token if there is one.
func (c *Client) knock(ctx context.Context, token string) (status int, header http.Header, err error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url.String(), strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if c.api {
		if req, err = http.NewRequestWithContext(ctx, http.MethodGet, c.url.String(), nil); err != nil {
			return 0, nil, err
		}
	}
	req.Header.Set("User-Agent", "toolfit")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := c.own.Do(req)
	if err != nil {
		return 0, nil, fault.New(fault.UpstreamDown, "server %s cannot be reached: %w", c.id, fault.Plain(err))
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10)) // so that the connection can be used again
	return resp.StatusCode, resp.Header, nil
}

// Issuer is the authorization server at which people sign in to a server. Nothing is registered there.
func (c *Connections) Issuer(ctx context.Context, client *Client) (string, error) {
	header, err := client.probe(ctx)
	if err != nil {
		return "", err
	}
	found, err := client.Discover(ctx, header)
	if err != nil {
		return "", err
	}
	return found.Issuer, nil
}

// Prepare finds out how an owner can sign in to a server, and registers us there if need be.
func (c *Connections) Prepare(ctx context.Context, client *Client, owner string) (*Found, *Registration, error) {
	header, err := client.probe(ctx)
	if err != nil {
		return nil, nil, err
	}
	found, err := client.Discover(ctx, header)
	if err != nil {
		return nil, nil, err
	}
	if row, err := c.opts.Store.Connection(ctx, client.id, owner); err == nil {
		var g grant
		if json.Unmarshal(row.Grant, &g) == nil {
			found.Scopes = union(found.Scopes, g.Wider)
		}
	}
	r, err := c.registration(ctx, client, found)
	return found, r, err
}

func union(a, b []string) []string {
	all := slices.Clone(a)
	for _, s := range b {
		if !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}

// subset tells whether all of some are among others.
func subset(some, others []string) bool {
	return !slices.ContainsFunc(some, func(s string) bool { return !slices.Contains(others, s) })
}

// registration returns how the authorization server knows us: as the configuration says, by our metadata document,
// or as it has registered us.
func (c *Connections) registration(ctx context.Context, client *Client, f *Found) (*Registration, error) {
	if r := client.Pinned(f); r != nil {
		return r, nil
	}
	if id := c.opts.Document(); f.TakesDocument(id) {
		return &Registration{ClientID: id, Method: methodNone}, nil
	}
	redirect := c.opts.Callback(client.id)
	raw, err := c.opts.Store.OwnClient(ctx, f.Issuer, redirect)
	if err != nil {
		return nil, err
	}
	var r *Registration
	if raw != nil && json.Unmarshal(raw, &r) == nil && (r.Expires.IsZero() || c.opts.Now().Before(r.Expires)) {
		return r, nil
	}
	if r, err = client.RegisterAt(ctx, f, redirect); err != nil {
		return nil, err
	}
	if raw, err = json.Marshal(r); err != nil {
		return nil, err
	}
	return r, c.opts.Store.SaveOwnClient(ctx, f.Issuer, redirect, raw)
}

// Begin begins a sign-in for an owner, and returns where the browser goes.
func (c *Connections) Begin(ctx context.Context, client *Client, owner string) (address string, err error) {
	found, r, err := c.Prepare(ctx, client, owner)
	if err != nil {
		return "", err
	}
	l := NewLogin(found, r, c.opts.Callback(client.id))
	if address, err = l.URL(); err != nil {
		return "", err
	}
	return address, c.keepLogin(ctx, client, owner, l, loginTime)
}

// keepLogin keeps a sign-in that has begun, so that any gateway can go on with it.
func (c *Connections) keepLogin(ctx context.Context, client *Client, owner string, l *Login, lifetime time.Duration) error {
	data, err := json.Marshal(l)
	if err != nil {
		return err
	}
	return c.opts.Store.AddConnectionLogin(ctx, hashed(l.State), store.ConnectionLogin{Server: client.id, Owner: owner, Data: data}, lifetime)
}

// takeLogin returns a sign-in that has begun, once, and to its owner alone.
func (c *Connections) takeLogin(ctx context.Context, client *Client, owner, state string) (*Login, error) {
	kept, err := c.opts.Store.TakeConnectionLogin(ctx, hashed(state), owner)
	if err != nil {
		return nil, err
	}
	if kept.Server != client.id {
		return nil, fault.New(fault.BadRequest, "this is the answer to a sign-in to another server").WithHint("sign in again")
	}
	l := &Login{State: state}
	return l, json.Unmarshal(kept.Data, l)
}

// Finish finishes a sign-in with what the browser brings back. It must be the owner's who began it, at the same
// server: whoever is sent another's link gets nothing.
func (c *Connections) Finish(ctx context.Context, client *Client, owner string, answer url.Values) error {
	if len(answer["state"]) != 1 {
		return fault.New(fault.BadRequest, "this is not the answer to a sign-in").WithHint("sign in again")
	}
	ctx = context.WithoutCancel(ctx) // a token that was given out is kept, even if the browser has left
	l, err := c.takeLogin(ctx, client, owner, answer.Get("state"))
	if err != nil {
		return err
	}
	token, err := client.FinishLogin(ctx, l, answer)
	if isRefused(err, "invalid_client") && client.cfg.ClientID == "" {
		err = withForget(err, c.opts.Store.SaveOwnClient(ctx, l.Found.Issuer, l.Redirect, nil))
	}
	if err != nil {
		return err
	}
	return c.Keep(ctx, client, owner, &l.Found, &l.Client, token)
}

// withForget is the error of a sign-in, or of forgetting the client that was refused.
func withForget(err, forgotten error) error {
	if forgotten != nil {
		return forgotten
	}
	return err
}

// Keep stores what an owner has been granted.
func (c *Connections) Keep(ctx context.Context, client *Client, owner string, f *Found, r *Registration, t *Token) error {
	raw, err := json.Marshal(grant{For: client.url.String(), Found: *f, Client: *r, Token: *t})
	if err != nil {
		return err
	}
	row := store.Connection{Server: client.id, Owner: owner, Issuer: f.Issuer, Grant: raw, Expires: t.Expires}
	if err := c.opts.Store.SaveConnection(ctx, row); err != nil {
		return err
	}
	c.Changed(client.id)
	return nil
}

// KeepToken stores a token that an owner has from elsewhere, unless the server refuses it.
func (c *Connections) KeepToken(ctx context.Context, client *Client, owner, token string) error {
	token = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(token), "Bearer "))
	if token == "" || strings.ContainsFunc(token, notInHeader) {
		return fault.New(fault.BadRequest, "this is not a token").WithHint("send the token alone, as it stands in Authorization: Bearer")
	}
	if status, _, err := client.knock(ctx, token); err == nil && status == http.StatusUnauthorized {
		return fault.New(fault.BadRequest, "server %s refuses this token (HTTP 401)", client.id).WithHint("it may have expired, or be for another server")
	}
	return c.Keep(ctx, client, owner, &Found{}, &Registration{}, &Token{Access: token})
}

// awaitEvery is how often it is looked whether somebody has signed in.
const awaitEvery = time.Second

// Await waits until an owner has signed in to a server, for all that it wants; false: ctx has ended before.
func (c *Connections) Await(ctx context.Context, client *Client, owner string) bool {
	for {
		row, err := c.opts.Store.Connection(ctx, client.id, owner)
		var g grant
		if err == nil && row.State == store.Ready && json.Unmarshal(row.Grant, &g) == nil && len(g.Wider) == 0 {
			c.Changed(client.id)
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(awaitEvery):
		}
	}
}
