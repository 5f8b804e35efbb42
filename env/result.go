package env

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/fit"
)

// anyObject is the schema of a tool that has none.
var anyObject = json.RawMessage(`{"type":"object"}`)

// parts are a tool's call in two steps: what happens before there is a task, and the work.
type parts struct {
	prepare func(ctx context.Context, args json.RawMessage) (json.RawMessage, error)
	run     func(ctx context.Context, args json.RawMessage) (any, error)
}

// partsOf returns the tool's call with a check of its arguments, which also repairs common mistakes
// of models. Panics become errors.
func partsOf(t Tool) (parts, error) {
	if t.InputSchema == nil {
		t.InputSchema = anyObject
	}
	arguments, err := fit.Compile(t.InputSchema, nil)
	if err != nil {
		return parts{}, fmt.Errorf("tool %s: %w", t.Name, err)
	}
	prepare := func(ctx context.Context, args json.RawMessage) (out json.RawMessage, err error) {
		if rawjson.IsNull(args) {
			args = json.RawMessage("{}")
		}
		res, err := arguments.Fit(ctx, args)
		if err != nil || t.Prepare == nil {
			return res.Args, err
		}
		defer recovered(&err)
		return t.Prepare(ctx, res.Args)
	}
	run := func(ctx context.Context, args json.RawMessage) (v any, err error) {
		defer recovered(&err)
		return t.Call(ctx, args)
	}
	return parts{prepare, run}, nil
}

// fitted returns the tool with a Call that does all of it.
func fitted(t Tool) (Tool, error) {
	p, err := partsOf(t)
	if err != nil {
		return t, err
	}
	t.Prepare = nil
	t.Call = func(ctx context.Context, args json.RawMessage) (any, error) {
		args, err := p.prepare(ctx, args)
		if err != nil {
			return nil, err
		}
		return p.run(ctx, args)
	}
	return t, nil
}

// recovered turns a panic of the environment into an error.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = &panicError{p}
	}
}

func checkTool(t Tool) error {
	switch {
	case t.Name == "" || len(t.Name) > 128:
		return fmt.Errorf("tool %.40q: a name has 1 to 128 characters", t.Name)
	case t.Call == nil:
		return fmt.Errorf("tool %s cannot be called: it has no Call", t.Name)
	case t.Task != "" && t.Task != TaskOptional && t.Task != TaskRequired:
		return fmt.Errorf("tool %s: task: %.40q is none of optional, required", t.Name, string(t.Task))
	}
	for what, schema := range map[string]json.RawMessage{"input": t.InputSchema, "output": t.OutputSchema} {
		if schema == nil {
			continue
		}
		if kind, _ := rawjson.String(rawjson.Get(schema, "type")); rawjson.Check(schema) != nil || kind != "object" {
			return fmt.Errorf("tool %s: the %s schema must be a JSON object with the type object", t.Name, what)
		}
	}
	return nil
}

// Definition returns the tool for tools/list.
func (t Tool) Definition() (json.RawMessage, error) {
	if t.InputSchema == nil {
		t.InputSchema = anyObject
	}
	return rawjson.Marshal(struct {
		Name         string          `json:"name"`
		Title        string          `json:"title,omitempty"`
		Description  string          `json:"description,omitempty"`
		InputSchema  json.RawMessage `json:"inputSchema"`
		OutputSchema json.RawMessage `json:"outputSchema,omitempty"`
		Annotations  hints           `json:"annotations,omitzero"`
	}{t.Name, t.Title, t.Description, t.InputSchema, t.OutputSchema, hints{t.ReadOnly}})
}

// Result calls the tool and returns a result of tools/call. An error is a result too, unless ctx
// has ended; it is returned with it.
func (t Tool) Result(ctx context.Context, args json.RawMessage) (json.RawMessage, error) {
	v, err := t.Call(ctx, args)
	return outcome(ctx, v, err)
}

// outcome is what a tool returned as a result of tools/call.
func outcome(ctx context.Context, v any, err error) (json.RawMessage, error) {
	if err == nil {
		raw, wrong := resultOf(v)
		if wrong == nil {
			return raw, nil
		}
		err = wrong
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return errorOf(err), err
}

type hints struct {
	ReadOnly bool `json:"readOnlyHint"`
}

type block struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

func resultOf(v any) (json.RawMessage, error) {
	if raw, ok := v.(RawResult); ok {
		if rawjson.Check(raw) != nil || raw[0] != '{' {
			return nil, errors.New("the tool returned a RawResult that is not a JSON object")
		}
		return json.RawMessage(raw), nil
	}
	var res struct {
		Content    []block         `json:"content"`
		Structured json.RawMessage `json:"structuredContent,omitempty"`
	}
	if text, ok := v.(string); ok {
		res.Content = []block{{"text", text}}
		return rawjson.Marshal(res)
	}
	raw, err := rawjson.Marshal(v)
	if err != nil {
		return nil, err
	}
	res.Content = []block{{"text", string(raw)}}
	if raw[0] == '{' {
		res.Structured = raw
	}
	return rawjson.Marshal(res)
}

// errorOf writes an error as a result, without structured content, which would have to fit the
// output schema.
func errorOf(err error) json.RawMessage {
	message := err.Error()
	var broken *panicError
	if errors.As(err, &broken) {
		message = "internal error"
	}
	text := append(rawjson.AppendString([]byte(`{"error":`), message), '}')
	raw := rawjson.AppendString([]byte(`{"content":[{"type":"text","text":`), string(text))
	return append(raw, `}],"isError":true}`...)
}
