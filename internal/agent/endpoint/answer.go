package endpoint

import (
	"bytes"
	"cmp"
	"encoding/json"
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

// add takes one document in. Its members are gone through once: they may be long.
func (a *answer) add(doc []byte, event string) (p Piece, err error) {
	if a.size += len(doc); a.size > maxReply {
		return p, errTooLarge
	}
	if !utf8.Valid(doc) {
		doc = bytes.ToValidUTF8(doc, []byte("\uFFFD"))
	}
	if doc[0] == '<' {
		a.strange = said(doc)
		return p, nil
	}
	failed, answers := event == "error", false
	for w := rawjson.Object(doc); w.Next(); {
		switch string(w.Key) {
		case "error":
			failed = failed || !rawjson.IsNull(w.Value)
		case "usage":
			a.usage = Usage{max(a.usage.Prompt, number(w.Value, "prompt_tokens")), max(a.usage.Completion, number(w.Value, "completion_tokens"))}
		case "choices":
			answers = true
			for one := rawjson.Array(w.Value); one.Next() && err == nil; {
				err = a.choice(one.Value, &p)
			}
		}
	}
	switch {
	case failed:
		return Piece{}, fault.New(fault.UpstreamError, "model %s broke off: %s", a.model, said(doc)).WithHint(askAgain)
	case !answers:
		a.strange = said(doc)
	}
	a.text.WriteString(p.Text)
	a.reasoning.WriteString(p.Reasoning)
	return p, err
}

// choice takes a part of the answer in, or the whole of one that was not streamed. Of several
// answers the first counts.
func (a *answer) choice(choice []byte, p *Piece) error {
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
	a.delta(delta, p)
	if finish == "error" {
		return fault.New(fault.UpstreamError, "model %s broke off without a reason", a.model).WithHint(askAgain)
	}
	a.finish = cmp.Or(finish, a.finish)
	return nil
}

// delta takes in what was said and called.
func (a *answer) delta(delta []byte, p *Piece) {
	var beside, other string
	a.calls.next()
	for w := rawjson.Object(delta); w.Next(); {
		switch string(w.Key) {
		case "content":
			text, thought := content(w.Value)
			p.Text, p.Reasoning = p.Text+text, p.Reasoning+thought
		case "refusal":
			text, _ := rawjson.String(w.Value)
			p.Text += text
		case "reasoning_content":
			beside, _ = rawjson.String(w.Value)
		case "reasoning":
			other, _ = rawjson.String(w.Value)
		case "tool_calls":
			for one := rawjson.Array(w.Value); one.Next(); {
				a.calls.add(one.Value)
			}
		}
	}
	p.Reasoning += cmp.Or(beside, other) // some endpoints say it under both names
	a.echo.WriteString(beside)
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
