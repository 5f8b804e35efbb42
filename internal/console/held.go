package console

import (
	"context"

	"github.com/toolfit/toolfit/internal/access"
	"github.com/toolfit/toolfit/internal/catalog"
	"github.com/toolfit/toolfit/internal/fault"
	"github.com/toolfit/toolfit/internal/tool"
)

// heldTool is a tool that callers are not shown, beside what was let through before.
type heldTool struct {
	Name string
	New  bool
	Diff []diffLine
}

// heldTools are those that wait for a decision, and those that were decided to be kept out.
func heldTools(all []catalog.HeldTool) (wait, out []heldTool) {
	for _, h := range all {
		one := heldTool{h.Name, h.Was == nil, diffJSON(h.Was, h.Now)}
		if h.Out {
			out = append(out, one)
		} else {
			wait = append(wait, one)
		}
	}
	return wait, out
}

// approveTools lets the chosen tools through.
func (c *Console) approveTools(v *visit) (answer, error) {
	return c.decide(v, c.Gateway.ApproveTools, "toolsApproved")
}

// keepOutTools keeps the chosen tools out for good, or until they change again.
func (c *Console) keepOutTools(v *visit) (answer, error) {
	return c.decide(v, c.Gateway.KeepOutTools, "toolsKeptOut")
}

type decision func(ctx context.Context, who access.Principal, id tool.ServerID, names ...string) (int, error)

// decide does what was decided about the chosen tools. None chosen is no wish for all.
func (c *Console) decide(v *visit, do decision, said string) (answer, error) {
	id, names := v.PathValue("id"), v.PostForm["tool"]
	if len(names) == 0 {
		return answer{}, fault.New(fault.BadRequest, "no tool is chosen").WithHint("go back and tick the tools that you mean")
	}
	if _, err := do(v.Context(), v.who, tool.ServerID(id), names...); err != nil {
		return answer{}, err
	}
	return done("/servers/"+id, said)
}
