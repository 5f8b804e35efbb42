package env_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"

	"github.com/toolfit/toolfit/env"
)

func ExampleClient() {
	ask(&harbour{}, nil, func(ctx context.Context, c *env.Client) {
		d, _ := c.Description(ctx)
		profiles, _ := c.Profiles(ctx)
		night, _ := c.Profile(ctx, "night")
		subs, _ := c.Agents(ctx, env.RoleSub, "night")
		pilot, _ := c.Agent(ctx, "pilot", "")
		logs, _ := c.Logs(ctx, env.LogQuery{Level: env.LevelWarn})
		fmt.Println(d.DisplayName, len(profiles), night.ID, len(subs), pilot.AllowedTools, logs[0].Message)
		offers, err := c.IsEnvironment(ctx)
		fmt.Println(offers, err)
	})
	// Output:
	// 港口 1 night 1 [tide_*] fog
	// true <nil>
}

func ExampleClient_CreateSession() {
	ask(&harbour{}, nil, func(ctx context.Context, c *env.Client) {
		s, _ := c.CreateSession(ctx, env.SessionOptions{ID: "ses_1"})
		s, _ = c.UpdateSession(ctx, s.ID, env.SessionChange{Title: "mooring"})
		page, _ := c.ListSessions(ctx, env.SessionFilter{})
		s, _ = c.GetSession(ctx, page.Sessions[0].ID)
		fmt.Println(s.Title, c.DeleteSession(ctx, s.ID))
	})
	// Output: mooring <nil>
}

func ExampleDial() {
	server, err := env.NewServer(&library{}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	web := httptest.NewServer(server)
	defer web.Close()
	client, err := env.Dial(context.Background(), web.URL, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	d, err := client.Description(context.Background())
	fmt.Println(d.ID, err)
	// Output: base-env <nil>
}

func ExampleDialOptions() {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Println(r.Header.Get("Authorization"))
		http.Error(w, "no", http.StatusUnauthorized)
	}))
	defer web.Close()
	_, err := env.Dial(context.Background(), web.URL,
		&env.DialOptions{HTTP: web.Client(), Header: http.Header{"Authorization": {"Bearer key"}}})
	fmt.Println(err != nil)
	// Output:
	// Bearer key
	// true
}

func ExampleNewClient() {
	server, err := env.NewServer(&harbour{}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	go server.Run(context.Background(), fromClient, toClient)
	client, err := env.NewClient(context.Background(), fromServer, toServer)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	d, err := client.Description(context.Background())
	fmt.Println(d.ID, err)
	// Output: harbour <nil>
}

func ExampleStart() {
	client, err := env.Start(context.Background(), exec.Command("no-such-environment"))
	if err != nil {
		fmt.Println("it is not there")
		return
	}
	defer client.Close()
	// Output: it is not there
}

func ExampleNotFoundError() {
	ask(&harbour{}, nil, func(ctx context.Context, c *env.Client) {
		_, err := c.Agent(ctx, "nobody", "")
		var none *env.NotFoundError
		fmt.Println(errors.As(err, &none), none.Kind, none.ID, none.Error())
	})
	// Output: true Agent nobody Agent not found: nobody
}

func ExampleToolError() {
	ask(&harbour{}, nil, func(ctx context.Context, c *env.Client) {
		err := c.Call(ctx, "env_query_logs", map[string]int{"limit": 0}, nil)
		var told *env.ToolError
		fmt.Println(errors.As(err, &told), told.Tool)
		fmt.Println(told.Error())
	})
	// Output:
	// true env_query_logs
	// env_query_logs: the arguments do not fit: /limit: expected at least 1 and at most 1000, got number 0
}

func Example_notOffered() {
	ask(&library{}, nil, func(ctx context.Context, c *env.Client) {
		_, err := c.Logs(ctx, env.LogQuery{})
		fmt.Println(errors.Is(err, env.ErrNotOffered))
	})
	// Output: true
}

func ExampleStatusError() {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	defer web.Close()
	_, err := env.Dial(context.Background(), web.URL, nil)
	var status *env.StatusError
	if errors.As(err, &status) {
		fmt.Println(status.Code, status)
	}
	// Output: 401 the server answered 401 Unauthorized
}
