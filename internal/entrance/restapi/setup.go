package restapi

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/toolfit/toolfit/internal/core/policy"
	"github.com/toolfit/toolfit/internal/gateway/approval"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

// Setup is what a gateway is set up for or has something to show of, and what needs a person there. Menus leave out the
// rest.
type Setup struct {
	Agents       bool // to chat with
	Recall       bool
	Tests        bool // in a browser
	Environments bool
	Recipes      bool
	Policy       bool
	Approvals    bool // a rule of the policy asks people
	Connections  bool // people sign in to servers, or give values for them

	Waiting int // questions that the caller may decide
	Down    int // servers that the caller sees and that are down
}

// SetupFor is the setup as far as the caller may know. It is asked for with every page: where nothing is set up, it reads
// memory only.
func (a *API) SetupFor(ctx context.Context, who approval.Decider) Setup {
	cfg := a.Config()
	s := Setup{
		Recall:  cfg.Recall != nil,
		Recipes: len(a.Recipes.Recipes()) > 0,
		Policy:  len(cfg.Policy) > 0 || slices.ContainsFunc(cfg.Profiles, func(p config.Profile) bool { return p.Closed }),
		Connections: slices.ContainsFunc(cfg.Servers, func(s config.Server) bool {
			return isSignedInTo(&s) || len(neededBy(&s)) > 0
		}),
		Approvals: slices.ContainsFunc(cfg.Policy, func(r policy.Rule) bool { return r.Then == policy.Approve }),
	}
	for _, e := range a.Agents.Agents() {
		s.Agents = s.Agents || seesAgent(who.Principal, e)
	}
	s.Environments = s.Agents || slices.ContainsFunc(cfg.Profiles, func(p config.Profile) bool { return p.Environment.Listed }) ||
		a.anySession.seen(func() bool {
			some, err := a.Store.Sessions(ctx, store.SessionFilter{Limit: 1})
			return err == nil && len(some) > 0
		})
	s.Tests = a.hasBrowser(cfg, who.Principal) || a.anyRun.seen(func() bool {
		some, err := a.Store.Runs(ctx, store.RunFilter{Limit: 1})
		return err == nil && len(some) > 0
	})
	if s.Approvals {
		open, _ := a.ListApprovals(ctx, who, true, "") // none where the store is down, which the page will say
		for _, one := range open {
			if one.May {
				s.Waiting++
			}
		}
	}
	for _, one := range a.SeenServers(who.Principal) {
		if one.State == upstream.Down {
			s.Down++
		}
	}
	return s
}

// hasBrowser tells whether the caller's own profile has browser tests: it was said so, or one of its servers has a browser.
func (a *API) hasBrowser(cfg *config.Config, who access.Principal) bool {
	if slices.ContainsFunc(cfg.Profiles, func(p config.Profile) bool { return p.Tests && who.Has(p.Name) }) {
		return true
	}
	v, err := a.Catalog.View(who.OwnProfile())
	if err != nil {
		return false
	}
	for _, e := range v.Entries {
		if !e.Own && e.Definition.Name == "browser_snapshot" {
			return true
		}
	}
	return false
}

// sighting remembers that there is something in the store. Until then it looks now and then.
type sighting struct {
	found atomic.Bool
	next  atomic.Int64 // when it looks again, in Unix nanoseconds
}

// lookAgain is how soon something new is noticed.
const lookAgain = 10 * time.Second

func (s *sighting) seen(look func() bool) bool {
	if s.found.Load() {
		return true
	}
	now := time.Now().UnixNano()
	next := s.next.Load()
	if now < next || !s.next.CompareAndSwap(next, now+int64(lookAgain)) {
		return false
	}
	s.found.Store(look())
	return s.found.Load()
}
