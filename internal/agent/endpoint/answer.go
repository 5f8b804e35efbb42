package endpoint

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/fault"
	"github.com/toolfit/toolfit/internal/rawjson"
)

// answer is a reply while it comes in.
type answer struct {
	model           string
	begun           bool
	strange         string // what came in place of an answer
	text, reasoning strings.Builder
	echo            strings.Builder
	calls           calls
	finish          string
	usage           Usage
	size            int
}

// read takes the body of a response in.
func (a *answer) read(body io.Reader, hear func(Piece) error) error {
	docs, err := newDocuments(body)
	for err == nil {
		var doc []byte
		if doc, err = docs.next(); err != nil {
			break
		}
		var piece Piece
		if piece, err = a.add(doc, docs.event); err == nil {
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

// nothing says what came in place of an answer.
func (a *answer) nothing() error {
	f := fault.New(fault.UpstreamProtocol, "model %s answered with something that is no chat completion", a.model)
	if a.strange != "" {
		f = fault.New(fault.UpstreamProtocol, "model %s answered with something that is no chat completion: %s", a.model, a.strange)
	}
	return f.WithHint("check the url of the model: it mostly ends in /v1")
}

// add takes one document in.
func (a *answer) add(doc []byte, event string) (p Piece, err error) {
	if a.size += len(doc); a.size > maxReply {
		return p, errTooLarge
	}
	if !utf8.Valid(doc) {
		doc = bytes.ToValidUTF8(doc, []byte("\uFFFD"))
	}
	if doc = bytes.TrimSpace(doc); len(doc) > 0 && doc[0] == '<' {
		a.strange = said(doc)
		return p, nil
	}
	if err := rawjson.Check(doc); err != nil {
		return p, fmt.Errorf("%w: %s", err, short(string(doc)))
	}
	if !rawjson.IsNull(rawjson.Get(doc, "error")) || event == "error" {
		return p, fault.New(fault.UpstreamError, "model %s broke off: %s", a.model, said(doc)).WithHint(askAgain)
	}
	if u := rawjson.Get(doc, "usage"); !rawjson.IsNull(u) {
		a.usage = Usage{max(a.usage.Prompt, number(u, "prompt_tokens")), max(a.usage.Completion, number(u, "completion_tokens"))}
	}
	choices := rawjson.Get(doc, "choices")
	if choices == nil {
		a.strange = said(doc)
	}
	for w := rawjson.Array(choices); w.Next(); {
		if number(w.Value, "index") != 0 {
			continue
		}
		if err := a.choice(w.Value, &p); err != nil {
			return p, err
		}
	}
	a.text.WriteString(p.Text)
	a.reasoning.WriteString(p.Reasoning)
	return p, nil
}

// choice takes a part of the answer in, or the whole of one that was not streamed.
func (a *answer) choice(choice []byte, p *Piece) error {
	a.begun = true
	delta := rawjson.Get(choice, "delta")
	if rawjson.IsNull(delta) {
		delta = rawjson.Get(choice, "message")
	}
	text, thought := content(rawjson.Get(delta, "content"))
	refusal, _ := rawjson.String(rawjson.Get(delta, "refusal"))
	beside, _ := rawjson.String(rawjson.Get(delta, "reasoning_content"))
	other, _ := rawjson.String(rawjson.Get(delta, "reasoning"))
	p.Text += text + refusal
	p.Reasoning += thought + cmp.Or(beside, other) // some endpoints say it under both names
	a.echo.WriteString(beside)
	a.calls.next()
	for w := rawjson.Array(rawjson.Get(delta, "tool_calls")); w.Next(); {
		a.calls.add(w.Value)
	}
	finish, _ := rawjson.String(rawjson.Get(choice, "finish_reason"))
	if finish == "error" {
		return fault.New(fault.UpstreamError, "model %s broke off without a reason", a.model).WithHint(askAgain)
	}
	a.finish = cmp.Or(finish, a.finish)
	return nil
}

// content is a text, or a list of parts that are text or thoughts.
func content(raw []byte) (text, thought string) {
	if text, ok := rawjson.String(raw); ok {
		return text, ""
	}
	if rawjson.IsNull(raw) {
		return "", ""
	}
	if raw[0] == '{' {
		text, _ = rawjson.String(rawjson.Get(raw, "text"))
		inner, deeper := content(rawjson.Get(raw, "thinking"))
		return text, inner + deeper
	}
	for w := rawjson.Array(raw); w.Next(); {
		t, h := content(w.Value)
		text, thought = text+t, thought+h
	}
	return text, thought
}

// number is a member that is a whole number; 0 when it is not.
func number(object []byte, name string) int {
	n, _ := strconv.Atoi(strings.Trim(string(rawjson.Get(object, name)), `"`))
	return max(0, n)
}

func (a *answer) reply() *Reply {
	r := &Reply{Text: a.text.String(), Reasoning: a.reasoning.String(), Echo: a.echo.String(), Finish: a.finish, Usage: a.usage}
	for _, c := range a.calls.list {
		r.Calls = append(r.Calls, Call{ID: c.id, Name: c.name, Arguments: c.args.String()})
	}
	return r
}

// said is what an error says, in whichever form the endpoint gives it.
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

// pageText is the title of a page for people, or else its text.
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
