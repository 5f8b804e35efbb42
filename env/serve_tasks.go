package env

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/mcp"
)

// speaksTasks tells whether the request is of the legacy revision that has tasks.
func speaksTasks(req *mcp.Request) bool {
	return req.Meta == nil && req.Session != nil && req.Session.Version == mcp.Latest
}

// declaresTasks tells whether a modern request allows a task for an answer.
func declaresTasks(req *mcp.Request) bool {
	return mcp.Declares(req.Meta.Capabilities, mcp.ExtensionTasks)
}

// taskTime returns for how long a call becomes a task; 0: it does not. A modern server decides, a
// legacy client does.
func (s *Server) taskTime(req *mcp.Request, t Tool) (time.Duration, error) {
	if req.Meta != nil {
		switch {
		case t.Task == "":
			return 0, nil
		case declaresTasks(req):
			return s.tasks.ttl, nil
		case t.Task == TaskRequired:
			return 0, mcp.MissingExtension(mcp.ExtensionTasks)
		}
		return 0, nil
	}
	hint := rawjson.Get(req.Params, "task")
	asked := speaksTasks(req) && !rawjson.IsNull(hint)
	switch {
	case asked && t.Task == "":
		return 0, mcp.Errorf(mcp.CodeMethodNotFound, "tool %s cannot run as a task: call it without params.task", t.Name)
	case asked:
		return s.shorter(hint)
	case t.Task == TaskRequired:
		return 0, mcp.Errorf(mcp.CodeMethodNotFound, "tool %s runs only as a task: call it with params.task", t.Name)
	}
	return 0, nil
}

// shorter returns how long a legacy client's task is kept: not longer than the server says.
func (s *Server) shorter(hint json.RawMessage) (time.Duration, error) {
	if hint[0] != '{' {
		return 0, mcp.Errorf(mcp.CodeInvalidParams, "params.task must be an object")
	}
	raw := rawjson.Get(hint, "ttl")
	if rawjson.IsNull(raw) {
		return s.tasks.ttl, nil
	}
	ms, err := strconv.ParseFloat(string(raw), 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) || ms < 1 {
		return 0, mcp.Errorf(mcp.CodeInvalidParams, "params.task.ttl must be a number of milliseconds, at least 1")
	}
	if ms >= float64(s.tasks.ttl.Milliseconds()) {
		return s.tasks.ttl, nil
	}
	return time.Duration(ms) * time.Millisecond, nil
}

// startTask makes a task and answers the call with it.
func (s *Server) startTask(ctx context.Context, req *mcp.Request, ttl time.Duration, work func(context.Context) (any, error),
) (json.RawMessage, error) {
	t, err := s.tasks.add(ctx, req, ttl)
	if err != nil {
		return nil, err
	}
	state := t.seen(req)
	go func() {
		if err := t.run(work); err != nil {
			s.opts.Logger.Error("tool panicked", "task", t.id, "error", err)
		}
	}()
	if req.Meta == nil {
		return rawjson.Marshal(map[string]any{"task": state})
	}
	state.Type = "task"
	return rawjson.Marshal(state)
}

// serveTasks answers the methods of tasks.
func (s *Server) serveTasks(ctx context.Context, req *mcp.Request) (json.RawMessage, error) {
	modern := req.Meta != nil
	switch req.Method {
	case "tasks/result", "tasks/list":
		modern = false
	case "tasks/update":
		modern = true
	}
	switch {
	case modern != (req.Meta != nil) || !modern && !speaksTasks(req):
		return nil, mcp.Errorf(mcp.CodeMethodNotFound, "unknown method %s", req.Method)
	case modern && !declaresTasks(req):
		return nil, mcp.MissingExtension(mcp.ExtensionTasks)
	case req.Method == "tasks/list":
		return s.listTasks(req)
	}
	id, ok := rawjson.String(rawjson.Get(req.Params, "taskId"))
	if !ok {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "%s needs params.taskId", req.Method)
	}
	t := s.tasks.get(id, req.Session)
	if t == nil {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "there is no task %.100q: it may have expired", id)
	}
	switch req.Method {
	case "tasks/update":
		return t.update(req)
	case "tasks/result":
		return t.await(ctx, req.Client)
	case "tasks/cancel":
		if canceled := t.end(taskCancelled, nil, nil); !canceled && !modern {
			return nil, mcp.Errorf(mcp.CodeInvalidParams, "the task has ended already")
		}
		if modern {
			return json.RawMessage("{}"), nil
		}
	}
	return rawjson.Marshal(t.seen(req))
}

func (s *Server) listTasks(req *mcp.Request) (json.RawMessage, error) {
	if err := refuseCursor(req); err != nil {
		return nil, err
	}
	all := []taskState{}
	for _, t := range s.tasks.of(req.Session) {
		all = append(all, t.seen(req))
	}
	return rawjson.Marshal(map[string]any{"tasks": all})
}

// update takes answers to the questions of a task.
func (t *task) update(req *mcp.Request) (json.RawMessage, error) {
	if rawjson.Get(req.Params, "inputResponses") == nil {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "%s needs params.inputResponses", req.Method)
	}
	answers, err := answersIn(req.Params)
	if err != nil {
		return nil, err
	}
	for key, answer := range answers {
		t.answer(key, answer, nil)
	}
	return json.RawMessage("{}"), nil
}

// await waits for the result of a task, and asks a legacy client its questions meanwhile, all that are
// open at once.
func (t *task) await(ctx context.Context, client mcp.Peer) (json.RawMessage, error) {
	var asking sync.WaitGroup
	defer asking.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for {
		w, modified, final := t.next()
		switch {
		case w != nil:
			asking.Go(func() { t.askNow(ctx, client, w) })
		case final:
			return t.final()
		default:
			select {
			case <-modified:
			case <-ctx.Done():
			}
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
}

// askNow asks a legacy client. If the request ends before the answer, the next one asks again.
func (t *task) askNow(ctx context.Context, client mcp.Peer, w *waiting) {
	request := ctx
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(t.ctx, cancel)()
	answer, err := client.Ask(ctx, w.question.Method, t.related(w.question.Params))
	if request.Err() != nil {
		t.unsent(w)
		return
	}
	t.answer(w.key, answer, err)
}

// final is what the call would have answered without a task.
func (t *task) final() (json.RawMessage, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.err != nil:
		return nil, t.err
	case t.result == nil:
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "the task was canceled: it has no result")
	}
	return t.related(t.result), nil
}

// related returns the object with a mark that it belongs to the task.
func (t *task) related(object json.RawMessage) json.RawMessage {
	meta := json.RawMessage(rawjson.Get(object, "_meta"))
	if len(meta) == 0 || meta[0] != '{' {
		meta = json.RawMessage("{}")
	}
	meta = mcp.With(mcp.Without(meta, mcp.MetaRelatedTask), mcp.MetaRelatedTask, rawjson.Encode(map[string]string{"taskId": t.id}))
	return mcp.With(mcp.Without(object, "_meta"), "_meta", meta)
}
