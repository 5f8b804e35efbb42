// Package workshop is the small system of the environment examples: a workshop with two
// agents, a log and sessions, as options that are written by hand. It keeps everything in
// memory and never ends a session by itself.
//
//	server, err := env.NewServer(nil, workshop.Options())
package workshop

import (
	"context"
	"time"

	"github.com/toolfit/toolfit/env"
)

// Options are the workshop. What is not stated here is not offered; agents are found in the
// profiles.
func Options() *env.Options {
	opened := time.Now()
	profiles := []env.Profile{{
		ID:          "default",
		DisplayName: "Workshop",
		PrimaryAgents: []env.AgentSpec{
			{ID: "foreman", Role: env.RolePrimary, PromptID: env.SystemPrompt, AllowedTools: []string{"*"}},
		},
		SubAgents: []env.AgentSpec{
			{ID: "apprentice", Role: env.RoleSub, AllowedTools: []string{"read_*"}, DeniedTools: []string{"read_safe"}},
		},
	}}
	return &env.Options{
		Meta: env.Meta{ID: "workshop", DisplayName: "Workshop", Version: "1.0.0"},
		ListProfiles: func(context.Context) ([]env.Profile, error) {
			return profiles, nil
		},
		// The server filters and cuts what comes from here, so all of it may be returned.
		QueryLogs: func(context.Context, env.LogQuery) ([]env.LogEntry, error) {
			return []env.LogEntry{
				{Timestamp: opened, Level: env.LevelInfo, Message: "opened", AgentID: "foreman"},
				{Timestamp: opened.Add(time.Second), Level: env.LevelWarn, Message: "the saw is blunt", AgentID: "apprentice"},
			}, nil
		},
		Sessions: env.NewMemorySessions(nil),
	}
}
