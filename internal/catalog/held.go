package catalog

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/toolfit/toolfit/internal/fault"
	"github.com/toolfit/toolfit/internal/tool"
)

// hold is whether a tool is kept from callers until somebody approves it, and what was let
// through under its name before.
type hold struct {
	held bool
	out  bool            // somebody has decided to keep it out; another definition is asked about anew
	was  json.RawMessage // nil: nothing
}

// isBack is whether a held tool is defined again as it was when it was let through. That was
// decided once; nobody is asked twice.
func (h hold) isBack(now tool.Definition) bool {
	if !h.held || h.was == nil {
		return false
	}
	was, err := tool.ParseDefinition(h.was)
	return err == nil && was.Hash == now.Hash
}

// letThrough is the definition that callers last saw of the tool at the place of the list.
func (k *known) letThrough(at int, known bool) json.RawMessage {
	switch {
	case !known:
		return nil
	case k.held[at].held:
		return k.held[at].was
	}
	return k.offer.Tools[at].Raw
}

// HeldTool is a tool that waits for approval, or is kept out.
type HeldTool struct {
	Name     string          // the server's own
	Out      bool            // somebody has decided to keep it out
	Was, Now json.RawMessage // its definition when it was last let through, nil for a new one; and as it is
}

// Held are the tools of a server that callers are not shown.
func (c *Catalog) Held(id tool.ServerID) ([]HeldTool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.servers[id]
	if k == nil {
		return nil, fault.New(fault.NotFound, "there is no server %s", id)
	}
	var waiting []HeldTool
	for i, h := range k.held {
		if h.held {
			waiting = append(waiting, HeldTool{k.offer.Tools[i].Name, h.out, h.was, k.offer.Tools[i].Raw})
		}
	}
	return append(waiting, k.heldHosts()...), nil
}

// Approve lets held tools through: the named ones, or all of the server that wait.
func (c *Catalog) Approve(ctx context.Context, id tool.ServerID, names ...string) (int, error) {
	return c.decide(ctx, id, func(name string, h *hold) bool {
		approved := slices.Contains(names, name) || len(names) == 0 && !h.out
		if approved {
			*h = hold{}
		}
		return approved
	})
}

// KeepOut decides that the named tools, which are held, stay so and wait for nobody. Approve
// can still let them through, by their names.
func (c *Catalog) KeepOut(ctx context.Context, id tool.ServerID, names ...string) (int, error) {
	return c.decide(ctx, id, func(name string, h *hold) bool {
		kept := !h.out && slices.Contains(names, name)
		h.out = h.out || kept
		return kept
	})
}

// decide changes what is held of a server's tools, and tells of how many. It is stored first:
// a restart decides nothing else.
func (c *Catalog) decide(ctx context.Context, id tool.ServerID, change func(name string, h *hold) bool) (int, error) {
	c.writing.Lock()
	defer c.writing.Unlock()
	c.mu.Lock()
	k := c.servers[id]
	if k == nil {
		c.mu.Unlock()
		return 0, fault.New(fault.NotFound, "there is no server %s", id)
	}
	held, changed := slices.Clone(k.held), 0
	for i, t := range k.offer.Tools {
		if held[i].held && change(t.Name, &held[i]) {
			changed++
		}
	}
	hosts, more := decideHosts(k.hosts, change)
	changed += more
	row := toRow(id, k.offer, held, hosts)
	row.ListedAt, row.CheckedAt, row.Reason, row.PrivateTo = k.listedAt, k.checkedAt, k.reason, k.privateTo
	c.mu.Unlock()
	if err := c.keeper.SaveTools(ctx, row); err != nil {
		return 0, fmt.Errorf("decide about tools of %s: %w", id, err)
	}
	c.mu.Lock()
	k.held, k.hosts = held, hosts
	c.lister.Recognise(id, k.trusted())
	profiles := c.rebuild()
	c.mu.Unlock()
	c.announce(profiles)
	return changed, nil
}
