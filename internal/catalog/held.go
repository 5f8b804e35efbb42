package catalog

import (
	"encoding/json"

	"github.com/toolfit/toolfit/internal/fault"
	"github.com/toolfit/toolfit/internal/tool"
)

// hold is whether a tool is kept out until somebody approves it, and what was let through
// under its name before.
type hold struct {
	held bool
	was  json.RawMessage // nil: nothing
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

// HeldTool is a tool that waits for approval.
type HeldTool struct {
	Name     string          // the server's own
	Was, Now json.RawMessage // its definition when it was last let through, nil for a new one; and as it is
}

// Held are the tools of a server that wait for approval.
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
			waiting = append(waiting, HeldTool{k.offer.Tools[i].Name, h.was, k.offer.Tools[i].Raw})
		}
	}
	return waiting, nil
}
