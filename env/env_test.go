package env_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/toolfit/toolfit/env"
)

// shop is an environment with everything.
type shop struct {
	env.Base
	logs     []env.LogEntry
	profiles func() ([]env.Profile, error)
}

func (*shop) Meta() env.Meta { return env.Meta{ID: "shop", DisplayName: "商店", Version: "1.2"} }

func (*shop) Prompts(context.Context) ([]env.Prompt, error) {
	return []env.Prompt{
		{ID: env.SystemPrompt, Text: "You keep a shop."},
		{ID: "greet", Arguments: []env.PromptArgument{{Name: "who", Required: true}},
			Render: func(_ context.Context, args map[string]string) (string, error) {
				if args["who"] == "nobody" {
					return "", errors.New("there must be somebody")
				}
				return "Hello " + args["who"], nil
			}},
	}, nil
}

func (*shop) Tools(context.Context) ([]env.Tool, error) {
	return []env.Tool{
		{
			Name: "price", Description: "The price of a thing", ReadOnly: true,
			InputSchema: json.RawMessage(`{"type":"object","properties":{"thing":{"type":"string"},"n":{"type":"integer","maximum":9}},"required":["thing"],"additionalProperties":false}`),
			Call: func(_ context.Context, args json.RawMessage) (any, error) {
				return map[string]json.RawMessage{"asked": args}, nil
			},
		},
		{Name: "say", Call: func(context.Context, json.RawMessage) (any, error) { return "hello <b>", nil }},
		{Name: "raw", Call: func(context.Context, json.RawMessage) (any, error) {
			return env.RawResult(`{"content":[],"n":12345678901234567890}`), nil
		}},
		{Name: "fail", Call: func(context.Context, json.RawMessage) (any, error) { return nil, errors.New("sold out") }},
		{Name: "panic", Call: func(context.Context, json.RawMessage) (any, error) { panic("secret") }},
	}, nil
}

func (s *shop) Logs(context.Context, env.LogQuery) ([]env.LogEntry, error) { return s.logs, nil }

func (s *shop) Profiles(context.Context) ([]env.Profile, error) {
	if s.profiles != nil {
		return s.profiles()
	}
	return []env.Profile{
		{ID: "day", DisplayName: "Day", PrimaryAgents: []env.AgentSpec{{ID: "clerk", Role: env.RolePrimary}},
			SubAgents: []env.AgentSpec{{ID: "runner", Role: env.RoleSub, AllowedTools: []string{"p*", "say"},
				DeniedTools: []string{"panic"}}}},
		{ID: "night", DisplayName: "Night", PrimaryAgents: []env.AgentSpec{{ID: "guard", Role: env.RolePrimary, AllowedTools: []string{}},
			{ID: "clerk", Role: env.RolePrimary}},
			Metadata: env.Metadata{"big": json.RawMessage("12345678901234567890")}},
	}, nil
}

// plain has the two methods and nothing else.
type plain struct {
	tools   []env.Tool
	prompts []env.Prompt
	err     error
}

func (p plain) Prompts(context.Context) ([]env.Prompt, error) { return p.prompts, p.err }
func (p plain) Tools(context.Context) ([]env.Tool, error)     { return p.tools, p.err }

func at(minute int) time.Time { return time.Date(2026, 1, 2, 3, minute, 0, 0, time.UTC) }

// connect serves the environment on pipes and returns a client.
func connect(t *testing.T, e env.Environment, opts *env.Options) *env.Client {
	t.Helper()
	server, err := env.NewServer(e, opts)
	if err != nil {
		t.Fatal(err)
	}
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- server.Run(t.Context(), fromClient, toClient)
		toClient.Close()
	}()
	c, err := env.NewClient(t.Context(), fromServer, toServer)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(c.Close(), <-done); err != nil {
			t.Error(err)
		}
	})
	return c
}
