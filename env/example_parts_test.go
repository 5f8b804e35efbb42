package env_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/toolfit/toolfit/env"
)

// harbour is an environment with everything that can be had of one.
type harbour struct{ env.Base }

func (*harbour) Meta() env.Meta { return env.Meta{ID: "harbour", DisplayName: "港口", Version: "2"} }

func (*harbour) Prompts(context.Context) ([]env.Prompt, error) {
	return []env.Prompt{{ID: env.SystemPrompt, Text: "You run a harbour."}}, nil
}

func (*harbour) Tools(context.Context) ([]env.Tool, error) { return nil, nil }

func (*harbour) Profiles(context.Context) ([]env.Profile, error) {
	return []env.Profile{{
		ID: "night", DisplayName: "Night shift",
		PrimaryAgents: []env.AgentSpec{{ID: "master", PromptID: env.SystemPrompt}},
		SubAgents:     []env.AgentSpec{{ID: "pilot", AllowedTools: []string{"tide_*"}}},
	}}, nil
}

func (*harbour) Logs(_ context.Context, q env.LogQuery) ([]env.LogEntry, error) {
	return []env.LogEntry{{Timestamp: time.Unix(60, 0), Level: env.LevelWarn, Message: "fog", AgentID: "pilot"}}, nil
}

func ExampleEnvironment() {
	var e env.Environment = &library{}
	tools, err := e.Tools(context.Background())
	prompts, _ := e.Prompts(context.Background())
	fmt.Println(tools[0].Name, prompts[0].ID == env.SystemPrompt, err)
	// Output: lend true <nil>
}

func ExampleHasMeta() {
	var e env.HasMeta = &harbour{}
	fmt.Println(e.Meta().DisplayName)
	// Output: 港口
}

func ExampleHasProfiles() {
	var e env.HasProfiles = &harbour{}
	profiles, err := e.Profiles(context.Background())
	fmt.Println(profiles[0].ID, err)
	// Output: night <nil>
}

func ExampleHasLogs() {
	var e env.HasLogs = &harbour{}
	logs, err := e.Logs(context.Background(), env.LogQuery{})
	fmt.Println(logs[0].Message, err)
	// Output: fog <nil>
}

func ExampleMeta() {
	opts, err := env.Derive(&harbour{}, env.Meta{Version: "3"}, nil) // what is stated wins
	fmt.Println(opts.Meta.ID, opts.Meta.Version, err)
	// Output: harbour 3 <nil>
}

func ExampleNames() {
	for _, names := range []env.Names{env.NamesSlash, env.NamesUnderscore, env.NamesBoth} {
		tools, err := env.ProtocolTools(&env.Options{Names: names})
		fmt.Println(names, len(tools), tools[0].Name, err)
	}
	// Output:
	// slash 1 env/get_description <nil>
	// underscore 1 env_get_description <nil>
	// both 2 env/get_description <nil>
}

func ExampleProfile() {
	profiles, err := env.Profiles(context.Background(), &harbour{}, env.Meta{})
	night := profiles[0]
	fmt.Println(night.DisplayName, night.PrimaryAgents[0].ID, night.SubAgents[0].ID, err)
	// Output: Night shift master pilot <nil>
}

func ExampleAgentSpec() {
	agent := env.AgentSpec{ID: "pilot", Role: env.RoleSub, PromptOverride: "Bring ships in.", AllowedTools: []string{"tide_*"},
		Metadata: env.Metadata{"boats": 2}}
	raw, err := json.Marshal(agent)
	fmt.Println(string(raw), err)
	// Output: {"id":"pilot","role":"sub","promptOverride":"Bring ships in.","allowedTools":["tide_*"],"metadata":{"boats":2}} <nil>
}

func ExampleRole() {
	opts, err := env.Derive(&harbour{}, env.Meta{}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, role := range []env.Role{env.RolePrimary, env.RoleSub} {
		agents, err := opts.ListAgents(context.Background(), env.AgentFilter{Role: role})
		fmt.Println(role, agents[0].ID, err)
	}
	// Output:
	// primary master <nil>
	// sub pilot <nil>
}

func ExampleAgentFilter() {
	opts, err := env.Derive(&harbour{}, env.Meta{}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	agents, err := opts.ListAgents(context.Background(), env.AgentFilter{ProfileID: "night"})
	fmt.Println(len(agents), err)
	_, err = opts.ListAgents(context.Background(), env.AgentFilter{ProfileID: "day"})
	fmt.Println(err)
	// Output:
	// 2 <nil>
	// Profile not found: day
}

func ExampleTool() {
	tool := env.Tool{
		Name: "tide", Description: "Tells the tide", InputSchema: json.RawMessage(`{"type":"object"}`), ReadOnly: true,
		Call: func(context.Context, json.RawMessage) (any, error) { return "high", nil },
	}
	definition, err := tool.Definition() // as tools/list shows it
	fmt.Println(string(definition), err)
	result, err := tool.Result(context.Background(), nil) // as tools/call answers
	fmt.Println(string(result), err)
	// Output:
	// {"name":"tide","description":"Tells the tide","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}} <nil>
	// {"content":[{"type":"text","text":"high"}]} <nil>
}

func ExampleTool_Result() {
	tools, err := env.ProtocolTools(&env.Options{Describe: func(context.Context) (env.EnvDescription, error) { panic("the map is lost") }})
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := tools[0].Result(context.Background(), nil)
	fmt.Println(string(result), errors.Is(err, env.ErrPanicked))
	// Output: {"content":[{"type":"text","text":"{\"error\":\"internal error\"}"}],"isError":true} true
}

func ExampleNewTool() {
	type ship struct {
		Name   string `json:"name" doc:"as painted on the bow"`
		Length int    `json:"length,omitempty"`
	}
	tool := env.NewTool("berth", "Finds a berth", func(_ context.Context, in ship) (any, error) {
		return map[string]string{"berth": "quay 3, " + in.Name}, nil
	})
	fmt.Println(string(tool.InputSchema))
	// Output: {"type":"object","properties":{"name":{"type":"string","description":"as painted on the bow"},"length":{"type":"integer"}},"additionalProperties":false,"required":["name"]}
}

func ExampleRawResult() {
	tool := env.Tool{Name: "chart", Call: func(context.Context, json.RawMessage) (any, error) {
		return env.RawResult(`{"content":[{"type":"image","data":"AA==","mimeType":"image/png"}]}`), nil
	}}
	result, err := tool.Result(context.Background(), nil)
	fmt.Println(string(result), err)
	// Output: {"content":[{"type":"image","data":"AA==","mimeType":"image/png"}]} <nil>
}

func ExamplePrompt() {
	greet := env.Prompt{
		ID: "greet", Arguments: []env.PromptArgument{{Name: "ship", Required: true}},
		Render: func(_ context.Context, args map[string]string) (string, error) {
			return "Welcome, " + args["ship"], nil
		},
	}
	definition, err := greet.Definition() // as prompts/list shows it
	fmt.Println(string(definition), err)
	result, err := greet.Result(context.Background(), map[string]string{"ship": "Pequod"}) // as prompts/get answers
	fmt.Println(string(result), err)
	_, err = greet.Result(context.Background(), nil)
	fmt.Println(err)
	// Output:
	// {"name":"greet","arguments":[{"name":"ship","required":true}]} <nil>
	// {"messages":[{"role":"user","content":{"type":"text","text":"Welcome, Pequod"}}]} <nil>
	// prompt greet needs the argument ship
}

func ExamplePromptArgument() {
	raw, err := json.Marshal(env.PromptArgument{Name: "ship", Description: "its name", Required: true})
	fmt.Println(string(raw), err)
	// Output: {"name":"ship","description":"its name","required":true} <nil>
}

func ExampleLevel() {
	for _, level := range []env.Level{env.LevelDebug, env.LevelInfo, env.LevelWarn, env.LevelError} {
		fmt.Println(level, env.LogQuery{Level: env.LevelWarn}.Matches(env.LogEntry{Level: level}))
	}
	// Output:
	// debug false
	// info false
	// warn true
	// error true
}

func ExampleLogEntry() {
	raw, err := json.Marshal(env.LogEntry{
		Timestamp: time.Unix(60, 0).UTC(), Level: env.LevelInfo, Message: "moored", SessionID: "ses_1", ToolName: "berth",
		Context: env.Metadata{"quay": 3},
	})
	fmt.Println(string(raw), err)
	// Output: {"timestamp":"1970-01-01T00:01:00Z","level":"info","message":"moored","sessionId":"ses_1","toolName":"berth","context":{"quay":3}} <nil>
}

func ExampleLogQuery() {
	q := env.LogQuery{AgentID: "pilot", Since: time.Unix(60, 0).UTC(), Until: time.Unix(50, 0).UTC()}
	fmt.Println(q.Check())
	q.Until = time.Time{}
	fmt.Println(q.Check(), q.Matches(env.LogEntry{Timestamp: time.Unix(60, 0), AgentID: "pilot"}))
	// Output:
	// since: 1970-01-01T00:01:00Z is after until, 1970-01-01T00:00:50Z
	// <nil> true
}

func ExampleEnvDescription() {
	var d env.EnvDescription
	err := json.Unmarshal([]byte(`{"id":"x","displayName":"X","capabilities":{"logs":true,"weather":"fine"}}`), &d)
	fmt.Println(d.ID, d.Capabilities.Logs, d.Capabilities.Sessions, err)
	// Output: x true false <nil>
}

func ExampleCapabilities() {
	raw, err := json.Marshal(env.Capabilities{Logs: true, More: env.Metadata{"weather": "fine"}})
	fmt.Println(string(raw), err)
	var back env.Capabilities
	err = back.UnmarshalJSON(raw)
	fmt.Println(back.Logs, back.Events, len(back.More), err)
	// Output:
	// {"events":false,"logs":true,"mcpTools":false,"metrics":false,"profiles":false,"sessions":false,"weather":"fine"} <nil>
	// true false 1 <nil>
}

func ExampleMetadata() {
	var m env.Metadata
	err := json.Unmarshal([]byte(`{"id":10000000000000000001,"tags":["a"]}`), &m) // no digit is lost
	var tags []string
	fmt.Println(string(m["id"].(json.RawMessage)), m.Get("tags", &tags), tags, m.Get("none", &tags), err)
	// Output: 10000000000000000001 true [a] false <nil>
}

func ExampleSchema() {
	var schema struct {
		Title string
		Defs  map[string]json.RawMessage `json:"$defs"`
	}
	err := json.Unmarshal(env.Schema(), &schema)
	fmt.Println(schema.Title, strings.Contains(string(schema.Defs["query_logs.input"]), "sessionId"), err)
	// Output: Environment protocol true <nil>
}

// shelf is a host of one's own: it takes what an environment offers.
type shelf struct{ names []string }

func (s *shelf) AddTool(t env.Tool) error     { s.names = append(s.names, t.Name); return nil }
func (s *shelf) AddPrompt(p env.Prompt) error { s.names = append(s.names, "prompt "+p.ID); return nil }

func ExampleHost() {
	var host env.Host = &shelf{}
	err := env.Attach(context.Background(), host, &harbour{}, &env.Options{Names: env.NamesUnderscore})
	names := host.(*shelf).names
	fmt.Println(len(names), names[0], names[len(names)-1], err)
	// Output: 12 env_get_description prompt system <nil>
}

func ExampleServer() {
	server, err := env.NewServer(&library{}, nil) // an http.Handler; Run serves pipes
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	err = server.AddTool(env.Tool{Name: "open", Call: func(context.Context, json.RawMessage) (any, error) { return "open", nil }})
	fmt.Println(err, server.AddPrompt(env.Prompt{ID: "welcome", Text: "Come in."}))
	fmt.Println(server.AddTool(env.Tool{Name: "env_get_description"}))
	server.Changed() // clients ask for the lists again
	// Output:
	// <nil> <nil>
	// tool env_get_description cannot be called: it has no Call
}
