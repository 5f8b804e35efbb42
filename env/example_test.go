package env_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/toolfit/toolfit/env"
)

// library is an environment with one tool.
type library struct{ env.Base }

func (*library) Prompts(context.Context) ([]env.Prompt, error) {
	return []env.Prompt{{ID: env.SystemPrompt, Text: "You keep a library."}}, nil
}

func (*library) Tools(context.Context) ([]env.Tool, error) {
	type book struct {
		Title string `json:"title"`
	}
	return []env.Tool{env.NewTool("lend", "Lends a book", func(_ context.Context, in book) (any, error) {
		return "Here is " + in.Title, nil
	})}, nil
}

// ask serves an environment over HTTP for as long as the examples ask it.
func ask(e env.Environment, opts *env.Options, use func(ctx context.Context, c *env.Client)) {
	server, err := env.NewServer(e, opts)
	if err != nil {
		fmt.Println(err)
		return
	}
	web := httptest.NewServer(server)
	defer web.Close()
	defer server.Close()
	client, err := env.Dial(context.Background(), web.URL, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	use(context.Background(), client)
}

func Example() {
	ask(&library{}, &env.Options{Meta: env.Meta{ID: "library", DisplayName: "图书馆"}}, func(ctx context.Context, c *env.Client) {
		d, err := c.Description(ctx)
		fmt.Println(d.ID, d.DisplayName, d.Capabilities.Sessions, d.Capabilities.Logs, err)
		agents, err := c.Agents(ctx, env.RolePrimary, "")
		fmt.Println(agents[0].ID, agents[0].PromptID, agents[0].AllowedTools, err)
	})
	// Output:
	// library 图书馆 true false <nil>
	// default system [lend] <nil>
}

func ExampleNewServer() {
	server, err := env.NewServer(&library{}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	mux := http.NewServeMux()
	mux.Handle("/mcp", server)
	// http.ListenAndServe("localhost:3000", mux)
}

func ExampleOptions() {
	opts := &env.Options{
		Meta: env.Meta{ID: "mine"},
		QueryLogs: func(context.Context, env.LogQuery) ([]env.LogEntry, error) {
			return []env.LogEntry{{Timestamp: time.Unix(0, 0), Level: env.LevelInfo, Message: "started"}}, nil
		},
	}
	ask(nil, opts, func(ctx context.Context, c *env.Client) {
		logs, err := c.Logs(ctx, env.LogQuery{Level: env.LevelDebug})
		fmt.Println(logs[0].Message, err)
		_, err = c.Profiles(ctx)
		fmt.Println(err)
	})
	// Output:
	// started <nil>
	// env/list_profiles: the environment does not offer this
}

func ExampleDerive() {
	opts, err := env.Derive(&library{}, env.Meta{DisplayName: "Library"}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	agent, err := opts.GetAgent(context.Background(), "default", "")
	fmt.Println(agent.ID, agent.Role, opts.QueryLogs == nil, err)
	// Output: default primary true <nil>
}

func ExampleProfiles() {
	profiles, err := env.Profiles(context.Background(), &library{}, env.Meta{})
	fmt.Println(profiles[0].DisplayName, err)
	// Output: Default Profile <nil>
}

func ExampleDescription() {
	d, err := env.Description(context.Background(), &library{}, env.Meta{}, nil)
	fmt.Println(d.ID, d.DisplayName, err)
	// Output: base-env Base Environment <nil>
}

func ExampleProtocolTools() {
	tools, err := env.ProtocolTools(&env.Options{Names: env.NamesUnderscore})
	fmt.Println(len(tools), tools[0].Name, err)
	// Output: 1 env_get_description <nil>
}

func ExampleAgentSpec_May() {
	agent := env.AgentSpec{AllowedTools: []string{"read_*"}, DeniedTools: []string{"read_secret"}}
	fmt.Println(agent.May("read_file"), agent.May("read_secret"), agent.May("write_file"))
	// Output: true false false
}

func ExampleLogQuery_Select() {
	logs := []env.LogEntry{
		{Timestamp: time.Unix(2, 0), Level: env.LevelError, Message: "second"},
		{Timestamp: time.Unix(1, 0), Level: env.LevelWarn, Message: "first"},
		{Timestamp: time.Unix(3, 0), Level: env.LevelInfo, Message: "third"},
	}
	for _, e := range (env.LogQuery{Level: env.LevelWarn}).Select(logs) {
		fmt.Println(e.Message)
	}
	// Output:
	// first
	// second
}

func ExampleBase() {
	base := &env.Base{OnSession: func(e env.SessionEvent) { fmt.Println(e.Kind, e.Session.Title) }}
	ctx := context.Background()
	s, _ := base.CreateSession(ctx, env.SessionOptions{Title: "a chat"})
	s, _ = base.UpdateSession(ctx, s.ID, env.SessionChange{Metadata: env.Metadata{"topic": "books"}})
	var topic string
	fmt.Println(s.Metadata.Get("topic", &topic), topic)
	base.DeleteSession(ctx, s.ID)
	// Output:
	// created a chat
	// updated a chat
	// true books
	// deleted a chat
}

func ExampleClient_Call() {
	ask(&library{}, nil, func(ctx context.Context, c *env.Client) {
		var text string
		err := c.Call(ctx, "lend", map[string]string{"title": "Ulysses"}, &text)
		fmt.Println(text, err)
		err = c.Call(ctx, "lend", map[string]int{"shelf": 4}, &text)
		var told *env.ToolError
		fmt.Println(errors.As(err, &told))
	})
	// Output:
	// Here is Ulysses <nil>
	// true
}

func ExampleServer_Run() {
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	server, err := env.NewServer(&library{}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	go server.Run(context.Background(), fromClient, toClient)
	client, err := env.NewClient(context.Background(), fromServer, toServer)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	p, err := client.Profile(context.Background(), "none")
	fmt.Println(p.ID, err)
	// Output: Profile not found: none
}
