package catalog

import (
	"context"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/state/store"
)

// fewRows is how many servers are read one by one.
const fewRows = 16

// Follow serves what other gateways have stored, lists and decisions about them, of those servers whose
// stamps have changed.
func (c *Catalog) Follow(ctx context.Context, stamps map[tool.ServerID]store.Stamp) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	var news []tool.ServerID
	c.mu.Lock()
	for id, stamp := range stamps {
		if k := c.servers[id]; stamp.Listed != 0 && (k == nil || k.stamp != stamp) {
			news = append(news, id)
		}
	}
	c.mu.Unlock()
	if len(news) <= fewRows {
		for _, id := range news {
			if err := c.followOne(ctx, id); err != nil {
				return err
			}
		}
		return nil
	}
	rows, err := c.keeper.Servers(ctx)
	for _, row := range rows {
		c.follow(row)
	}
	return err
}

// followOne reads what is stored of a server. The caller holds writing.
func (c *Catalog) followOne(ctx context.Context, id tool.ServerID) error {
	row, err := c.keeper.Server(ctx, id)
	if err == nil {
		c.follow(row)
	}
	return err
}

// follow takes in a row that another gateway may have written. The caller holds writing.
func (c *Catalog) follow(row store.Server) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.servers[row.ID]
	switch {
	case row.ListedAt.IsZero(), k != nil && k.stamp == row.Stamp():
	case k == nil: // its configuration is about to come
		c.servers[row.ID] = c.fromRow(row)
	default:
		k.adopt(c.fromRow(row))
		c.lister.Recognize(row.ID, k.trusted())
		c.toServe(k)
		c.poke()
	}
}

// adopt takes the list that another gateway has stored. Whether the server can be reached is for each to
// find out. The caller holds mu.
func (k *known) adopt(other *known) {
	if k.stamp.Listed == other.stamp.Listed {
		other.offer.Notes = k.offer.Notes
	}
	k.offer = other.offer
	k.held = other.held
	k.privateTo = other.privateTo
	k.listedAt = other.listedAt
	k.followed = other.listedAt
	k.stamp = other.stamp
	k.version++
}
