package catalog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"slices"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/scan"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
)

// scanned is what the scan found in a definition.
type scanned struct {
	def      json.RawMessage
	findings []scan.Finding
}

// scans is what was found in a server's offer among the tools of other servers.
type scans struct {
	among uint64 // hash of those tools
	found map[pin]scanned
}

var seed = maphash.MakeSeed()

// sumsOf are, for each server, the sum of the hashes of the tools of those before it, and at the end that of all.
func sumsOf(all []upstream.Listing) []uint64 {
	sums := make([]uint64, len(all)+1)
	for i, l := range all {
		var hash maphash.Hash
		hash.SetSeed(seed)
		for _, def := range l.Tools {
			hash.Write(def.Raw)
		}
		sums[i+1] = sums[i] + hash.Sum64()
	}
	return sums
}

// scanOffer scans a server's offer among those of all servers, whose sums these are. A definition that was scanned before is
// not scanned again, unless there are other tools now.
func scanOffer(at int, all []upstream.Listing, sums []uint64, before scans) scans {
	var hash maphash.Hash
	hash.SetSeed(seed)
	for _, def := range all[at].Tools {
		hash.WriteString(def.Name)
	}
	fmt.Fprint(&hash, sums[at], sums[len(all)]-sums[at+1]) // those before it, and those after it
	now := scans{hash.Sum64(), map[pin]scanned{}}
	var names *scan.Names
	for p, def := range offers(all[at]) {
		if p.kind == HostKind {
			continue
		}
		was, known := before.found[p]
		if !known || before.among != now.among || !bytes.Equal(was.def, def) {
			if names == nil {
				names = namesAmong(at, all)
			}
			was = scanned{def, scan.Definition(def, names)}
		}
		now.found[p] = was
	}
	return now
}

// namesAmong are the names of a server's tools among those of all servers.
func namesAmong(at int, all []upstream.Listing) *scan.Names {
	var own []string
	var others []scan.Tool
	for i, l := range all {
		for _, def := range l.Tools {
			if i == at {
				own = append(own, def.Name)
			} else {
				others = append(others, scan.Tool{Name: def.Name, Description: def.Description(), First: i < at})
			}
		}
	}
	return scan.NewNames(own, others)
}

// scanFor scans what a server lists now if something may be held for it. Else it is scanned when somebody asks.
func (c *Catalog) scanFor(k *known, l upstream.Listing) scans {
	c.mu.Lock()
	needless := c.approves(k) == "auto"
	c.mu.Unlock()
	if needless {
		return scans{}
	}
	return c.scan(k, l)
}

// scan scans what a server lists now.
func (c *Catalog) scan(k *known, l upstream.Listing) scans {
	c.mu.Lock()
	at := -1
	var all []upstream.Listing
	for _, other := range c.active() {
		if other == k {
			at = len(all)
			all = append(all, l)
		} else {
			all = append(all, other.offer)
		}
	}
	before := k.scans
	c.mu.Unlock()
	if at < 0 { // it is disabled or was removed
		at = len(all)
		all = append(all, l)
	}
	return scanOffer(at, all, sumsOf(all), before)
}

// Findings returns what the scan found in a tool of a server.
func (c *Catalog) Findings(id tool.ServerID, name string) []scan.Finding {
	c.mu.Lock()
	k := c.servers[id]
	c.mu.Unlock()
	if k == nil {
		return nil
	}
	return c.findings(k)[pin{ToolKind, name}].findings
}

// findings returns what was found in what a server offers. What another gateway or an earlier run has listed is scanned
// when somebody asks.
func (c *Catalog) findings(k *known) map[pin]scanned {
	c.mu.Lock()
	offer := k.offer
	c.mu.Unlock()
	now := c.scan(k, offer)
	c.mu.Lock()
	defer c.mu.Unlock()
	k.scans = now
	return now.found
}

// allFindings are the findings of all servers.
func (c *Catalog) allFindings() map[tool.ServerID]map[pin]scanned {
	c.mu.Lock()
	active := c.active()
	all := make([]upstream.Listing, len(active))
	before := make([]scans, len(active))
	for i, k := range active {
		all[i] = k.offer
		before[i] = k.scans
	}
	c.mu.Unlock()
	sums := sumsOf(all)
	now := make([]scans, len(active))
	for i := range active {
		now[i] = scanOffer(i, all, sums, before[i])
	}
	found := map[tool.ServerID]map[pin]scanned{}
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, k := range active {
		k.scans = now[i]
		found[k.cfg.ID] = now[i].found
	}
	return found
}

// Found is something that a server offers, and what is suspicious about it.
type Found struct {
	Name     string
	Findings []scan.Finding
}

// Suspicious returns what is suspicious in the offer of a server among those of all servers, in the order of the configuration.
func Suspicious(at int, all []upstream.Listing) (list []Found) {
	found := scanOffer(at, all, sumsOf(all), scans{}).found
	for p := range offers(all[at]) {
		if f := found[p].findings; scan.Suspicious(f) {
			list = append(list, Found{p.String(), slices.DeleteFunc(f, func(f scan.Finding) bool { return f.Note })})
		}
	}
	return list
}
