package agent

import (
	"errors"
	"fmt"

	"github.com/toolfit/toolfit/internal/agent/conversation"
	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/locale"
)

// checkMessage rejects a message that no model would accept.
func checkMessage(m *conversation.Message) error {
	for _, p := range m.Content {
		if p.Raw != nil && p.Raw[0] != '{' {
			return fmt.Errorf("each part of a content must be an object with a type, not %.40s", p.Raw)
		}
	}
	filled := m.Content != nil
	switch m.Role {
	case conversation.RoleSystem, conversation.RoleDeveloper, conversation.RoleUser:
		if !filled {
			return errors.New("content must be text or a list of parts")
		}
	case conversation.RoleAssistant:
		if !filled && len(m.Calls) == 0 && m.Refusal == "" {
			return errors.New("needs content or tool_calls")
		}
	case conversation.RoleTool:
		if !filled || m.CallID == "" {
			return errors.New("needs content and tool_call_id")
		}
	default:
		return fmt.Errorf("role %.40q is none of system, developer, user, assistant and tool", m.Role)
	}
	return nil
}

func checkMessages(list []conversation.Message) error {
	if len(list) == 0 {
		return fault.New(fault.BadRequest, "messages is empty")
	}
	for i := range list {
		if err := checkMessage(&list[i]); err != nil {
			return fault.New(fault.BadRequest, "messages[%d]: %w", i, err)
		}
	}
	return nil
}

// withOwnThoughts removes the thoughts of other models.
func withOwnThoughts(list []conversation.Message, model string) []conversation.Message {
	for i := range list {
		if n := list[i].Note; n != nil && n.Model != model {
			list[i].Thoughts = ""
		}
	}
	return list
}

// interrupted is the answer to a call that has none.
const interrupted = "The call was interrupted. Whether it was carried out is not known."

// complete puts a result right after every call, as models require. After a crash a result may be
// missing, and when two gateways answered at the same time, other messages may come in between.
func complete(list []conversation.Message, speech locale.Language) []conversation.Message {
	answers := make([][]conversation.Message, len(list)) // to the calls of each message
	open := map[string]*conversation.Message{}           // the place for the answer, by the call's id
	for i, m := range list {
		if place := open[m.CallID]; m.Role == conversation.RoleTool && place != nil {
			*place = m
			delete(open, m.CallID)
		}
		answers[i] = make([]conversation.Message, len(m.Calls))
		for j, c := range m.Calls {
			answers[i][j] = conversation.Text(conversation.RoleTool, speech.Translate(interrupted))
			answers[i][j].CallID = c.ID
			open[c.ID] = &answers[i][j]
		}
	}
	var out []conversation.Message
	for i, m := range list {
		if m.Role != conversation.RoleTool { // a tool's message without a call is dropped
			out = append(append(out, m), answers[i]...)
		}
	}
	return out
}
