package call

import (
	"context"
	"encoding/json"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/gateway/waiting"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/store"
)

// Approved is somebody's yes to a call.
type Approved struct {
	By     string
	Return func(ctx context.Context) error // lets it be used once more; nil: it cannot be
}

// CallID is the id of the call's record.
func (p *Permission) CallID() string { return p.rec.call.ID }

// Client is who is asked to open a page: the client of the request, or, once the call is detached, whoever collects it.
func (p *Permission) Client() mcp.Peer {
	if p.rec.req == nil { // of a tool of another service
		return p.Request.Client
	}
	return p.rec.client()
}

// Detached tells whether the call goes on without its request.
func (p *Permission) Detached() bool { return p.rec.Detached() }

// Waits tells whether the call can wait for a person, if its client can show a page or not.
func (p *Permission) Waits(shows bool) bool {
	return shows && p.Request.Client != nil || p.rec.Detached() || p.Request.Tasks == AsTask
}

// Wait lets the call wait while wait runs. What it waits for is told to who collects the call. If that takes long, the call
// goes on without its request, as one that a server takes long for.
func (p *Permission) Wait(ctx context.Context, what string, wait func(context.Context) error) error {
	r := p.rec
	if r.req == nil {
		return wait(ctx)
	}
	r.mu.Lock()
	r.person = what
	live := r.live
	r.mu.Unlock()
	switch {
	case live != nil:
		_, err := live.Change(ctx, func(w *store.Waiting) {
			w.For = store.ForPerson
			w.Message = what
		})
		if err != nil {
			return err
		}
	case p.Request.Tasks == AsTask:
		if err := r.now(ctx); err != nil {
			return err
		}
	case p.after > 0:
		timer := time.AfterFunc(r.left(p.after), func() { r.Slow(r.stop) })
		defer timer.Stop()
		defer r.ended() // a Slow that comes later would read what we go on to write
	}
	err := wait(ctx)
	if ctx.Err() != nil && (!r.Detached() || context.Cause(ctx) == waiting.ErrCanceled) { // else another gateway goes on with it
		return fault.New(fault.Canceled, "the call was canceled")
	}
	return err
}

// passed notes that nothing keeps the call from being sent any more: whoever goes on with it after us does not know
// whether it was.
func (r *recording) passed(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	waited := r.person != ""
	r.person = ""
	if !waited || r.live == nil {
		return nil
	}
	body, err := json.Marshal(r.state())
	if err != nil {
		return err
	}
	_, err = r.live.Change(ctx, func(w *store.Waiting) {
		w.Body = body
		w.For = store.ForServer
		w.Message = ""
		w.Again = again(r.entry) // a fallback may be no such tool
	})
	return err
}

// goesOn lets the approval be used again for a call that is not over: its server asked something, and the client makes the
// call again with the answer.
func (r *recording) goesOn(ctx context.Context, out upstream.Outcome) {
	if out.Kind != upstream.InputRequired || r.approved.Return == nil || r.live != nil {
		return
	}
	if err := r.approved.Return(context.WithoutCancel(ctx)); err != nil {
		r.warn("the approval cannot be used for the answer: " + fault.As(err).Message)
	}
}
