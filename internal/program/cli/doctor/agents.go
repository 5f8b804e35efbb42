package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/program/cli/terminal"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

type heard map[tool.ServerID]upstream.Listing

// List returns the list of a server.
func (h heard) List(_ context.Context, id tool.ServerID) (upstream.Listing, error) {
	if l, ok := h[id]; ok {
		return l, nil
	}
	return upstream.Listing{}, errors.New("it has not listed its tools")
}

// Recognize does nothing: no tool is called.
func (heard) Recognize(tool.ServerID, upstream.Listing) {}

func (d *doctor) heard(id tool.ServerID, l upstream.Listing) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.listed[id] = l
}

// storedAgents are the agents of the store that are not in the file.
func (d *doctor) storedAgents(ctx context.Context, cfg *config.Config, st *store.Store) ([]config.Agent, error) {
	rows, err := st.Agents(ctx)
	var agents []config.Agent
	for _, row := range rows {
		if cfg.AgentNamed(row.ID) != nil {
			d.say(warning, "agent "+row.ID, "is in the file and in the store; the file wins", "remove one of the two")
			continue
		}
		a, err := config.ParseAgent(row.ID, row.Body, cfg)
		if err != nil {
			d.blame("agent "+row.ID, err)
			continue
		}
		agents = append(agents, a)
	}
	return agents, err
}

// agents checks that the tools of agents exist, by the lists of the servers.
func (d *doctor) agents(ctx context.Context, cfg *config.Config, keeper catalog.Keeper) {
	if len(cfg.Agents) == 0 {
		return
	}
	all := *cfg
	all.Approve = "auto" // every tool is new to this catalog
	all.Servers = slices.Clone(cfg.Servers)
	for i := range all.Servers {
		all.Servers[i].Approve = ""
	}
	tools, err := catalog.New(ctx, d.listed, keeper, nil)
	if err != nil {
		d.blame("agents", err)
		return
	}
	tools.Apply(&all)
	for _, s := range cfg.Servers {
		if _, ok := d.listed[s.ID]; !ok {
			continue
		}
		if err := tools.Refresh(ctx, s.ID); err != nil {
			d.blame("agents", err)
			return
		}
	}
	for i := range cfg.Agents {
		a := &cfg.Agents[i]
		view, err := tools.View(a.Profile)
		if err != nil {
			d.blame("agent "+a.ID, err)
			continue
		}
		d.agent(a, view, d.silent(cfg, a.Profile))
	}
}

// silent are the servers of a profile that did not list their tools.
func (d *doctor) silent(cfg *config.Config, profile string) (ids []string) {
	at := slices.IndexFunc(cfg.Profiles, func(p config.Profile) bool { return p.Name == profile })
	for _, s := range cfg.Servers {
		if _, ok := d.listed[s.ID]; !ok && !s.Disabled && access.SeesServer(cfg.Profiles[at], s.ID) {
			ids = append(ids, string(s.ID))
		}
	}
	return ids
}

// agent checks that the tools of an agent exist.
func (d *doctor) agent(a *config.Agent, view *catalog.View, silent []string) {
	subject := "agent " + a.ID
	has := 0
	for _, e := range view.Entries {
		if !e.Own && e.UsedBy(a) {
			has++
		}
	}
	lacks := view.UnknownTools(a)
	for _, word := range lacks {
		status := warning
		message := fmt.Sprintf("available_tools: profile %s has no tool %s", a.Profile, word)
		hint := view.Unknown(word, nil).Hint
		if hint == "" || strings.ContainsAny(word, "*?") {
			hint = "list the tools with: toolfit tools --profile " + a.Profile
		}
		switch {
		case len(silent) > 0:
			message += ", unless it belongs to a server that did not list its tools: " + strings.Join(silent, ", ")
		case has == 0:
			status = Problem
		}
		d.say(status, subject, message, hint)
	}
	switch {
	case !a.Capabilities.ToolCalling:
		d.say(good, subject, "calls no tools", "")
	case len(lacks) == 0:
		d.say(good, subject, terminal.Count(has, "tool")+" of profile "+a.Profile, "")
	}
}
