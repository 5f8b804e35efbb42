package call

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/gateway/waiting"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/store"
)

// upstreamTask is a task that a server has made of a call.
type upstreamTask struct {
	ID  string  `json:"id,omitempty"`
	Era mcp.Era `json:"era,omitempty"`
}

// afterwards is what becomes of an outcome that is not yet the end: a server's task is followed, the
// question of a detached call waits for its answer.
func (c *Caller) afterwards(ctx context.Context, s *sent, req *Request, rec *recording, out upstream.Outcome) (upstream.Outcome, error) {
	switch {
	case out.Kind == upstream.TaskMade:
		defer out.Release()
		return c.followTask(ctx, s, req, rec, *out.Task)
	case out.Kind == upstream.InputRequired && rec.live != nil:
		defer out.Release()
		return out, rec.park(ctx, out.Raw)
	}
	return out, nil
}

// park lets a call wait for the answers to a modern server's questions.
func (r *recording) park(ctx context.Context, raw json.RawMessage) error {
	requests := rawjson.Get(raw, "inputRequests")
	for w := rawjson.Object(requests); requests != nil && w.Next(); {
		method, _ := rawjson.String(rawjson.Get(w.Value, "method"))
		if !mcp.Can(r.req.From.Capabilities, method, rawjson.Get(w.Value, "params")) {
			return mcp.MissingCapability(method)
		}
	}
	state := r.state()
	state.Asks = true
	state.State = rawjson.Get(raw, "requestState")
	body, err := json.Marshal(state)
	if err != nil {
		return err
	}
	err = r.live.Park(ctx, func(w *store.Waiting) {
		w.Body = body
		q := waiting.ReadQuestions(w)
		q.AddAll(requests, false)
		q.Write(w)
	})
	if err != nil {
		return err
	}
	return ErrHandedOver
}

// followTask follows a server's task: for a client with tasks without its request, for others until it
// has ended or the call is detached.
func (c *Caller) followTask(ctx context.Context, s *sent, req *Request, rec *recording, task upstream.Task) (upstream.Outcome, error) {
	rec.sends(s, req)
	rec.task = &upstreamTask{task.ID, task.Era}
	if rec.live == nil && req.Tasks != NoTask && req.Front != nil && c.opts.Waiting != nil {
		rec.Slow(nil)
	}
	if rec.live != nil {
		return upstream.Outcome{}, rec.handTask(ctx, task)
	}
	return c.holdTask(ctx, s, req, rec, task)
}

// handTask stores the server's task with its call, which is then looked at from time to time.
func (r *recording) handTask(ctx context.Context, task upstream.Task) error {
	body, err := json.Marshal(r.state())
	if err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	w, err := r.live.Change(ctx, func(w *store.Waiting) {
		w.Body = body
		w.Message = task.Message
	})
	if err == nil && w.Ended() { // canceled just now
		err = fault.New(fault.Canceled, "the call was canceled")
	}
	if err != nil {
		s := sent{entry: r.entry}
		r.caller.servers.CancelTask(ctx, r.caller.taskCall(&s, r.req, mcp.Deaf), task.ID)
		return err
	}
	r.live.After(task.Poll)
	return ErrHandedOver
}

// holdTask waits for a server's task on behalf of a client that has none.
func (c *Caller) holdTask(ctx context.Context, s *sent, req *Request, rec *recording, task upstream.Task) (upstream.Outcome, error) {
	after := rec.left(c.detachAfter(s, req))
	limit := c.servers.Timeout(s.entry.Server, s.entry.Definition.Name)
	if limit == 0 && after == 0 {
		limit = time.Minute
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	began := time.Now()
	up := c.taskCall(s, req, req.Client)
	for n := 1; ; n++ {
		out, done, err := c.look(ctx, up, &task, func(q json.RawMessage) error { return c.askAndAnswer(ctx, up, req, task.ID, q) })
		if done || err != nil && !transient(err) {
			return out, err
		}
		waited := time.Since(began)
		switch {
		case limit > 0 && waited > limit:
			c.servers.CancelTask(context.WithoutCancel(ctx), up, task.ID)
			return out, fault.New(fault.UpstreamTimeout, "server %s did not answer %s within %s", s.entry.Server, s.entry.Definition.Name, limit)
		case after > 0 && waited >= after && rec.Slow(nil) && rec.live != nil:
			return out, rec.handTask(ctx, task)
		case after > 0 && waited >= after && limit == 0:
			limit = time.Minute // it could not be detached
		}
		keepAlive(ctx, req, n, task.Message)
		next := task.Poll
		if after > waited {
			next = min(next, after-waited)
		}
		select {
		case <-time.After(next):
		case <-ctx.Done():
			c.servers.CancelTask(context.WithoutCancel(ctx), up, task.ID)
			return out, fault.New(fault.Canceled, "the call was canceled: %w", fault.Plain(context.Cause(ctx)))
		}
	}
}

// keepAlive tells a client that wants progress that the call goes on.
func keepAlive(ctx context.Context, req *Request, n int, message string) {
	token := req.Params.progressToken()
	if token == nil || req.Client == nil {
		return
	}
	b := append([]byte(`{"progressToken":`), token...)
	b = append(b, `,"progress":`...)
	b = strconv.AppendInt(b, int64(n), 10)
	if message != "" {
		b = rawjson.AppendString(append(b, `,"message":`...), message)
	}
	req.Client.Notify(ctx, progressMethod, append(b, '}'))
}

// taskCall finds the session with the server that has the task.
func (c *Caller) taskCall(s *sent, req *Request, peer mcp.Peer) upstream.Call {
	return upstream.Call{
		Server: s.entry.Server, Tool: s.entry.Definition.Name, Session: req.session(), Caller: req.Principal.ID, From: req.From, Peer: peer,
	}
}

// look asks for the state of a task. Done says that the outcome or the error is that of the call.
// Ask is told a modern server's questions; a legacy one asks the call's peer.
func (c *Caller) look(ctx context.Context, up upstream.Call, task *upstream.Task, ask func(json.RawMessage) error) (
	out upstream.Outcome, done bool, err error,
) {
	*task, err = c.servers.GetTask(ctx, up, task.ID)
	if err != nil {
		return out, false, err
	}
	legacy := task.Era != mcp.Modern
	switch {
	case task.Status == upstream.TaskCancelled:
		return out, true, fault.New(fault.Canceled, "server %s canceled the call", up.Server)
	case legacy && task.Status != upstream.TaskWorking:
		out, err = c.servers.TaskResult(ctx, up, task.ID)
		return out, true, err
	case task.Status == upstream.TaskCompleted:
		return upstream.Outcome{Era: task.Era, Raw: task.Result}, true, nil
	case task.Status == upstream.TaskFailed:
		return out, true, task.Error
	case task.Status == upstream.TaskAsks:
		return out, false, ask(task.Questions)
	}
	return out, false, nil
}

// transient tells whether it is worth asking for a task again.
func transient(err error) bool {
	return fault.Is(err, fault.UpstreamDown) || fault.Is(err, fault.UpstreamTimeout) || fault.Is(err, fault.UpstreamBusy)
}

// askAndAnswer asks the client what a modern server's task asks, and gives the server the answers.
func (c *Caller) askAndAnswer(ctx context.Context, up upstream.Call, req *Request, id string, questions json.RawMessage) error {
	said := []byte{'{'}
	for w := rawjson.Object(questions); w.Next(); {
		method, _ := rawjson.String(rawjson.Get(w.Value, "method"))
		params := rawjson.Get(w.Value, "params")
		if req.Client == nil || !mcp.Can(req.From.Capabilities, method, params) {
			c.servers.CancelTask(context.WithoutCancel(ctx), up, id)
			return mcp.MissingCapability(method)
		}
		answer, err := req.Client.Ask(ctx, method, params)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			answer = waiting.Question{Method: method}.Refused(err)
			if why := waiting.Refused(answer); why != "" {
				return fault.New(fault.UpstreamError, "server %s asked the client for %s, and the client answered: %s", up.Server, method, why)
			}
		}
		said = append(rawjson.AppendString(mcp.Comma(said), string(w.Key)), ':')
		said = append(said, answer...)
	}
	return c.servers.AnswerTask(ctx, up, id, append(said, '}'))
}

// lookAtTask looks at the task of a waiting call.
func (c *Caller) lookAtTask(ctx context.Context, l *waiting.Live, r *resumed) {
	up := c.taskCall(&r.sent, &r.req, r.req.Client)
	if err := c.passAnswers(ctx, l, r, up); err != nil {
		c.conclude(ctx, r, upstream.Outcome{}, err)
		return
	}
	task := upstream.Task{ID: r.Task.ID, Era: r.Task.Era, Poll: retryTask}
	out, done, err := c.look(ctx, up, &task, func(requests json.RawMessage) error {
		_, err := l.Change(ctx, func(w *store.Waiting) {
			q := waiting.ReadQuestions(w)
			q.AddAll(requests, true)
			q.Write(w)
		})
		return err
	})
	if ctx.Err() != nil && (err != nil || !done) {
		return // canceled, or we are going down: somebody else ends it
	}
	var rpc *mcp.Error
	switch {
	case done:
		c.conclude(ctx, r, out, err)
		return
	case errors.As(err, &rpc): // the server no longer knows it
		c.conclude(ctx, r, out, fault.New(fault.Unknown, "server %s no longer knows the task of %s: it may or may not have happened: %s",
			up.Server, r.sent.entry.Shown, rpc.Message).WithHint("check before you call it again"))
		return
	case err != nil && !transient(err):
		c.conclude(ctx, r, out, err)
		return
	case err != nil:
		task.Poll = retryTask
	case task.Message != r.row.Message && task.Message != "":
		l.Progress(ctx, task.Message)
	}
	l.After(task.Poll)
}

// passAnswers gives a modern server the answers that have come.
func (c *Caller) passAnswers(ctx context.Context, l *waiting.Live, r *resumed, up upstream.Call) error {
	q := waiting.ReadQuestions(&r.row)
	if len(q.Said) == 0 || r.Task.Era != mcp.Modern {
		return nil
	}
	answers, err := q.Answers()
	if err != nil {
		return err
	}
	if err := c.servers.AnswerTask(ctx, up, r.Task.ID, answers); err != nil {
		if transient(err) {
			return nil // next time
		}
		return err
	}
	_, err = l.Change(ctx, func(w *store.Waiting) {
		now := waiting.ReadQuestions(w)
		for name := range q.Said {
			delete(now.Said, name)
		}
		now.Write(w)
	})
	return err
}

// Canceled ends a call that waited and was canceled: its server is told, and it is recorded.
func (c *Caller) Canceled(w store.Waiting) {
	c.opts.Background(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		r, err := c.reopen(ctx, nil, w)
		if r.rec == nil || r.Task.ID == "" && !r.Asks && w.Lease.After(c.opts.Now()) {
			return // who works on it records it
		}
		if err == nil && r.Task.ID != "" {
			err = c.servers.CancelTask(ctx, c.taskCall(&r.sent, &r.req, mcp.Deaf), r.Task.ID)
		}
		if err != nil {
			r.rec.note("the server was not told: " + fault.As(err).Message)
		}
		r.rec.end(ctx, nil, fault.New(fault.Canceled, "the call was canceled"))
	})
}
