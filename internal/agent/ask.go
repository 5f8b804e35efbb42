package agent

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/toolfit/toolfit/internal/agent/endpoint"
	"github.com/toolfit/toolfit/internal/agent/toolcall"
	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/tokens"
	"github.com/toolfit/toolfit/internal/state/config"
)

// reply is what a model said in one round.
type reply struct {
	text      string // without calls and thoughts
	echo      string // the thoughts, where the endpoint wants them back
	finish    string
	limit     string          // that ended it from here; "": none did
	native    []endpoint.Call // by function calling
	inText    []toolcall.Call // in its text
	inThought []toolcall.Call // that it only thought of
	cutOff    bool
}

// errSpent ends a reply that costs more than the answer may.
var errSpent = errors.New("the answer has cost what it may")

// ask asks the model once. With open it may call tools.
func (c *chat) ask(ctx context.Context, open bool) (*reply, error) {
	body := c.body(open)
	cost := endpoint.Usage{Prompt: tokens.Sampled(body)}
	used := c.answer.Usage.Prompt + c.answer.Usage.Completion + cost.Prompt
	most := c.agent.MaxTokens
	if most > 0 && used >= most {
		if c.answer.Rounds == 0 {
			return nil, fault.New(fault.TooLarge, "the messages alone are about %d tokens, and agent %s may use %d for an answer", cost.Prompt, c.agent.ID, most).
				WithHint("say less, give the agent fewer tools, or raise its max_tokens")
		}
		return &reply{finish: "length", limit: counted(most, "token")}, nil
	}
	l := c.listen()
	got, err := c.parts.Models.Ask(ctx, c.model, body, func(p endpoint.Piece) error {
		l.take(p)
		cost.Completion += tokens.Estimate(p.Text) + tokens.Estimate(p.Reasoning)
		if most > 0 && used+cost.Completion >= most {
			return errSpent
		}
		return ctx.Err()
	})
	out := &reply{}
	if got != nil {
		out.finish, out.native, out.cutOff, out.echo = got.Finish, got.Calls, got.CutOff(), got.Echo
		cost = spentOn(got, cost)
	}
	if errors.Is(err, errSpent) {
		err, out.cutOff, out.limit = nil, true, counted(most, "token")
	}
	c.spend(cost)
	l.end(out, out.cutOff || err != nil)
	return out, err
}

// spentOn is what a reply cost: as the endpoint says, or else as it was estimated while it
// came, with the calls, which are not heard.
func spentOn(r *endpoint.Reply, estimate endpoint.Usage) endpoint.Usage {
	if r.Usage != (endpoint.Usage{}) {
		return r.Usage
	}
	for _, call := range r.Calls {
		estimate.Completion += tokens.Estimate(call.Name) + tokens.Estimate(call.Arguments)
	}
	return estimate
}

// parallel is the member of a request that says whether a model may make several calls at once.
const parallel = "parallel_tool_calls"

// body is a request to the model.
func (c *chat) body(open bool) []byte {
	out := rawjson.AppendString([]byte(`{"model":`), c.model.Model)
	out = append(out, `,"stream":true,"stream_options":{"include_usage":true}`...)
	for w := rawjson.Object(c.turn.Params); w.Next(); {
		out = c.appendParam(out, &w)
	}
	for w := rawjson.Object(c.model.Params); w.Next(); {
		if rawjson.Get(c.turn.Params, string(w.Key)) == nil {
			out = c.appendParam(out, &w)
		}
	}
	if c.functions != nil {
		out = append(append(out, `,"tools":`...), c.functions...)
		if !open {
			out = append(out, `,"tool_choice":"none"`...)
		}
	}
	out = append(out, `,"messages":[`...)
	for i, m := range c.messages(open) {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, m...)
	}
	return append(out, "]}"...)
}

// appendParam adds a parameter. Endpoints refuse that of several calls where nothing can be
// called.
func (c *chat) appendParam(out []byte, w *rawjson.Walk) []byte {
	name := string(w.Key)
	if name == parallel && c.functions == nil {
		return out
	}
	return append(append(rawjson.AppendString(append(out, ','), name), ':'), w.Value...)
}

// messages are what was said so far, as the model takes it.
func (c *chat) messages(open bool) []json.RawMessage {
	list := []Message{textMessage(roleSystem, c.system)}
	for _, m := range complete(c.said, c.speech) {
		if !m.isSystem() { // its text is the prompt
			list = append(list, m)
		}
	}
	if c.model.Tools != config.TextTools {
		return forModel(echoed(list, c.model.Name))
	}
	if !open && list[len(list)-1].Role == roleTool {
		list = append(list, UserMessage(c.speech.Translate(answerNow)))
	}
	return inText(list)
}
