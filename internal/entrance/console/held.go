package console

import (
	"context"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/linediff"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/scan"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/state/access"
)

// Approvals decides about new and changed definitions of servers; only administrators may.
type Approvals interface {
	HeldOf(who access.Principal, id tool.ServerID) ([]catalog.Held, error)
	ApproveHeld(ctx context.Context, who access.Principal, id tool.ServerID, names ...string) (int, error)
	KeepOutHeld(ctx context.Context, who access.Principal, id tool.ServerID, names ...string) (int, error)
}

// held is a definition that callers do not see, compared with the approved one.
type held struct {
	Name     string
	New      bool
	Diff     []linediff.Line
	Findings []scan.Finding
}

// sortHeld separates pending definitions from rejected ones.
func sortHeld(all []catalog.Held) (wait, out []held) {
	for _, h := range all {
		one := held{h.Name, h.Was == nil, diffJSON(h.Was, h.Now), h.Findings}
		if h.Out {
			out = append(out, one)
		} else {
			wait = append(wait, one)
		}
	}
	return wait, out
}

func (c *Console) approve(v *visit) (answer, error) {
	return c.decide(v, c.Approvals.ApproveHeld, "approved")
}

// keepOut rejects the selected definitions until they change again.
func (c *Console) keepOut(v *visit) (answer, error) {
	return c.decide(v, c.Approvals.KeepOutHeld, "keptOut")
}

type decision func(ctx context.Context, who access.Principal, id tool.ServerID, names ...string) (int, error)

// decide approves or rejects the selected definitions. No selection does not mean all.
func (c *Console) decide(v *visit, do decision, said string) (answer, error) {
	id := v.PathValue("id")
	names := v.PostForm["held"]
	if len(names) == 0 {
		return answer{}, fault.New(fault.BadRequest, "nothing is selected").WithHint("go back and select at least one")
	}
	if _, err := do(v.Context(), v.who, tool.ServerID(id), names...); err != nil {
		return answer{}, err
	}
	return done("/servers/"+id, said)
}
