package waiting

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/store"
)

// Row is the call as the store has it.
func (l *Live) Row(ctx context.Context) (store.Waiting, error) {
	return l.calls.store.Waiting(ctx, "", l.ID)
}

// Change changes the row, unless the call has ended or is no longer ours.
func (l *Live) Change(ctx context.Context, change func(*store.Waiting)) (store.Waiting, error) {
	w, _, err := l.change(ctx, change)
	return w, err
}

func (l *Live) change(ctx context.Context, change func(*store.Waiting)) (w store.Waiting, saved bool, err error) {
	return l.calls.change(ctx, "", l.ID, func(w *store.Waiting) error {
		if w.Replica != l.calls.replica || l.why() == errTaken {
			return errTaken
		}
		change(w)
		return nil
	})
}

// why is why there is no more work to do; nil while there is.
func (l *Live) why() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ended
}

// Left tells whether the work on the call was ended because the gateway is going down: somebody else
// goes on with it.
func (l *Live) Left() bool { return l.why() == errClosing }

// Leave says that the request which began the call does no more work on it.
func (l *Live) Leave() {
	l.mu.Lock()
	works := l.works
	l.works = false
	l.mu.Unlock()
	if works {
		l.calls.work.Done()
	}
}

// endAgain is how long we wait before we try again to store how a call ended.
const endAgain = 5 * time.Second

// End stores how the call ended; the change sets the answer. If it was canceled or taken over
// meanwhile, what is stored stays, and End says false. After an error of the store it is tried again.
func (l *Live) End(ctx context.Context, state store.WaitState, change func(*store.Waiting)) (bool, error) {
	defer l.Leave()
	_, saved, err := l.change(ctx, func(w *store.Waiting) {
		w.State = state
		w.Questions = nil
		w.Body = nil // nothing is left to do
		change(w)
	})
	switch {
	case err == nil, errors.Is(err, errTaken), fault.Is(err, fault.NotFound):
		l.finish(ErrCanceled)
		return saved, nil
	case fault.Is(err, fault.TooLarge):
		change = func(w *store.Waiting) { w.Message = fault.As(err).Message }
		state = store.Failed
	}
	l.then(endAgain, func() { l.End(context.WithoutCancel(ctx), state, change) })
	return false, err
}

// Undo takes back that a call waits: nobody has heard of it, and its work goes on.
func (l *Live) Undo(ctx context.Context) {
	l.mu.Lock()
	l.cancel = nil
	l.mu.Unlock()
	l.End(ctx, store.Cancelled, func(w *store.Waiting) { w.Expires = l.calls.opts.Now() })
}

// Park lets the call wait in the store alone: nobody works on it until it is answered. If the change
// leaves no question open, we go on soon.
func (l *Live) Park(ctx context.Context, change func(*store.Waiting)) error {
	defer l.Leave()
	w, err := l.Change(ctx, func(w *store.Waiting) {
		change(w)
		if w.State == store.InputRequired {
			w.Replica = ""
		}
	})
	switch {
	case err != nil:
		return err
	case w.State == store.InputRequired:
		l.finish(errTaken)
	default:
		l.After(lookEvery)
	}
	return nil
}

// After goes on with the call after a while. Until then it holds nothing but its lease.
func (l *Live) After(d time.Duration) {
	l.Leave()
	l.then(d, l.goOn)
}

// then does something after a while, unless the call ends before.
func (l *Live) then(d time.Duration, next func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cancel = nil
	if l.ended == nil {
		l.timer = time.AfterFunc(d, next)
	}
}

// progressEvery is how often progress is stored at most.
const progressEvery = time.Second

// Progress stores the last progress of the call.
func (l *Live) Progress(ctx context.Context, message string) {
	now := l.calls.opts.Now()
	l.mu.Lock()
	due := now.Sub(l.told) >= progressEvery
	if due {
		l.told = now
	}
	l.mu.Unlock()
	if due {
		l.Change(ctx, func(w *store.Waiting) { w.Message = message }) // the next one comes soon
	}
}

// soon brings the next look forward, if there is one.
func (l *Live) soon() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.timer != nil && l.timer.Stop() {
		l.timer.Reset(0)
	}
}

// goOn does the next step.
func (l *Live) goOn() {
	c := l.calls
	ctx, cancel := context.WithCancelCause(c.ctx)
	l.mu.Lock()
	l.timer = nil
	if l.ended != nil {
		l.mu.Unlock()
		cancel(nil)
		return
	}
	l.cancel = cancel
	c.work.Add(1) // before Close can wait: it ends the call first, under the same lock
	l.mu.Unlock()
	defer c.work.Done()
	defer cancel(nil)
	defer func() {
		if p := recover(); p != nil {
			c.opts.Logger.Error("panic in a waiting call", "call", l.ID, "error", fmt.Sprintf("%v\n%s", p, debug.Stack()))
			l.End(context.WithoutCancel(ctx), store.Failed, func(*store.Waiting) {}) // the next try would panic as well
		}
	}()
	c.opts.GoOn(ctx, l)
}

// Drop forgets a call that has ended.
func (l *Live) Drop() { l.finish(ErrCanceled) }

// finish ends the work on the call, and forgets it.
func (l *Live) finish(why error) {
	l.mu.Lock()
	if l.ended == nil {
		l.ended = why
	}
	if l.timer != nil {
		l.timer.Stop()
		l.timer = nil
	}
	cancel := l.cancel
	l.cancel = nil
	l.mu.Unlock()
	l.calls.drop(l)
	if cancel != nil {
		cancel(why)
	}
}
