package endpoint

import (
	"cmp"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/agent/conversation"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/state/config"
)

// Encode writes a conversation as the body of a request for a streamed chat completion.
func (c *Client) Encode(m *config.Model, conv conversation.Conversation) []byte {
	out := rawjson.AppendString([]byte(`{"model":`), m.Model)
	out = append(out, `,"stream":true,"stream_options":{"include_usage":true}`...)
	add := func(w *rawjson.Walk) {
		name := string(w.Key)
		if name != "parallel_tool_calls" || conv.Tools != nil { // endpoints reject it without tools
			out = append(append(rawjson.AppendString(append(out, ','), name), ':'), w.Value...)
		}
	}
	for w := rawjson.Object(conv.Params); w.Next(); {
		add(&w)
	}
	for w := rawjson.Object(m.Params); w.Next(); {
		if rawjson.Get(conv.Params, string(w.Key)) == nil {
			add(&w)
		}
	}
	if conv.Tools != nil {
		out = conversation.AppendTools(append(out, `,"tools":`...), conv.Tools)
		if conv.NoCalls {
			out = append(out, `,"tool_choice":"none"`...)
		}
	}
	out = append(out, `,"messages":`...)
	return append(append(out, rawjson.Encode(acceptable(conv.Messages))...), '}')
}

// acceptable returns the messages in a form that all endpoints accept: thoughts stand in every
// message of the assistant, never empty, or in none.
func acceptable(list []conversation.Message) []conversation.Message {
	thinks := slices.ContainsFunc(list, func(m conversation.Message) bool { return m.Thoughts != "" })
	out := slices.Clone(list)
	for i := range out {
		m := &out[i]
		m.Note = nil
		m.Calls = readable(m.Calls)
		if thinks && m.Role == conversation.RoleAssistant {
			m.Thoughts = cmp.Or(m.Thoughts, " ")
		}
	}
	return out
}

// readable returns the calls with valid names and arguments. Some endpoints check those of
// earlier calls, and would reject the conversation forever for one mistake of a model; the
// answer to the call tells the model about it.
func readable(calls []conversation.Call) []conversation.Call {
	calls = slices.Clone(calls)
	for i := range calls {
		c := &calls[i]
		c.Tool = functionName(c.Tool)
		args := []byte(strings.TrimSpace(c.Arguments))
		if len(args) == 0 || args[0] != '{' || rawjson.Check(args) != nil {
			c.Arguments = "{}"
		}
	}
	return calls
}

// functionName replaces what is not allowed in the name of a function.
func functionName(name string) string {
	const longest = 64
	clean := strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}, name)
	return cmp.Or(clean[:min(longest, len(clean))], "_")
}
