package gatewayenv

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/toolfit/toolfit/env"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
)

// profiles returns the caller's profiles with their agents.
func (g *Gateway) profiles(ctx context.Context, who access.Principal) ([]env.Profile, error) {
	cfg := g.parts.Config()
	all := []env.Profile{}
	for _, p := range cfg.Profiles {
		if _, err := who.ProfileFor(p.Name); err != nil {
			continue
		}
		shown := env.Profile{ID: p.Name, DisplayName: p.Name, PrimaryAgents: []env.AgentSpec{}}
		for _, a := range cfg.Agents {
			if a.Profile != p.Name {
				continue
			}
			spec, err := g.spec(ctx, who, a)
			if err != nil {
				return nil, g.told(err)
			}
			if spec.Role == env.RoleSub {
				shown.SubAgents = append(shown.SubAgents, spec)
			} else {
				shown.PrimaryAgents = append(shown.PrimaryAgents, spec)
			}
		}
		all = append(all, shown)
	}
	return all, nil
}

// spec describes an agent. Tool names are those of its profile.
func (g *Gateway) spec(ctx context.Context, who access.Principal, a config.Agent) (env.AgentSpec, error) {
	redact := g.parts.Redact
	spec := env.AgentSpec{ID: a.ID, Role: env.Role(a.Role), PromptOverride: redact(a.Prompt)}
	if a.Metadata != nil {
		if err := json.Unmarshal(a.Metadata, &spec.Metadata); err != nil {
			return spec, fmt.Errorf("metadata of agent %s: %w", a.ID, err)
		}
	}
	if spec.Metadata == nil {
		spec.Metadata = env.Metadata{}
	}
	for name, value := range spec.Metadata {
		spec.Metadata[name] = redacted(redact, value.(json.RawMessage))
	}
	for name, text := range map[string]string{"name": a.Name, "description": a.Description, "personality": a.Personality,
		"model": a.Model} {
		if _, own := spec.Metadata[name]; text != "" && !own {
			spec.Metadata[name] = redact(text)
		}
	}
	if a.Capabilities.ToolCalling && len(a.Available) == 0 && len(a.Denied) == 0 {
		return spec, nil
	}
	view, err := g.parts.Catalog.Listed(ctx, a.Profile)
	if err != nil {
		return spec, err
	}
	spec.AllowedTools = []string{}
	for _, e := range view.As(who).Entries {
		if !e.Own && e.UsedBy(&a) {
			spec.AllowedTools = append(spec.AllowedTools, e.Shown)
		}
	}
	return spec, nil
}

// redacted removes secrets from a JSON value.
func redacted(redact func(string) string, value json.RawMessage) json.RawMessage {
	if clean := json.RawMessage(redact(string(value))); json.Valid(clean) {
		return clean
	}
	return json.RawMessage(`"***"`)
}

// May returns which tools an agent of the profile may use. Our own tools are allowed for all. An
// unknown agent is an *env.NotFoundError.
func (g *Gateway) May(profile, agent string) (func(*catalog.Entry) bool, error) {
	a := g.parts.Config().AgentNamed(agent)
	if a == nil || a.Profile != profile {
		return nil, &env.NotFoundError{Kind: "Agent", ID: agent}
	}
	return func(e *catalog.Entry) bool { return e.Own || e.UsedBy(a) }, nil
}
