package env

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"maps"
	"reflect"
	"sync"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/mcp"
)

// Question is a question to the client: for its user (elicitation/create), for its model
// (sampling/createMessage), or about its folders (roots/list).
type Question struct {
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"` // as MCP defines them for the method; nil: {}
}

// Form returns a question for the user, whose answer has the fields of a struct, as in NewTool. It
// panics if Fields has no schema.
func Form[Fields any](message string) Question {
	schema, err := argumentsOf(reflect.TypeFor[Fields]())
	if err != nil {
		panic(fmt.Sprintf("env: form %.40q: %v", message, err))
	}
	params := rawjson.AppendString([]byte(`{"mode":"form","message":`), message)
	params = append(append(params, `,"requestedSchema":`...), schema...)
	return Question{Method: "elicitation/create", Params: append(params, '}')}
}

// Answer is the client's result of a question, as MCP defines it for the method.
type Answer json.RawMessage

// Accepted decodes the fields of a form; false when the user has declined.
func (a Answer) Accepted(into any) (bool, error) {
	if action, _ := rawjson.String(rawjson.Get(a, "action")); action != "accept" {
		return false, nil
	}
	if err := rawjson.Decode(rawjson.Get(a, "content"), into); err != nil {
		return false, fmt.Errorf("read the answer: %w", err)
	}
	return true, nil
}

// Ask asks the client of the current tool call all questions at once, and waits for the answers; a
// task waits until its end. The error is ErrNotAskable when the client cannot answer.
//
// A client of revision 2026-07-28 is asked by the answer to its call, unless the tool runs as a task: Ask
// then returns an error that the tool must return, and the tool is called again with the answers.
// Until there, it must do the same again.
func Ask(ctx context.Context, questions ...Question) ([]Answer, error) {
	with, _ := ctx.Value(conversationKey{}).(conversation)
	if with == nil {
		return nil, ErrNotAskable
	}
	all := make([]Question, 0, len(questions))
	for _, q := range questions {
		if q.Params == nil {
			q.Params = json.RawMessage("{}")
		}
		switch {
		case rawjson.Check(q.Params) != nil || q.Params[0] != '{':
			return nil, fmt.Errorf("ask %s: the params are not a JSON object", q.Method)
		case !mcp.Can(with.abilities(), q.Method, q.Params):
			return nil, fmt.Errorf("ask %s: %w", q.Method, ErrNotAskable)
		}
		all = append(all, q)
	}
	return with.ask(ctx, all)
}

// Progress tells the client of the current tool call how far the work is.
func Progress(ctx context.Context, message string) {
	if with, _ := ctx.Value(conversationKey{}).(conversation); with != nil {
		with.progress(ctx, message)
	}
}

// conversation is the way from a tool to its client.
type conversation interface {
	abilities() json.RawMessage // the client's capabilities
	ask(ctx context.Context, questions []Question) ([]Answer, error)
	progress(ctx context.Context, message string)
}

type conversationKey struct{}

// open is the conversation of a request that has not been answered.
type open struct {
	req *mcp.Request

	mu      sync.Mutex
	steps   int64 // how often there was progress
	asked   int
	answers map[string]json.RawMessage // of a modern client, by the key of the question; nil: not read yet
	used    map[string]json.RawMessage // those that are answers to questions
}

func (o *open) abilities() json.RawMessage { return o.req.Speaker().Capabilities }

func (o *open) progress(ctx context.Context, message string) {
	meta := rawjson.Get(o.req.Params, "_meta")
	at := mcp.ProgressToken(meta)
	if at.End == 0 {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.steps++
	params := append([]byte(`{"progressToken":`), meta[at.Start:at.End]...)
	params = fmt.Appendf(params, `,"progress":%d,"message":`, o.steps)
	o.req.Client.Notify(ctx, "notifications/progress", append(rawjson.AppendString(params, message), '}')) // nobody waits for it
}

func (o *open) ask(ctx context.Context, questions []Question) ([]Answer, error) {
	if o.req.Meta != nil {
		return o.answered(questions)
	}
	var all []Answer
	for _, q := range questions {
		answer, err := o.req.Client.Ask(ctx, q.Method, q.Params)
		if err != nil {
			return nil, fmt.Errorf("ask %s: %w", q.Method, err)
		}
		all = append(all, Answer(answer))
	}
	return all, nil
}

// answered returns the answers that a modern client sent with its call.
func (o *open) answered(questions []Question) ([]Answer, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.answers == nil {
		sent, err := sentAnswers(o.req.Params)
		if err != nil {
			return nil, &unanswered{wrong: err}
		}
		o.answers = sent
		o.used = map[string]json.RawMessage{}
	}
	missing := map[string]Question{}
	var all []Answer
	for _, q := range questions {
		o.asked++
		sum := crc32.ChecksumIEEE(append([]byte(q.Method), q.Params...))
		key := fmt.Sprintf("q%d-%08x", o.asked, sum) // another question in its place does not get its answer
		answer, found := o.answers[key]
		if !found {
			missing[key] = q
			continue
		}
		o.used[key] = answer
		all = append(all, Answer(answer))
	}
	if len(missing) > 0 {
		return nil, &unanswered{questions: missing, answers: maps.Clone(o.used)}
	}
	return all, nil
}

// sentAnswers reads the answers of this round, and those of the rounds before, which the client repeats.
func sentAnswers(params json.RawMessage) (map[string]json.RawMessage, error) {
	all := map[string]json.RawMessage{}
	if state := rawjson.Get(params, "requestState"); state != nil {
		text, _ := rawjson.String(state)
		if json.Unmarshal([]byte(text), &all) != nil || all == nil {
			return nil, mcp.Errorf(mcp.CodeInvalidParams, "params.requestState is not what the server sent")
		}
	}
	now, err := answersIn(params)
	maps.Copy(all, now)
	return all, err
}

// answersIn reads the member inputResponses.
func answersIn(params json.RawMessage) (map[string]json.RawMessage, error) {
	raw := rawjson.Get(params, "inputResponses")
	all := map[string]json.RawMessage{}
	if raw == nil {
		return all, nil
	}
	w := rawjson.Object(raw)
	for w.Next() {
		if len(w.Value) == 0 || w.Value[0] != '{' {
			return nil, mcp.Errorf(mcp.CodeInvalidParams, "params.inputResponses: the answer to %.40q must be an object", w.Key)
		}
		all[string(w.Key)] = json.RawMessage(append([]byte(nil), w.Value...))
	}
	if w.Err() != nil {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "params.inputResponses must be an object")
	}
	return all, nil
}

// unanswered ends a call of a modern client, which is called again with the answers.
type unanswered struct {
	questions map[string]Question
	answers   map[string]json.RawMessage // so far
	wrong     error                      // the client sent answers that cannot be read
}

func (u *unanswered) Error() string {
	return "the client has not answered yet: the tool must return this error, and is called again"
}

// result is the answer to the call.
func (u *unanswered) result() (json.RawMessage, error) {
	if u.wrong != nil {
		return nil, u.wrong
	}
	var state string
	if len(u.answers) > 0 {
		state = string(rawjson.Encode(u.answers))
	}
	return rawjson.Marshal(struct {
		Type      string              `json:"resultType"`
		Questions map[string]Question `json:"inputRequests"`
		State     string              `json:"requestState,omitempty"`
	}{"input_required", u.questions, state})
}
