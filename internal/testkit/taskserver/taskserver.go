// Package taskserver is an MCP server whose tools run as tasks, in both eras of the protocol: the
// tools that the official conformance suite wants for its scenarios of tasks. Only tests import it.
//
//	server, err := taskserver.New()
//	web := httptest.NewServer(server) // or taskserver.Legacy(server), or server.Run(ctx, in, out)
package taskserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/toolfit/toolfit/env"
)

// New makes the server. Close cancels its tasks.
func New() (*env.Server, error) {
	server, err := env.NewServer(nil, nil)
	if err != nil {
		return nil, fmt.Errorf("new task server: %w", err)
	}
	for _, t := range []env.Tool{greet(), slowCompute(), failingJob(), protocolErrorJob(), confirmDelete(), multiInput(), withTask()} {
		if err := server.AddTool(t); err != nil {
			return nil, fmt.Errorf("new task server: %w", err)
		}
	}
	return server, nil
}

// Legacy hides from clients that the server knows revision 2026-07-28.
func Legacy(server http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Protocol-Version") == "2026-07-28" {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			io.WriteString(w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"unsupported protocol version"}}`)
			return
		}
		server.ServeHTTP(w, r)
	})
}

type name struct {
	Name string `json:"name"`
}

func greet() env.Tool {
	return env.NewTool("greet", "Greets at once, never as a task", func(_ context.Context, in name) (any, error) {
		return "Hello, " + in.Name + "!", nil
	})
}

func slowCompute() env.Tool {
	type input struct {
		Seconds float64 `json:"seconds"`
		Label   string  `json:"label,omitempty"`
	}
	t := env.NewTool("slow_compute", "Takes some seconds", func(ctx context.Context, in input) (any, error) {
		env.Progress(ctx, fmt.Sprintf("computing for %gs", in.Seconds))
		if err := sleep(ctx, time.Duration(in.Seconds*float64(time.Second))); err != nil {
			return nil, err
		}
		return fmt.Sprintf("computed %s in %gs", in.Label, in.Seconds), nil
	})
	t.Task = env.TaskOptional
	return t
}

func failingJob() env.Tool {
	t := env.NewTool("failing_job", "Returns an error after a while", func(ctx context.Context, _ struct{}) (any, error) {
		if err := sleep(ctx, time.Second); err != nil {
			return nil, err
		}
		return nil, errors.New("the job went wrong")
	})
	t.Task = env.TaskRequired
	return t
}

func protocolErrorJob() env.Tool {
	t := env.NewTool("protocol_error_job", "Panics", func(context.Context, struct{}) (any, error) {
		panic("the job is broken")
	})
	t.Task = env.TaskOptional
	return t
}

type confirmation struct {
	Confirm bool `json:"confirm"`
}

func confirmDelete() env.Tool {
	type input struct {
		Filename string `json:"filename"`
	}
	t := env.NewTool("confirm_delete", "Deletes a file if the user agrees", func(ctx context.Context, in input) (any, error) {
		answers, err := env.Ask(ctx, env.Form[confirmation]("Delete "+in.Filename+"?"))
		if err != nil {
			return nil, err
		}
		var said confirmation
		accepted, err := answers[0].Accepted(&said)
		switch {
		case err != nil:
			return nil, err
		case accepted && said.Confirm:
			return "deleted " + in.Filename, nil
		}
		return "kept " + in.Filename, nil
	})
	t.Task = env.TaskOptional
	return t
}

func multiInput() env.Tool {
	t := env.NewTool("multi_input", "Asks two questions at once", func(ctx context.Context, _ struct{}) (any, error) {
		answers, err := env.Ask(ctx, env.Form[name]("What is your name?"), env.Form[confirmation]("Are you sure?"))
		if err != nil {
			return nil, err
		}
		var who name
		var sure confirmation
		_, wrongName := answers[0].Accepted(&who)
		_, wrongConfirm := answers[1].Accepted(&sure)
		return fmt.Sprintf("%s, sure: %t", who.Name, sure.Confirm), errors.Join(wrongName, wrongConfirm)
	})
	t.Task = env.TaskOptional
	return t
}

// withTask asks before there is a task; the task then has the answer.
func withTask() env.Tool {
	return env.Tool{
		Name: "test_tool_with_task", Description: "Asks for a name, and greets as a task", Task: env.TaskRequired,
		Prepare: func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
			answers, err := env.Ask(ctx, env.Form[name]("What is your name?"))
			if err != nil {
				return nil, err
			}
			var who name
			accepted, err := answers[0].Accepted(&who)
			switch {
			case err != nil:
				return nil, err
			case !accepted:
				return nil, errors.New("there is no greeting without a name")
			}
			return json.Marshal(who)
		},
		Call: func(_ context.Context, args json.RawMessage) (any, error) {
			var who name
			err := json.Unmarshal(args, &who)
			return "Hello, " + who.Name + "!", err
		},
	}
}

// sleep waits, or returns earlier with the error of the context.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
