package env

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/toolfit/toolfit/internal/base/tool"
)

// agentsOfProfiles lists the agents of all profiles, or of one. Identical agents are listed once.
func (o *Options) agentsOfProfiles(ctx context.Context, f AgentFilter) ([]AgentSpec, error) {
	profiles, err := o.ListProfiles(ctx)
	if err != nil {
		return nil, err
	}
	known := f.ProfileID == ""
	found := []AgentSpec{}
	for _, p := range profiles {
		if f.ProfileID != "" && p.ID != f.ProfileID {
			continue
		}
		known = true
		for _, a := range p.agents() {
			same := func(b AgentSpec) bool { return reflect.DeepEqual(a, b) }
			if (f.Role == "" || a.Role == f.Role) && !slices.ContainsFunc(found, same) {
				found = append(found, a)
			}
		}
	}
	if !known {
		return nil, &NotFoundError{"Profile", f.ProfileID}
	}
	return found, nil
}

// agents returns the agents of the profile, primary ones first, with the role of their list.
func (p Profile) agents() []AgentSpec {
	all := slices.Concat(p.PrimaryAgents, p.SubAgents)
	for i := range all {
		all[i].Role = RolePrimary
		if i >= len(p.PrimaryAgents) {
			all[i].Role = RoleSub
		}
	}
	return all
}

// normal fills in what the protocol requires.
func (p Profile) normal() Profile {
	p.DisplayName = cmp.Or(p.DisplayName, p.ID)
	all := p.agents()
	n := len(p.PrimaryAgents)
	p.PrimaryAgents = append([]AgentSpec{}, all[:n]...)
	if p.SubAgents != nil {
		p.SubAgents = append([]AgentSpec{}, all[n:]...)
	}
	return p
}

func normalProfiles(all []Profile) []Profile {
	out := make([]Profile, 0, len(all))
	for _, p := range all {
		out = append(out, p.normal())
	}
	return out
}

// normal fills in the role: the default is primary.
func (a AgentSpec) normal() AgentSpec {
	if a.Role != RoleSub {
		a.Role = RolePrimary
	}
	return a
}

func normalAgents(all []AgentSpec) []AgentSpec {
	out := make([]AgentSpec, 0, len(all))
	for _, a := range all {
		out = append(out, a.normal())
	}
	return out
}

func (o *Options) agentOfList(ctx context.Context, id, profileID string) (AgentSpec, error) {
	all, err := o.ListAgents(ctx, AgentFilter{ProfileID: profileID})
	if err != nil {
		var none *NotFoundError
		if errors.As(err, &none) {
			err = &NotFoundError{"Agent", id} // also when it is the profile that is not there
		}
		return AgentSpec{}, err
	}
	if i := slices.IndexFunc(all, func(a AgentSpec) bool { return a.ID == id }); i >= 0 {
		return all[i], nil
	}
	return AgentSpec{}, &NotFoundError{"Agent", id}
}

func (o *Options) getProfile(ctx context.Context, id string) (Profile, error) {
	all, err := o.ListProfiles(ctx)
	if err != nil {
		return Profile{}, err
	}
	if i := slices.IndexFunc(all, func(p Profile) bool { return p.ID == id }); i >= 0 {
		return all[i].normal(), nil
	}
	return Profile{}, &NotFoundError{"Profile", id}
}

// May tells whether the agent may use the tool.
func (a AgentSpec) May(toolName string) bool {
	matches := func(glob string) bool { return tool.Match(glob, toolName) }
	if slices.ContainsFunc(a.DeniedTools, matches) {
		return false
	}
	return a.AllowedTools == nil || slices.ContainsFunc(a.AllowedTools, matches)
}

// agent returns an agent, to filter tools by.
func (o *Options) agent(ctx context.Context, id string) (AgentSpec, error) {
	if o.GetAgent == nil {
		return AgentSpec{}, fmt.Errorf("agent %s: %w", id, ErrNotOffered)
	}
	return o.GetAgent(ctx, id, o.Profile)
}
