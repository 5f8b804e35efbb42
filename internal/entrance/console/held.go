package console

import (
	"context"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/state/access"
)

// held is something of a server's that callers are not shown, beside what was let through before.
type held struct {
	Name string
	New  bool
	Diff []diffLine
}

// sortHeld gives what waits for a decision, and what was decided to be kept out.
func sortHeld(all []catalog.Held) (wait, out []held) {
	for _, h := range all {
		one := held{h.Name, h.Was == nil, diffJSON(h.Was, h.Now)}
		if h.Out {
			out = append(out, one)
		} else {
			wait = append(wait, one)
		}
	}
	return wait, out
}

// approve lets the chosen ones through.
func (c *Console) approve(v *visit) (answer, error) {
	return c.decide(v, c.Gateway.ApproveHeld, "approved")
}

// keepOut keeps the chosen ones out for good, or until they change again.
func (c *Console) keepOut(v *visit) (answer, error) {
	return c.decide(v, c.Gateway.KeepOutHeld, "keptOut")
}

type decision func(ctx context.Context, who access.Principal, id tool.ServerID, names ...string) (int, error)

// decide does what was decided about the chosen ones. None chosen is no wish for all.
func (c *Console) decide(v *visit, do decision, said string) (answer, error) {
	id, names := v.PathValue("id"), v.PostForm["held"]
	if len(names) == 0 {
		return answer{}, fault.New(fault.BadRequest, "nothing is chosen").WithHint("go back and tick what you mean")
	}
	if _, err := do(v.Context(), v.who, tool.ServerID(id), names...); err != nil {
		return answer{}, err
	}
	return done("/servers/"+id, said)
}
