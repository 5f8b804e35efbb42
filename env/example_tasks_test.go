package env_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/toolfit/toolfit/env"
)

type removal struct {
	File string `json:"file"`
}

type consent struct {
	Yes bool `json:"yes" doc:"whether the file may go"`
}

func ExampleAsk() {
	remove := env.NewTool("remove", "Deletes a file if the user agrees", func(ctx context.Context, in removal) (any, error) {
		answers, err := env.Ask(ctx, env.Form[consent]("Delete "+in.File+"?"))
		if errors.Is(err, env.ErrNotAskable) {
			return "kept: there is nobody to ask", nil
		}
		if err != nil {
			return nil, err
		}
		var said consent
		accepted, err := answers[0].Accepted(&said)
		if err != nil || !accepted || !said.Yes {
			return "kept", err
		}
		return "deleted", nil
	})
	result, err := remove.Result(context.Background(), json.RawMessage(`{"file":"a.txt"}`)) // without a client
	fmt.Println(string(result), err)
	// Output: {"content":[{"type":"text","text":"kept: there is nobody to ask"}]} <nil>
}

func ExampleForm() {
	q := env.Form[consent]("Delete a.txt?")
	fmt.Println(q.Method)
	// Output: elicitation/create
}

func ExampleQuestion() {
	roots := env.Question{Method: "roots/list"} // or any other that MCP defines
	_, err := env.Ask(context.Background(), roots)
	fmt.Println(err) // there is no call, so there is no client
	// Output: the client cannot be asked this
}

func ExampleAnswer() {
	var said consent
	accepted, err := env.Answer(`{"action":"accept","content":{"yes":true}}`).Accepted(&said)
	fmt.Println(accepted, said.Yes, err)
	accepted, err = env.Answer(`{"action":"decline"}`).Accepted(&said)
	fmt.Println(accepted, err)
	// Output:
	// true true <nil>
	// false <nil>
}

func ExampleProgress() {
	bake := env.NewTool("bake", "Bakes a cake", func(ctx context.Context, _ struct{}) (any, error) {
		env.Progress(ctx, "in the oven") // the client of a task sees it as the task's status message
		return "a cake", nil
	})
	result, err := bake.Result(context.Background(), nil)
	fmt.Println(string(result), err)
	// Output: {"content":[{"type":"text","text":"a cake"}]} <nil>
}

func ExampleTaskSupport() {
	bake := env.NewTool("bake", "Bakes a cake", func(context.Context, struct{}) (any, error) { return "a cake", nil })
	bake.Task = env.TaskOptional
	build := env.NewTool("build", "Builds a house", func(context.Context, struct{}) (any, error) { return "a house", nil })
	build.Task = env.TaskRequired // nobody waits that long
	server, err := env.NewServer(nil, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	fmt.Println(server.AddTool(bake), server.AddTool(build))
	// Output: <nil> <nil>
}
