package env

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

const (
	titleSchema     = `{"type":"string","minLength":1,"maxLength":1000}`
	directorySchema = `{"type":"string","maxLength":4096}`
)

// sessionOffers are the tools of an environment with sessions.
func (o *Options) sessionOffers() []offer {
	return []offer{{
		name: "create_session", description: "A new session. All arguments are optional", changes: true,
		input: takes(`"id":`+idSchema+`,"parentID":`+idSchema+`,"title":`+titleSchema+`,"directory":`+directorySchema+
			`,"metadata":`+metadataSchema, ""),
		output: sessionSchema, run: o.createSession,
	}, {
		name: "get_session", description: "One session by its id",
		input: takes(`"id":`+idSchema, `"id"`), output: sessionSchema,
		run: func(ctx context.Context, args json.RawMessage) (any, error) {
			id, err := readID(args)
			if err != nil {
				return nil, err
			}
			return o.Sessions.GetSession(ctx, id)
		},
	}, {
		name:        "list_sessions",
		description: "Sessions, the newest first. since and until are about the time of creation; metadata must be equal by name; nextCursor leads to the next page",
		input: takes(`"parentID":`+idSchema+`,"metadata":`+metadataSchema+`,"since":`+timeSchema+`,"until":`+timeSchema+
			`,"limit":`+limitSchema+`,"cursor":{"type":"string","maxLength":1000}`, ""),
		output: gives("sessions", `{"type":"array","items":`+sessionSchema+`}`, `,"nextCursor":{"type":"string"}`),
		run:    o.listSessions,
	}, {
		name: "update_session", description: "Replaces the title of a session, and merges metadata by name", changes: true,
		input:  takes(`"id":`+idSchema+`,"title":`+titleSchema+`,"metadata":`+metadataSchema, `"id"`),
		output: sessionSchema, run: o.updateSession,
	}, {
		name: "delete_session", description: "Forgets a session. One that is not there is no error", changes: true,
		input:  takes(`"id":`+idSchema, `"id"`),
		output: `{"type":"object","required":["id","deleted"],"properties":{"id":{"type":"string"},"deleted":{"const":true}}}`,
		run: func(ctx context.Context, args json.RawMessage) (any, error) {
			id, err := readID(args)
			if err != nil {
				return nil, err
			}
			return map[string]any{"id": id, "deleted": true}, o.Sessions.DeleteSession(ctx, id)
		},
	}}
}

func readID(args json.RawMessage) (string, error) {
	var in struct{ ID string }
	err := rawjson.Decode(args, &in)
	return in.ID, err
}

func (o *Options) createSession(ctx context.Context, args json.RawMessage) (any, error) {
	var in SessionOptions
	if err := rawjson.Decode(args, &in); err != nil {
		return nil, err
	}
	return o.Sessions.CreateSession(ctx, in.Filled(time.Now()))
}

func (o *Options) updateSession(ctx context.Context, args json.RawMessage) (any, error) {
	var in struct {
		ID       string
		Title    string
		Metadata Metadata
	}
	if err := rawjson.Decode(args, &in); err != nil {
		return nil, err
	}
	if in.Title == "" && in.Metadata == nil {
		return nil, errors.New("there is nothing to change: give title or metadata")
	}
	return o.Sessions.UpdateSession(ctx, in.ID, SessionChange{Title: in.Title, Metadata: in.Metadata})
}

func (o *Options) listSessions(ctx context.Context, args json.RawMessage) (any, error) {
	in := struct {
		ParentID     string
		Metadata     Metadata
		Since, Until *string
		Limit        json.Number
		Cursor       string
	}{Limit: "100"}
	if err := rawjson.Decode(args, &in); err != nil {
		return nil, err
	}
	f := SessionFilter{ParentID: in.ParentID, Metadata: in.Metadata, Cursor: in.Cursor}
	var err error
	if f.Since, f.Until, f.Limit, err = readRange(in.Since, in.Until, in.Limit); err != nil {
		return nil, err
	}
	if err := f.Check(); err != nil {
		return nil, err
	}
	page, err := o.Sessions.ListSessions(ctx, f)
	page.Sessions = append([]Session{}, page.Sessions...)
	return page, err
}
