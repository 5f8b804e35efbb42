package agent

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/toolfit/toolfit/internal/agent/conversation"
	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/gateway/replicas"
	"github.com/toolfit/toolfit/internal/state/store"
)

// Lease is the lease under which an answer is made in a session.
func Lease(session string) store.Home { return store.Home{Kind: store.ChatLease, Key: session} }

// ErrStopped ends an answer that somebody no longer wants.
var ErrStopped = fault.New(fault.Canceled, "the answer was stopped")

// take makes this gateway the one that answers in the session.
func (c *chat) take(ctx context.Context) error {
	id := c.answer.Session
	lease, err := c.parts.Leases.Take(ctx, Lease(id), func(ctx context.Context) { c.EndLost(ctx, id) })
	if errors.Is(err, replicas.ErrHeld) {
		return fault.New(fault.Conflict, "session %s is being answered already", id).WithHint("wait for that answer, or cancel it")
	}
	if err == nil {
		c.lease = lease
	}
	return err
}

// EndLost notes in a session that its last answer has no end, because the gateway that made it died.
func (r *Runner) EndLost(ctx context.Context, session string) {
	s, err := r.parts.Sessions.Session(ctx, session)
	if err == nil {
		m := conversation.Text(conversation.RoleAssistant, "")
		m.Note = &conversation.Note{Stopped: "the gateway that was answering has died"}
		json.Unmarshal(s.Metadata[AgentKey], &m.Note.Agent) // else it has none
		err = r.parts.Sessions.AppendMessages(ctx, session, rawjson.Encode(m))
	}
	if err != nil && !fault.Is(err, fault.NotFound) {
		r.opts.Logger.Error("the end of a chat not noted", "session", session, "error", fault.As(err))
	}
}

// isMark tells whether a message only says that an answer has no end. Models refuse empty messages.
func isMark(m *conversation.Message) bool {
	return m.Role == conversation.RoleAssistant && m.Note != nil && m.Note.Stopped != "" && m.Text() == "" && len(m.Calls) == 0
}
