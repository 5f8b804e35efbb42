package env

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"time"
)

// Meta identifies an environment.
type Meta struct {
	ID          string // "": base-env
	DisplayName string // "": Base Environment
	Version     string // "": not stated
}

// Names says under which names protocol tools are listed. Both can always be called.
type Names string

const (
	NamesSlash      Names = "slash"      // env/get_description, as the protocol was first written
	NamesUnderscore Names = "underscore" // env_get_description, which every model provider takes
	NamesBoth       Names = "both"
)

// Options are what a server offers. Each part can be set, or derived from an Environment; the rest
// is not offered.
type Options struct {
	Meta Meta // zero fields: as the environment says

	Describe     func(ctx context.Context) (EnvDescription, error)                  // nil: derived from Meta and the rest
	ListProfiles func(ctx context.Context) ([]Profile, error)                       // nil: of the environment
	ListAgents   func(ctx context.Context, f AgentFilter) ([]AgentSpec, error)      // nil: those of the profiles
	GetAgent     func(ctx context.Context, id, profileID string) (AgentSpec, error) // nil: out of ListAgents
	QueryLogs    func(ctx context.Context, q LogQuery) ([]LogEntry, error)          // nil: of the environment
	Sessions     Sessions                                                           // nil: of the environment

	Names   Names  // "": NamesSlash, which clients of the protocol know
	Agent   string // own tools are offered as this agent may use them; "": all
	Profile string // the profile in which Agent is looked for; "": any

	TaskTTL time.Duration // a task is canceled and forgotten so long after its start; 0: one hour

	// Hosts are additional host names of a server that listens on loopback, as behind a proxy; "*":
	// any.
	Hosts  []string
	Logger *slog.Logger // nil: discard
}

// AgentFilter selects agents; zero fields match all.
type AgentFilter struct {
	Role      Role   `json:"role,omitempty"`
	ProfileID string `json:"profileId,omitempty"`
}

// filled returns a copy with defaults.
func (o *Options) filled() (*Options, error) {
	c := Options{}
	if o != nil {
		c = *o
	}
	switch c.Names {
	case "":
		c.Names = NamesSlash
	case NamesSlash, NamesUnderscore, NamesBoth:
	default:
		return nil, fmt.Errorf("names: %q is none of slash, underscore, both", string(c.Names))
	}
	c.TaskTTL = cmp.Or(c.TaskTTL, time.Hour)
	if c.TaskTTL < time.Millisecond {
		return nil, fmt.Errorf("task TTL: %s is shorter than a millisecond", c.TaskTTL)
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.ListAgents == nil && c.ListProfiles != nil {
		c.ListAgents = c.agentsOfProfiles
	}
	if c.GetAgent == nil && c.ListAgents != nil {
		c.GetAgent = c.agentOfList
	}
	if c.Describe == nil {
		c.Describe = c.describe
	}
	return &c, nil
}

func (o *Options) describe(ctx context.Context) (EnvDescription, error) {
	d := o.Meta.described(nil)
	d.Capabilities = Capabilities{Logs: o.QueryLogs != nil, Sessions: o.Sessions != nil, Profiles: o.ListProfiles != nil}
	var err error
	if o.ListProfiles != nil {
		d.Profiles, err = o.ListProfiles(ctx)
	}
	return d, err
}
