package console

import (
	"context"
	"html/template"
	"slices"

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
	Hash     string // of the definition
	New      bool
	Diff     []linediff.Line
	Cut      int // lines of it that a page has no room for
	Findings []scan.Finding
}

// heldList is as much of what is held as one page has room for.
type heldList struct {
	Shown []held
	More  int
	room  int // left, in bytes of the page
}

// heldRoom is for pending definitions, and for rejected ones.
const heldRoom = 40_000

// Total is how many there are.
func (l heldList) Total() int { return len(l.Shown) + l.More }

// add shows a definition whole if there is room, or as the only one as far as there is.
func (l *heldList) add(h catalog.Held) {
	if l.More > 0 {
		l.More++
		return
	}
	one := held{Name: h.Name, Hash: tool.Hash(h.Now), New: h.Was == nil, Diff: diffJSON(h.Was, h.Now), Findings: h.Findings}
	room := l.room
	end := slices.IndexFunc(one.Diff, func(line linediff.Line) bool {
		room -= len(template.HTMLEscapeString(line.Text)) + len(`<div class="plus"><i>+</i></div>`)
		return room < 0
	})
	switch {
	case end >= 0 && len(l.Shown) > 0:
		l.More++
		return
	case end >= 0:
		one.Diff, one.Cut = one.Diff[:end], len(one.Diff)-end
	}
	l.Shown = append(l.Shown, one)
	l.room = room
}

// sortHeld separates pending definitions from rejected ones.
func sortHeld(all []catalog.Held) (wait, out heldList) {
	wait.room, out.room = heldRoom, heldRoom
	for _, h := range all {
		if h.Out {
			out.add(h)
		} else {
			wait.add(h)
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
	id := tool.ServerID(v.PathValue("id"))
	names := v.PostForm["held"]
	if len(names) == 0 {
		p, err := c.readServer(v)
		p.Fault = fault.New(fault.BadRequest, "nothing is selected").WithHint("select at least one")
		return answer{page: "server", data: p}, err
	}
	err := mayChange(v)
	if err == nil {
		err = c.stillHeld(v, id, names)
	}
	if err == nil {
		_, err = do(v.Context(), v.who, id, names...)
	}
	if err != nil {
		return answer{}, err
	}
	return done(serverPath(id), said)
}

// stillHeld says which of the definitions is another one than the page has shown: its server may have listed it since.
func (c *Console) stillHeld(v *visit, id tool.ServerID, names []string) error {
	all, err := c.Approvals.HeldOf(v.who, id)
	for _, h := range all {
		shown := v.PostForm.Get("hash." + h.Name)
		if slices.Contains(names, h.Name) && shown != "" && shown != tool.Hash(h.Now) {
			return fault.New(fault.Conflict, "the definition of %.100s has changed since it was shown", h.Name).WithHint("go back and read it again")
		}
	}
	return err
}
