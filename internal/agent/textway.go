package agent

import (
	"encoding/json"
	"strings"

	"github.com/toolfit/toolfit/internal/agent/toolcall"
)

// callForm is how a model without function calling writes a call.
const callForm = `<tool_call>{"id":"call_001","tool_name":"NAME","arguments":{…}}</tool_call>`

// protocol tells such a model how to call.
const protocol = `To call a tool, write exactly this, with an id of your own, and nothing after it:
` + callForm + `
Several calls may follow one another. Each is answered by <tool_result>{"id":…,"success":…,"result":…,"error":…,"duration_ms":…}</tool_result>. Never write a <tool_result> yourself.`

// answerNow tells such a model that it cannot call any more.
const answerNow = "No more calls are possible. Answer now with what you know."

// toolResult is the answer to a call, in text.
type toolResult struct {
	ID         string  `json:"id"`
	Success    bool    `json:"success"`
	Result     *string `json:"result"`
	Error      *string `json:"error"`
	DurationMS int64   `json:"duration_ms"`
}

// callText is a call as such a model writes it.
func callText(c ToolCall) string {
	args := json.RawMessage(c.Function.Arguments)
	if !json.Valid(args) {
		args = quote(c.Function.Arguments)
	}
	return "<tool_call>" + toolcall.Escape(marshal(struct {
		ID        string          `json:"id"`
		Tool      string          `json:"tool_name"`
		Arguments json.RawMessage `json:"arguments"`
	}{c.ID, c.Function.Name, args})) + "</tool_call>"
}

// resultText is the answer to a call as such a model gets it. Nothing in it is a tag or a call.
func resultText(m Message) string {
	text := m.Text()
	r := toolResult{ID: m.ToolCallID, Success: true, Result: &text}
	if m.Note != nil {
		r.DurationMS = m.Note.DurationMS
		if m.Note.Status != Success {
			r.Success, r.Result, r.Error = false, nil, &text
		}
	}
	return "<tool_result>" + toolcall.Escape(marshal(r)) + "</tool_result>"
}

// inText writes messages for a model without function calling: calls and their answers are
// text of the assistant and of the user. What one says in a row is one message, for many
// such models take no other.
func inText(list []Message) []json.RawMessage {
	var out []Message
	for i := 0; i < len(list); i++ {
		m := list[i]
		m.Note, m.Reasoning = nil, ""
		switch {
		case m.Role == roleTool:
			var texts []string
			for ; i < len(list) && list[i].Role == roleTool; i++ {
				texts = append(texts, resultText(list[i]))
			}
			i--
			m = textMessage(roleUser, strings.Join(texts, "\n"))
		case len(m.ToolCalls) > 0:
			texts := []string{m.Text()}
			if texts[0] == "" {
				texts = nil
			}
			for _, c := range m.ToolCalls {
				texts = append(texts, callText(c))
			}
			m = textMessage(roleAssistant, strings.Join(texts, "\n"))
		}
		out = append(out, m)
	}
	return forModel(joined(out))
}

// joined makes one message of the texts that one says in a row.
func joined(list []Message) (out []Message) {
	for len(list) > 0 {
		m, n := list[0], 1
		for isText(m) && n < len(list) && list[n].Role == m.Role && isText(list[n]) {
			n++
		}
		if n > 1 {
			texts := make([]string, n)
			for i := range texts {
				texts[i] = list[i].Text()
			}
			m = textMessage(m.Role, strings.Join(texts, "\n\n"))
		}
		out, list = append(out, m), list[n:]
	}
	return out
}

// isText tells whether the content is one text.
func isText(m Message) bool { return len(m.Content) > 0 && m.Content[0] == '"' }
