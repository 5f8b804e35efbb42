package doctor

import (
	"context"
	"fmt"
	"strings"

	"github.com/toolfit/toolfit/internal/base/origin"
	"github.com/toolfit/toolfit/internal/integration/recall"
	"github.com/toolfit/toolfit/internal/state/config"
)

// recall checks that the services of action recall can be reached, and that the servers of its
// actions exist.
func (d *doctor) recall(ctx context.Context, cfg *config.Config, added []config.Added) {
	if cfg.Recall == nil {
		return
	}
	for _, s := range []struct {
		name string
		at   config.RecallUpstream
	}{{"ontologyQuery", cfg.Recall.OntologyQuery}, {"operatorIntegration", cfg.Recall.OperatorIntegration}} {
		if s.at.URL == "" {
			continue
		}
		if err := recall.Reach(ctx, s.at); err != nil {
			d.say(Problem, "recall."+s.name, err.Error(), "check its url, or start the service")
			continue
		}
		d.say(good, "recall."+s.name, origin.Shown(s.at.URL)+" answers", "")
	}
	known := map[string]bool{}
	for _, s := range cfg.Servers {
		known[string(s.ID)] = true
	}
	for _, s := range added {
		known[string(s.Server.ID)] = true
	}
	d.recallActions(cfg.Recall, known)
}

// recallActions checks the servers of actions, unless agent-operator-integration may know them.
func (d *doctor) recallActions(r *config.Recall, known map[string]bool) {
	if r.OperatorIntegration.URL != "" {
		return
	}
	for i, a := range r.Actions {
		id := a.Server
		section := "mcpServers"
		if a.Tool != "" {
			id, _, _ = strings.Cut(a.Tool, "__")
			section = "apis"
		}
		if known[id] {
			continue
		}
		d.say(warning, fmt.Sprintf("recall.actions[%d]", i),
			fmt.Sprintf("action %s of %s: there is no server %q", a.ActionType, a.Network, id),
			"add it to "+section+", or correct the action")
	}
}
