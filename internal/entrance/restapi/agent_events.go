package restapi

import (
	"time"

	"github.com/toolfit/toolfit/internal/agent"
	"github.com/toolfit/toolfit/internal/agent/conversation"
)

// agentCall is the topic of what becomes of the calls of agents.
const agentCall = "agent.call"

// agentCalled is what is told of an agent's call: neither arguments nor result, which stand
// in the transcript.
type agentCalled struct {
	Agent      string              `json:"agent"`
	Session    string              `json:"session,omitempty"`
	ID         string              `json:"id"` // the model's name for the call
	Tool       string              `json:"tool"`
	Status     conversation.Status `json:"status"`
	Error      string              `json:"error,omitempty"`
	DurationMS int64               `json:"duration_ms"`
	Call       string              `json:"call,omitempty"` // id of the record

	principal string
}

// AgentCalled tells what has become of an agent's call. It does not block.
func (e *Events) AgentCalled(r agent.Report, from agent.Origin) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.tell(happening{topic: agentCall, at: e.now().UTC().Truncate(time.Microsecond), agent: agentCalled{
		Agent: from.Agent, Session: from.Session, ID: r.ID, Tool: r.Tool, Status: r.Status, Error: r.Error, DurationMS: r.DurationMS, Call: r.Call,
		principal: from.Principal.ID,
	}})
}
