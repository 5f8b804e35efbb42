package console

import (
	"context"

	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/gateway/approval"
	"github.com/toolfit/toolfit/internal/state/access"
)

// Setup tells what the gateway is set up for.
type Setup interface {
	SetupFor(ctx context.Context, who approval.Decider) restapi.Setup
}

// optional are the pages that not every gateway has a use for. The menu leaves them out until they are set up or have
// something to show.
var optional = map[string]struct {
	used func(*restapi.Setup) bool
	doc  string // the file of docs that says how it is set up
}{
	"approvals":    {func(s *restapi.Setup) bool { return s.Approvals }, "approvals.md"},
	"chat":         {func(s *restapi.Setup) bool { return s.Agents }, "agents.md"},
	"connections":  {func(s *restapi.Setup) bool { return s.Connections }, "connections.md"},
	"environments": {func(s *restapi.Setup) bool { return s.Environments }, "environments.md"},
	"policy":       {func(s *restapi.Setup) bool { return s.Policy }, "policy.md"},
	"recall":       {func(s *restapi.Setup) bool { return s.Recall }, "recall.md"},
	"recipes":      {func(s *restapi.Setup) bool { return s.Recipes }, "recipes.md"},
	"runs":         {func(s *restapi.Setup) bool { return s.Tests }, "steps.md"},
}

// urgent is what needs a person on a page: console.nav.count.NAME.
var urgent = map[string]func(*restapi.Setup) int{
	"approvals": func(s *restapi.Setup) int { return s.Waiting },
	"servers":   func(s *restapi.Setup) int { return s.Down },
}

// menuGroup is a part of the menu as a page shows it.
type menuGroup struct {
	Name  string
	Items []menuItem
}

type menuItem struct {
	Name, Path, Key string
	Here            bool
	Count           int // 0: nothing needs a person there
}

// menuFor is the menu for a person: what they may see, and what is in use. The page that they are on is always there.
func (c *Console) menuFor(v *visit) (menu []menuGroup) {
	setup := c.setupFor(v)
	for _, g := range c.menu {
		shown := menuGroup{Name: g.name}
		for _, s := range g.sections {
			item := menuItem{Name: s.name, Path: c.at(s.path), Key: s.key, Here: s.name == v.section}
			if !s.mayBeSeen(v.who) || !item.Here && !s.inUse(setup) {
				continue
			}
			if count := urgent[s.name]; count != nil && setup != nil {
				item.Count = count(setup)
			}
			shown.Items = append(shown.Items, item)
		}
		if shown.Items != nil {
			menu = append(menu, shown)
		}
	}
	return menu
}

// setupFor is what the gateway is set up for, as far as a person may know; nil: it is not known.
func (c *Console) setupFor(v *visit) *restapi.Setup {
	if c.Setup == nil {
		return nil
	}
	return new(c.Setup.SetupFor(v.Context(), c.decider(v)))
}

func (s *section) mayBeSeen(who access.Principal) bool { return s.may == nil || s.may(who) }

func (s *section) inUse(setup *restapi.Setup) bool {
	needs, ok := optional[s.name]
	return !ok || setup == nil || needs.used(setup)
}
