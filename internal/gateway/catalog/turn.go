package catalog

import (
	"context"
	"errors"
	"time"

	"github.com/toolfit/toolfit/internal/base/tool"
)

const (
	// settle is how long a change is left alone where there are other gateways: by then they have heard of
	// it too, and what one of them lists serves all.
	settle = 100 * time.Millisecond
	// lookAgain is how long a server is left alone that another gateway lists.
	lookAgain = time.Second
)

// errNotNow is of a server that another gateway lists.
var errNotNow = errors.New("another gateway lists it now")

// inTurn lists a server, unless another gateway does so now or has done so since it was due.
func (c *Catalog) inTurn(ctx context.Context, id tool.ServerID, k *known) error {
	if c.opts.Turn == nil {
		return c.read(ctx, id)
	}
	end, ok := c.opts.Turn(ctx, id)
	if !ok {
		return errNotNow
	}
	defer end()
	c.writing.Lock()
	err := c.followOne(ctx, id)
	c.writing.Unlock()
	if err == nil && c.isListed(k) {
		return nil
	}
	return c.read(ctx, id)
}

// isListed tells whether another gateway has listed what is due.
func (c *Catalog) isListed(k *known) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if k.followed.IsZero() || k.isDue(c.opts.Now()) {
		return false
	}
	return k.followed.After(k.told)
}

// later puts a server off that another gateway lists. The caller holds mu.
func (c *Catalog) later(k *known) {
	k.notBefore = c.opts.Now().Add(lookAgain)
	if _, again := c.due[k.cfg.ID]; !again && !k.told.IsZero() {
		c.due[k.cfg.ID] = k.told
	}
	time.AfterFunc(lookAgain, c.poke)
}

// tooSoon is how long to wait before a server is listed. Some report a change whenever they are listed. The
// caller holds mu.
func (c *Catalog) tooSoon(k *known, now time.Time) (wait time.Duration) {
	least := func(d time.Duration, since time.Time) {
		if left := d - now.Sub(since); left <= d { // else the clock was set back
			wait = max(wait, left)
		}
	}
	if since, told := c.due[k.cfg.ID]; told {
		least(pause, k.checkedAt)
		if c.opts.Turn != nil {
			least(settle, since)
		}
	}
	if c.opts.Turn != nil {
		least(lookAgain, k.notBefore.Add(-lookAgain))
	}
	return wait
}
