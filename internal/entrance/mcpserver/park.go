package mcpserver

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/mcp"
)

// talk is a call whose server may ask a client without a session. The request that began it carries the
// call; when the server asks, it is answered with the questions, and the call goes on beside the
// requests that bring answers.
type talk struct {
	server  *Server
	visitor *visitor
	id      string
	caller  string
	began   *mcp.Request // that carries the call
	ctx     context.Context
	cancel  context.CancelFunc
	done    chan struct{} // closed when the call has ended and its first request was answered before
	result  *upstream.Outcome
	err     error

	mu      sync.Mutex
	asker   *mcp.Request           // that waits for the call; nil while none does
	waits   chan *upstream.Outcome // where that is a later one: gets what it is answered with
	caps    json.RawMessage        // what the client can be asked
	asked   int                    // questions so far
	round   int                    // how often the client was asked
	open    []*question
	gathers bool              // the questions are about to be sent
	late    *time.Timer       // ends a call whose client does not come back
	failed  error             // why we have ended the call; nil: we have not
	over    bool              // the call has ended, or goes on without its client: nobody is asked any more
	gone    chan struct{}     // closed when it goes on without its client
	handle  *upstream.Outcome // what a client gets that comes back to a call which was detached meanwhile
}

type question struct {
	key, method string
	params      json.RawMessage
	answer      chan json.RawMessage
}

func key(n int) string { return "q" + strconv.Itoa(n) }

// talk makes a call whose client can be asked, and returns its result, unless the client was asked.
func (s *Server) talk(ctx context.Context, v *visitor, req *mcp.Request, ask asker) (*upstream.Outcome, error) {
	t := &talk{
		server: s, visitor: v, id: rand.Text(), caller: v.principal.ID, began: req, asker: req, caps: req.Meta.Capabilities,
		done: make(chan struct{}), gone: make(chan struct{}),
	}
	t.ctx, t.cancel = context.WithCancel(ctx)
	defer t.cancel()
	defer context.AfterFunc(s.ctx, t.cancel)()
	s.work.Add(1)
	defer s.work.Done()
	again := *req
	again.Client = t
	return t.ended(t.run(ask, &again))
}

// run makes the call. A panic is the error of this call alone: another request may wait for it.
func (t *talk) run(ask asker, req *mcp.Request) (out *upstream.Outcome, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic in a call: %v\n%s", p, debug.Stack())
		}
	}()
	return ask(t.ctx, req)
}

// errAnswered is what becomes of a request that was answered before its call had ended.
var errAnswered = errors.New("the request has been answered")

// ended notes how the call ended, and returns it if its first request still waits for it.
func (t *talk) ended(out *upstream.Outcome, err error) (*upstream.Outcome, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
	if t.failed != nil {
		out = nil
		err = t.failed
	}
	waits := t.asker == t.began
	t.asker = nil
	if waits {
		return out, err
	}
	t.result = out
	t.err = err
	close(t.done)
	return nil, errAnswered
}

// answer answers the request that waits; false if its client has left. The caller holds mu.
func (t *talk) answer(out *upstream.Outcome) bool {
	if t.waits != nil {
		t.waits <- out // room for one
		t.waits = nil
	} else if raw, err := t.visitor.inModern(t.asker, out, 0, nil); err != nil || !t.asker.AnswerNow(raw) {
		return false
	}
	t.asker = nil
	return true
}

// detached answers the request that waits with the handle of the call; if none does, that which comes
// back with answers.
func (t *talk) detached(raw json.RawMessage) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := &upstream.Outcome{Raw: raw, Era: mcp.Modern}
	switch {
	case t.over:
		return false
	case t.asker == nil:
		t.handle = out
	case !t.answer(out):
		return false
	}
	t.over = true
	close(t.gone)
	return true
}

// gather is how long we wait for more questions after the first, so that several asked at once reach the client in one answer.
const gather = 50 * time.Millisecond

// Ask puts a question to the client and waits for the request that brings the answer.
func (t *talk) Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	q := &question{method: method, params: append(json.RawMessage(nil), params...), answer: make(chan json.RawMessage, 1)}
	t.mu.Lock()
	if t.over || !mcp.Can(t.caps, method, params) {
		t.mu.Unlock()
		return mcp.Deaf.Ask(ctx, method, params)
	}
	t.asked++
	q.key = key(t.asked)
	t.open = append(t.open, q)
	if !t.gathers && t.asker != nil { // else the client is asked when it comes back
		t.gathers = true
		time.AfterFunc(gather, t.park)
	}
	t.mu.Unlock()
	select {
	case said := <-q.answer:
		return said, nil
	case <-t.gone:
		return mcp.Deaf.Ask(ctx, method, params)
	case <-ctx.Done():
		t.withdraw(q)
		return nil, ctx.Err()
	}
}

// withdraw takes out a question that the server asks no more.
func (t *talk) withdraw(q *question) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open = slices.DeleteFunc(t.open, func(o *question) bool { return o == q })
}

// park answers the request with the open questions and lets the call wait for another one.
func (t *talk) park() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.gathers = false
	if t.asker == nil || len(t.open) == 0 {
		return // it has ended meanwhile
	}
	out, err := t.questions()
	if err != nil {
		t.failed = err // the request gets it as soon as the call has ended
		t.cancel()
		return
	}
	if !t.answer(out) { // the client has left
		t.server.parked.take(place{t.id, t.round})
		t.late.Stop()
		t.cancel()
	}
}

// questions are the open questions as an answer, after which the call waits in the lot. The caller
// holds mu.
func (t *talk) questions() (*upstream.Outcome, error) {
	s := t.server
	t.round++
	if t.round > maxRounds {
		return nil, rpcError(fault.New(fault.UpstreamProtocol, "the server asked for more %d times and did not answer", maxRounds))
	}
	if !s.parked.put(t) {
		return nil, rpcError(fault.New(fault.UpstreamBusy, "too many calls wait for answers of their clients").WithHint("try again later"))
	}
	here := place{t.id, t.round}
	t.late = time.AfterFunc(s.opts.Park, func() {
		if s.parked.take(here) != nil {
			t.expired()
		}
	})
	requests := []byte{'{'}
	for _, q := range t.open {
		requests = appendQuestion(requests, q.key, q.method, q.params)
	}
	own := state{Kind: stateParked, Talk: t.id, Replica: s.parked.replica, Round: t.round}
	sealed := s.seal.close(own, t.visitor.binding(t.asker), s.opts.Park)
	return &upstream.Outcome{Raw: inputRequired(append(requests, '}'), sealed), Era: mcp.Modern}, nil
}

// expired ends the call of a client that has not come back: the server is told.
func (t *talk) expired() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.handle == nil {
		t.cancel()
	}
}

// resume brings answers to a parked call, and waits for what becomes of it. A state works only once.
func (s *Server) resume(ctx context.Context, req *mcp.Request, v *visitor, back retry, was state) (*upstream.Outcome, error) {
	if was.Replica != s.parked.replica {
		return nil, errState("the call waits at another replica, or ended with it")
	}
	t := s.parked.take(place{was.Talk, was.Round})
	if t == nil {
		return nil, errState("the call no longer waits for it")
	}
	t.mu.Lock()
	t.late.Stop()
	if t.handle != nil {
		defer t.mu.Unlock()
		return t.handle, nil
	}
	t.asker = req
	t.visitor = v
	t.caps = req.Meta.Capabilities
	t.open = slices.DeleteFunc(t.open, func(q *question) bool {
		said := rawjson.Get(back.answers, q.key)
		if len(said) == 0 || said[0] != '{' {
			return false
		}
		q.answer <- slices.Clone(said) // room for one, and only one comes
		return true
	})
	if len(t.open) > 0 && !t.over {
		defer t.mu.Unlock()
		out, err := t.questions() // what is missing is asked again
		t.asker = nil
		if err != nil {
			t.cancel()
		}
		return out, err
	}
	waits := make(chan *upstream.Outcome, 1)
	t.waits = waits
	t.mu.Unlock()
	return t.wait(ctx, waits)
}

// wait is what becomes of the call next. A client that leaves meanwhile has canceled it.
func (t *talk) wait(ctx context.Context, waits <-chan *upstream.Outcome) (*upstream.Outcome, error) {
	select {
	case out := <-waits:
		return out, nil
	case <-t.done:
	case <-ctx.Done():
	}
	t.mu.Lock()
	t.asker = nil
	t.waits = nil
	t.mu.Unlock()
	select {
	case out := <-waits: // the call has ended, or the client has left, after this answer was given
		return out, nil
	default:
	}
	if ctx.Err() == nil {
		return t.result, t.err
	}
	t.cancel()
	<-t.done
	if t.result != nil {
		t.result.Release()
	}
	return nil, ctx.Err()
}

// Notify passes on what the server says while a request waits; else nobody would hear it.
func (t *talk) Notify(ctx context.Context, method string, params json.RawMessage) error {
	t.mu.Lock()
	asker := t.asker
	t.mu.Unlock()
	if asker == nil {
		return nil
	}
	return asker.Client.Notify(ctx, method, params)
}
