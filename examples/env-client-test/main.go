// Command env-client-test asks an environment everything that it offers and says what came.
// With ENV_MCP_HTTP_URL it asks the server at that address; otherwise it starts the server
// that its arguments name, or the example env-mcp-server, and asks it by its standard input
// and output. It ends with 1 when something did not answer as it must.
//
//	env-client-test ./my-server --its-flag
//	ENV_MCP_HTTP_URL=http://localhost:3000 env-client-test
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"

	"github.com/toolfit/toolfit/env"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, os.Getenv("ENV_MCP_HTTP_URL"), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, url string, command []string) (err error) {
	client, err := connect(ctx, url, command)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	d, err := client.Description(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "environment %s (%s)\n", d.ID, d.DisplayName)
	for _, check := range []func(context.Context, *env.Client, io.Writer) error{profiles, agents, logs, sessions} {
		if err := check(ctx, client, out); err != nil && !errors.Is(err, env.ErrNotOffered) {
			return err
		}
	}
	return nil
}

func connect(ctx context.Context, url string, command []string) (*env.Client, error) {
	if url != "" {
		return env.Dial(ctx, url, nil)
	}
	if len(command) == 0 {
		command = []string{"go", "run", "github.com/toolfit/toolfit/examples/env-mcp-server"}
	}
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stderr = os.Stderr
	return env.Start(ctx, cmd)
}

func profiles(ctx context.Context, c *env.Client, out io.Writer) error {
	all, err := c.Profiles(ctx)
	if err != nil {
		return err
	}
	for _, p := range all {
		again, err := c.Profile(ctx, p.ID)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "profile %s (%s)\n", again.ID, again.DisplayName)
	}
	_, err = c.Profile(ctx, "no-such-profile")
	return mustMiss(err)
}

func agents(ctx context.Context, c *env.Client, out io.Writer) error {
	for _, role := range []env.Role{env.RolePrimary, env.RoleSub} {
		all, err := c.Agents(ctx, role, "")
		if err != nil {
			return err
		}
		for _, a := range all {
			a, err := c.Agent(ctx, a.ID, "")
			if err != nil {
				return err
			}
			fmt.Fprintf(out, "agent %s (%s)\n", a.ID, a.Role)
		}
	}
	_, err := c.Agent(ctx, "no-such-agent", "")
	return mustMiss(err)
}

func logs(ctx context.Context, c *env.Client, out io.Writer) error {
	for _, level := range []env.Level{env.LevelDebug, env.LevelWarn} {
		found, err := c.Logs(ctx, env.LogQuery{Level: level, Limit: 10})
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "logs from %s: %d\n", level, len(found))
	}
	return nil
}

func sessions(ctx context.Context, c *env.Client, out io.Writer) error {
	s, err := c.CreateSession(ctx, env.SessionOptions{Title: "a test", Metadata: env.Metadata{"from": "env-client-test"}})
	if err != nil {
		return err
	}
	s, err = c.UpdateSession(ctx, s.ID, env.SessionChange{Title: "a test that runs"})
	if err != nil {
		return err
	}
	page, err := c.ListSessions(ctx, env.SessionFilter{Metadata: env.Metadata{"from": "env-client-test"}})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "session %q, %d in all\n", s.Title, len(page.Sessions))
	if err := c.DeleteSession(ctx, s.ID); err != nil {
		return err
	}
	_, err = c.GetSession(ctx, s.ID)
	return mustMiss(err)
}

// mustMiss takes the error of something that cannot be there.
func mustMiss(err error) error {
	var none *env.NotFoundError
	if errors.As(err, &none) {
		return nil
	}
	return fmt.Errorf("what is not there must be told so; it was: %w", err)
}
