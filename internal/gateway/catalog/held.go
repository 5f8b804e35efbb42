package catalog

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/scan"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/state/store"
)

// Kind is the kind of something that a server offers.
type Kind string

// Everything that reaches a model is pinned.
const (
	ToolKind         Kind = "tool"
	PromptKind       Kind = "prompt"
	ResourceKind     Kind = "resource"
	TemplateKind     Kind = "template"
	SkillKind        Kind = "skill"
	InstructionsKind Kind = "instructions"
	HostKind         Kind = "host" // an origin that the remote description of an API sends calls and credentials to
)

// pin names something that a server offers.
type pin struct {
	kind Kind
	name string // the server's own name; a URI of a resource or a skill; "" for the instructions
}

// String is the name for people: a tool by its name, everything else by kind and name. It is unique within a server.
func (p pin) String() string {
	before, _, ok := strings.Cut(p.name, ":")
	_, taken := kinds[Kind(before)]
	switch {
	case p.kind == InstructionsKind:
		return string(p.kind)
	case p.kind == ToolKind && p.name != string(InstructionsKind) && !(ok && taken):
		return p.name
	}
	return string(p.kind) + ":" + p.name
}

// subject is how log messages name it.
func (p pin) subject() string {
	if p.kind == InstructionsKind {
		return "the text of the instructions"
	}
	return string(p.kind) + " " + p.name
}

var kinds = map[Kind]struct{}{
	ToolKind: {}, PromptKind: {}, ResourceKind: {}, TemplateKind: {}, SkillKind: {}, InstructionsKind: {}, HostKind: {},
}

// hold is something that callers do not see until it is approved.
type hold struct {
	out bool            // it was rejected; a changed definition is pending again
	was json.RawMessage // the definition approved before; nil: none
}

// offers returns everything that a server offers, with its definitions.
func offers(l upstream.Listing) iter.Seq2[pin, json.RawMessage] {
	return func(yield func(pin, json.RawMessage) bool) {
		on := true
		add := func(kind Kind, name string, def json.RawMessage) {
			on = on && yield(pin{kind, name}, def)
		}
		if text := strings.TrimSpace(l.Instructions); text != "" {
			add(InstructionsKind, "", rawjson.AppendString(nil, text))
		}
		for _, def := range l.Tools {
			add(ToolKind, def.Name, def.Raw)
		}
		for _, def := range l.Prompts {
			add(PromptKind, def.Name, def.Raw)
		}
		for _, raw := range l.Resources {
			add(ResourceKind, textOf(raw, "uri"), raw)
		}
		for _, raw := range l.Templates {
			add(TemplateKind, textOf(raw, "uriTemplate"), raw)
		}
		for _, raw := range l.Skills {
			add(SkillKind, textOf(raw, "uri"), raw)
		}
		for _, host := range l.Hosts {
			add(HostKind, host, rawjson.AppendString(nil, host))
		}
	}
}

func textOf(raw json.RawMessage, name string) string {
	text, _ := rawjson.String(rawjson.Get(raw, name))
	return text
}

// approved is what callers see of a prompt or resource: the definition approved last; nil: nothing. Held tools and skills are not shown at all.
func (k *known) approved(p pin, now json.RawMessage) json.RawMessage {
	if h, held := k.held[p]; held {
		return h.was
	}
	return now
}

// keptHosts are the hosts of a new listing and the approved ones missing from it: a host may come back. The caller holds mu.
func (k *known) keptHosts(listed []string) []string {
	hosts := slices.Clone(listed)
	for _, host := range k.trusted().Hosts {
		if !slices.Contains(listed, host) {
			hosts = append(hosts, host)
		}
	}
	return hosts
}

// trusted is a server's offer for the pool, with approved hosts only. The caller holds mu.
func (k *known) trusted() upstream.Listing {
	l := k.offer
	l.Hosts = slices.DeleteFunc(slices.Clone(l.Hosts), func(host string) bool {
		_, held := k.held[pin{HostKind, host}]
		return held
	})
	return l
}

// Held is something of a server's that is pending approval or was rejected.
type Held struct {
	Kind     Kind            `json:"kind"`
	Name     string          `json:"name"` // the name to approve it by
	Out      bool            `json:"kept_out,omitempty"`
	Was      json.RawMessage `json:"was,omitempty"` // the definition approved last; nil if it is new
	Now      json.RawMessage `json:"now"`
	Findings []scan.Finding  `json:"findings,omitempty"` // what the scan found in it
}

// heldNames returns the names of what is pending approval and of what was rejected. The caller holds mu.
func (k *known) heldNames() (wait, out []string) {
	if len(k.held) == 0 { // the usual case, and there may be thousands of resources
		return nil, nil
	}
	for p := range offers(k.offer) {
		switch h, held := k.held[p]; {
		case h.out:
			out = append(out, p.String())
		case held:
			wait = append(wait, p.String())
		}
	}
	return wait, out
}

// Held returns what a server offers but callers do not see.
func (c *Catalog) Held(id tool.ServerID) ([]Held, error) {
	c.mu.Lock()
	k := c.servers[id]
	c.mu.Unlock()
	if k == nil {
		return nil, fault.New(fault.NotFound, "there is no server %s", id)
	}
	found := c.findings(k)
	c.mu.Lock()
	defer c.mu.Unlock()
	waiting := []Held{}
	for p, now := range offers(k.offer) {
		if h, held := k.held[p]; held {
			waiting = append(waiting, Held{p.kind, p.String(), h.out, h.was, now, found[p].findings})
		}
	}
	return waiting, nil
}

// Approve approves the named held items, or all pending ones of the server. By is who decides.
func (c *Catalog) Approve(ctx context.Context, by string, id tool.ServerID, names ...string) (int, error) {
	return c.decide(ctx, by, id, store.Approved, func(p pin, h hold) bool {
		return slices.Contains(names, p.String()) || len(names) == 0 && !h.out
	})
}

// KeepOut rejects the named held items. Approve can still approve them by name.
func (c *Catalog) KeepOut(ctx context.Context, by string, id tool.ServerID, names ...string) (int, error) {
	return c.decide(ctx, by, id, store.KeptOut, func(p pin, h hold) bool {
		return !h.out && slices.Contains(names, p.String())
	})
}

// decide decides about what is held of a server and chosen, and returns how many there are. The decisions
// are stored first.
func (c *Catalog) decide(ctx context.Context, by string, id tool.ServerID, verdict string, chosen func(pin, hold) bool) (int, error) {
	c.writing.Lock()
	defer c.writing.Unlock()
	if err := c.followOne(ctx, id); err != nil { // what another gateway holds can be decided here
		return 0, fmt.Errorf("decide about what %s offers: %w", id, err)
	}
	c.mu.Lock()
	k := c.servers[id]
	if k == nil {
		c.mu.Unlock()
		return 0, fault.New(fault.NotFound, "there is no server %s", id)
	}
	var decisions []store.Decision
	for p, now := range offers(k.offer) {
		if h, held := k.held[p]; held && chosen(p, h) {
			decisions = append(decisions, store.Decision{
				Kind: string(p.kind), Name: p.name, Hash: tool.Hash(now), Verdict: verdict, By: by, At: c.opts.Now(),
			})
		}
	}
	c.mu.Unlock()
	if err := c.keeper.Decide(ctx, id, decisions); err != nil {
		return 0, fmt.Errorf("decide about what %s offers: %w", id, err)
	}
	c.mu.Lock()
	k.held = settled(k.offer, k.held, decisions)
	k.version++
	c.lister.Recognize(id, k.trusted())
	profiles := c.rebuild()
	c.mu.Unlock()
	c.announce(profiles)
	return len(decisions), nil
}

// settled is what is held of an offer after decisions about its definitions.
func settled(l upstream.Listing, held map[pin]hold, decisions []store.Decision) map[pin]hold {
	if len(decisions) == 0 {
		return held
	}
	verdicts := map[pin]map[string]string{} // by hash
	for _, d := range decisions {
		p := pin{Kind(d.Kind), d.Name}
		if verdicts[p] == nil {
			verdicts[p] = map[string]string{}
		}
		verdicts[p][d.Hash] = d.Verdict
	}
	held = maps.Clone(held)
	for p, now := range offers(l) {
		if verdicts[p] == nil {
			continue
		}
		switch verdicts[p][tool.Hash(now)] {
		case store.Approved:
			delete(held, p)
		case store.KeptOut:
			held[p] = hold{true, held[p].was}
		}
	}
	return held
}

// maxNews limits how many changes of one listing are logged.
const maxNews = 20

// approves says what of a server is held until approved. The caller holds mu.
func (c *Catalog) approves(k *known) string { return cmp.Or(k.cfg.Approve, c.config.Approve) }

// pin compares a new listing with the stored one and decides what is held until approved. After the
// first listing, new things count as changes too: otherwise a renamed tool would pass. What is back
// to its approved form is released. With approve: suspicious only that with findings is held, whenever
// it was listed: settled releases what somebody has approved. The caller holds mu.
func (c *Catalog) pin(k *known, l upstream.Listing, found map[pin]scanned) (held map[pin]hold, news []string) {
	held = map[pin]hold{}
	first := k.listedAt.IsZero()
	approve := c.approves(k)
	auto := approve == "auto" || approve == "suspicious"
	before := maps.Collect(offers(k.offer))
	for p, now := range offers(l) {
		first := first
		auto := auto
		if p.kind == HostKind { // credentials go there: a new one is held whatever approve says
			ours := k.cfg.API != nil && k.cfg.API.Base != "" // the configuration says where the API is: any other host needs approval
			first = len(k.offer.Hosts) == 0 && !ours
			auto = false
		}
		was, known := before[p]
		h, waits := k.held[p]
		what := "is new"
		suspicious := approve != "auto" && scan.Suspicious(found[p].findings)
		switch {
		case suspicious && approve == "suspicious":
			switch same := known && tool.Same(was, now); {
			case waits && same:
				held[p] = h
				continue
			case waits:
				held[p] = hold{was: h.was}
			case same:
				held[p] = hold{}
			default:
				held[p] = hold{was: was}
			}
			news = append(news, p.subject()+" is suspicious and is held until approved: toolfit servers approve "+string(k.cfg.ID))
			continue
		case waits && h.was != nil && tool.Same(h.was, now): // already decided: nobody is asked twice
			news = append(news, p.subject()+" is again as it was let through")
			continue
		case known && tool.Same(was, now):
			if waits {
				held[p] = h
			}
			continue
		case first:
			if approve == "all" || suspicious {
				held[p] = hold{}
			}
			continue
		case auto && (p.kind == ResourceKind || p.kind == TemplateKind): // they may change often
			continue
		case known:
			what = "has another definition now"
		}
		if !auto {
			if waits {
				was = h.was
			}
			held[p] = hold{was: was}
			what += " and is held until approved: toolfit servers approve " + string(k.cfg.ID)
		}
		news = append(news, p.subject()+" "+what)
	}
	if more := len(news) - maxNews; more > 0 {
		news = append(news[:maxNews], fmt.Sprintf("%d more are new or have another definition", more))
	}
	return held, news
}
