package cli

import (
	"context"

	"github.com/toolfit/toolfit/internal/config"
	"github.com/toolfit/toolfit/internal/recall"
)

// recall tells whether the services that action recall asks can be reached.
func (d *doctor) recall(ctx context.Context, cfg *config.Config) {
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
			d.say(problem, "recall."+s.name, err.Error(), "check its url, or start it")
			continue
		}
		d.say(good, "recall."+s.name, s.at.URL+" answers", "")
	}
}
