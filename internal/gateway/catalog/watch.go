package catalog

import (
	"context"
	"errors"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
)

// pause is the minimum time between two listings of a server that reports changes.
const pause = 500 * time.Millisecond

// What is listed is served once no other server is being listed, after quiet without any news, and after atMost at the latest:
// views of many servers take some time to make.
const (
	quiet  = 50 * time.Millisecond
	atMost = 500 * time.Millisecond
)

// parallel limits how many servers are listed at once: each may be a process that starts.
const parallel = 4

// Changed reports that a server's list has changed. It does not block.
func (c *Catalog) Changed(id tool.ServerID) {
	c.mu.Lock()
	c.due[id] = c.opts.Now()
	c.mu.Unlock()
	c.poke()
}

// Opened reports that a session with the server is open: a good moment to refresh an old list.
func (c *Catalog) Opened(id tool.ServerID) {
	c.mu.Lock()
	k := c.servers[id]
	old := k != nil && !k.listing && !k.listedAt.IsZero() && c.opts.Now().Sub(k.listedAt) > k.freshFor()
	if old {
		c.due[id] = k.listedAt
	}
	c.mu.Unlock()
	if old {
		c.poke()
	}
}

func (c *Catalog) poke() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// Run keeps the lists fresh until ctx ends: of new servers, of changed or old lists, and of servers that were down.
func (c *Catalog) Run(ctx context.Context) {
	slots := make(chan struct{}, parallel)
	tick := time.NewTicker(5 * time.Second)
	defer tick.Stop()
	defer c.watchers.Wait()
	for {
		for id, k := range c.takeDue() {
			c.watchers.Go(func() {
				select {
				case slots <- struct{}{}:
				case <-ctx.Done():
					return
				}
				c.refresh(ctx, id, k)
				<-slots
			})
		}
		select {
		case <-ctx.Done():
			return
		case <-c.wake:
		case <-c.serveTime():
			c.serveIfDue()
		case <-tick.C:
		}
	}
}

// serveTime tells when to look whether it is time to serve what was listed; nil: there is nothing.
func (c *Catalog) serveTime() <-chan time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.pending) == 0 {
		return nil
	}
	return time.After(time.Until(c.serveAt()))
}

// serveAt is when to serve what was listed, unless there is news until then. The caller holds mu.
func (c *Catalog) serveAt() time.Time {
	at := c.latest.Add(quiet)
	if latest := c.since.Add(atMost); latest.Before(at) {
		return latest
	}
	return at
}

func (c *Catalog) serveIfDue() {
	c.mu.Lock()
	due := len(c.pending) > 0 && !time.Now().Before(c.serveAt())
	c.mu.Unlock()
	if due {
		c.serve()
	}
}

func (c *Catalog) refresh(ctx context.Context, id tool.ServerID, k *known) {
	err := c.inTurn(ctx, id, k)
	c.mu.Lock()
	if errors.Is(err, errNotNow) {
		c.later(k)
		err = nil
	}
	k.listing = false
	c.listing--
	last := c.listing == 0
	first := len(c.pending) == 1
	c.mu.Unlock()
	if last {
		c.serve()
	} else if first {
		c.poke()
	}
	if err == nil || ctx.Err() != nil {
		return
	}
	if f := fault.As(err); f.Code != fault.Internal {
		c.opts.Logger.Warn("server not listed", "server", id, "error", f.Error())
		return
	}
	c.opts.Logger.Error("server not listed", "server", id, "error", err)
}

// takeDue picks the servers to list now and marks them as being listed.
func (c *Catalog) takeDue() map[tool.ServerID]*known {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.opts.Now()
	due := map[tool.ServerID]*known{}
	for _, k := range c.active() {
		since, told := c.due[k.cfg.ID]
		if told && k.followed.After(since) { // another gateway was quicker
			delete(c.due, k.cfg.ID)
			since = time.Time{}
			told = false
		}
		if k.listing || !told && !k.isDue(now) {
			continue
		}
		if wait := c.tooSoon(k, now); wait > 0 {
			time.AfterFunc(wait, c.poke)
			continue
		}
		k.told = since
		delete(c.due, k.cfg.ID)
		k.listing = true
		c.listing++
		due[k.cfg.ID] = k
	}
	return due
}

// isDue tells whether it is time to list the server. No process is started just for that: its list is refreshed when it next runs.
func (k *known) isDue(now time.Time) bool {
	switch {
	case now.Before(k.retryAt):
		return false
	case k.listedAt.IsZero(), k.reason != "", k.foreign():
		return true
	}
	return k.cfg.Command == "" && now.Sub(k.listedAt) > k.freshFor()
}
