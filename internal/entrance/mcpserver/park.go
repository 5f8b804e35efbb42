package mcpserver

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/mcp"
)

// lot is where calls wait for answers of modern clients. It is the only state held for such clients.
type lot struct {
	replica string // ours

	mu    sync.Mutex
	talks map[place]*talk
	of    map[string]int // how many each caller has here
}

// place is where a call waits for the answers of one round.
type place struct {
	talk  string
	round int
}

// How many calls may wait, of all callers and of one.
const (
	maxParked      = 1000
	maxParkedOfOne = 100
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
	asked   int                    // questions so far
	round   int                    // how often the client was asked
	open    []*question
	gathers bool        // the questions are about to be sent
	late    *time.Timer // ends a call whose client does not come back
}

type question struct {
	key, method string
	params      json.RawMessage
	answer      chan json.RawMessage
}

func key(n int) string { return "q" + strconv.Itoa(n) }

// talk makes a call whose client can be asked, and returns its result, unless the client was asked.
func (s *Server) talk(ctx context.Context, v *visitor, req *mcp.Request, ask asker) (*upstream.Outcome, error) {
	t := &talk{server: s, visitor: v, id: rand.Text(), caller: v.principal.ID, began: req, asker: req, done: make(chan struct{})}
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
	if t.asker == t.began {
		t.asker = nil
		return out, err
	}
	t.result = out
	t.err = err
	close(t.done)
	return nil, errAnswered
}

// answer answers the request that waits; false if none does, or its client has left. The caller
// holds mu.
func (t *talk) answer(out *upstream.Outcome) bool {
	req := t.asker
	t.asker = nil
	switch {
	case req == nil:
		return false
	case t.waits != nil:
		t.waits <- out // room for one
		t.waits = nil
		return true
	}
	raw, err := t.visitor.inModern(req, out, 0, nil)
	return err == nil && req.AnswerNow(raw)
}

// detached answers the request that waits with the handle of the call.
func (t *talk) detached(raw json.RawMessage) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.answer(&upstream.Outcome{Raw: raw, Era: mcp.Modern})
}

// gather is how long we wait for more questions after the first, so that several asked at once reach the client in one answer.
const gather = 50 * time.Millisecond

// Ask puts a question to the client and waits for the request that brings the answer.
func (t *talk) Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	q := &question{method: method, params: append(json.RawMessage(nil), params...), answer: make(chan json.RawMessage, 1)}
	t.mu.Lock()
	if t.asker == nil || !mcp.Can(t.asker.Meta.Capabilities, method, params) {
		t.mu.Unlock()
		return mcp.Deaf.Ask(ctx, method, params)
	}
	t.asked++
	q.key = key(t.asked)
	t.open = append(t.open, q)
	if !t.gathers {
		t.gathers = true
		time.AfterFunc(gather, t.park)
	}
	t.mu.Unlock()
	select {
	case said := <-q.answer:
		return said, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
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
		out = &upstream.Outcome{Raw: toolError(fault.As(err)), Era: mcp.Legacy}
		t.cancel()
	}
	if !t.answer(out) {
		t.cancel() // the client has left
	}
}

// questions are the open questions as an answer, after which the call waits in the lot. The caller
// holds mu.
func (t *talk) questions() (*upstream.Outcome, error) {
	s := t.server
	t.round++
	if t.round > maxRounds {
		return nil, fault.New(fault.UpstreamProtocol, "the server asked for more %d times and did not answer", maxRounds)
	}
	if !s.parked.put(t) {
		return nil, fault.New(fault.UpstreamBusy, "too many calls wait for answers of their clients").WithHint("try again later")
	}
	here := place{t.id, t.round}
	t.late = time.AfterFunc(s.opts.Park, func() {
		if s.parked.take(here) != nil {
			t.cancel() // the server is told
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
	t.asker = req
	t.visitor = v
	var open []*question
	for _, q := range t.open {
		if said := rawjson.Get(back.answers, q.key); len(said) > 0 && said[0] == '{' {
			q.answer <- append(json.RawMessage(nil), said...) // room for one, and only one comes
		} else {
			open = append(open, q)
		}
	}
	t.open = open
	if len(open) > 0 {
		defer t.mu.Unlock()
		out, err := t.questions() // what is missing is asked again
		t.asker = nil
		if err != nil {
			t.cancel()
			return nil, rpcError(err)
		}
		return out, nil
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
		t.cancel()
		<-t.done
	}
	if ctx.Err() != nil && t.result != nil {
		t.result.Release()
		return nil, ctx.Err()
	}
	return t.result, t.err
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

// put lets a call wait, unless too many do. The caller holds the call's mu.
func (l *lot) put(t *talk) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.talks) >= maxParked || l.of[t.caller] >= maxParkedOfOne {
		return false
	}
	if l.talks == nil {
		l.talks = map[place]*talk{}
		l.of = map[string]int{}
	}
	l.talks[place{t.id, t.round}] = t
	l.of[t.caller]++
	return true
}

// take gets the call that waits there; nil when none does.
func (l *lot) take(at place) *talk {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.talks[at]
	if t == nil {
		return nil
	}
	delete(l.talks, at)
	l.of[t.caller]--
	if l.of[t.caller] == 0 {
		delete(l.of, t.caller)
	}
	return t
}
