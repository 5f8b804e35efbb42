package catalog

import (
	"context"
	"slices"
	"time"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
)

// firstList is how long a request waits for servers that were never listed.
const firstList = 20 * time.Second

// Listed is what the profile sees once all its servers were listed for the first time, or after firstList.
func (c *Catalog) Listed(ctx context.Context, profile string) (*View, error) {
	if !c.allTried.Load() { // else there is nothing to wait for, as on nearly every list
		ctx, cancel := context.WithTimeout(ctx, firstList)
		defer cancel()
		c.Ready(ctx, profile)
	}
	return c.View(profile)
}

// Ready waits until every server of the profile has been listed at least once, ever.
func (c *Catalog) Ready(ctx context.Context, profile string) {
	c.await(ctx, func(id tool.ServerID) bool {
		return slices.ContainsFunc(c.config.Profiles, func(p config.Profile) bool { return p.Name == profile && access.SeesServer(p, id) })
	})
}

// ServerReady waits until one server has been listed for the first time, or for firstList.
func (c *Catalog) ServerReady(ctx context.Context, server tool.ServerID) {
	ctx, cancel := context.WithTimeout(ctx, firstList)
	defer cancel()
	c.await(ctx, func(id tool.ServerID) bool { return id == server })
}

// await waits until the wanted servers have been listed once. Wanted is called with mu held.
func (c *Catalog) await(ctx context.Context, wanted func(tool.ServerID) bool) {
	if c.allTried.Load() {
		return // as on nearly every list, which does not look at each server
	}
	c.mu.Lock()
	var first []chan struct{}
	all := true
	for _, k := range c.active() {
		all = all && isClosed(k.tried)
		if wanted(k.cfg.ID) {
			first = append(first, k.tried)
		}
	}
	c.allTried.Store(all)
	c.mu.Unlock()
	for _, tried := range first {
		select {
		case <-tried:
		case <-ctx.Done():
			return
		}
	}
}
