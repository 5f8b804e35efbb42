package upstream

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/mcp"
)

// Limits for one call in which a modern server asks questions.
const (
	maxRounds = 10 // rounds of questions
	maxWaits  = 3  // rounds in a row without a question
)

// converse carries a call to its end. Questions of a modern server go to a modern client as they
// are; another client is asked, and the call repeated.
func (s *server) converse(ctx context.Context, who caller, out outgoing) (Outcome, error) {
	talk := rounds{server: s, first: out.params}
	for {
		raw, era, err := s.pass(ctx, who, out)
		if err != nil && era == mcp.Modern && !out.tasks && !out.refuses && out.method == callMethod && wantsTasks(err) {
			s.insist(out.name) // it has not acted
			out.tasks = true
			continue
		}
		if err != nil {
			return Outcome{}, signedError(s.cfg.ID, err)
		}
		kind, err := s.kindOf(raw, era, &out)
		if err != nil {
			return Outcome{}, err
		}
		if kind != InputRequired || out.from.Era == mcp.Modern || out.clock.detached() {
			talk.over(ctx, out.peer)
			return s.outcome(kind, era, raw, who, out.buf)
		}
		if out.params, err = talk.next(ctx, out, raw); err != nil {
			return Outcome{}, err
		}
		out.meta = mcp.FindMeta(out.params)
	}
}

// kindOf tells what a result is. Only a modern server says so.
func (s *server) kindOf(raw json.RawMessage, era mcp.Era, out *outgoing) (Kind, error) {
	if era != mcp.Modern {
		if out.asTask && rawjson.Get(raw, "task") != nil && rawjson.Get(raw, "content") == nil {
			return TaskMade, nil
		}
		return Complete, nil
	}
	kind := mcp.ResultType(raw)
	switch {
	case kind == "complete" || kind == "":
		return Complete, nil
	case kind == "input_required" && (out.method == callMethod || out.method == "prompts/get" || out.method == "resources/read"):
		return InputRequired, nil
	case kind == "task" && out.method == callMethod && out.tasks:
		return TaskMade, nil
	}
	return Complete, fault.New(fault.UpstreamProtocol, "server %s answered %s with a result of type %.40q, which was not asked for",
		s.cfg.ID, out.method, kind)
}

// outcome is the answer to a call.
func (s *server) outcome(kind Kind, era mcp.Era, raw json.RawMessage, who caller, buf *buffer) (Outcome, error) {
	out := Outcome{Kind: kind, Era: era, Raw: raw, buf: buf}
	switch kind {
	case Complete:
		out.Longest = buf.longest
	case InputRequired:
		out.Raw = signedResult(s.cfg.ID, raw)
	case TaskMade:
		if era != mcp.Modern {
			raw = rawjson.Get(raw, "task")
		}
		task, err := readTask(s.cfg.ID, raw, era)
		if err != nil {
			return Outcome{}, err
		}
		s.keep(who, task)
		out.Task = &task
	}
	return out, nil
}

// rounds are the questions of one call to a modern server.
type rounds struct {
	server *server
	first  json.RawMessage // the params without any answers
	asked  int
	waits  int
	pages  []string // ids under which the client was sent to a page
}

// next asks the client what the result asks, and returns the params of the next round.
func (r *rounds) next(ctx context.Context, out outgoing, raw json.RawMessage) (json.RawMessage, error) {
	questions := rawjson.Get(raw, "inputRequests")
	state := rawjson.Get(raw, "requestState")
	answers, asks, err := r.answers(ctx, out, questions)
	if err != nil {
		return nil, err
	}
	r.waits++
	if asks {
		r.asked++
		r.waits = 0
	}
	id := r.server.cfg.ID
	switch {
	case r.asked > maxRounds:
		return nil, fault.New(fault.UpstreamProtocol, "server %s asked for more %d times and did not answer", id, maxRounds)
	case r.waits > maxWaits:
		return nil, fault.New(fault.UpstreamProtocol, "server %s wanted to be called again %d times and did not answer", id, maxWaits)
	case r.waits > 0 && state == nil:
		return nil, fault.New(fault.UpstreamProtocol, "server %s asked for more and did not say for what", id)
	case r.waits > 0:
		select {
		case <-time.After(100 * time.Millisecond << r.waits):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	params := mcp.Without(r.first, "inputResponses", "requestState")
	if state != nil {
		params = mcp.With(params, "requestState", state)
	}
	if asks {
		params = mcp.With(params, "inputResponses", answers)
	}
	return params, nil
}

// answers asks one question after the other and returns the object of the answers, and whether
// there was a question at all, or would have been within the limit.
func (r *rounds) answers(ctx context.Context, out outgoing, questions json.RawMessage) (said json.RawMessage, asks bool, err error) {
	said = []byte{'{'}
	asks = r.asked >= maxRounds
	w := rawjson.Object(questions)
	for questions != nil && w.Next() {
		method, _ := rawjson.String(rawjson.Get(w.Value, "method"))
		if mcp.Ability(method) == "" {
			return nil, false, fault.New(fault.UpstreamProtocol, "server %s asks %.40q, which no client can be asked", r.server.cfg.ID, method)
		}
		if r.asked >= maxRounds {
			continue // an empty question
		}
		answer, err := r.ask(ctx, out, method, rawjson.Get(w.Value, "params"))
		if err != nil {
			return nil, false, err
		}
		asks = true
		said = append(rawjson.AppendString(mcp.Comma(said), string(w.Key)), ':')
		said = append(said, answer...)
	}
	if questions != nil && w.Err() != nil {
		return nil, false, fault.New(fault.UpstreamProtocol, "server %s sent invalid questions: %w", r.server.cfg.ID, w.Err())
	}
	return append(said, '}'), asks, nil
}

func (r *rounds) ask(ctx context.Context, out outgoing, method string, params json.RawMessage) (json.RawMessage, error) {
	if !mcp.Can(out.from.Capabilities, method, params) {
		return nil, mcp.MissingCapability(method)
	}
	if mode, _ := rawjson.String(rawjson.Get(params, "mode")); mode == "url" && rawjson.Get(params, "elicitationId") == nil {
		id := rand.Text() // tells legacy clients later which page is finished
		r.pages = append(r.pages, id)
		params = mcp.With(params, "elicitationId", rawjson.AppendString(nil, id))
	}
	out.clock.asked()
	answer, err := out.peer.Ask(ctx, method, signed(r.server.cfg.ID, method, params))
	out.clock.answered()
	var rpc *mcp.Error
	switch {
	case err == nil:
		return answer, nil
	case errors.As(err, &rpc) && method == elicitMethod:
		return json.RawMessage(`{"action":"cancel"}`), nil
	case errors.As(err, &rpc):
		return nil, fault.New(fault.UpstreamError, "server %s asked the client for %s, and the client answered: %s",
			r.server.cfg.ID, method, rpc.Message)
	}
	return nil, err
}

// over tells the client that the pages it was sent to are finished.
func (r *rounds) over(ctx context.Context, peer mcp.Peer) {
	for _, id := range r.pages {
		peer.Notify(ctx, "notifications/elicitation/complete", append(rawjson.AppendString([]byte(`{"elicitationId":`), id), '}'))
	}
}
