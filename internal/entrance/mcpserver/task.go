package mcpserver

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/gateway/call"
	"github.com/toolfit/toolfit/internal/gateway/waiting"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/store"
)

// Detached answers a request whose call goes on: with a task where the client knows tasks, else with
// a result that names the call.
func (v *visitor) Detached(req *mcp.Request, h call.Handle) bool {
	var raw json.RawMessage
	switch {
	case wantsTask(req):
		raw = append(append([]byte(`{"task":`), legacyTask(&h.Waiting)...), '}')
		v.watchTask(h.ID, req.Session)
	case req.Meta != nil && mcp.Declares(req.Meta.Capabilities, mcp.ExtensionTasks):
		raw = append([]byte(`{"resultType":"task","_meta":{"`+mcp.MetaServer+`":`), v.server.self...)
		raw = append(appendTask(append(raw, "},"...), &h.Waiting), '}')
	default:
		raw = handleResult(h)
		if req.Meta != nil {
			raw = v.finished(raw)
		}
	}
	if t, ok := req.Client.(*talk); ok {
		return t.detached(raw)
	}
	return req.AnswerNow(raw)
}

// wantsTask tells whether a legacy client makes a task of its call. Earlier revisions have none.
func wantsTask(req *mcp.Request) bool {
	if req.Meta != nil || req.Session == nil || req.Session.Version < mcp.Latest {
		return false
	}
	task := rawjson.Get(req.Params, "task")
	return len(task) > 0 && task[0] == '{'
}

// handleResult tells a model that its call goes on. Clients check results against a tool's output
// schema unless they are errors.
func handleResult(h call.Handle) json.RawMessage {
	f := fault.New(fault.StillRunning, "%s is still running and goes on; its result is not lost: "+
		`get it with fetch_result {"ref":"%s","wait":"30s"}. Do not call %s again`, h.Shown, h.ID, h.Shown)
	if h.Structured {
		return toolError(f)
	}
	return call.HandleResult(&h.Waiting, f.Message+".")
}

// pollEvery is how often we ask clients to look at a task.
const pollEvery = time.Second

func appendMillis(b []byte, d time.Duration) []byte {
	return strconv.AppendInt(b, d.Milliseconds(), 10)
}

// appendFields appends what both eras say of a task under the same names.
func appendFields(b []byte, w *store.Waiting) []byte {
	b = rawjson.AppendString(append(b, `"taskId":`...), w.ID)
	b = rawjson.AppendString(append(b, `,"status":`...), string(w.State))
	if w.Message != "" {
		b = rawjson.AppendString(append(b, `,"statusMessage":`...), w.Message)
	}
	b = rawjson.AppendString(append(b, `,"createdAt":`...), w.Created.UTC().Format(time.RFC3339Nano))
	return rawjson.AppendString(append(b, `,"lastUpdatedAt":`...), w.Updated.UTC().Format(time.RFC3339Nano))
}

// legacyTask is a call as a task of revision 2025-11-25.
func legacyTask(w *store.Waiting) json.RawMessage {
	b := appendFields([]byte{'{'}, w)
	b = appendMillis(append(b, `,"ttl":`...), w.Expires.Sub(w.Created))
	b = appendMillis(append(b, `,"pollInterval":`...), pollEvery)
	return append(b, '}')
}

// appendTask appends the members of a call as a task of the modern extension.
func appendTask(b []byte, w *store.Waiting) []byte {
	b = appendFields(b, w)
	b = appendMillis(append(b, `,"ttlMs":`...), w.Expires.Sub(w.Created))
	return appendMillis(append(b, `,"pollIntervalMs":`...), pollEvery)
}

// appendDetails appends what a modern task says in addition: its questions, its result or its error.
func (v *visitor) appendDetails(b []byte, w *store.Waiting) []byte {
	b = appendTask(b, w)
	switch w.State {
	case store.InputRequired:
		q := waiting.ReadQuestions(w)
		return append(append(b, `,"inputRequests":`...), q.Requests()...)
	case store.Completed, store.Failed:
		out, err := v.collected(w)
		if err != nil {
			return append(append(b, `,"error":`...), mcp.ErrorObject(err)...)
		}
		if mcp.ResultType(out) == "" {
			out = v.finished(out)
		}
		return append(append(b, `,"result":`...), out...)
	}
	return b
}

// collected is the result of a call that has ended, or the error that failed it.
func (v *visitor) collected(w *store.Waiting) (json.RawMessage, error) {
	res, err := call.Ended(w)
	if w.State == store.Failed {
		return nil, rpcError(err)
	}
	out, err := v.outcome(string(w.Tool), res, err)
	if err != nil {
		return nil, err
	}
	return out.Raw, nil
}

// task answers the methods of tasks.
func (v *visitor) task(ctx context.Context, req *mcp.Request, era mcp.Era) (json.RawMessage, error) {
	modern := era == mcp.Modern
	switch {
	case modern && req.Method != "tasks/get" && req.Method != "tasks/update" && req.Method != "tasks/cancel":
		return nil, mcp.Errorf(mcp.CodeMethodNotFound, "revision %s has no method %s", mcp.ModernVersion, req.Method)
	case modern && !mcp.Declares(req.Meta.Capabilities, mcp.ExtensionTasks):
		return nil, mcp.MissingExtension(mcp.ExtensionTasks)
	case req.Method == "tasks/list":
		return v.listTasks(ctx, req)
	case !slices.Contains([]string{"tasks/get", "tasks/update", "tasks/cancel", "tasks/result"}, req.Method):
		return nil, mcp.Errorf(mcp.CodeMethodNotFound, "unknown method %s", req.Method)
	}
	id, _, err := member(req.Params, "taskId")
	if err != nil {
		return nil, err
	}
	switch {
	case req.Method == "tasks/get" && modern:
		w, err := v.waitingCall(ctx, id)
		if err != nil {
			return nil, err
		}
		return v.finished(append(v.appendDetails([]byte{'{'}, &w), '}')), nil
	case req.Method == "tasks/get":
		w, err := v.waitingCall(ctx, id)
		return legacyTask(&w), err
	case req.Method == "tasks/cancel":
		return v.cancelTask(ctx, id, modern)
	case req.Method == "tasks/update" && modern:
		return v.updateTask(ctx, req, id)
	case req.Method == "tasks/result":
		return v.taskResult(ctx, req, id)
	}
	return nil, mcp.Errorf(mcp.CodeMethodNotFound, "unknown method %s", req.Method)
}

// waitingCall is a call of the visitor's; another's looks like none.
func (v *visitor) waitingCall(ctx context.Context, id string) (store.Waiting, error) {
	w, err := v.server.opts.Waiting.Get(ctx, v.principal.ID, id)
	return w, rpcError(err)
}

func (v *visitor) cancelTask(ctx context.Context, id string, modern bool) (json.RawMessage, error) {
	before, err := v.server.opts.Waiting.Cancel(ctx, v.principal.ID, id)
	switch {
	case err != nil:
		return nil, rpcError(err)
	case modern:
		return v.finished(json.RawMessage("{}")), nil
	case before.Ended():
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "task %s has ended: it is %s", id, before.State)
	}
	w, err := v.waitingCall(ctx, id)
	return legacyTask(&w), err
}

// updateTask takes answers to the questions of a task.
func (v *visitor) updateTask(ctx context.Context, req *mcp.Request, id string) (json.RawMessage, error) {
	given := rawjson.Get(req.Params, "inputResponses")
	if len(given) == 0 || given[0] != '{' {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "params.inputResponses must be an object")
	}
	answers := map[string]json.RawMessage{}
	for w := rawjson.Object(given); w.Next(); {
		if w.Value[0] == '{' {
			answers[string(w.Key)] = w.Value
		}
	}
	if _, err := v.server.opts.Waiting.Answer(ctx, v.principal.ID, id, answers); err != nil {
		return nil, rpcError(err)
	}
	return v.finished(json.RawMessage("{}")), nil
}

// taskResult waits for the result of a legacy client's task. What the call asks meanwhile is asked here.
func (v *visitor) taskResult(ctx context.Context, req *mcp.Request, id string) (json.RawMessage, error) {
	w, err := v.server.opts.Waiting.Collect(ctx, v.principal.ID, id, longest, related{req.Client, id})
	if err != nil {
		return nil, rpcError(err)
	}
	res, err := call.Ended(&w)
	if w.State == store.Failed || w.State == store.Cancelled {
		return nil, rpcError(err)
	}
	out, err := v.outcome(string(w.Tool), res, err)
	raw, err := v.inLegacy(req, out, err)
	if err != nil {
		return nil, err
	}
	return withRelated(raw, id), nil
}

// longest is longer than any call may run.
const longest = 24 * time.Hour

// related is the client of a task: what it gets says which task it belongs to.
type related struct {
	mcp.Peer
	task string
}

func (r related) Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	if len(params) == 0 {
		params = json.RawMessage("{}")
	}
	return r.Peer.Ask(ctx, method, withRelated(params, r.task))
}

// withRelated says in _meta which task something belongs to.
func withRelated(raw json.RawMessage, task string) json.RawMessage {
	meta := rawjson.Get(raw, "_meta")
	if len(meta) == 0 || meta[0] != '{' {
		meta = json.RawMessage("{}")
	}
	mark := append(rawjson.AppendString([]byte(`{"taskId":`), task), '}')
	meta = mcp.With(mcp.Without(meta, mcp.MetaRelatedTask), mcp.MetaRelatedTask, mark)
	return mcp.With(mcp.Without(raw, "_meta"), "_meta", meta)
}

// listTasks lists the waiting calls of the visitor, the newest first.
func (v *visitor) listTasks(ctx context.Context, req *mcp.Request) (json.RawMessage, error) {
	cursor, _ := rawjson.String(rawjson.Get(req.Params, "cursor"))
	const page = 100
	found, err := v.server.opts.Waiting.List(ctx, store.WaitingFilter{Owner: v.principal.ID, Before: cursor, Limit: page})
	if err != nil {
		return nil, rpcError(err)
	}
	b := []byte(`{"tasks":[`)
	for i := range found {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, legacyTask(&found[i])...)
	}
	b = append(b, ']')
	if len(found) == page {
		b = rawjson.AppendString(append(b, `,"nextCursor":`...), found[page-1].Cursor())
	}
	return append(b, '}'), nil
}
