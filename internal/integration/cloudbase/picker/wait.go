package picker

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// Outcome is how a wait ended.
type Outcome int

const (
	Picked   Outcome = iota // an environment was picked
	Canceled                // the person does not want to
	Switched                // the person wants another account
	TimedOut                // nobody answered in time
	Ended                   // the call is over, and with it the page
)

// Choice is the result of a wait.
type Choice struct {
	Outcome Outcome
	EnvID   string // with Picked
}

// Wait is an open question. It has three separate secrets: the token opens the page, the session
// authenticates the socket, and the handle lets a later call take the answer.
type Wait struct {
	picker                 *Picker
	question               Question
	token, session, handle string
	url                    string
	until                  time.Time
	ctx                    context.Context // of listing; ends with the wait
	cancel                 context.CancelFunc
	timer                  *time.Timer
	done                   chan struct{} // closed when there is a choice

	mu     sync.Mutex
	over   bool
	choice Choice
	rows   json.RawMessage // what was listed last; nil: nothing yet
	ids    map[string]bool // of rows

	sockets int // open ones; guarded by the picker's mu

	listing  sync.Mutex // one listing at a time
	listedAt time.Time  // guarded by listing
}

// URL is the link to the page.
func (w *Wait) URL() string { return w.url }

// Handle identifies the wait in a later call.
func (w *Wait) Handle() string { return w.handle }

// Until is when the wait times out.
func (w *Wait) Until() time.Time { return w.until }

// Done is closed when there is a choice.
func (w *Wait) Done() <-chan struct{} { return w.done }

// Result waits for the choice and then forgets the wait.
func (w *Wait) Result(ctx context.Context) (Choice, error) {
	select {
	case <-w.done:
	case <-ctx.Done():
		if !w.isOver() {
			return Choice{}, ctx.Err()
		}
	}
	w.picker.forget(w)
	return w.choice, nil
}

// End ends the wait and its page.
func (w *Wait) End() {
	w.finish(Choice{Outcome: Ended})
	w.picker.forget(w)
}

// finish sets the choice. Only the first call counts.
func (w *Wait) finish(c Choice) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over {
		return false
	}
	w.over = true
	w.choice = c
	w.picker.closePage(w) // waits for Open, which is not done before the timer is set
	w.timer.Stop()
	close(w.done)
	w.cancel() // last: a listing that fails of it must see that the wait is over
	if w.picker.ctx.Err() == nil && c.Outcome != Ended {
		time.AfterFunc(linger, func() { w.picker.forget(w) })
	}
	return true
}

// pick chooses a listed environment; false if it is not listed.
func (w *Wait) pick(id string) bool {
	w.mu.Lock()
	known := w.ids[id]
	w.mu.Unlock()
	return known && w.finish(Choice{Outcome: Picked, EnvID: id})
}

func (w *Wait) lastRows() json.RawMessage {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.rows
}

func (w *Wait) isOver() bool {
	select {
	case <-w.done:
		return true
	default:
		return false
	}
}

// list returns the rows, fresh ones if asked is later than the last listing: concurrent requests
// share one.
func (w *Wait) list(asked time.Time) (json.RawMessage, error) {
	w.listing.Lock()
	defer w.listing.Unlock()
	if w.rows != nil && !asked.After(w.listedAt) {
		return w.rows, nil
	}
	rows, err := w.question.List(w.ctx)
	if err != nil {
		return nil, err
	}
	ids := map[string]bool{}
	for row := rawjson.Array(rows); row.Next(); {
		if id, ok := rawjson.String(rawjson.Get(row.Value, "EnvId")); ok && id != "" {
			ids[id] = true
		}
	}
	w.mu.Lock()
	w.rows = rows
	w.ids = ids
	w.mu.Unlock()
	w.listedAt = time.Now()
	return rows, nil
}
