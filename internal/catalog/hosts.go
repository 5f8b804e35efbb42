package catalog

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/toolfit/toolfit/internal/upstream"
)

// host is an origin that the remote description of an API sends calls and credentials to.
// Whoever serves the description could name any other one tomorrow, so a new host is held
// until somebody approves it, whatever approve says.
type host struct {
	Name string `json:"host"`
	Held bool   `json:"held,omitempty"`
	Out  bool   `json:"out,omitempty"`
}

// pinHosts compares the hosts of a new list with those that are pinned. The first ones are
// let through, as tools are. An approved host stays so when a list lacks it: else a
// description that names none for a while would start anew. The caller holds mu.
func (c *Catalog) pinHosts(k *known, listed []string) (hosts []host, news []string) {
	for _, h := range k.hosts {
		if !h.Held || slices.Contains(listed, h.Name) {
			hosts = append(hosts, h)
		}
	}
	for _, name := range listed {
		switch {
		case slices.ContainsFunc(hosts, func(h host) bool { return h.Name == name }):
		case len(k.hosts) == 0:
			hosts = append(hosts, host{Name: name, Held: c.config.Approve == "all"})
		default:
			hosts = append(hosts, host{Name: name, Held: true})
			news = append(news, fmt.Sprintf("the description leads to another host, %s, which is held until approved: toolfit servers approve %s", name, k.cfg.ID))
		}
	}
	return hosts, news
}

// decideHosts is decide for hosts.
func decideHosts(hosts []host, change func(name string, h *hold) bool) (decided []host, changed int) {
	decided = slices.Clone(hosts)
	for i, was := range decided {
		if h := (hold{held: was.Held, out: was.Out}); was.Held && change(was.Name, &h) {
			decided[i].Held, decided[i].Out = h.held, h.out
			changed++
		}
	}
	return decided, changed
}

// trusted is what the pool is told of a server: its offer, with the hosts that are approved.
// The caller holds mu.
func (k *known) trusted() upstream.Listing {
	l := k.offer
	l.Hosts = nil
	for _, h := range k.hosts {
		if !h.Held {
			l.Hosts = append(l.Hosts, h.Name)
		}
	}
	return l
}

// heldHosts are the hosts of a server that wait for approval, or are kept out.
func (k *known) heldHosts() (held []HeldTool) {
	for _, h := range k.hosts {
		if h.Held {
			name, _ := json.Marshal(h.Name) // a string always can
			held = append(held, HeldTool{Name: h.Name, Out: h.Out, Now: name})
		}
	}
	return held
}

// hostRows and hostsOf are the hosts as the store keeps them.
func hostRows(hosts []host) (rows []json.RawMessage) {
	for _, h := range hosts {
		row, _ := json.Marshal(h) // such a struct always can
		rows = append(rows, row)
	}
	return rows
}

func hostsOf(rows []json.RawMessage) (hosts []host) {
	for _, row := range rows {
		var h host
		if json.Unmarshal(row, &h) == nil && h.Name != "" {
			hosts = append(hosts, h)
		}
	}
	return hosts
}
