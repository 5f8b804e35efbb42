// Package conversation is what people, models and tools say to each other, in a form that is
// no provider's own: the agent loop works with it, and a package for each provider (today
// endpoint) writes it as that provider's requests and reads the replies into it.
//
// Messages also have a JSON form, in which transcripts store them and clients of the chat
// completions API send them.
//
//	c := conversation.Conversation{Messages: []conversation.Message{conversation.Text(conversation.RoleUser, "Hi!")}}
package conversation

import (
	"encoding/json"
	"strings"
)

// The roles of messages.
const (
	RoleSystem    = "system"
	RoleDeveloper = "developer"
	RoleUser      = "user"
	RoleAssistant = "assistant"
	RoleTool      = "tool"
)

// Conversation is what a model is asked to continue.
type Conversation struct {
	Messages []Message       // the system prompt first
	Tools    []Tool          // that the provider is to offer the model
	NoCalls  bool            // the model sees the tools, but may not call them
	Params   json.RawMessage // parameters of the caller, in the provider's words; they override the model's own
}

// Message is one message of a conversation.
type Message struct {
	Role     string  `json:"role"`
	Content  Content `json:"content"`
	Name     string  `json:"name,omitempty"`
	Calls    []Call  `json:"tool_calls,omitempty"`
	CallID   string  `json:"tool_call_id,omitempty"`      // the call that a tool's message answers
	Refusal  string  `json:"refusal,omitempty"`           // of an assistant, instead of content
	Thoughts string  `json:"reasoning_content,omitempty"` // of the model, if its provider needs them back
	Note     *Note   `json:"toolfit,omitempty"`           // for readers of the transcript; models never see it
}

// Content is the content of a message: nil, plain text (one part without Raw), or parts.
type Content []Part

// Part is text or an attachment.
type Part struct {
	Text string
	Raw  json.RawMessage // the part as the caller wrote it; nil: plain text
}

// Call is a tool call that a model asked for.
type Call struct {
	ID        string
	Tool      string
	Arguments string // JSON, if the model wrote JSON
}

// Note is what else is known about a stored message.
type Note struct {
	Agent      string `json:"agent,omitempty"`
	Model      string `json:"model,omitempty"` // that the thoughts belong to
	Tool       string `json:"tool,omitempty"`
	Status     Status `json:"status,omitempty"`
	Call       string `json:"call,omitempty"` // id of the record
	Ref        string `json:"ref,omitempty"`  // of the stored result
	DurationMS int64  `json:"duration_ms,omitempty"`
	Stopped    string `json:"stopped,omitempty"` // why the message is incomplete
}

// Status is the state of a call.
type Status string

// The states of a call.
const (
	Running Status = "running"
	Success Status = "success"
	Failed  Status = "failed"
	Skipped Status = "skipped" // not made, because of a limit
)

// Tool is a tool as a model sees it.
type Tool struct {
	Name        string
	Description string
	Parameters  json.RawMessage // JSON Schema in the model's dialect
	Strict      bool            // the provider enforces the schema
}

// Piece is a part of a reply that is still streaming.
type Piece struct {
	Text    string
	Thought string
}

// Reply is a complete reply of a model.
type Reply struct {
	Text     string
	Thoughts string
	Echo     string // the part of the thoughts that the provider needs back with the next request
	Calls    []Call
	Finish   string // stop, length, tool_calls …; "": unknown, the reply may be incomplete
	Usage    Usage
}

// Truncated tells whether the end of the reply may be missing.
func (r *Reply) Truncated() bool { return r.Finish == "length" || r.Finish == "" }

// Usage is the cost of a reply in tokens. Zeros: the provider did not say.
type Usage struct{ Prompt, Completion int }

// Text returns a message of plain text.
func Text(role, text string) Message { return Message{Role: role, Content: Content{{Text: text}}} }

// Text returns the text of the message, its parts on lines of their own.
func (m *Message) Text() string {
	var texts []string
	for _, p := range m.Content {
		if p.Text != "" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// IsSystem tells whether the message is part of the system prompt.
func (m *Message) IsSystem() bool { return m.Role == RoleSystem || m.Role == RoleDeveloper }

// IsPlain tells whether the content is plain text.
func (c Content) IsPlain() bool { return len(c) == 1 && c[0].Raw == nil }
