package oauth

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

// SignOut ends a connection, here and, as far as it lets us, at the authorization server.
func (c *Connections) SignOut(ctx context.Context, server tool.ServerID, owner string) error {
	row, err := c.opts.Store.Connection(ctx, server, owner)
	if err != nil && fault.Is(err, fault.NotFound) {
		return err
	}
	if err == nil {
		c.revoke(ctx, row)
	}
	if err := c.opts.Store.DeleteConnection(ctx, server, owner); err != nil {
		return err
	}
	c.Changed(server)
	return nil
}

const (
	revokers   = 4                // grants that are revoked at a time
	revokeTime = 30 * time.Second // for all of an owner's
)

// Deleted revokes what was granted to an owner whose connections have been deleted, in the background.
func (c *Connections) Deleted(ended []store.Connection) {
	if len(ended) == 0 {
		return
	}
	for _, row := range ended {
		c.Changed(row.Server)
	}
	c.opts.Background(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, revokeTime)
		defer cancel()
		var all sync.WaitGroup
		turns := make(chan struct{}, revokers)
		for _, row := range ended {
			turns <- struct{}{}
			all.Go(func() {
				c.revoke(ctx, row)
				<-turns
			})
		}
		all.Wait()
	})
}

// revoke ends a grant at its authorization server, as far as that lets us.
func (c *Connections) revoke(ctx context.Context, row store.Connection) {
	var g grant
	if json.Unmarshal(row.Grant, &g) != nil {
		return
	}
	cfg, ok := c.opts.Server(row.Server)
	if !ok || cfg.OAuth == nil { // it was removed
		cfg = config.Server{ID: row.Server, URL: g.For, OAuth: &config.OAuth{As: config.AsUser}}
	}
	client, err := NewClient(&cfg)
	if err == nil {
		if pinned := client.Pinned(&g.Found); pinned != nil { // its secret may be new
			g.Client = *pinned
		}
		err = client.Revoke(ctx, &g.Found, &g.Client, &g.Token)
	}
	if err != nil {
		c.opts.Logger.Warn("token not revoked at its authorization server", "server", row.Server, "error", err)
	}
}
