package env

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// offer is one tool of the protocol.
type offer struct {
	name        string // without what stands before it
	description string
	input       string
	output      string
	changes     bool // the tool changes something
	run         func(ctx context.Context, args json.RawMessage) (any, error)
}

// offers are the tools that the options can serve.
func (o *Options) offers() []offer {
	all := []offer{{
		name: "get_description", description: "What this environment is and what it can do",
		input: takes("", ""), output: descriptionSchema,
		run: func(ctx context.Context, _ json.RawMessage) (any, error) {
			d, err := o.Describe(ctx)
			return d.normal(o.Meta), err
		},
	}}
	if o.ListProfiles != nil {
		all = append(all, o.profileOffers()...)
	}
	all = append(all, o.agentOffers()...)
	if o.QueryLogs != nil {
		all = append(all, o.logOffer())
	}
	if o.Sessions != nil {
		all = append(all, o.sessionOffers()...)
	}
	return all
}

func (o *Options) profileOffers() []offer {
	return []offer{{
		name: "list_profiles", description: "All profiles: the ways to use this environment, with their agents",
		input: takes("", ""), output: gives("profiles", profilesSchema, ""),
		run: func(ctx context.Context, _ json.RawMessage) (any, error) {
			all, err := o.ListProfiles(ctx)
			return map[string]any{"profiles": normalProfiles(all)}, err
		},
	}, {
		name: "get_profile", description: "One profile by its id",
		input: takes(`"id":`+idSchema, `"id"`), output: profileSchema,
		run: func(ctx context.Context, args json.RawMessage) (any, error) {
			var in struct{ ID string }
			if err := rawjson.Decode(args, &in); err != nil {
				return nil, err
			}
			return o.getProfile(ctx, in.ID)
		},
	}}
}

func (o *Options) agentOffers() (all []offer) {
	if o.ListAgents != nil {
		all = append(all, offer{
			name: "list_agents", description: "The agents, of all profiles or of one",
			input: takes(`"role":`+roleSchema+`,"profileId":`+idSchema, ""), output: gives("agents", agentsSchema, ""),
			run: func(ctx context.Context, args json.RawMessage) (any, error) {
				var in struct {
					Role      Role
					ProfileID string `json:"profileId"`
				}
				if err := rawjson.Decode(args, &in); err != nil {
					return nil, err
				}
				agents, err := o.ListAgents(ctx, AgentFilter{in.Role, in.ProfileID})
				return map[string]any{"agents": normalAgents(agents)}, err
			},
		})
	}
	if o.GetAgent != nil {
		all = append(all, offer{
			name: "get_agent", description: "One agent by its id",
			input: takes(`"id":`+idSchema+`,"profileId":`+idSchema, `"id"`), output: agentSchema,
			run: func(ctx context.Context, args json.RawMessage) (any, error) {
				var in struct {
					ID        string
					ProfileID string `json:"profileId"`
				}
				if err := rawjson.Decode(args, &in); err != nil {
					return nil, err
				}
				agent, err := o.GetAgent(ctx, in.ID, in.ProfileID)
				if err == nil && agent.ID == "" { // written by hand, this is how it says that there is none
					err = &NotFoundError{"Agent", in.ID}
				}
				return agent.normal(), err
			},
		})
	}
	return all
}

func (o *Options) logOffer() offer {
	return offer{
		name: "query_logs", description: "What happened: the newest entries that match, the newest last. level is the least one",
		input: takes(`"sessionId":`+idSchema+`,"agentId":`+idSchema+`,"level":`+levelSchema+`,"since":`+timeSchema+`,"until":`+timeSchema+
			`,"limit":`+limitSchema, ""),
		output: gives("logs", `{"type":"array","items":`+logSchema+`}`, ""),
		run:    o.queryLogs,
	}
}

func (o *Options) queryLogs(ctx context.Context, args json.RawMessage) (any, error) {
	in := struct {
		SessionID    string `json:"sessionId"`
		AgentID      string `json:"agentId"`
		Level        Level
		Since, Until *string
		Limit        json.Number
	}{Limit: "100"}
	if err := rawjson.Decode(args, &in); err != nil {
		return nil, err
	}
	q := LogQuery{SessionID: in.SessionID, AgentID: in.AgentID, Level: in.Level}
	var err error
	if q.Since, q.Until, q.Limit, err = readRange(in.Since, in.Until, in.Limit); err != nil {
		return nil, err
	}
	if err := q.Check(); err != nil {
		return nil, err
	}
	logs, err := o.QueryLogs(ctx, q)
	return map[string]any{"logs": q.Select(logs)}, err
}

// readRange reads what bounds a list. The limit is an integer by its schema, but JSON may
// write one as 1e2.
func readRange(since, until *string, limit json.Number) (from, to time.Time, most int, err error) {
	if from, err = readTime("since", since); err != nil {
		return
	}
	if to, err = readTime("until", until); err != nil {
		return
	}
	n, err := limit.Float64()
	return from, to, int(n), err
}

func readTime(name string, text *string) (time.Time, error) {
	if text == nil {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339, *text)
	if err != nil {
		return t, fmt.Errorf("%s: expected a time of RFC 3339 such as 2026-01-02T15:04:05Z, got %.60q", name, *text)
	}
	return t, nil
}
