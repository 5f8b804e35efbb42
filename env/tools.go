package env

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/mcp"
)

type offer struct {
	name        string // without prefix
	description string
	input       string
	output      string
	changes     bool // the tool changes something
	run         func(ctx context.Context, args json.RawMessage) (any, error)
}

// Arguments of tools without a public type.
type (
	noArguments struct{}
	byID        struct {
		ID string `json:"id"`
	}
	agentByID struct {
		ID        string `json:"id"`
		ProfileID string `json:"profileId,omitempty"`
	}
	sessionUpdate struct {
		ID string `json:"id"`
		SessionChange
	}
)

// reads decodes the arguments of a tool.
func reads[In any](run func(ctx context.Context, in In) (any, error)) func(context.Context, json.RawMessage) (any, error) {
	return func(ctx context.Context, args json.RawMessage) (any, error) {
		var in In
		args, err := plainRange(args)
		if err == nil {
			err = rawjson.Decode(args, &in)
		}
		if err != nil {
			return nil, err
		}
		return run(ctx, in)
	}
}

// plainRange checks times, and writes a limit such as 1e2 in digits.
func plainRange(args json.RawMessage) (json.RawMessage, error) {
	for _, name := range []string{"since", "until"} {
		text, given := rawjson.String(rawjson.Get(args, name))
		if given && new(time.Time).UnmarshalText([]byte(text)) != nil {
			return nil, fmt.Errorf("%s: expected a time of RFC 3339 such as 2026-01-02T15:04:05Z, got %.60q", name, text)
		}
	}
	limit := rawjson.Get(args, "limit")
	if limit == nil {
		return args, nil
	}
	n, err := strconv.ParseFloat(string(limit), 64)
	return mcp.With(mcp.Without(args, "limit"), "limit", strconv.AppendInt(nil, int64(n), 10)), err
}

// offers returns the tools that the options can serve.
func (o *Options) offers() []offer {
	all := []offer{{
		name: "get_description", description: "What this environment is and what it can do",
		input: takes("", ""), output: descriptionSchema,
		run: reads(func(ctx context.Context, _ noArguments) (any, error) {
			d, err := o.Describe(ctx)
			return d.normal(o.Meta), err
		}),
	}}
	if o.ListProfiles != nil {
		all = append(all, offer{
			name: "list_profiles", description: "All profiles: the ways to use this environment, with their agents",
			input: takes("", ""), output: gives("profiles", profilesSchema, ""),
			run: reads(func(ctx context.Context, _ noArguments) (any, error) {
				profiles, err := o.ListProfiles(ctx)
				return map[string]any{"profiles": normalProfiles(profiles)}, err
			}),
		}, offer{
			name: "get_profile", description: "One profile by its id",
			input: takes(`"id":`+idSchema, `"id"`), output: profileSchema,
			run: reads(func(ctx context.Context, in byID) (any, error) { return o.getProfile(ctx, in.ID) }),
		})
	}
	all = append(all, o.agentOffers()...)
	if o.QueryLogs != nil {
		all = append(all, offer{
			name: "query_logs", description: "What happened: the newest entries that match, the newest last. level is the least one",
			input: takes(`"sessionId":`+idSchema+`,"agentId":`+idSchema+`,"level":`+levelSchema+`,"since":`+timeSchema+
				`,"until":`+timeSchema+`,"limit":`+limitSchema, ""),
			output: gives("logs", `{"type":"array","items":`+logSchema+`}`, ""),
			run:    reads(o.queryLogs),
		})
	}
	if o.Sessions != nil {
		all = append(all, o.sessionOffers()...)
	}
	return all
}

func (o *Options) agentOffers() (all []offer) {
	if o.ListAgents != nil {
		all = append(all, offer{
			name: "list_agents", description: "The agents, of all profiles or of one",
			input: takes(`"role":`+roleSchema+`,"profileId":`+idSchema, ""), output: gives("agents", agentsSchema, ""),
			run: reads(func(ctx context.Context, in AgentFilter) (any, error) {
				agents, err := o.ListAgents(ctx, in)
				return map[string]any{"agents": normalAgents(agents)}, err
			}),
		})
	}
	if o.GetAgent != nil {
		all = append(all, offer{
			name: "get_agent", description: "One agent by its id",
			input: takes(`"id":`+idSchema+`,"profileId":`+idSchema, `"id"`), output: agentSchema,
			run: reads(func(ctx context.Context, in agentByID) (any, error) {
				agent, err := o.GetAgent(ctx, in.ID, in.ProfileID)
				if err == nil && agent.ID == "" { // a hand-written function may return an empty agent if there is none
					err = &NotFoundError{"Agent", in.ID}
				}
				return agent.normal(), err
			}),
		})
	}
	return all
}

func (o *Options) queryLogs(ctx context.Context, q LogQuery) (any, error) {
	q.Limit = cmp.Or(q.Limit, defaultLimit)
	if err := q.Check(); err != nil {
		return nil, err
	}
	logs, err := o.QueryLogs(ctx, q)
	return map[string]any{"logs": q.Select(logs)}, err
}

const (
	titleSchema     = `{"type":"string","minLength":1,"maxLength":1000}`
	directorySchema = `{"type":"string","maxLength":4096}`
)

func (o *Options) sessionOffers() []offer {
	return []offer{{
		name: "create_session", description: "A new session. All arguments are optional", changes: true,
		input: takes(`"id":`+idSchema+`,"parentID":`+idSchema+`,"title":`+titleSchema+`,"directory":`+directorySchema+
			`,"metadata":`+metadataSchema, ""),
		output: sessionSchema,
		run: reads(func(ctx context.Context, in SessionOptions) (any, error) {
			return o.Sessions.CreateSession(ctx, in.Filled(time.Now()))
		}),
	}, {
		name: "get_session", description: "One session by its id",
		input: takes(`"id":`+idSchema, `"id"`), output: sessionSchema,
		run: reads(func(ctx context.Context, in byID) (any, error) { return o.Sessions.GetSession(ctx, in.ID) }),
	}, {
		name: "list_sessions",
		description: "Sessions, the newest first. since and until are about the time of creation; " +
			"metadata must be equal by name; nextCursor leads to the next page",
		input: takes(`"parentID":`+idSchema+`,"metadata":`+metadataSchema+`,"since":`+timeSchema+`,"until":`+timeSchema+
			`,"limit":`+limitSchema+`,"cursor":{"type":"string","maxLength":1000}`, ""),
		output: gives("sessions", `{"type":"array","items":`+sessionSchema+`}`, `,"nextCursor":{"type":"string"}`),
		run: reads(func(ctx context.Context, f SessionFilter) (any, error) {
			f.Limit = cmp.Or(f.Limit, defaultLimit)
			if err := f.Check(); err != nil {
				return nil, err
			}
			page, err := o.Sessions.ListSessions(ctx, f)
			page.Sessions = append([]Session{}, page.Sessions...)
			return page, err
		}),
	}, {
		name: "update_session", description: "Replaces the title of a session, and merges metadata by name", changes: true,
		input:  takes(`"id":`+idSchema+`,"title":`+titleSchema+`,"metadata":`+metadataSchema, `"id"`),
		output: sessionSchema,
		run: reads(func(ctx context.Context, in sessionUpdate) (any, error) {
			if in.Title == "" && in.Metadata == nil {
				return nil, errors.New("there is nothing to change: give title or metadata")
			}
			return o.Sessions.UpdateSession(ctx, in.ID, in.SessionChange)
		}),
	}, {
		name: "delete_session", description: "Deletes a session. An unknown session is not an error", changes: true,
		input:  takes(`"id":`+idSchema, `"id"`),
		output: `{"type":"object","required":["id","deleted"],"properties":{"id":{"type":"string"},"deleted":{"const":true}}}`,
		run: reads(func(ctx context.Context, in byID) (any, error) {
			return map[string]any{"id": in.ID, "deleted": true}, o.Sessions.DeleteSession(ctx, in.ID)
		}),
	}}
}
