package agent

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/agent/conversation"
	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/gateway/replicas"
	"github.com/toolfit/toolfit/internal/state/store"
)

// AgentKey is the key of the agent in a session's metadata.
const AgentKey = "agent"

// maxTitle limits the title of a session.
const maxTitle = 80

// storeLimit is the timeout for storing after the caller has disconnected. A busy disk may need ten
// seconds.
const storeLimit = time.Minute

// enter opens the session, takes its lease and stores the new messages. The caller must end the lease.
func (c *chat) enter(ctx context.Context) error {
	c.lease = replicas.Unheld(ctx)
	if !c.turn.Unkept {
		if err := c.openSession(ctx); err != nil {
			return err
		}
		if err := c.take(ctx); err != nil {
			return err
		}
	}
	var err error
	if c.turn.Session != "" {
		err = c.remember(ctx)
	}
	if err == nil {
		err = c.keep(ctx, c.turn.Messages...)
	}
	if err != nil {
		c.lease.End()
	}
	return err
}

// openSession opens the session of the turn, or creates one.
func (c *chat) openSession(ctx context.Context) error {
	if c.turn.Session != "" {
		return c.findSession(ctx)
	}
	s, err := c.parts.Sessions.CreateSession(ctx, store.Session{
		ID: "ses_" + strings.ToLower(rand.Text()), Owner: c.turn.Principal.ID, Title: title(c.turn.Messages),
		Metadata: map[string]json.RawMessage{AgentKey: rawjson.Encode(c.agent.ID)},
	})
	c.answer.Session = s.ID
	return err
}

// findSession finds the session of the turn.
func (c *chat) findSession(ctx context.Context) error {
	s, err := c.parts.Sessions.Session(ctx, c.turn.Session)
	if err == nil && s.Owner != c.turn.Principal.ID {
		err = fault.New(fault.NotFound, "there is no session %.100q", c.turn.Session)
	}
	c.answer.Session = s.ID
	return err
}

// resume loads a session without answering in it.
func (c *chat) resume(ctx context.Context) error {
	if err := c.findSession(ctx); err != nil {
		return err
	}
	return c.remember(ctx)
}

// title is made of the first message of the user.
func title(list []conversation.Message) string {
	for i := range list {
		if list[i].Role != conversation.RoleUser {
			continue
		}
		text := []rune(strings.Join(strings.Fields(list[i].Text()), " "))
		if len(text) > maxTitle {
			return string(text[:maxTitle-1]) + "…"
		}
		if len(text) > 0 {
			return string(text)
		}
	}
	return "Chat"
}

// pageSize is how many messages are read at once.
const pageSize = 1000

// remember loads the last messages of the session and its last prompt.
func (c *chat) remember(ctx context.Context) (err error) {
	if !c.agent.Capabilities.Memory {
		return nil
	}
	own := c.custom
	c.said, err = c.lastSaid(ctx, c.agent.Capabilities.MemoryLimit)
	if err == nil && own == "" {
		c.custom, err = c.lastPrompt(ctx)
	}
	if err == nil && (c.tools.offerRest(c.said) || c.custom != own) {
		err = c.write()
	}
	return err
}

// lastSaid returns the last messages without prompts, from a message of the user on.
func (c *chat) lastSaid(ctx context.Context, most int) ([]conversation.Message, error) {
	rows, err := c.parts.Sessions.LastMessages(ctx, c.answer.Session, min(most, pageSize))
	var list []conversation.Message
	for err == nil && len(rows) > 0 {
		var page []conversation.Message
		for _, row := range rows {
			if m, ok := readMessage(row); ok && !m.IsSystem() && !isMark(&m) {
				page = append(page, m)
			}
		}
		list = append(page, list...)
		before := rows[0].Position - 1
		if n := min(before, pageSize); len(list) < most && n > 0 {
			rows, err = c.parts.Sessions.Messages(ctx, c.answer.Session, before-n, int(n))
			continue
		}
		break
	}
	list = list[max(0, len(list)-most):]
	for len(list) > 0 && list[0].Role != conversation.RoleUser {
		list = list[1:]
	}
	return list, err
}

// readMessage reads a stored message; false if it is not one.
func readMessage(row store.Message) (m conversation.Message, ok bool) {
	return m, json.Unmarshal(row.Body, &m) == nil && checkMessage(&m) == nil
}

// maxPrompt limits how many messages are searched for a prompt.
const maxPrompt = 100

// lastPrompt joins the last system messages of the session that were stored together.
func (c *chat) lastPrompt(ctx context.Context) (string, error) {
	last, err := c.parts.Sessions.LastMessageWithPrefix(ctx, c.answer.Session, `{"role":"`+conversation.RoleSystem+`"`,
		`{"role":"`+conversation.RoleDeveloper+`"`)
	if err != nil || last == 0 {
		return "", err
	}
	rows, err := c.parts.Sessions.Messages(ctx, c.answer.Session, max(0, last-maxPrompt), int(min(last, maxPrompt)))
	var list []conversation.Message
	for _, row := range rows {
		if m, ok := readMessage(row); ok && row.At.Equal(rows[len(rows)-1].At) {
			list = append(list, m)
		}
	}
	return joinPrompts(list), err
}

// keep stores messages and adds them to the conversation.
func (c *chat) keep(ctx context.Context, list ...conversation.Message) error {
	if err := c.store(ctx, list...); err != nil {
		return err
	}
	c.said = append(c.said, list...)
	return nil
}

// store stores messages, even when the caller has left.
func (c *chat) store(ctx context.Context, list ...conversation.Message) error {
	if c.turn.Unkept || len(list) == 0 {
		return nil
	}
	ctx, cancel := outlast(ctx)
	defer cancel()
	if err := c.lease.Check(ctx); err != nil {
		return err // somebody else may be answering
	}
	bodies := make([]json.RawMessage, len(list))
	for i := range list {
		bodies[i] = rawjson.Encode(list[i])
	}
	if err := c.parts.Sessions.AppendMessages(ctx, c.answer.Session, bodies...); err != nil {
		return fmt.Errorf("store the chat: %w", err)
	}
	return nil
}

// outlast returns a context that ends a while after its parent.
func outlast(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(parent))
	stop := context.AfterFunc(parent, func() {
		late := time.NewTimer(storeLimit)
		defer late.Stop()
		select {
		case <-late.C:
			cancel()
		case <-ctx.Done():
		}
	})
	return ctx, func() {
		stop()
		cancel()
	}
}
