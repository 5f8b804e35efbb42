package catalog

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/state/store"
)

// Refresh lists the server now and serves the result. On an error the last good list stays and the reason is stored.
func (c *Catalog) Refresh(ctx context.Context, id tool.ServerID) error {
	err := c.read(ctx, id)
	c.serve()
	return err
}

// serve makes views of what was listed since the last ones were made.
func (c *Catalog) serve() {
	c.mu.Lock()
	var changed []change
	if len(c.pending) > 0 && c.config != nil {
		changed = c.rebuild()
	}
	c.mu.Unlock()
	c.announce(changed)
}

// toServe notes that there is something to serve about a server. The caller holds mu.
func (c *Catalog) toServe(k *known) {
	c.latest = time.Now()
	if len(c.pending) == 0 {
		c.since = c.latest
	}
	c.pending = append(c.pending, k)
}

// read lists the server now, for serve.
func (c *Catalog) read(ctx context.Context, id tool.ServerID) error {
	c.mu.Lock()
	k := c.servers[id]
	if k == nil {
		c.mu.Unlock()
		return fault.New(fault.NotFound, "there is no server %s", id)
	}
	k.asked++
	turn := k.asked
	c.mu.Unlock()
	began := c.opts.Now()
	listing, err := c.lister.List(ctx, id)
	if err != nil && ctx.Err() != nil {
		return err // the caller canceled, which says nothing about the server
	}
	if err != nil {
		return c.checkFailed(ctx, k, err)
	}
	return c.listed(ctx, k, listing, turn, began)
}

func (c *Catalog) checkFailed(ctx context.Context, k *known, err error) error {
	reason := c.opts.Redact(fault.As(err).Error())
	now := c.opts.Now()
	c.mu.Lock()
	k.reason = reason
	k.checkedAt = now
	k.failures++
	k.retryAt = now.Add(min(15*time.Second<<min(k.failures, 6), 10*time.Minute))
	c.toServe(k) // the lists name the missing servers
	id := k.cfg.ID
	c.mu.Unlock()
	if saveErr := c.keeper.SaveCheck(ctx, id, now, reason); saveErr != nil && ctx.Err() == nil {
		c.opts.Logger.Error("check not stored", "server", id, "error", saveErr)
	}
	return err
}

// listed stores a new list, for serve. A list requested before the one being served is stale and dropped.
func (c *Catalog) listed(ctx context.Context, k *known, l upstream.Listing, turn int, began time.Time) error {
	scans := c.scanFor(k, l) // a long list takes seconds: other servers' lists do not wait for it
	c.writing.Lock()
	defer c.writing.Unlock()
	now := c.opts.Now()
	c.mu.Lock()
	id := k.cfg.ID
	c.mu.Unlock()
	stored, err := c.keeper.Server(ctx, id)
	if err != nil {
		return c.notStored(k, err)
	}
	c.mu.Lock()
	if turn < k.answered {
		c.mu.Unlock()
		return nil
	}
	if !stored.ListedAt.IsZero() && stored.ListedAt.UnixMicro() != k.listedAt.UnixMicro() { // another gateway has listed it
		k.adopt(c.fromRow(stored))
	}
	l.Hosts = k.keptHosts(l.Hosts)
	held, news := c.pin(k, l, scans.found)
	held = settled(l, held, stored.Decisions)
	privateTo := ""
	if l.Private {
		privateTo = credentials(k.cfg)
	}
	c.mu.Unlock()
	row := toRow(id, l, held)
	row.PrivateTo = privateTo
	row.ListedAt = began // what has changed since may be missing
	row.CheckedAt = now
	if err := c.keeper.SaveTools(ctx, row); err != nil {
		return c.notStored(k, err)
	}
	for _, note := range slices.Concat(l.Notes, news) {
		c.opts.Logger.Warn(note, "server", id)
	}
	c.mu.Lock()
	for i, note := range l.Notes {
		l.Notes[i] = c.opts.Redact(note)
	}
	k.offer = l
	k.held = held
	k.scans = scans
	k.privateTo = privateTo
	k.answered = turn
	k.version++
	c.lister.Recognize(id, k.trusted())
	k.stamp = stored.Stamp()
	k.stamp.Listed = began.UnixMicro()
	k.listedAt = began
	k.followed = time.Time{}
	k.checkedAt = now
	k.reason = ""
	k.failures = 0
	k.retryAt = time.Time{}
	c.toServe(k)
	c.mu.Unlock()
	return nil
}

// notStored ends the listing of a server that could not be stored.
func (c *Catalog) notStored(k *known, err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.toServe(k)
	return fmt.Errorf("store tools of %s: %w", k.cfg.ID, err)
}

// toRow is a server's offer as a row of the store.
func toRow(id tool.ServerID, l upstream.Listing, held map[pin]hold) store.Server {
	row := store.Server{
		ID: id, Info: l.Info, Capabilities: l.Capabilities, Instructions: l.Instructions, Resources: l.Resources, Templates: l.Templates,
		Skills: l.Skills, Era: string(l.Era), TTL: l.TTL,
	}
	for _, t := range l.Tools {
		row.Tools = append(row.Tools, store.Tool{Name: t.Name, Definition: t.Raw})
	}
	for _, p := range l.Prompts {
		row.Prompts = append(row.Prompts, p.Raw)
	}
	for _, host := range l.Hosts {
		row.Hosts = append(row.Hosts, rawjson.AppendString(nil, host))
	}
	for p, h := range held {
		row.Held = append(row.Held, store.Held{Kind: string(p.kind), Name: p.name, KeptOut: h.out, Was: h.was})
	}
	return row
}

func (k *known) triedOnce() {
	if !isClosed(k.tried) {
		close(k.tried)
	}
}
