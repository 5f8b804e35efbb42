package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/agent/conversation"
	"github.com/toolfit/toolfit/internal/agent/toolcall"
	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/loosejson"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/mcp"
)

// Report is a call and its state.
type Report struct {
	ID         string              `json:"id"` // the model's name for it
	Tool       string              `json:"tool"`
	Status     conversation.Status `json:"status"`
	Arguments  json.RawMessage     `json:"arguments,omitempty"` // as the model gave them
	Result     string              `json:"result,omitempty"`    // as the model gets it
	Error      string              `json:"error,omitempty"`
	DurationMS int64               `json:"duration_ms"`
	Call       string              `json:"call,omitempty"` // id of the record
	Ref        string              `json:"ref,omitempty"`  // of the full result
}

// wanted is a call that the model asked for.
type wanted struct {
	id, tool, source string
	args             json.RawMessage
	raw              string // what the model wrote for arguments
	err              error  // why it cannot be read
	found            found
}

// written returns the arguments for the transcript.
func (w *wanted) written() string {
	if w.args != nil {
		return string(w.args)
	}
	return w.raw
}

// calls returns the calls in a reply, with ids that are unique in the round.
func (c *chat) calls(r *reply) []wanted {
	var list []wanted
	for _, n := range r.native {
		w := wanted{id: n.ID, tool: n.Tool, raw: n.Arguments}
		w.args, w.err = arguments(n.Arguments, r.truncated)
		list = append(list, w)
	}
	for _, t := range r.inText {
		list = append(list, readCall(t))
	}
	if len(list) == 0 && !c.asked { // what is written again is the answer
		list = c.inWords(r.text)
		c.asked = len(list) > 0
	} else {
		c.asked = false
	}
	if len(list) == 0 && r.text == "" { // it wrote the answer as thoughts
		for _, t := range r.inThought {
			w := readCall(t)
			w.err = errInThought
			list = append(list, w)
		}
	}
	taken := map[string]bool{}
	for i := range list {
		for n := i + 1; list[i].id == "" || taken[list[i].id]; n++ {
			list[i].id = fmt.Sprintf("call_%d_%d", c.answer.Rounds, n)
		}
		taken[list[i].id] = true
	}
	return list
}

// inWords finds calls at the end of a text in which nothing is called: the model forgot the tags,
// or its endpoint let a call through as text. They are not made, as they may belong to an answer
// about calls; the model is asked instead.
func (c *chat) inWords(text string) (list []wanted) {
	quoted := c.quotes()
	for _, t := range toolcall.AtEnd(text) {
		w := readCall(t)
		meant, err := c.tools.find(w.tool, w.source, w.args)
		if w.err != nil || err != nil || quoted(t.Raw) {
			continue
		}
		if t.Positional != nil {
			w.args = named(t.Positional, w.args, meant.InputSchema())
		}
		w.err = errInWords
		list = append(list, w)
	}
	return list
}

// named puts values without a name before the other arguments, under the names that the schema begins
// with; nil if it is not clear which are meant, because required ones come later than others.
func named(values []json.RawMessage, args, schema json.RawMessage) json.RawMessage {
	var required []string
	for w := rawjson.Array(rawjson.Get(schema, "required")); w.Next(); {
		name, _ := rawjson.String(w.Value)
		required = append(required, name)
	}
	out := []byte{'{'}
	n := 0
	optional := false
	for w := rawjson.Object(rawjson.Get(schema, "properties")); w.Next(); n++ {
		name := string(w.Key)
		needed := slices.Contains(required, name)
		if needed && optional || n < len(values) && rawjson.Get(args, name) != nil {
			return nil
		}
		if n < len(values) {
			optional = optional || !needed
			out = append(append(rawjson.AppendString(mcp.Comma(out), name), ':'), values[n]...)
		}
	}
	if n < len(values) {
		return nil
	}
	if inside := args[1:]; string(inside) != "}" {
		return append(mcp.Comma(out), inside...)
	}
	return append(out, '}')
}

// quotes returns a function that tells whether a call is copied from a result or a tool's
// description.
func (c *chat) quotes() func(call string) bool {
	given := sync.OnceValue(func() string {
		texts := []string{toolcall.Plain(c.section)}
		for i := range c.said {
			if m := &c.said[i]; m.Role == conversation.RoleTool {
				texts = append(texts, toolcall.Plain(m.Text()))
			}
		}
		return strings.Join(texts, "\n")
	})
	return func(call string) bool {
		call = strings.TrimRight(toolcall.Plain(call), "}];,`") // the reader needs none of them
		return strings.Contains(given(), call)
	}
}

// errInWords rejects a call in a text.
var errInWords = errors.New("it stands in your text, where nothing is called")

// errInThought rejects a call in thoughts.
var errInThought = errors.New("it stands in your thoughts")

// readCall reads a call that a model wrote as text.
func readCall(t toolcall.Call) wanted {
	w := wanted{id: t.ID, tool: t.Tool, source: t.Source, args: t.Args, raw: t.Raw, err: t.Err}
	if text, ok := rawjson.String(t.Args); w.err == nil && (ok || t.Args == nil) { // an object in quotes, or none
		w.args, w.err = arguments(text, false)
	}
	return w
}

func arguments(text string, cutOff bool) (json.RawMessage, error) {
	if strings.TrimSpace(text) == "" && !cutOff {
		return json.RawMessage("{}"), nil
	}
	value, doubt, err := loosejson.Read(text)
	if err == nil && doubt >= loosejson.Unclosed && cutOff {
		err = errors.New("the text ends inside them")
	}
	if err != nil {
		return nil, fmt.Errorf("the arguments cannot be read: %w", err)
	}
	return value, nil
}

// sentence returns an error for the model. Messages of servers are not translated.
func (c *chat) sentence(err error) string {
	var rpc *mcp.Error
	if errors.As(err, &rpc) {
		return rpc.Message
	}
	f := fault.As(err)
	text := c.speech.Translate(f.Error())
	if len(f.Details) > 0 {
		text += " " + string(f.Details)
	}
	return text
}

// clip truncates a text and says where the rest is.
func (c *chat) clip(text, ref string) string {
	most := c.agent.Capabilities.MaxToolResultLength
	n := utf8.RuneCountInString(text)
	if n <= most {
		return text
	}
	note := fmt.Sprintf("…[cut: %d characters in all]", n)
	if ref != "" {
		note = fmt.Sprintf(`…[cut: %d characters in all; fetch_result with ref "%s" gives the rest]`, n, ref)
	}
	note = c.speech.Translate(note)
	keep := most - utf8.RuneCountInString(note)
	for i := range text {
		if keep <= 0 {
			return text[:i] + note
		}
		keep--
	}
	return text + note
}

// message returns the call's result for the model and the transcript.
func (r *Report) message() conversation.Message {
	text := r.Result
	if r.Status != conversation.Success {
		text = r.Error
	}
	m := conversation.Text(conversation.RoleTool, text)
	m.CallID = r.ID
	m.Note = &conversation.Note{Tool: r.Tool, Status: r.Status, Call: r.Call, Ref: r.Ref, DurationMS: r.DurationMS}
	return m
}
