package call

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/gateway/waiting"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

// Front answers a request while its call goes on.
type Front interface {
	// Detached answers the request with the handle of its call. False if it cannot be answered now.
	Detached(req *mcp.Request, h Handle) bool
}

// Handle names a call that goes on without its request.
type Handle struct {
	store.Waiting
	Shown      string // the tool's name as the caller knows it
	Structured bool   // the tool promises structured results: clients refuse any other that is not an error
}

// TaskUse says how the caller follows a call that takes long.
type TaskUse int

const (
	NoTask  TaskUse = iota // by a handle for fetch_result
	MayTask                // as a task, if the call or its server makes one
	AsTask                 // as a task from the beginning
)

// ErrHandedOver says that the call goes on without its request, which has been answered: somebody else
// ends it and its record.
var ErrHandedOver = errors.New("the call goes on without its request")

// detaching is what a call needs to go on without its request. Every call has one: it is small.
type detaching struct {
	mu     sync.Mutex
	req    *Request
	entry  *catalog.Entry          // what was sent last: the tool,
	params *Params                 // the request's params or those inside call_tool,
	args   json.RawMessage         // and the arguments as the tool gets them
	live   *waiting.Live           // nil while the call belongs to its request
	over   bool                    // there is an outcome: it is too late to detach
	task   *upstreamTask           // that the server made; nil: it made none
	heard  *string                 // the last progress, if it was asked for on our own behalf; nil: it was not
	stop   context.CancelCauseFunc // ends a call that is a task from the beginning, or waits for a person; nil for others
	person string                  // what a person is to decide first: until then nothing is sent; "": nothing
}

// sends notes what is sent.
func (d *detaching) sends(s *sent, req *Request) {
	d.mu.Lock() // a Slow of an earlier attempt may have begun
	defer d.mu.Unlock()
	d.over = false
	d.req = req
	d.entry = s.entry
	d.params = s.params
	d.args = s.fitted.Args
}

// detachAfter is when the call goes on without its request; 0: never.
func (c *Caller) detachAfter(s *sent, req *Request) time.Duration {
	if c.opts.Waiting == nil || req.Front == nil || s.entry.Own && !s.runs() {
		return 0
	}
	switch d := s.entry.Detach; {
	case d == config.DetachAuto:
		if req.Tasks == NoTask && s.params.wantsProgress() {
			return 0 // the client hears that the call goes on
		}
		return config.DetachAfter
	case d > 0:
		return time.Duration(d)
	}
	return 0
}

// mayDetach prepares a call to go on without its request: when it takes long or its server makes a
// task of it, or at once.
func (c *Caller) mayDetach(ctx context.Context, s *sent, req *Request, rec *recording, msg *upstream.Call) error {
	after := c.detachAfter(s, req)
	if support := s.entry.Tasks; support != "" {
		msg.TaskSupport = true
		if support == "required" {
			msg.Task = upstream.NeedsTask
		}
	}
	switch {
	case msg.Task != upstream.NoTask:
	case req.Tasks != NoTask:
		msg.Task = upstream.MayTask
	case req.From.Era == mcp.Modern && s.entry.Detach == config.DetachAuto && !s.params.wantsProgress():
		msg.Task = upstream.RefusesTask // it says with each request what it can; a server's refusal is meant for it
	}
	if after == 0 && req.Tasks == NoTask && rec.live == nil {
		return nil
	}
	rec.sends(s, req)
	msg.Peer = rec
	if req.Tasks == AsTask && rec.live == nil {
		if err := rec.now(ctx); err != nil {
			return err
		}
	}
	if rec.live != nil {
		after = time.Hour // it is detached already, and has the time of such a call
	}
	if after > 0 {
		msg.Slow = rec
		msg.SlowAfter = rec.left(after)
	}
	if _, slow := c.slow.Load(s.entry.Name); slow && !s.params.wantsProgress() {
		rec.listens(msg)
	}
	return nil
}

// listens asks the server for progress on our own behalf: calls of the tool have taken long before, and
// who collects this one wants to know how far it is.
func (r *recording) listens(msg *upstream.Call) {
	meta := msg.Params[msg.Meta.Start:msg.Meta.End]
	if len(meta) == 0 {
		meta = json.RawMessage("{}")
	}
	if meta[0] != '{' {
		return
	}
	meta = mcp.With(mcp.Without(meta, "progressToken"), "progressToken", []byte("0"))
	msg.Params = mcp.With(mcp.Without(msg.Params, "_meta"), "_meta", meta)
	msg.Meta = mcp.FindMeta(msg.Params)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.heard = new(string)
}

// now detaches a call that is a task from the beginning.
func (r *recording) now(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.detach(ctx, r.stop) {
		return fault.New(fault.StoreDown, "not called: no task could be made of it").WithHint("try again later, or call the tool without a task").Unsent()
	}
	return nil
}

// asTask makes a task of a call that never was sent, because its arguments were refused or the tool is
// one of ours: its client expects nothing else.
func (r *recording) asTask(ctx context.Context, s *sent, req *Request, err error) error {
	if r.live != nil || err == ErrHandedOver {
		return nil
	}
	r.sends(s, req)
	return r.now(ctx)
}

// left is how much of a time since the call began is left, at least a moment; 0 stays 0.
func (r *recording) left(d time.Duration) time.Duration {
	if d == 0 {
		return 0
	}
	return max(d-r.caller.opts.Now().Sub(r.call.At), time.Millisecond)
}

// Slow detaches the call from its request, which gets the handle.
func (r *recording) Slow(cancel context.CancelCauseFunc) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over || r.live != nil {
		return true
	}
	return r.detach(context.Background(), cancel)
}

// client is who hears of the call's progress and answers its questions: the client of its request, or,
// once it is detached, whoever collects it.
func (r *recording) client() mcp.Peer {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.live != nil:
		return asking{r.live, r.req.From.Capabilities}
	case r.req.Client != nil:
		return r.req.Client
	}
	return mcp.Deaf
}

// Notify passes on what the server says during the call. Progress that the client has not asked for is
// kept until the call is detached.
func (r *recording) Notify(ctx context.Context, method string, params json.RawMessage) error {
	if r.keepsProgress(method, params) {
		return nil
	}
	return r.client().Notify(ctx, method, params)
}

func (r *recording) keepsProgress(method string, params json.RawMessage) bool {
	if method != progressMethod {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.heard == nil || r.live != nil {
		return false
	}
	*r.heard = progressText(params)
	return true
}

// Ask puts a question of the server to the client.
func (r *recording) Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	return r.client().Ask(ctx, method, params)
}

// Detached tells whether the call, or the script that makes it, goes on without its request.
func (r *recording) Detached() bool {
	if r.script != nil {
		return r.script.run.rec.Detached()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.live != nil
}

// ended notes that there is an outcome, and waits for a Slow that has begun.
func (r *recording) ended() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
}

// longestWait is how long a call may wait at least, however short results are kept.
const longestWait = 24 * time.Hour

// detach stores the state of the call and answers the request. The caller holds mu.
func (r *recording) detach(ctx context.Context, cancel context.CancelCauseFunc) bool {
	c := r.caller
	body, err := json.Marshal(r.state())
	if err != nil {
		r.warn("not detached: " + fault.As(err).Message)
		return false
	}
	e := r.entry
	now := c.opts.Now().Truncate(time.Microsecond) // as it is stored
	w := store.Waiting{
		ID: r.call.ID, Owner: r.call.Principal, Profile: r.call.Profile, Server: e.Server, Tool: e.Name,
		State: store.Working, For: store.ForServer, Again: again(e),
		Created: now, Updated: now, Expires: now.Add(max(c.opts.Retain(), longestWait)), Body: body,
	}
	if r.heard != nil {
		w.Message = *r.heard
	}
	if r.person != "" {
		w.For = store.ForPerson
		w.Message = r.person
	} else {
		c.slow.Store(e.Name, true)
	}
	live, err := c.opts.Waiting.Add(ctx, w, cancel)
	if err != nil {
		r.caller.opts.Logger.Warn("a call could not be detached", "call", r.call.ID, "tool", e.Name, "error", fault.As(err))
		return false
	}
	h := Handle{Waiting: w, Shown: e.Shown, Structured: e.Definition.OutputSchema() != nil}
	if !r.req.Front.Detached(r.req.Asked, h) {
		live.Undo(context.WithoutCancel(ctx))
		return false
	}
	r.live = live
	return true
}

// again tells whether a call may be made again that the server may have got: scripts know what they have done.
func again(e *catalog.Entry) bool { return e.ReadOnly() || e.Idempotent() || (&sent{entry: e}).runs() }

// answered stores how a detached call ended, for whoever collects it.
func (r *recording) answered(ctx context.Context, res *Result, err error) {
	ctx = context.WithoutCancel(ctx)
	if res == nil && err == nil {
		err = errors.New("panic in a call") // which goes on its way
	}
	state := store.Completed
	if err != nil && !isFault(err) {
		state = store.Failed // the server's JSON-RPC error, or a bug of ours
	}
	if fault.Is(err, fault.Unknown) {
		state = store.Failed
	}
	a := newAnswer(res, err)
	_, failed := r.live.End(ctx, state, func(w *store.Waiting) {
		w.Answer, _ = json.Marshal(a) // valid JSON and strings only
		w.Ref = r.call.Ref
		w.Message = a.reason()
		w.Expires = r.caller.opts.Now().Add(r.caller.opts.Retain())
	})
	if failed != nil {
		r.caller.opts.Logger.Error("how a detached call ended could not be stored", "call", r.call.ID, "tool", r.call.Tool,
			"error", fault.As(failed))
	}
}

func isFault(err error) bool {
	var f *fault.Error
	return errors.As(err, &f)
}

// answer is how a waiting call ended.
type answer struct {
	Era    mcp.Era         `json:"era,omitempty"`    // of the server
	Result json.RawMessage `json:"result,omitempty"` // as the caller gets it
	Fault  *fault.Error    `json:"fault,omitempty"`
	Error  json.RawMessage `json:"error,omitempty"` // the server's own JSON-RPC error
}

func newAnswer(res *Result, err error) answer {
	var rpc *mcp.Error
	switch {
	case err == nil:
		return answer{Era: res.Era, Result: res.Raw}
	case errors.As(err, &rpc):
		return answer{Error: mcp.ErrorObject(rpc)}
	}
	f := *fault.As(err)
	return answer{Fault: &f}
}

// reason is why there is no result.
func (a *answer) reason() string {
	switch {
	case a.Fault != nil:
		return a.Fault.Error()
	case a.Error != nil:
		return mcp.ParseError(a.Error).Message
	}
	return ""
}

// Ended is how a waiting call ended, as Do would have returned it.
func Ended(w *store.Waiting) (*Result, error) {
	var a answer
	switch {
	case w.Err != nil:
		return nil, w.Err
	case w.State == store.Cancelled:
		return nil, fault.New(fault.Canceled, "the call was canceled")
	case json.Unmarshal(w.Answer, &a) != nil:
		return nil, fault.New(fault.Internal, "how call %s ended is not known", w.ID)
	case a.Fault != nil:
		return nil, a.Fault
	case a.Error != nil:
		return nil, mcp.ParseError(a.Error)
	}
	res := &Result{ID: w.ID, Ref: w.Ref, full: a.Result}
	res.Raw = a.Result
	res.Era = a.Era
	return res, nil
}
