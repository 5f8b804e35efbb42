package gatewayenv

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/env"
	"github.com/toolfit/toolfit/internal/access"
	"github.com/toolfit/toolfit/internal/store"
)

// logs are the records of calls: of all for those who may read, else the caller's own.
func (g *Gateway) logs(ctx context.Context, who access.Principal, q env.LogQuery) ([]env.LogEntry, error) {
	f := store.CallFilter{Session: q.SessionID, Agent: q.AgentID, Level: string(q.Level), Since: q.Since, Until: q.Until, Limit: q.Limit}
	if !who.MayRead() {
		f.Principal = who.ID
	}
	calls, err := g.parts.Store.Calls(ctx, f)
	if err != nil {
		return nil, err
	}
	logs := make([]env.LogEntry, len(calls))
	for i, c := range calls {
		logs[i] = entryOf(c)
	}
	slices.Reverse(logs)
	return logs, nil
}

// entryOf is the record of a call as a log entry.
func entryOf(c store.Call) env.LogEntry {
	e := env.LogEntry{Timestamp: c.At, Level: env.Level(c.Level), SessionID: c.Session, AgentID: c.Agent, ToolName: string(c.Tool)}
	if e.ToolName == "" {
		e.ToolName = c.Upstream // there is no such tool
	}
	said := []string{e.ToolName, c.Outcome}
	for _, more := range []string{c.Code, c.Message} {
		if more != "" {
			said = append(said, more)
		}
	}
	e.Message = strings.Join(said, ": ")
	e.Context = env.Metadata{"id": c.ID, "principal": c.Principal, "profile": c.Profile, "outcome": c.Outcome, "duration_ms": float64(c.Duration.Microseconds()) / 1000}
	for name, text := range map[string]string{"server": string(c.Server), "code": c.Code, "rule": c.Rule, "ref": c.Ref, "trace": c.Trace} {
		if text != "" {
			e.Context[name] = text
		}
	}
	for name, n := range map[string]int64{"bytes_in": c.BytesIn, "bytes_full": c.BytesFull, "bytes_sent": c.BytesSent, "tokens_in": c.TokensIn, "tokens_full": c.TokensFull, "tokens_sent": c.TokensSent} {
		if n != 0 {
			e.Context[name] = n
		}
	}
	if json.Valid([]byte(c.Repairs)) {
		e.Context["repairs"] = json.RawMessage(c.Repairs)
	}
	return e
}
