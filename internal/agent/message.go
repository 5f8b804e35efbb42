package agent

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/locale"
	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// Message is one of a conversation, in the form of the chat completions API.
type Message struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"` // text, a list of parts, or null
	Name       string          `json:"name,omitempty"`
	ToolCalls  []ToolCall      `json:"tool_calls,omitempty"`
	ToolCallID string          `json:"tool_call_id,omitempty"`
	Refusal    string          `json:"refusal,omitempty"`           // in place of the content of an assistant
	Reasoning  string          `json:"reasoning_content,omitempty"` // the model's thoughts, where its endpoint wants them back
	Note       *Note           `json:"toolfit,omitempty"`           // for readers of the transcript; models do not get it
}

// ToolCall is a call that a model asked for.
type ToolCall struct {
	ID       string   `json:"id"`
	Type     string   `json:"type"` // function
	Function Function `json:"function"`
}

// Function is what is called.
type Function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// Note is what else is known of a stored message.
type Note struct {
	Agent      string `json:"agent,omitempty"`
	Model      string `json:"model,omitempty"` // whose thoughts the message has
	Tool       string `json:"tool,omitempty"`
	Status     Status `json:"status,omitempty"`
	Call       string `json:"call,omitempty"` // id of the record
	Ref        string `json:"ref,omitempty"`  // of the full result
	DurationMS int64  `json:"duration_ms,omitempty"`
	Stopped    string `json:"stopped,omitempty"` // why the message has no end
}

// The roles of messages.
const (
	roleSystem    = "system"
	roleDeveloper = "developer"
	roleUser      = "user"
	roleAssistant = "assistant"
	roleTool      = "tool"
)

// marshal writes a value that can be written: strings, numbers, and raw parts that were
// read from JSON.
func marshal(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.Encode(v) // see above
	return bytes.TrimSpace(b.Bytes())
}

// quote is a text as JSON.
func quote(text string) json.RawMessage { return marshal(text) }

func textMessage(role, text string) Message { return Message{Role: role, Content: quote(text)} }

// UserMessage is a message of a person.
func UserMessage(text string) Message { return textMessage(roleUser, text) }

// Text is the text of the message: its content, or the texts among its parts.
func (m *Message) Text() string {
	var text string
	if json.Unmarshal(m.Content, &text) == nil {
		return text
	}
	var parts []struct{ Text string }
	if json.Unmarshal(m.Content, &parts) != nil {
		return ""
	}
	var texts []string
	for _, p := range parts {
		if p.Text != "" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// isSystem tells whether the message is a part of the prompt.
func (m *Message) isSystem() bool { return m.Role == roleSystem || m.Role == roleDeveloper }

// check refuses a message that no model would take.
func (m *Message) check() error {
	content := bytes.TrimSpace(m.Content)
	filled := len(content) > 0 && (content[0] == '"' || content[0] == '[')
	for w := rawjson.Array(content); w.Next(); {
		if w.Value[0] != '{' {
			return fmt.Errorf("each part of a content must be an object with a type, not %.40s", w.Value)
		}
	}
	switch m.Role {
	case roleSystem, roleDeveloper, roleUser:
		if !filled {
			return fmt.Errorf("content must be text or a list of parts")
		}
	case roleAssistant:
		if !filled && len(m.ToolCalls) == 0 && m.Refusal == "" {
			return fmt.Errorf("needs content or tool_calls")
		}
	case roleTool:
		if !filled || m.ToolCallID == "" {
			return fmt.Errorf("needs content and tool_call_id")
		}
	default:
		return fmt.Errorf("role %.40q is none of system, developer, user, assistant and tool", m.Role)
	}
	return nil
}

func checkMessages(list []Message) error {
	if len(list) == 0 {
		return fault.New(fault.BadRequest, "messages is empty")
	}
	for i := range list {
		if err := list[i].check(); err != nil {
			return fault.New(fault.BadRequest, "messages[%d]: %w", i, err)
		}
	}
	return nil
}

// encode writes a message for the transcript.
func (m Message) encode() json.RawMessage {
	if m.Content == nil {
		m.Content = json.RawMessage("null")
	}
	return marshal(m)
}

// forModel writes messages for a model that has function calling.
func forModel(list []Message) []json.RawMessage {
	out := make([]json.RawMessage, len(list))
	for i, m := range list {
		m.Note, m.ToolCalls = nil, readable(m.ToolCalls)
		out[i] = m.encode()
	}
	return out
}

// readable are calls with a name and arguments as endpoints take them. Some look at those of
// earlier calls, and refuse the whole chat, now and ever after, for one that a model once got
// wrong; what was wrong with it, the answer to the call says.
func readable(calls []ToolCall) []ToolCall {
	calls = slices.Clone(calls)
	for i := range calls {
		f := &calls[i].Function
		f.Name = callableName(f.Name)
		args := []byte(strings.TrimSpace(f.Arguments))
		if len(args) == 0 || args[0] != '{' || rawjson.Check(args) != nil {
			f.Arguments = "{}"
		}
	}
	return calls
}

// callableName is a name with only what all endpoints allow in the name of a function. Those
// of our tools are such names already.
func callableName(name string) string {
	const longest = 64
	clean := strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}, name)
	return cmp.Or(clean[:min(longest, len(clean))], "_")
}

// echoed gives a model its own thoughts back, and those of no other. Endpoints that want
// them back want them in every message of the assistant, and not empty.
func echoed(list []Message, model string) []Message {
	out, any := slices.Clone(list), false
	for i := range out {
		if n := out[i].Note; n != nil && n.Model != model {
			out[i].Reasoning = ""
		}
		any = any || out[i].Reasoning != ""
	}
	for i := range out {
		if any && out[i].Role == roleAssistant && out[i].Reasoning == "" {
			out[i].Reasoning = " "
		}
	}
	return out
}

// interrupted is the answer to a call that has none.
const interrupted = "The call was interrupted. Whether it was carried out is not known."

// complete gives every call its answer, right behind it: models refuse any other chat. One
// that was killed in the middle has calls without an answer, and one that two gateways
// answered at a time has others' messages between a call and its answer.
func complete(list []Message, speech locale.Language) []Message {
	answers := make([][]Message, len(list)) // to the calls of each message
	open := map[string]*Message{}           // the place for the answer, by the call's id
	for i, m := range list {
		if place := open[m.ToolCallID]; m.Role == roleTool && place != nil {
			*place = m
			delete(open, m.ToolCallID)
		}
		answers[i] = make([]Message, len(m.ToolCalls))
		for j, c := range m.ToolCalls {
			answers[i][j] = textMessage(roleTool, speech.Translate(interrupted))
			answers[i][j].ToolCallID = c.ID
			open[c.ID] = &answers[i][j]
		}
	}
	var out []Message
	for i, m := range list {
		if m.Role != roleTool { // an answer to nothing is left out
			out = append(append(out, m), answers[i]...)
		}
	}
	return out
}
