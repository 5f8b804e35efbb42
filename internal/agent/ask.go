package agent

import (
	"context"
	"errors"

	"github.com/toolfit/toolfit/internal/agent/conversation"
	"github.com/toolfit/toolfit/internal/agent/toolcall"
	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/core/tokens"
	"github.com/toolfit/toolfit/internal/state/config"
)

// reply is what a model said in one round.
type reply struct {
	text      string // without calls and thoughts
	echo      string // the thoughts that the provider needs back
	finish    string
	limit     string              // our limit that ended it; "": none
	native    []conversation.Call // by function calling
	inText    []toolcall.Call     // in its text
	inThought []toolcall.Call     // in its thoughts only
	truncated bool
}

// errSpent stops a reply that exceeds the token limit.
var errSpent = errors.New("token limit reached")

// ask asks the model once. With open it may call tools.
func (c *chat) ask(ctx context.Context, open bool) (*reply, error) {
	request := c.parts.Models.Encode(c.model, c.conversation(open))
	cost := conversation.Usage{Prompt: tokens.Sampled(request)}
	used := c.answer.Usage.Prompt + c.answer.Usage.Completion + cost.Prompt
	most := c.agent.MaxTokens
	if most > 0 && used >= most {
		if c.answer.Rounds == 0 {
			return nil, fault.New(fault.TooLarge, "the messages alone are about %d tokens, and agent %s may use %d for an answer",
				cost.Prompt, c.agent.ID, most).
				WithHint("say less, give the agent fewer tools, or raise its max_tokens")
		}
		return &reply{finish: "length", limit: counted(most, "token")}, nil
	}
	l := c.listen()
	got, err := c.parts.Models.Ask(ctx, c.model, request, func(p conversation.Piece) error {
		l.take(p)
		cost.Completion += tokens.Estimate(p.Text) + tokens.Estimate(p.Thought)
		if most > 0 && used+cost.Completion >= most {
			return errSpent
		}
		return ctx.Err()
	})
	out := &reply{}
	if got != nil {
		out = &reply{finish: got.Finish, native: got.Calls, truncated: got.Truncated(), echo: got.Echo}
		cost = costOf(got, cost)
	}
	if errors.Is(err, errSpent) {
		err = nil
		out.truncated = true
		out.limit = counted(most, "token")
	}
	c.answer.Usage.Prompt += cost.Prompt
	c.answer.Usage.Completion += cost.Completion
	c.opts.Metrics.spent(c.model.Name, cost)
	l.end(out, out.truncated || err != nil)
	return out, err
}

// costOf is what a reply cost: as the provider says, or else the estimate plus the calls,
// which are not streamed.
func costOf(r *conversation.Reply, estimate conversation.Usage) conversation.Usage {
	if r.Usage != (conversation.Usage{}) {
		return r.Usage
	}
	for _, call := range r.Calls {
		estimate.Completion += tokens.Estimate(call.Tool) + tokens.Estimate(call.Arguments)
	}
	return estimate
}

// conversation returns what the model gets.
func (c *chat) conversation(open bool) conversation.Conversation {
	list := []conversation.Message{conversation.Text(conversation.RoleSystem, c.system)}
	for _, m := range complete(c.said, c.speech) {
		if !m.IsSystem() { // it is in c.system
			list = append(list, m)
		}
	}
	out := conversation.Conversation{Tools: c.functions, NoCalls: !open, Params: c.turn.Params}
	if c.model.Tools != config.TextTools {
		out.Messages = withOwnThoughts(list, c.model.Name)
		return out
	}
	if !open && list[len(list)-1].Role == conversation.RoleTool {
		list = append(list, conversation.Text(conversation.RoleUser, c.speech.Translate(answerNow)))
	}
	out.Messages = inText(list)
	return out
}
