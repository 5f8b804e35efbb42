package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"

	"github.com/toolfit/toolfit/internal/agent/conversation"
	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/locale"
	"github.com/toolfit/toolfit/internal/gateway/replicas"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/schema"
)

// chat is a turn that is being answered.
type chat struct {
	*Runner
	turn  Turn
	agent *config.Agent
	model *config.Model
	tools *toolbox
	lease *replicas.Lease // of the session

	speech    locale.Language // in which the model is spoken to
	custom    string          // the caller's own prompt; "": none
	section   string          // the tools as text; "": the endpoint gets them
	system    string
	functions []conversation.Tool // offered by the provider; nil: none
	details   int                 // of how many tools the model gets all details
	said      []conversation.Message
	answer    Answer
	text      strings.Builder // of all rounds
	thought   strings.Builder // likewise
	made      int             // calls so far
	asked     bool            // whether the call in the words of the last reply was meant

	hearing sync.Mutex // one event at a time
}

// Answer answers a turn. With an error, the answer is what there is of it; nil if nothing was
// started.
func (r *Runner) Answer(ctx context.Context, t Turn) (*Answer, error) {
	c, err := r.newChat(t)
	if err != nil {
		return nil, err
	}
	if err := checkMessages(t.Messages); err != nil {
		return nil, err
	}
	late := fault.New(fault.UpstreamTimeout, "the answer took longer than %s", c.agent.Timeout).
		WithHint("raise the timeout of agent %s", c.agent.ID)
	ctx, cancel := context.WithTimeoutCause(ctx, c.agent.Timeout, late)
	defer cancel()
	if err := c.begin(ctx); err != nil {
		return nil, err
	}
	defer c.lease.End()
	c.hear(Event{Session: c.answer.Session})
	err = c.rounds(c.lease.Context())
	c.answer.Text = c.text.String()
	c.answer.Thought = c.thought.String()
	r.opts.Metrics.answered(c.agent.ID, &c.answer, err)
	return &c.answer, err
}

func (r *Runner) newChat(t Turn) (*chat, error) {
	a, m, err := r.find(&t)
	if err != nil {
		return nil, err
	}
	return &chat{Runner: r, turn: t, agent: a, model: m, speech: speechOf(a), custom: joinPrompts(t.Messages)}, nil
}

// begin prepares the first request. The caller must end the lease.
func (c *chat) begin(ctx context.Context) error {
	err := c.equip(ctx)
	if err == nil {
		c.logTools(ctx)
		err = c.enter(ctx)
	}
	if err != nil && ctx.Err() != nil {
		err = stopped(ctx)
	}
	return err
}

// Prompt is what a model gets before the conversation.
type Prompt struct {
	System string          `json:"system"`
	Tools  json.RawMessage `json:"tools,omitempty"` // as functions; nil: there are none, or they are in System
}

// Prompt returns what the agent's model would get with the turn, without secrets of the
// configuration.
func (r *Runner) Prompt(ctx context.Context, t Turn) (*Prompt, error) {
	c, err := r.newChat(t)
	if err == nil {
		err = c.equip(ctx)
	}
	if err == nil && t.Session != "" {
		err = c.resume(ctx)
	}
	if err != nil {
		return nil, err
	}
	p := &Prompt{System: r.opts.Redact(c.system)}
	if c.functions != nil {
		p.Tools = conversation.AppendTools(nil, c.functions)
	}
	return p, nil
}

// stopped returns why ctx has ended.
func stopped(ctx context.Context) error {
	var why *fault.Error
	if errors.As(context.Cause(ctx), &why) {
		return why
	}
	return fault.New(fault.Canceled, "the caller has left")
}

// equip selects the agent's tools.
func (c *chat) equip(ctx context.Context) error {
	view, err := c.parts.Tools.Listed(ctx, c.agent.Profile)
	if err != nil {
		return err
	}
	c.tools = newToolbox(view.As(c.turn.Principal), c.agent)
	c.tools.missing = view.UnknownTools(c.agent)
	if c.turn.NoTools {
		c.tools = &toolbox{view: view}
	}
	return c.write()
}

// write writes the prompt and the tools for the model.
func (c *chat) write() (err error) {
	switch {
	case len(c.tools.list) == 0:
	case c.model.Tools == config.TextTools:
		c.details = len(c.tools.list)
		c.section, err = c.tools.section(c.agent.Heading)
	default:
		c.functions, err = c.tools.functions(schema.Dialect(c.model.Dialect))
		c.details = len(c.functions)
	}
	if err != nil {
		return fmt.Errorf("write the tools of agent %s: %w", c.agent.ID, err)
	}
	c.system = systemPrompt(c.agent, c.custom, c.section, c.tools.shown())
	return nil
}

// logTools logs which agent answers with which tools. People search for these lines: keep their
// wording.
func (c *chat) logTools(ctx context.Context) {
	log := c.opts.Logger
	tools := len(c.tools.list) + len(c.tools.missing)
	log.Info(fmt.Sprintf("[Chat] Using agent: %s (%s)", c.agent.Name, c.agent.ID))
	log.Info(fmt.Sprintf("[Chat] Agent has %d tools with %d tool details", tools, c.details))
	if len(c.tools.missing) > 0 {
		log.Warn("the profile has no such tools", "agent", c.agent.ID, "profile", c.agent.Profile, "available_tools", c.tools.missing)
	}
	if log.Enabled(ctx, slog.LevelDebug) {
		log.Debug("[Chat] System prompt", "agent", c.agent.ID, "prompt", c.opts.Redact(c.system))
	}
}

func (c *chat) hear(e Event) {
	if c.turn.Hear == nil {
		return
	}
	c.hearing.Lock()
	defer c.hearing.Unlock()
	c.turn.Hear(e)
}

// followUps is the maximum number of rounds after the first.
func (c *chat) followUps() int {
	if !c.agent.Capabilities.Reflection {
		return 1
	}
	return c.agent.Capabilities.MaxReflections
}

// rounds asks and calls until there is an answer or a limit is reached. In the last of several
// rounds the model may not call.
func (c *chat) rounds(ctx context.Context) error {
	most := c.followUps()
	for round := 0; ; round++ {
		open := (round == 0 || round < most) && c.made < c.agent.Capabilities.MaxToolCalls && !c.spent()
		reply, err := c.ask(ctx, open)
		if reply != nil {
			c.answer.Rounds++
		}
		if err != nil {
			return c.broken(ctx, reply, err)
		}
		c.silences.Delete(c.agent.ID)
		calls := c.calls(reply)
		if reply.text != "" || len(calls) > 0 { // models refuse empty messages
			if err := c.keep(ctx, c.assistant(reply, calls)); err != nil {
				return err
			}
		}
		if len(calls) == 0 {
			c.finish(reply)
			return nil
		}
		if err := c.run(ctx, calls, open); err != nil {
			return err
		}
		if c.tools.offerRest(c.said) {
			if err := c.write(); err != nil {
				return err
			}
		}
		switch {
		case c.spent():
			c.limit(counted(c.agent.MaxTokens, "token"))
			return nil
		case round >= most:
			c.limit(counted(most+1, "round"))
			return nil
		case !open: // it was asked to answer, and did not
			c.limit(counted(c.agent.Capabilities.MaxToolCalls, "call"))
			return nil
		}
	}
}

// finish records why the model stopped.
func (c *chat) finish(r *reply) {
	c.answer.Finish = "stop"
	switch {
	case r.limit != "":
		c.limit(r.limit)
	case r.finish == "length":
		c.limit("the model's own")
	case r.finish == "": // the connection may have been cut
		c.limit("the model's stream, which has no end")
	case r.finish == "content_filter":
		c.answer.Finish = r.finish
	}
}

func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// limit records which limit ended the answer.
func (c *chat) limit(which string) {
	c.answer.Finish = "length"
	c.answer.Limit = which
}

// spent tells whether the token limit is reached.
func (c *chat) spent() bool {
	used := c.answer.Usage.Prompt + c.answer.Usage.Completion
	return c.agent.MaxTokens > 0 && used >= c.agent.MaxTokens
}

// broken stores what there is of an interrupted reply, and why it has no end.
func (c *chat) broken(ctx context.Context, r *reply, err error) error {
	why := func() string { return c.opts.Redact(fault.As(err).Message) }
	silent := ctx.Err() == nil && r != nil
	if ctx.Err() != nil {
		err = stopped(ctx)
	}
	if silent {
		c.opts.Metrics.failed(c.model.Name, err)
		if !fault.Is(err, fault.TooLarge) { // which is about this chat, not about the model
			c.silences.Store(c.agent.ID, silence{c.model, why()})
		}
	}
	if r != nil && (r.text != "" || silent) {
		m := c.assistant(r, nil)
		m.Note.Stopped = why()
		if keepErr := c.keep(ctx, m); keepErr != nil {
			c.opts.Logger.Error("end of a chat not stored", "session", c.answer.Session, "error", keepErr)
		}
	}
	if f := fault.As(err); f.Code != fault.Internal {
		clean := *f
		clean.Message = c.opts.Redact(f.Message)
		return &clean
	}
	return err
}

// silence is a model that did not answer.
type silence struct {
	model *config.Model
	why   string
}

// Silence is why the model of an agent did not answer when it was last asked; "": it did, or nobody has asked it since this process
// began or the model was configured.
func (r *Runner) Silence(a *config.Agent) string {
	s, _ := r.silences.Load(a.ID)
	last, _ := s.(silence)
	if last.model != r.parts.Config().ModelNamed(a.Model) {
		return ""
	}
	return last.why
}

// assistant returns the reply as a message.
func (c *chat) assistant(r *reply, calls []wanted) conversation.Message {
	m := conversation.Message{Role: conversation.RoleAssistant, Thoughts: r.echo, Note: &conversation.Note{Agent: c.agent.ID}}
	if r.echo != "" {
		m.Note.Model = c.model.Name
	}
	if r.text != "" || len(calls) == 0 {
		m.Content = conversation.Content{{Text: r.text}}
	}
	for _, w := range calls {
		m.Calls = append(m.Calls, conversation.Call{ID: w.id, Tool: w.tool, Arguments: w.written()})
	}
	return m
}
