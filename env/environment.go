package env

import (
	"context"
	"encoding/json"
)

// Environment is the minimum that a system must offer. Both methods are called on each request,
// concurrently; results must not be changed later.
type Environment interface {
	Prompts(ctx context.Context) ([]Prompt, error)
	Tools(ctx context.Context) ([]Tool, error)
}

// HasMeta is an environment that has a name and version. Fields of Options.Meta win.
type HasMeta interface {
	Meta() Meta
}

// HasProfiles is an environment with its own profiles.
type HasProfiles interface {
	Profiles(ctx context.Context) ([]Profile, error)
}

// HasLogs is an environment with logs. It may return more entries than asked for, in any order: see
// LogQuery.Select.
type HasLogs interface {
	Logs(ctx context.Context, q LogQuery) ([]LogEntry, error)
}

// Tool is a tool of the environment.
type Tool struct {
	Name         string
	Title        string          // for people; may be ""
	Description  string          // for models
	InputSchema  json.RawMessage // of the arguments; nil: any object
	OutputSchema json.RawMessage // of structured results; nil: not stated
	ReadOnly     bool            // the tool changes nothing
	Task         TaskSupport     // whether a client may call it as a task; "": never

	// Prepare runs before Call, and before there is a task, with arguments that fit InputSchema. It can
	// refuse them, Ask, and return other arguments for Call; nil: Call gets them as they are.
	Prepare func(ctx context.Context, args json.RawMessage) (json.RawMessage, error)

	// Call gets arguments that fit InputSchema. A string result is plain text, a RawResult is the
	// whole answer, anything else is encoded as JSON. The model sees errors. The context leads to the
	// client, see Ask and Progress; it ends when the call or its task is canceled.
	Call func(ctx context.Context, args json.RawMessage) (any, error)
}

// TaskSupport says whether a tool can run as a task: the client gets an id at once, and the result
// later. Tasks last as long as the server, at most for Options.TaskTTL.
type TaskSupport string

const (
	TaskOptional TaskSupport = "optional" // as a task for clients that know tasks
	TaskRequired TaskSupport = "required" // clients that know no tasks cannot call it
)

// RawResult is a result of tools/call as MCP defines it.
type RawResult json.RawMessage

// Prompt is a prompt of the environment. The one with the ID "system" is the default agent's.
type Prompt struct {
	ID          string
	Title       string // may be ""
	Description string // may be ""
	Arguments   []PromptArgument
	Text        string // the text, unless there is Render

	// Render renders the text; nil: it is always Text.
	Render func(ctx context.Context, args map[string]string) (string, error)
}

// PromptArgument is an argument of a prompt.
type PromptArgument struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Required    bool   `json:"required,omitempty"`
}

// SystemPrompt is the ID of the default agent's prompt.
const SystemPrompt = "system"
