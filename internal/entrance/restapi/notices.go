package restapi

import (
	"time"

	"github.com/toolfit/toolfit/internal/agent"
	"github.com/toolfit/toolfit/internal/agent/conversation"
	"github.com/toolfit/toolfit/internal/browsertest/trial"
	"github.com/toolfit/toolfit/internal/state/store"
)

// publish tells all listeners what happened. It never blocks.
func (e *Events) publish(topic string, at time.Time, show func(c *connection) (data any, ok bool)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.tell(notice{topic, at, show})
}

// owns tells whether a client may see what a principal did: callers see only their own.
func (c *connection) owns(principal string) bool { return c.who.MayRead() || c.who.ID == principal }

// ToolsChanged tells that the tool list of a profile has changed.
func (e *Events) ToolsChanged(profile string) {
	e.publish("tools.changed", e.now(), func(c *connection) (any, bool) {
		return map[string]string{"profile": profile}, c.who.MayRead() || c.who.Has(profile)
	})
}

// RuleChanged tells that a rule of the store has changed.
func (e *Events) RuleChanged(r Rule) {
	e.publish("rule.changed", e.now(), func(c *connection) (any, bool) { return r, c.who.MayRead() })
}

// RunChanged tells what happened in a run of browser tests.
func (e *Events) RunChanged(r trial.Event) {
	e.publishAll(told{Topic: r.Type, At: r.At, Owner: r.Principal}, r)
}

// started is what is known about a call when it starts.
type started struct {
	ID        string `json:"id"`
	Principal string `json:"principal"`
	Profile   string `json:"profile"`
	Session   string `json:"session,omitempty"`
	Server    string `json:"server"`
	Tool      string `json:"tool"`
}

// CallStarted tells that a call was sent to its server. It costs nothing while nobody listens.
func (e *Events) CallStarted(s store.Call) {
	if !e.starts.Load() && !e.others.want(callStarted) {
		return
	}
	e.publishAll(told{Topic: callStarted, At: s.At, Owner: s.Principal, Server: string(s.Server), Tool: string(s.Tool)},
		started{s.ID, s.Principal, s.Profile, s.Session, string(s.Server), string(s.Tool)})
}

// SessionChanged tells that a session was created, updated or deleted.
func (e *Events) SessionChanged(kind string, s store.Session) {
	e.publishAll(told{Topic: "session." + kind, At: e.now(), Owner: s.Owner}, struct {
		Session
		Owner string `json:"owner"`
	}{showSession(s), s.Owner})
}

// agentCalled is an agent's call without arguments and result, which are in the transcript.
type agentCalled struct {
	Agent      string              `json:"agent"`
	Session    string              `json:"session,omitempty"`
	ID         string              `json:"id"` // the model's name for the call
	Tool       string              `json:"tool"`
	Status     conversation.Status `json:"status"`
	Error      string              `json:"error,omitempty"`
	DurationMS int64               `json:"duration_ms"`
	Call       string              `json:"call,omitempty"` // id of the record
}

// AgentCalled tells the state of an agent's call.
func (e *Events) AgentCalled(r agent.Report, from agent.Origin) {
	e.publishAll(told{Topic: "agent.call", At: e.now().UTC().Truncate(time.Microsecond), Owner: from.Principal.ID},
		agentCalled{from.Agent, from.Session, r.ID, r.Tool, r.Status, r.Error, r.DurationMS, r.Call})
}
