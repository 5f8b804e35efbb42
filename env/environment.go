package env

import (
	"context"
	"encoding/json"
)

// Environment is the least that a system must offer. Both methods are asked again on each
// request, by many at the same time; what they return is read-only from then on.
type Environment interface {
	Prompts(ctx context.Context) ([]Prompt, error)
	Tools(ctx context.Context) ([]Tool, error)
}

// HasMeta is an environment that says who it is. Options.Meta wins, field by field.
type HasMeta interface {
	Meta() Meta
}

// HasProfiles is an environment with profiles of its own. They are asked for on each
// request: an error is told as it is, and an empty list stays empty.
type HasProfiles interface {
	Profiles(ctx context.Context) ([]Profile, error)
}

// HasLogs is an environment that can be asked what happened. It may return more than the
// query asks for, in any order: see LogQuery.Select.
type HasLogs interface {
	Logs(ctx context.Context, q LogQuery) ([]LogEntry, error)
}

// Tool is something that an agent can do in the environment.
type Tool struct {
	Name         string
	Title        string          // for people; may be ""
	Description  string          // for models
	InputSchema  json.RawMessage // of the arguments; nil: any object
	OutputSchema json.RawMessage // of structured results; nil: not stated
	ReadOnly     bool            // the tool changes nothing

	// Call gets arguments that fit InputSchema. A string that it returns is the text of the
	// answer; a RawResult is the whole answer; anything else goes as JSON. An error is told
	// to the model.
	Call func(ctx context.Context, args json.RawMessage) (any, error)
}

// RawResult is the result of tools/call as MCP defines it. It is passed on as it is.
type RawResult json.RawMessage

// Prompt is a text that the environment has ready for agents. The one with the ID "system"
// is the prompt of the default agent.
type Prompt struct {
	ID          string
	Title       string // may be ""
	Description string // may be ""
	Arguments   []PromptArgument
	Text        string // the text, unless there is Render

	// Render makes the text from the arguments; nil: it is always Text.
	Render func(ctx context.Context, args map[string]string) (string, error)
}

// PromptArgument is something that a prompt can be told.
type PromptArgument struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Required    bool   `json:"required,omitempty"`
}

// SystemPrompt is the ID of the prompt that the default agent starts with.
const SystemPrompt = "system"
