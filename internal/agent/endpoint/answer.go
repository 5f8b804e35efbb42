package endpoint

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/agent/conversation"
	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// answer is a reply that is still streaming in.
type answer struct {
	model           string
	begun           bool
	strange         string // what came in place of an answer
	text, reasoning strings.Builder
	echo            strings.Builder
	calls           calls
	finish          string
	usage           conversation.Usage
	size            int
}

func (a *answer) read(body io.Reader, hear func(conversation.Piece) error) error {
	docs, err := newDocuments(body)
	for err == nil {
		var doc []byte
		doc, err = docs.next()
		if err != nil {
			break
		}
		var piece conversation.Piece
		piece, err = a.add(doc, docs.event)
		if err == nil {
			err = hear(piece)
		}
	}
	if err != io.EOF {
		return err
	}
	if a.finish == "" && docs.done {
		a.finish = "stop"
	}
	return nil
}

// nothing describes what came instead of an answer.
func (a *answer) nothing() error {
	f := fault.New(fault.UpstreamProtocol, "model %s answered with something that is not a chat completion", a.model)
	if a.strange != "" {
		f = fault.New(fault.UpstreamProtocol, "model %s answered with something that is not a chat completion: %s", a.model, a.strange)
	}
	return f.WithHint("check the url of the model: it mostly ends in /v1")
}

// add reads one document, in one pass, as it may be long.
func (a *answer) add(doc []byte, event string) (_ conversation.Piece, err error) {
	a.size += len(doc)
	if a.size > maxReply {
		return conversation.Piece{}, errTooLarge
	}
	if !utf8.Valid(doc) {
		doc = bytes.ToValidUTF8(doc, []byte("\uFFFD"))
	}
	if doc[0] == '<' {
		a.strange = said(doc)
		return conversation.Piece{}, nil
	}
	var p words
	failed := event == "error"
	answers := false
	for w := rawjson.Object(doc); w.Next(); {
		switch string(w.Key) {
		case "error":
			failed = failed || !rawjson.IsNull(w.Value)
		case "usage":
			a.usage.Prompt = max(a.usage.Prompt, number(w.Value, "prompt_tokens"))
			a.usage.Completion = max(a.usage.Completion, number(w.Value, "completion_tokens"))
		case "choices":
			answers = true
			for one := rawjson.Array(w.Value); one.Next() && err == nil; {
				err = a.choice(one.Value, &p)
			}
		}
	}
	switch {
	case failed:
		return conversation.Piece{}, fault.New(fault.UpstreamError, "model %s broke off: %s", a.model, said(doc)).WithHint(askAgain)
	case !answers:
		a.strange = said(doc)
	}
	a.text.WriteString(p.text.String())
	a.reasoning.WriteString(p.thought.String())
	return conversation.Piece{Text: p.text.String(), Thought: p.thought.String()}, err
}

type words struct{ text, thought strings.Builder }

// choice reads a part of the answer, or all of it when it is not streamed. Only the first of
// several answers counts.
func (a *answer) choice(choice []byte, p *words) error {
	var delta, message []byte
	finish := ""
	for w := rawjson.Object(choice); w.Next(); {
		switch string(w.Key) {
		case "index":
			if n := strings.Trim(string(w.Value), `"`); n != "0" && n != "null" {
				return nil
			}
		case "delta":
			delta = w.Value
		case "message":
			message = w.Value
		case "finish_reason":
			finish, _ = rawjson.String(w.Value)
		}
	}
	a.begun = true
	if rawjson.IsNull(delta) {
		delta = message
	}
	if err := a.delta(delta, p); err != nil {
		return err
	}
	if finish == "error" {
		return fault.New(fault.UpstreamError, "model %s broke off without a reason", a.model).WithHint(askAgain)
	}
	a.finish = cmp.Or(finish, a.finish)
	return nil
}

func (a *answer) delta(delta []byte, p *words) error {
	var reasoning, other string
	a.calls.event++
	for w := rawjson.Object(delta); w.Next(); {
		switch string(w.Key) {
		case "content":
			content(w.Value, &p.text, &p.thought, 0)
		case "refusal":
			text, _ := rawjson.String(w.Value)
			p.text.WriteString(text)
		case "reasoning_content":
			reasoning, _ = rawjson.String(w.Value)
		case "reasoning":
			other, _ = rawjson.String(w.Value)
		case "tool_calls":
			for one := rawjson.Array(w.Value); one.Next(); {
				if err := a.calls.add(one.Value); err != nil {
					return err
				}
			}
		}
	}
	p.thought.WriteString(cmp.Or(reasoning, other)) // some endpoints send it under both names
	a.echo.WriteString(reasoning)
	return nil
}

// maxParts limits the nesting of content parts.
const maxParts = 8

// content reads text, or a list of parts that are text or thoughts.
func content(raw []byte, text, thought *strings.Builder, depth int) {
	if rawjson.IsNull(raw) || depth > maxParts {
		return
	}
	switch raw[0] {
	case '"':
		said, _ := rawjson.String(raw)
		text.WriteString(said)
	case '{':
		content(rawjson.Get(raw, "text"), text, thought, depth+1)
		content(rawjson.Get(raw, "thinking"), thought, thought, depth+1)
	case '[':
		for w := rawjson.Array(raw); w.Next(); {
			content(w.Value, text, thought, depth+1)
		}
	}
}

// number reads a member that is a whole number; 0 if it is not.
func number(object []byte, name string) int {
	n, _ := strconv.Atoi(strings.Trim(string(rawjson.Get(object, name)), `"`))
	return max(0, n)
}

func (a *answer) reply() *conversation.Reply {
	r := &conversation.Reply{Text: a.text.String(), Thoughts: a.reasoning.String(), Echo: a.echo.String(), Finish: a.finish, Usage: a.usage}
	for _, c := range a.calls.list {
		r.Calls = append(r.Calls, conversation.Call{ID: c.id, Tool: c.name, Arguments: c.args.String()})
	}
	return r
}

// said returns the message of an error, in any of the forms that endpoints use.
func said(body []byte) string {
	body = bytes.TrimSpace(body)
	if len(body) > 0 && body[0] == '<' {
		return short(pageText(string(body)))
	}
	for _, keys := range [][]string{{"error", "message"}, {"error"}, {"message"}, {"detail"}, {"msg"}} {
		raw := rawjson.Get(body, keys...)
		if text, ok := rawjson.String(raw); ok && text != "" {
			return short(text)
		}
	}
	var plain bytes.Buffer
	if json.Compact(&plain, body) == nil {
		body = plain.Bytes()
	}
	if string(body) == "{}" {
		return ""
	}
	return short(string(body))
}

// pageText returns the title of an HTML page, or else its text.
func pageText(page string) string {
	if _, rest, ok := strings.Cut(page, "<title>"); ok {
		title, _, _ := strings.Cut(rest, "</title>")
		return title
	}
	var text strings.Builder
	for page != "" {
		before, rest, _ := strings.Cut(page, "<")
		text.WriteString(before + " ")
		_, page, _ = strings.Cut(rest, ">")
	}
	return text.String()
}
