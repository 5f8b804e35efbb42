package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/toolfit/toolfit/internal/agent/endpoint"
	"github.com/toolfit/toolfit/internal/agent/toolcall"
	"github.com/toolfit/toolfit/internal/config"
	"github.com/toolfit/toolfit/internal/fault"
	"github.com/toolfit/toolfit/internal/rawjson"
	"github.com/toolfit/toolfit/internal/tokens"
)

// reply is what a model said in one round.
type reply struct {
	text   string // without calls
	finish string
	limit  string          // that ended it from here; "": none did
	native []endpoint.Call // by function calling
	inText []toolcall.Call // in its text
	cutOff bool
}

// errSpent ends a reply that costs more than the answer may.
var errSpent = errors.New("the answer has cost what it may")

// ask asks the model once. With open it may call tools.
func (c *chat) ask(ctx context.Context, open bool) (*reply, error) {
	body := c.body(open)
	cost := endpoint.Usage{Prompt: tokens.Sampled(body)}
	used := c.answer.Usage.Prompt + c.answer.Usage.Completion + cost.Prompt
	if most := c.agent.MaxTokens; most > 0 && used >= most {
		if c.answer.Rounds == 0 {
			return nil, fault.New(fault.TooLarge, "the messages alone are about %d tokens, and agent %s may use %d for an answer", cost.Prompt, c.agent.ID, most)
		}
		return &reply{finish: "length", limit: fmt.Sprintf("%d tokens", most)}, nil
	}
	var texts toolcall.Reader
	var said strings.Builder
	show := func(text string) {
		if text == "" {
			return
		}
		shown := text
		if said.Len() == 0 && c.text.Len() > 0 { // rounds are paragraphs
			shown = "\n\n" + text
		}
		said.WriteString(text)
		c.text.WriteString(shown)
		c.hear(Event{Text: shown})
	}
	got, err := c.parts.Models.Ask(ctx, c.model, body, func(p endpoint.Piece) error {
		if p.Reasoning != "" {
			c.hear(Event{Reasoning: p.Reasoning})
		}
		if c.model.Tools == config.TextTools {
			p.Text = texts.Write(p.Text)
		}
		show(p.Text)
		cost.Completion += tokens.Estimate(p.Text) + tokens.Estimate(p.Reasoning)
		if most := c.agent.MaxTokens; most > 0 && used+cost.Completion >= most {
			return errSpent
		}
		return ctx.Err()
	})
	out := &reply{}
	if got != nil {
		out.finish, out.native, out.cutOff = got.Finish, got.Calls, got.CutOff()
		if got.Usage != (endpoint.Usage{}) {
			cost = got.Usage
		}
	}
	if errors.Is(err, errSpent) {
		err, out.cutOff, out.limit = nil, true, fmt.Sprintf("%d tokens", c.agent.MaxTokens)
	}
	c.spend(cost)
	if c.model.Tools == config.TextTools {
		show(texts.Close(out.cutOff || err != nil))
		out.inText = texts.Calls()
	}
	out.text = said.String()
	return out, err
}

// body is a request to the model.
func (c *chat) body(open bool) []byte {
	out := rawjson.AppendString([]byte(`{"model":`), c.model.Model)
	out = append(out, `,"stream":true,"stream_options":{"include_usage":true}`...)
	for w := rawjson.Object(c.turn.Params); w.Next(); {
		out = appendMember(out, string(w.Key), w.Value)
	}
	for w := rawjson.Object(c.model.Params); w.Next(); {
		if rawjson.Get(c.turn.Params, string(w.Key)) == nil {
			out = appendMember(out, string(w.Key), w.Value)
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

func appendMember(out []byte, name string, value []byte) []byte {
	return append(append(rawjson.AppendString(append(out, ','), name), ':'), value...)
}

// messages are what was said so far, as the model takes it.
func (c *chat) messages(open bool) []json.RawMessage {
	list := []Message{textMessage(roleSystem, c.system)}
	for _, m := range complete(c.said) {
		if m.Role != roleSystem && m.Role != roleDeveloper { // its text is the prompt
			list = append(list, m)
		}
	}
	if c.model.Tools != config.TextTools {
		return forModel(list)
	}
	if !open && list[len(list)-1].Role == roleTool {
		list = append(list, UserMessage(answerNow))
	}
	return inText(list)
}
