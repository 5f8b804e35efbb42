// Command env-mcp-server-from-env serves an environment from which everything is derived,
// on standard input and output. It states no options.
//
//	env-mcp-server-from-env
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"time"

	"github.com/toolfit/toolfit/env"
)

// counter is the system: a number that agents can add to.
type counter struct {
	env.Base // sessions, in memory

	mu   sync.Mutex
	n    int
	logs []env.LogEntry
}

// Meta says who it is.
func (*counter) Meta() env.Meta { return env.Meta{ID: "counter", DisplayName: "Counter"} }

// Prompts has the one that the default agent starts with.
func (*counter) Prompts(context.Context) ([]env.Prompt, error) {
	return []env.Prompt{{ID: env.SystemPrompt, Text: "You count things."}}, nil
}

// Tools has one tool. Its schema is that of its arguments.
func (c *counter) Tools(context.Context) ([]env.Tool, error) {
	return []env.Tool{env.NewTool("add", "Adds to the counter and tells where it stands", c.add)}, nil
}

type addition struct {
	N int `json:"n" doc:"how much; less than nothing takes away"`
}

func (c *counter) add(_ context.Context, in addition) (any, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n += in.N
	c.logs = append(c.logs, env.LogEntry{Timestamp: time.Now(), Level: env.LevelInfo, Message: fmt.Sprintf("added %d", in.N), ToolName: "add"})
	return map[string]int{"count": c.n}, nil
}

// Logs tells what was added.
func (c *counter) Logs(_ context.Context, q env.LogQuery) ([]env.LogEntry, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return q.Select(c.logs), nil
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	server, err := env.NewServer(&counter{}, nil)
	if err != nil {
		return err
	}
	return server.Run(ctx, os.Stdin, os.Stdout)
}
