package agent

import (
	"encoding/json"
	"strings"

	"github.com/toolfit/toolfit/internal/agent/conversation"
	"github.com/toolfit/toolfit/internal/agent/toolcall"
	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// callForm is how a model without function calling writes a call.
const callForm = `<tool_call>{"id":"call_001","tool_name":"NAME","arguments":{…}}</tool_call>`

// resultForm is how such a model gets a result.
const resultForm = `<tool_result>{"id":…,"success":…,"result":…,"error":…,"duration_ms":…}</tool_result>`

// protocol tells such a model how to call.
const protocol = `To call a tool, write exactly this, with an id of your own, and nothing after it:
` + callForm + `
Several calls may follow one another. Each is answered by ` + resultForm + `. Never write a <tool_result> yourself.`

const answerNow = "No more calls are possible. Answer now with what you know."

// toolResult is the result of a call, as text.
type toolResult struct {
	ID         string  `json:"id"`
	Success    bool    `json:"success"`
	Result     *string `json:"result"`
	Error      *string `json:"error"`
	DurationMS int64   `json:"duration_ms"`
}

func callText(c conversation.Call) string {
	args := json.RawMessage(c.Arguments)
	if !json.Valid(args) {
		args = rawjson.Encode(c.Arguments)
	}
	return "<tool_call>" + toolcall.Escape(rawjson.Encode(struct {
		ID        string          `json:"id"`
		Tool      string          `json:"tool_name"`
		Arguments json.RawMessage `json:"arguments"`
	}{c.ID, c.Tool, args})) + "</tool_call>"
}

// resultText returns a result as text. Nothing in it can be taken for a tag or a call.
func resultText(m conversation.Message) string {
	text := m.Text()
	r := toolResult{ID: m.CallID, Success: true, Result: &text}
	if m.Note != nil {
		r.DurationMS = m.Note.DurationMS
		if m.Note.Status != conversation.Success {
			r.Success = false
			r.Result = nil
			r.Error = &text
		}
	}
	return "<tool_result>" + toolcall.Escape(rawjson.Encode(r)) + "</tool_result>"
}

// inText writes calls and results as text of the assistant and the user, for a model without
// function calling. Consecutive messages of a role become one, as many such models require.
func inText(list []conversation.Message) []conversation.Message {
	var out []conversation.Message
	for i := 0; i < len(list); i++ {
		m := list[i]
		m.Thoughts = ""
		switch {
		case m.Role == conversation.RoleTool:
			var texts []string
			for ; i < len(list) && list[i].Role == conversation.RoleTool; i++ {
				texts = append(texts, resultText(list[i]))
			}
			i--
			m = conversation.Text(conversation.RoleUser, strings.Join(texts, "\n"))
		case len(m.Calls) > 0:
			texts := []string{m.Text()}
			if texts[0] == "" {
				texts = nil
			}
			for _, c := range m.Calls {
				texts = append(texts, callText(c))
			}
			m = conversation.Text(conversation.RoleAssistant, strings.Join(texts, "\n"))
		}
		out = append(out, m)
	}
	return joined(out)
}

// joined merges consecutive texts of the same role.
func joined(list []conversation.Message) (out []conversation.Message) {
	for len(list) > 0 {
		m := list[0]
		n := 1
		for m.Content.IsPlain() && n < len(list) && list[n].Role == m.Role && list[n].Content.IsPlain() {
			n++
		}
		if n > 1 {
			texts := make([]string, n)
			for i := range texts {
				texts[i] = list[i].Text()
			}
			m = conversation.Text(m.Role, strings.Join(texts, "\n\n"))
		}
		out = append(out, m)
		list = list[n:]
	}
	return out
}
