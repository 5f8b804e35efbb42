package agent

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/fault"
	"github.com/toolfit/toolfit/internal/store"
)

// AgentKey is the name in a session's metadata under which its agent stands.
const AgentKey = "agent"

// maxTitle bounds the title of a session that is made of what was said first.
const maxTitle = 80

// storeLimit is how long messages may take to be stored once the caller has left. A disk that
// a hundred chats write to at once may well need ten seconds.
const storeLimit = time.Minute

// newSessionID is an id that nobody guesses.
func newSessionID() string { return "ses_" + strings.ToLower(rand.Text()) }

// enter opens the session and stores what was said. leave lets others in again.
func (c *chat) enter(ctx context.Context) (leave func(), err error) {
	leave = func() {}
	if !c.turn.Unkept {
		if leave, err = c.openSession(ctx); err != nil {
			return nil, err
		}
	}
	if err := c.keep(ctx, c.turn.Messages...); err != nil {
		leave()
		return nil, err
	}
	return leave, nil
}

// openSession finds the session that goes on, or makes a new one.
func (c *chat) openSession(ctx context.Context) (leave func(), err error) {
	if c.turn.Session == "" {
		s := store.Session{
			ID: newSessionID(), Owner: c.turn.Principal.ID, Title: title(c.turn.Messages),
			Metadata: map[string]json.RawMessage{AgentKey: quote(c.agent.ID)},
		}
		if s, err = c.parts.Sessions.CreateSession(ctx, s); err != nil {
			return nil, err
		}
		c.answer.Session = s.ID
	} else {
		s, err := c.parts.Sessions.Session(ctx, c.turn.Session)
		if err == nil && s.Owner != c.turn.Principal.ID {
			err = fault.New(fault.NotFound, "there is no session %.100q", c.turn.Session)
		}
		if err != nil {
			return nil, err
		}
		c.answer.Session = s.ID
	}
	id := c.answer.Session
	if _, taken := c.busy.LoadOrStore(id, true); taken {
		return nil, fault.New(fault.Conflict, "session %s is being answered already", id).WithHint("wait for that answer")
	}
	leave = func() { c.busy.Delete(id) }
	if c.turn.Session != "" && c.agent.Capabilities.Memory {
		if err := c.remember(ctx); err != nil {
			leave()
			return nil, err
		}
	}
	return leave, nil
}

// title is made of what the person said first.
func title(list []Message) string {
	for i := range list {
		if list[i].Role != roleUser {
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

// remember takes the last messages of the session in. They begin with one of a person's, so
// that no answer stands there without its question.
func (c *chat) remember(ctx context.Context) error {
	most := c.agent.Capabilities.MemoryLimit
	var list []Message
	var custom customPrompt // of the last time that there was one
	fresh := true
	for after := int64(0); ; {
		rows, err := c.parts.Sessions.Messages(ctx, c.answer.Session, after, 1000)
		if err != nil {
			return err
		}
		for _, row := range rows {
			after = row.Position
			var m Message
			if err := json.Unmarshal(row.Body, &m); err != nil || m.check() != nil {
				continue // not one of ours
			}
			if m.isSystem() {
				if fresh {
					custom, fresh = nil, false
				}
				custom.add(&m)
				continue
			}
			fresh = true
			list = append(list, m)
		}
		if len(list) > most {
			list = append([]Message(nil), list[len(list)-most:]...)
		}
		if len(rows) < 1000 {
			break
		}
	}
	for len(list) > 0 && list[0].Role != roleUser {
		list = list[1:]
	}
	c.said = list
	if len(custom) > 0 && c.customPrompt() == "" {
		c.system = systemPrompt(c.agent, custom.text(), c.section, c.tools.shown())
	}
	return nil
}

// keep stores messages and adds them to what the model is told.
func (c *chat) keep(ctx context.Context, list ...Message) error {
	if err := c.store(ctx, list...); err != nil {
		return err
	}
	c.said = append(c.said, list...)
	return nil
}

// store stores messages, also when the caller has left: what was done is not forgotten.
func (c *chat) store(ctx context.Context, list ...Message) error {
	if c.turn.Unkept {
		return nil
	}
	ctx, cancel := outlast(ctx)
	defer cancel()
	bodies := make([]json.RawMessage, len(list))
	for i := range list {
		bodies[i] = list[i].encode()
	}
	if err := c.parts.Sessions.AppendMessages(ctx, c.answer.Session, bodies...); err != nil {
		return fmt.Errorf("store the chat: %w", err)
	}
	return nil
}

// outlast is a context that goes on a little after its parent has ended. Before that it has
// no limit of its own: a busy store may take its time.
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
	return ctx, func() { stop(); cancel() }
}
