package env

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/mcp"
)

// The states of a task. The last three are final.
const (
	taskWorking   = "working"
	taskAsking    = "input_required"
	taskCompleted = "completed"
	taskFailed    = "failed"
	taskCancelled = "cancelled"
)

// pollInterval is how often clients should ask for a task's state.
const pollInterval = time.Second

// task is a tool call that outlives its request. It is the conversation of its tool.
type task struct {
	id      string
	owner   *mcp.Session    // the legacy session that it belongs to; nil: whoever knows the id
	can     json.RawMessage // what the client can be asked
	created time.Time
	ttl     time.Duration
	ctx     context.Context // of the tool
	cancel  context.CancelFunc
	expiry  *time.Timer

	mu       sync.Mutex
	status   string
	message  string
	updated  time.Time
	result   json.RawMessage // when completed
	err      *mcp.Error      // when failed
	asked    int
	waiting  []*waiting     // for an answer, the oldest first
	modified chan struct{}  // closed with the next change
	heard    []*mcp.Session // streams of modern clients that hear of changes
}

// waiting is a question without an answer.
type waiting struct {
	key      string
	question Question
	sent     bool // a legacy client is being asked
	answer   Answer
	err      error
	done     chan struct{} // closed when there is an answer
}

// run runs the tool and stores what comes out.
func (t *task) run(work func(context.Context) (any, error)) (panicked error) {
	raw, err := t.try(work)
	var broken *panicError
	switch {
	case errors.As(err, &broken):
		t.end(taskFailed, nil, mcp.Errorf(mcp.CodeInternal, "internal error"))
		return err
	case raw == nil:
		t.end(taskCancelled, nil, nil)
	default:
		t.end(taskCompleted, raw, nil)
	}
	return nil
}

// try returns the result of the tool. Nobody else would catch a panic of what encodes it.
func (t *task) try(work func(context.Context) (any, error)) (raw json.RawMessage, err error) {
	defer recovered(&err)
	v, err := work(t.ctx)
	return outcome(t.ctx, v, err)
}

// end moves the task to a final state, unless it is in one; false: it was.
func (t *task) end(status string, result json.RawMessage, err *mcp.Error) bool {
	defer t.cancel()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.isFinal() {
		return false
	}
	t.result = result
	t.err = err
	t.waiting = nil
	if err != nil {
		t.message = err.Message
	}
	t.change(status)
	return true
}

func (t *task) isFinal() bool {
	return t.status == taskCompleted || t.status == taskFailed || t.status == taskCancelled
}

// change sets the status and tells who waits for it. The lock is held.
func (t *task) change(status string) {
	t.status = status
	t.updated = time.Now()
	close(t.modified)
	t.modified = make(chan struct{})
	if t.owner != nil {
		t.owner.Notify(context.Background(), "notifications/tasks/status", rawjson.Encode(t.legacy())) // nobody waits for it
	}
	for _, stream := range t.heard {
		stream.Notify(context.Background(), "notifications/tasks", rawjson.Encode(t.modern()))
	}
}

func (t *task) abilities() json.RawMessage { return t.can }

func (t *task) progress(_ context.Context, message string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.isFinal() && message != t.message {
		t.message = message
		t.change(t.status)
	}
}

// ask makes the task wait for the answers to all questions.
func (t *task) ask(ctx context.Context, questions []Question) (all []Answer, err error) {
	asked := t.put(questions)
	defer t.withdraw(asked)
	for _, w := range asked {
		select {
		case <-w.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-t.ctx.Done():
			return nil, t.ctx.Err()
		}
		if w.err != nil {
			return nil, fmt.Errorf("ask %s: %w", w.question.Method, w.err)
		}
		all = append(all, w.answer)
	}
	return all, nil
}

func (t *task) put(questions []Question) (asked []*waiting) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, q := range questions {
		t.asked++
		asked = append(asked, &waiting{key: fmt.Sprintf("q%d", t.asked), question: q, done: make(chan struct{})})
	}
	if len(asked) > 0 && !t.isFinal() {
		t.waiting = append(t.waiting, asked...)
		t.change(taskAsking)
	}
	return asked
}

// withdraw takes back the questions that nobody waits for any longer.
func (t *task) withdraw(asked []*waiting) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.forget(func(w *waiting) bool { return slices.Contains(asked, w) })
}

// forget removes questions; without any the task works again. The lock is held.
func (t *task) forget(which func(*waiting) bool) {
	before := len(t.waiting)
	t.waiting = slices.DeleteFunc(t.waiting, which)
	switch {
	case len(t.waiting) == before:
	case len(t.waiting) == 0:
		t.change(taskWorking)
	default:
		t.change(t.status)
	}
}

// answer stores the answer to a question. Answers to nothing are dropped.
func (t *task) answer(key string, answer json.RawMessage, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.forget(func(w *waiting) bool {
		if w.key != key {
			return false
		}
		w.answer = Answer(answer)
		w.err = err
		close(w.done)
		return true
	})
}

// next returns the oldest question that no legacy client is being asked, and marks it; nil: there is
// none, and modified is closed when that may have changed.
func (t *task) next() (w *waiting, modified <-chan struct{}, final bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, w := range t.waiting {
		if !w.sent {
			w.sent = true
			return w, nil, false
		}
	}
	return nil, t.modified, t.isFinal()
}

// unsent lets another request ask the question.
func (t *task) unsent(w *waiting) {
	t.mu.Lock()
	defer t.mu.Unlock()
	w.sent = false
	t.change(t.status)
}

// taskState is a task as clients see it. The members differ by era.
type taskState struct {
	Type      string              `json:"resultType,omitempty"`
	ID        string              `json:"taskId"`
	Status    string              `json:"status"`
	Message   string              `json:"statusMessage,omitempty"`
	Created   string              `json:"createdAt"`
	Updated   string              `json:"lastUpdatedAt"`
	TTL       int64               `json:"ttl,omitempty"`
	Poll      int64               `json:"pollInterval,omitempty"`
	TTLMs     int64               `json:"ttlMs,omitempty"`
	PollMs    int64               `json:"pollIntervalMs,omitempty"`
	Questions map[string]Question `json:"inputRequests,omitempty"`
	Result    json.RawMessage     `json:"result,omitempty"`
	Error     *mcp.Error          `json:"error,omitempty"`
}

func (t *task) state() taskState {
	return taskState{ID: t.id, Status: t.status, Message: t.message, Created: stampUTC(t.created), Updated: stampUTC(t.updated)}
}

func stampUTC(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z") }

// legacy is the state for a client of revision 2025-11-25. The lock is held.
func (t *task) legacy() taskState {
	s := t.state()
	s.TTL = t.ttl.Milliseconds()
	s.Poll = pollInterval.Milliseconds()
	return s
}

// listen lets a stream hear of the changes of the task, from how it is now on.
func (t *task) listen(stream *mcp.Session) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.heard = append(t.heard, stream)
	stream.Notify(context.Background(), "notifications/tasks", rawjson.Encode(t.modern()))
}

// modern is the state for a client of the extension. The lock is held.
func (t *task) modern() taskState {
	s := t.state()
	s.TTLMs = t.ttl.Milliseconds()
	s.PollMs = pollInterval.Milliseconds()
	s.Result = complete(t.result)
	s.Error = t.err
	s.Questions = make(map[string]Question, len(t.waiting))
	for _, w := range t.waiting {
		s.Questions[w.key] = w.question
	}
	return s
}

// seen is the state as the client of the request sees it.
func (t *task) seen(req *mcp.Request) taskState {
	t.mu.Lock()
	defer t.mu.Unlock()
	if req.Meta == nil {
		return t.legacy()
	}
	return t.modern()
}
