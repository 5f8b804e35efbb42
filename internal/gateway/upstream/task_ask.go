package upstream

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/mcp"
)

// GetTask asks the server how the task is. The Call that made the task finds the session that it belongs to.
func (p *Pool) GetTask(ctx context.Context, c Call, id string) (Task, error) {
	s, err := p.server(c.Server)
	if err != nil {
		return Task{}, err
	}
	raw, era, err := s.askTask(ctx, c, getTask, id, nil)
	if err != nil {
		return Task{}, err
	}
	task, err := s.readAll(raw, era)
	switch {
	case err != nil:
		return Task{}, err
	case task.ID != id:
		return Task{}, fault.New(fault.UpstreamProtocol, "server %s answered %s with another task than the one it was asked for", s.cfg.ID, getTask)
	case !task.Ended():
		s.keep(c.caller(), task)
	}
	return task, nil
}

// readAll reads the answer to tasks/get.
func (s *server) readAll(raw json.RawMessage, era mcp.Era) (Task, error) {
	task, err := readTask(s.cfg.ID, raw, era)
	if err != nil || era != mcp.Modern {
		return task, err
	}
	kind := mcp.ResultType(raw)
	if kind != "" && kind != "complete" && kind != "task" { // examples of the extension have the last
		return Task{}, fault.New(fault.UpstreamProtocol, "server %s answered %s with a result of type %.40q, which was not asked for",
			s.cfg.ID, getTask, kind)
	}
	switch task.Status {
	case TaskAsks:
		task.Questions = rawjson.Get(signedResult(s.cfg.ID, raw), "inputRequests")
		if task.Questions != nil && !isObject(task.Questions) {
			return Task{}, fault.New(fault.UpstreamProtocol, "server %s sent invalid questions of a task", s.cfg.ID)
		}
	case TaskCompleted:
		task.Result = rawjson.Get(raw, "result")
		if kind := mcp.ResultType(task.Result); !isObject(task.Result) || kind != "" && kind != "complete" {
			return Task{}, fault.New(fault.UpstreamProtocol, "server %s has a completed task without its result", s.cfg.ID)
		}
	case TaskFailed:
		task.Error = mcp.Errorf(mcp.CodeInternal, "%s", cmp.Or(task.Message, "the task failed"))
		if raw := rawjson.Get(raw, "error"); isObject(raw) {
			task.Error = mcp.ParseError(raw)
		}
	}
	return task, nil
}

// TaskResult waits for the result of a legacy server's task, as long as ctx lasts. The server's questions go to the Call's Peer.
func (p *Pool) TaskResult(ctx context.Context, c Call, id string) (Outcome, error) {
	s, err := p.server(c.Server)
	if err != nil {
		return Outcome{}, err
	}
	if err := s.mustBe(ctx, c, mcp.Legacy, taskResult); err != nil {
		return Outcome{}, err
	}
	out := aboutTask(c, taskResult, id, nil)
	out.buf = newBuffer()
	raw, era, err := s.do(ctx, c.caller(), out) // the breaker does not count it: it may take long
	if err != nil {
		return Outcome{}, p.failure(ctx, signedError(s.cfg.ID, err))
	}
	return Outcome{Kind: Complete, Era: era, Raw: unrelated(raw), buf: out.buf}, nil
}

// AnswerTask gives a modern server the answers to the questions of a task, an object by the names of the questions.
func (p *Pool) AnswerTask(ctx context.Context, c Call, id string, answers json.RawMessage) error {
	s, err := p.server(c.Server)
	if err != nil {
		return err
	}
	if err := s.mustBe(ctx, c, mcp.Modern, updateTask); err != nil {
		return err
	}
	_, _, err = s.askTask(ctx, c, updateTask, id, answers)
	return err
}

// CancelTask ends a task. It is no error if the task has ended, or is unknown.
func (p *Pool) CancelTask(ctx context.Context, c Call, id string) error {
	s, err := p.server(c.Server)
	if err != nil {
		return err
	}
	_, _, err = s.askTask(ctx, c, cancelTask, id, nil)
	var rpc *mcp.Error
	if errors.As(err, &rpc) && rpc.Code == mcp.CodeInvalidParams {
		return nil
	}
	return err
}

// askTask sends a request about a task. It takes none of the server's slots, but does not disturb a server that is paused.
func (s *server) askTask(ctx context.Context, c Call, method, id string, answers json.RawMessage) (json.RawMessage, mcp.Era, error) {
	if err := s.gate.allowed(); err != nil {
		return nil, "", s.pool.clean(unsent(err))
	}
	timed, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout())
	defer cancel()
	raw, era, err := s.do(timed, c.caller(), aboutTask(c, method, id, answers))
	s.gate.note(timed, err)
	if err != nil && ctx.Err() == nil && timed.Err() != nil {
		return nil, "", s.late(method, s.cfg.CallTimeout()).WithHint("raise timeout of %s", s.cfg.ID)
	}
	return raw, era, s.pool.failure(ctx, err)
}

// aboutTask is a request about a task, made for the same caller as the call that made it.
func aboutTask(c Call, method, id string, answers json.RawMessage) outgoing {
	params := append(rawjson.AppendString([]byte(`{"taskId":`), id), '}')
	if answers != nil {
		params = mcp.With(params, "inputResponses", answers)
	}
	peer := c.Peer
	if peer == nil {
		peer = mcp.Deaf
	}
	return outgoing{method: method, params: params, from: c.From, name: id, caller: c.Caller, peer: peer, tasks: true}
}

// unrelated removes the id of the server's task from a result or question: for others, the call has another.
func unrelated(raw json.RawMessage) json.RawMessage {
	if !bytes.Contains(raw, []byte(mcp.MetaRelatedTask)) {
		return raw
	}
	return mcp.Edit(raw, "_meta", func(meta []byte) []byte { return mcp.Without(meta, mcp.MetaRelatedTask) })
}

// isPoll tells whether the request is a short one about a task: what a server says meanwhile does not belong to it.
func (o outgoing) isPoll() bool {
	return o.method == getTask || o.method == updateTask || o.method == cancelTask
}

// askForTask asks for a task if the session's server makes them, and only then.
func (o *outgoing) askForTask(sess *session) {
	o.params = mcp.Without(o.params, "task")
	if sess.makesTasks() {
		o.params = mcp.With(o.params, "task", taskTTL)
	}
	o.meta = mcp.FindMeta(o.params)
}

// makesTasks tells whether a legacy server makes tasks of calls.
func (sess *session) makesTasks() bool {
	version, _ := rawjson.String(rawjson.Get(sess.hello, "protocolVersion"))
	return sess.era != mcp.Modern && version == mcp.Latest &&
		isObject(rawjson.Get(sess.hello, "capabilities", "tasks", "requests", "tools", "call"))
}

// mustBe refuses a method that the server's era does not have.
func (s *server) mustBe(ctx context.Context, c Call, era mcp.Era, method string) error {
	sess, err := s.acquire(ctx, c.caller())
	if err != nil {
		return s.pool.failure(ctx, unsent(err))
	}
	defer s.release(sess)
	if sess.era != era {
		return fault.New(fault.BadRequest, "server %s speaks a revision of MCP without %s", s.cfg.ID, method).Unsent()
	}
	return nil
}

// keep lets the session count as used until it is time to ask about the task again, and some time more.
func (s *server) keep(who caller, t Task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if sess := s.sessions[s.seatOf(who).key]; sess != nil {
		sess.usedUntil(s.pool.opts.Now().Add(2 * t.Poll))
	}
}

// wantsTasks tells whether a server refused a call because its caller has not declared tasks.
func wantsTasks(err error) bool {
	var rpc *mcp.Error
	return errors.As(err, &rpc) && rpc.Code == mcp.CodeMissingCapability &&
		rawjson.Get(rpc.Raw, "data", "requiredCapabilities", "extensions", mcp.ExtensionTasks) != nil
}

// insist remembers a tool that a modern server runs only for callers with tasks.
func (s *server) insist(rawTool string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	tools := map[string]bool{rawTool: true}
	if known := s.insists.Load(); known != nil {
		maps.Copy(tools, *known)
	}
	s.insists.Store(&tools)
}

func (s *server) insistsOn(rawTool string) bool {
	known := s.insists.Load()
	return known != nil && (*known)[rawTool]
}
