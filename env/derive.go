package env

import (
	"cmp"
	"context"
	"fmt"
)

// Derive derives options from an environment; overrides win. Without an environment they are all
// there is.
func Derive(e Environment, meta Meta, overrides *Options) (*Options, error) {
	o := Options{}
	if overrides != nil {
		o = *overrides
	}
	o.Meta = meta.or(o.Meta)
	if e == nil {
		return o.filled()
	}
	o.Meta = metaOf(e, o.Meta)
	meta = o.Meta
	if o.ListProfiles == nil {
		o.ListProfiles = func(ctx context.Context) ([]Profile, error) { return Profiles(ctx, e, meta) }
	}
	if logs, ok := e.(HasLogs); ok && o.QueryLogs == nil {
		o.QueryLogs = logs.Logs
	}
	if sessions, ok := e.(Sessions); ok && o.Sessions == nil {
		o.Sessions = sessions
	}
	if o.Describe == nil {
		o.Describe = describer(e, o)
	}
	return o.filled()
}

func describer(e Environment, o Options) func(context.Context) (EnvDescription, error) {
	return func(ctx context.Context) (EnvDescription, error) {
		profiles, err := o.ListProfiles(ctx)
		if err != nil {
			return EnvDescription{}, err
		}
		d, err := Description(ctx, e, o.Meta, profiles)
		d.Capabilities.Logs = o.QueryLogs != nil
		d.Capabilities.Sessions = o.Sessions != nil
		return d, err
	}
}

// Profiles returns the environment's profiles, or a default one whose agent may use all tools.
func Profiles(ctx context.Context, e Environment, meta Meta) ([]Profile, error) {
	if own, ok := e.(HasProfiles); ok {
		profiles, err := own.Profiles(ctx)
		if err != nil {
			return nil, fmt.Errorf("profiles: %w", err)
		}
		return append([]Profile{}, profiles...), nil // an empty list is one
	}
	tools, err := e.Tools(ctx)
	if err != nil {
		return nil, fmt.Errorf("tools: %w", err)
	}
	prompts, err := e.Prompts(ctx)
	if err != nil {
		return nil, fmt.Errorf("prompts: %w", err)
	}
	agent := AgentSpec{ID: "default", Role: RolePrimary, AllowedTools: make([]string, 0, len(tools))}
	for _, t := range tools {
		agent.AllowedTools = append(agent.AllowedTools, t.Name)
	}
	for _, p := range prompts {
		if p.ID == SystemPrompt {
			agent.PromptID = SystemPrompt
		}
	}
	name := cmp.Or(metaOf(e, meta).DisplayName, "Default Profile")
	return []Profile{{ID: "default", DisplayName: name, PrimaryAgents: []AgentSpec{agent}}}, nil
}

// Description describes an environment and its capabilities. Events and metrics are not part of the
// protocol; use Options.Describe for them.
func Description(ctx context.Context, e Environment, meta Meta, profiles []Profile) (EnvDescription, error) {
	tools, err := e.Tools(ctx)
	if err != nil {
		return EnvDescription{}, fmt.Errorf("tools: %w", err)
	}
	d := metaOf(e, meta).described(profiles)
	_, d.Capabilities.Logs = e.(HasLogs)
	_, d.Capabilities.Sessions = e.(Sessions)
	d.Capabilities.MCPTools = len(tools) > 0
	return d, nil
}

// metaOf completes meta with what the environment says.
func metaOf(e Environment, meta Meta) Meta {
	if own, ok := e.(HasMeta); ok {
		return meta.or(own.Meta())
	}
	return meta
}

// or fills in empty fields.
func (m Meta) or(other Meta) Meta {
	return Meta{
		ID:          cmp.Or(m.ID, other.ID),
		DisplayName: cmp.Or(m.DisplayName, other.DisplayName),
		Version:     cmp.Or(m.Version, other.Version),
	}
}

// normal fills in what the protocol requires.
func (d EnvDescription) normal(meta Meta) EnvDescription {
	defaults := meta.described(nil)
	d.ID = cmp.Or(d.ID, defaults.ID)
	d.DisplayName = cmp.Or(d.DisplayName, defaults.DisplayName)
	if d.Profiles != nil {
		d.Profiles = normalProfiles(d.Profiles)
	}
	return d
}

// described is the default description.
func (m Meta) described(profiles []Profile) EnvDescription {
	return EnvDescription{
		ID:           cmp.Or(m.ID, "base-env"),
		DisplayName:  cmp.Or(m.DisplayName, "Base Environment"),
		Version:      m.Version,
		Capabilities: Capabilities{Profiles: true},
		Profiles:     profiles,
	}
}
