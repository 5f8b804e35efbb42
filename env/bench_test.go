package env

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/mcp"
)

func BenchmarkCall(b *testing.B) {
	logs := make([]LogEntry, 100)
	for i := range logs {
		logs[i] = LogEntry{Timestamp: time.Unix(int64(i), 0), Level: LevelInfo, Message: "something happened", SessionID: "ses_1"}
	}
	server, err := NewServer(nil, &Options{
		ListProfiles: func(context.Context) ([]Profile, error) {
			return []Profile{{ID: "p", DisplayName: "P", PrimaryAgents: []AgentSpec{{ID: "a"}}}}, nil
		},
		QueryLogs: func(context.Context, LogQuery) ([]LogEntry, error) { return logs, nil },
	})
	if err != nil {
		b.Fatal(err)
	}
	for name, params := range map[string]string{
		"description": `{"name":"env/get_description","arguments":{}}`,
		"100 logs":    `{"name":"env/query_logs","arguments":{"level":"info","limit":100}}`,
		"refused":     `{"name":"env/query_logs","arguments":{"limit":0}}`,
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := server.serve(b.Context(),
					&mcp.Request{Method: "tools/call", Params: json.RawMessage(params), Client: mcp.Deaf}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
