package oauth

import (
	"context"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
)

// BeginDevice begins a sign-in of an owner on another device. The state names it.
func (c *Connections) BeginDevice(ctx context.Context, client *Client, owner string) (d *Device, state string, err error) {
	found, r, err := c.Prepare(ctx, client, owner)
	if err != nil {
		return nil, "", err
	}
	if d, err = client.BeginDevice(ctx, found, r); err != nil {
		return nil, "", err
	}
	l := NewLogin(found, r, "")
	l.Device = d
	return d, l.State, c.keepLogin(ctx, client, owner, l, d.Expires.Sub(c.opts.Now()))
}

// FinishDevice asks once whether the owner has signed in on the other device, and keeps what they were granted. If
// they have not yet, it returns after how long to ask again.
func (c *Connections) FinishDevice(ctx context.Context, client *Client, owner, state string) (again time.Duration, err error) {
	ctx = context.WithoutCancel(ctx) // what was taken is put back, and a token that was given out is kept
	l, err := c.takeLogin(ctx, client, owner, state)
	if err != nil {
		return 0, err
	}
	if l.Device == nil {
		return 0, fault.New(fault.BadRequest, "this sign-in goes on in a browser")
	}
	token, err := client.PollDevice(ctx, &l.Found, &l.Client, l.Device)
	if err != nil {
		return 0, err
	}
	if token != nil {
		return 0, c.Keep(ctx, client, owner, &l.Found, &l.Client, token)
	}
	left := l.Device.Expires.Sub(c.opts.Now())
	if left <= 0 {
		return 0, fault.New(fault.LoginRequired, "nobody has signed in to %s in time", client.id).WithHint("sign in again")
	}
	return l.Device.Interval, c.keepLogin(ctx, client, owner, l, left)
}
