package env_test

import (
	"strings"
	"testing"

	"github.com/toolfit/toolfit/env"
)

func TestLogs(t *testing.T) {
	e := &shop{}
	for i, level := range []env.Level{env.LevelError, env.LevelDebug, env.LevelInfo, env.LevelWarn, "panic"} {
		e.logs = append(e.logs, env.LogEntry{
			Timestamp: at(10 - i), Level: level, Message: string(level), // the newest comes first here
			SessionID: []string{"ses_a", "ses_b"}[i%2], AgentID: []string{"x", "y", "z"}[i%3],
		})
	}
	e.logs = e.logs[:4]
	c := connect(t, e, nil)
	tests := []struct {
		name  string
		query env.LogQuery
		want  string
	}{
		{"all, the newest last", env.LogQuery{}, "warn info debug error"},
		{"a level is the least one", env.LogQuery{Level: env.LevelInfo}, "warn info error"},
		{"the heaviest level", env.LogQuery{Level: env.LevelError}, "error"},
		{"a limit leaves the newest", env.LogQuery{Limit: 2}, "debug error"},
		{"of a session", env.LogQuery{SessionID: "ses_b"}, "warn debug"},
		{"of an agent", env.LogQuery{AgentID: "x"}, "warn error"},
		{"of nobody", env.LogQuery{AgentID: "无"}, ""},
		{"both ends of the time are included", env.LogQuery{Since: at(8), Until: at(9)}, "info debug"},
		{"one moment", env.LogQuery{Since: at(8), Until: at(8)}, "info"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			logs, err := c.Logs(t.Context(), tt.query)
			var got []string
			for _, e := range logs {
				got = append(got, e.Message)
			}
			if err != nil || strings.Join(got, " ") != tt.want {
				t.Errorf("got %v, %v; want %s", got, err, tt.want)
			}
		})
	}
}

func TestTheUsualLimitIsAHundred(t *testing.T) {
	e := &shop{logs: make([]env.LogEntry, 1500)}
	for i := range e.logs {
		e.logs[i] = env.LogEntry{Timestamp: at(i), Level: env.LevelInfo}
	}
	c := connect(t, e, nil)
	for limit, want := range map[int]int{0: 100, 1: 1, 1000: 1000} {
		logs, err := c.Logs(t.Context(), env.LogQuery{Limit: limit})
		if err != nil || len(logs) != want || !logs[len(logs)-1].Timestamp.Equal(at(1499)) {
			t.Errorf("limit %d: got %d, %v", limit, len(logs), err)
		}
	}
}

func TestAnEntryOfAnUnknownLevelIsTakenForAnError(t *testing.T) {
	if !(env.LogQuery{Level: env.LevelError}).Matches(env.LogEntry{Level: "panic"}) {
		t.Error("it is lost")
	}
}
