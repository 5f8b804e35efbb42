package waiting

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/toolfit/toolfit/internal/state/store"
)

// Row is the call as the store has it.
func (l *Live) Row(ctx context.Context) (store.Waiting, error) {
	return l.calls.store.Waiting(ctx, "", l.ID)
}

// Change changes the row, unless the call has ended.
func (l *Live) Change(ctx context.Context, change func(*store.Waiting)) (store.Waiting, error) {
	return l.calls.change(ctx, "", l.ID, func(w *store.Waiting) error {
		if w.Replica != l.calls.replica {
			return errTaken
		}
		change(w)
		return nil
	})
}

// Left tells whether the work on the call was ended because the gateway is going down: somebody else
// ends the call.
func (l *Live) Left() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ended == errClosing
}

// Leave says that the work on the call is over. When the gateway is going down, its lease ends, so
// that the next one need not wait.
func (l *Live) Leave(ctx context.Context) {
	l.mu.Lock()
	works := l.works
	l.works = false
	l.mu.Unlock()
	if !works {
		return
	}
	if l.Left() {
		l.Change(ctx, func(w *store.Waiting) { w.Lease = l.calls.opts.Now().Add(-time.Millisecond) })
	}
	l.calls.work.Done()
}

// End stores how the call ended; the change sets the answer. If it was canceled or taken over
// meanwhile, what is stored stays, and End says false.
func (l *Live) End(ctx context.Context, state store.WaitState, change func(*store.Waiting)) (bool, error) {
	defer l.Leave(ctx)
	if l.Left() {
		return false, nil
	}
	ours := false
	_, err := l.Change(ctx, func(w *store.Waiting) {
		w.State = state
		w.For = ""
		w.Replica = ""
		w.Lease = time.Time{}
		w.Questions = nil
		w.Body = nil // nothing is left to do
		change(w)
		ours = true
	})
	l.finish(ErrCanceled)
	if errors.Is(err, errTaken) {
		return false, nil
	}
	return ours && err == nil, err
}

// Park lets the call wait in the store alone: nobody works on it until it is answered.
func (l *Live) Park(ctx context.Context, change func(*store.Waiting)) error {
	defer l.Leave(ctx)
	_, err := l.Change(ctx, func(w *store.Waiting) {
		w.State = store.InputRequired
		w.Replica = ""
		w.Lease = time.Time{}
		change(w)
	})
	l.finish(errTaken)
	return err
}

// After goes on with the call after a while. Until then it holds nothing but its lease.
func (l *Live) After(d time.Duration) {
	defer l.Leave(l.calls.ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cancel = nil
	if l.ended == nil {
		l.timer = time.AfterFunc(d, l.goOn)
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
	l.works = true
	c.work.Add(1) // before Close can wait: it ends the call first, under the same lock
	l.mu.Unlock()
	defer l.Leave(context.WithoutCancel(ctx))
	defer cancel(nil)
	defer func() {
		if p := recover(); p != nil {
			c.opts.Logger.Error("panic in a waiting call", "call", l.ID, "error", fmt.Sprintf("%v\n%s", p, debug.Stack()))
			l.finish(errTaken) // its lease ends, and it is taken up again
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
