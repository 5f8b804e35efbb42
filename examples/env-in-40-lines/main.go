// Command env-in-40-lines is a whole environment: a to-do list on standard input and output.
// It keeps the list in memory and never removes from it.
package main

import (
	"context"
	"os"
	"slices"
	"sync"

	"github.com/toolfit/toolfit/env"
)

type todo struct {
	env.Base // sessions
	mu       sync.Mutex
	items    []string
}

func (t *todo) Prompts(context.Context) ([]env.Prompt, error) {
	return []env.Prompt{{ID: env.SystemPrompt, Text: "You keep a list of things to do."}}, nil
}

func (t *todo) Tools(context.Context) ([]env.Tool, error) {
	type item struct {
		Text string `json:"text" doc:"what is to be done"`
	}
	return []env.Tool{env.NewTool("add", "Adds to the list and returns all of it", func(_ context.Context, in item) (any, error) {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.items = append(t.items, in.Text)
		return map[string][]string{"items": slices.Clone(t.items)}, nil
	})}, nil
}

func main() {
	server, err := env.NewServer(&todo{}, &env.Options{Meta: env.Meta{ID: "todo", DisplayName: "To do"}})
	if err != nil || server.Run(context.Background(), os.Stdin, os.Stdout) != nil {
		os.Exit(1)
	}
}
