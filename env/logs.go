package env

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Level is the severity of a log entry.
type Level string

const (
	LevelDebug Level = "debug"
	LevelInfo  Level = "info"
	LevelWarn  Level = "warn"
	LevelError Level = "error"
)

// weight orders the levels; -1: unknown.
func (l Level) weight() int {
	return slices.Index([]Level{LevelDebug, LevelInfo, LevelWarn, LevelError}, l)
}

// known returns error for an unknown level.
func (l Level) known() Level {
	if l.weight() < 0 {
		return LevelError
	}
	return l
}

// LogQuery selects log entries; zero fields match all.
type LogQuery struct {
	SessionID string    `json:"sessionId,omitempty"`
	AgentID   string    `json:"agentId,omitempty"`
	Level     Level     `json:"level,omitempty"` // the least
	Since     time.Time `json:"since,omitzero"`  // inclusive
	Until     time.Time `json:"until,omitzero"`  // inclusive
	Limit     int       `json:"limit,omitempty"` // the newest so many, 1 to 1000; 0: 100
}

const (
	defaultLimit = 100
	maxLimit     = 1000
)

// Check validates the query.
func (q LogQuery) Check() error {
	if q.Level != "" && q.Level.weight() < 0 {
		return fmt.Errorf("level: expected debug, info, warn or error, got %q", string(q.Level))
	}
	return checkPage(q.Limit, q.Since, q.Until)
}

func checkPage(limit int, since, until time.Time) error {
	if limit < 0 || limit > maxLimit {
		return fmt.Errorf("limit: expected 1 to %d, got %d", maxLimit, limit)
	}
	if !since.IsZero() && !until.IsZero() && since.After(until) {
		return fmt.Errorf("since: %s is after until, %s", stamp(since), stamp(until))
	}
	return nil
}

func stamp(t time.Time) string { return t.Format(time.RFC3339Nano) }

// Matches tells whether the query selects the entry.
func (q LogQuery) Matches(e LogEntry) bool {
	return (q.SessionID == "" || q.SessionID == e.SessionID) &&
		(q.AgentID == "" || q.AgentID == e.AgentID) &&
		e.Level.known().weight() >= q.Level.weight() &&
		(q.Since.IsZero() || !e.Timestamp.Before(q.Since)) &&
		(q.Until.IsZero() || !e.Timestamp.After(q.Until))
}

// Select returns the newest matching entries, newest last. Unknown levels become error.
func (q LogQuery) Select(all []LogEntry) []LogEntry {
	out := []LogEntry{}
	for _, e := range all {
		if q.Matches(e) {
			e.Level = e.Level.known()
			out = append(out, e)
		}
	}
	slices.SortStableFunc(out, func(a, b LogEntry) int { return a.Timestamp.Compare(b.Timestamp) })
	return out[max(0, len(out)-cmp.Or(q.Limit, defaultLimit)):]
}
