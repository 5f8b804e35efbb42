package gatewayenv

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/toolfit/toolfit/env"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/store"
)

// recent is how many calls may not be in the store yet.
const recent = 256

// logs returns records of calls, including recent ones that are not stored yet. Callers see their
// own.
func (g *Gateway) logs(ctx context.Context, who access.Principal, q env.LogQuery) ([]env.LogEntry, error) {
	f := store.CallFilter{Session: q.SessionID, Agent: q.AgentID, Level: string(q.Level), Since: q.Since, Until: q.Until, Limit: q.Limit}
	if !who.MayRead() {
		f.Principal = who.ID
	}
	calls := g.parts.Recent(recent) // first: what is written meanwhile is then in both
	stored, err := g.parts.Store.Calls(ctx, f)
	if err != nil {
		return nil, g.told(err)
	}
	known := make(map[string]bool, len(stored))
	for _, c := range stored {
		known[c.ID] = true
	}
	calls = slices.DeleteFunc(calls, func(c store.Call) bool { return known[c.ID] || f.Principal != "" && c.Principal != f.Principal })
	calls = append(calls, stored...)
	slices.SortFunc(calls, func(a, b store.Call) int { return strings.Compare(a.ID, b.ID) })
	logs := []env.LogEntry{}
	for _, c := range calls {
		c.At = c.At.Truncate(time.Microsecond) // as the store keeps it
		if q.Matches(env.LogEntry{Timestamp: c.At, Level: env.Level(c.Level), SessionID: c.Session, AgentID: c.Agent}) {
			logs = append(logs, entryOf(c))
		}
	}
	return logs, nil
}

// entryOf turns a record into a log entry.
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
	e.Context = env.Metadata{"id": c.ID, "principal": c.Principal, "profile": c.Profile, "outcome": c.Outcome,
		"duration_ms": float64(c.Duration.Microseconds()) / 1000}
	for name, text := range map[string]string{"server": string(c.Server), "code": c.Code, "rule": c.Rule, "ref": c.Ref, "trace": c.Trace} {
		if text != "" {
			e.Context[name] = text
		}
	}
	for name, n := range map[string]int64{"bytes_in": c.BytesIn, "bytes_full": c.BytesFull, "bytes_sent": c.BytesSent,
		"tokens_in": c.TokensIn, "tokens_full": c.TokensFull, "tokens_sent": c.TokensSent} {
		if n != 0 {
			e.Context[name] = n
		}
	}
	if json.Valid([]byte(c.Repairs)) {
		e.Context["repairs"] = json.RawMessage(c.Repairs)
	}
	return e
}
