package mcpserver

import (
	"context"
	"crypto/rand"
	"encoding/json"
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

// talk is a call whose server may ask the client something. It runs beside the requests that wait for it.
type talk struct {
	id     string
	caller string
	caps   json.RawMessage // what the client can be asked
	ctx    context.Context
	cancel context.CancelFunc
	news   chan struct{} // tells that there is a question
	done   chan struct{} // closed when the call has ended
	result *upstream.Outcome
	err    error

	mu     sync.Mutex
	client mcp.Peer // of the request that waits; nil while none does
	asked  int      // questions so far
	round  int      // how often the client was asked
	open   []*question
	late   *time.Timer
}

type question struct {
	key, method string
	params      json.RawMessage
	answer      chan json.RawMessage
}

func key(n int) string { return "q" + strconv.Itoa(n) }

// talk makes a call whose client can be asked, and returns its result or a question.
func (s *Server) talk(ctx context.Context, v *visitor, req *mcp.Request, ask asker) (*upstream.Outcome, error) {
	t := &talk{
		id: rand.Text(), caller: v.principal.ID, caps: req.Meta.Capabilities, client: req.Client,
		news: make(chan struct{}, 1), done: make(chan struct{}),
	}
	t.ctx, t.cancel = context.WithCancel(context.WithoutCancel(ctx))
	again := *req
	again.Client = t
	s.work.Go(func() {
		defer context.AfterFunc(s.ctx, t.cancel)()
		defer t.cancel()
		defer close(t.done)
		defer t.rescue() // as the HTTP server does for what runs in its own goroutine
		t.result, t.err = ask(t.ctx, &again)
	})
	return s.wait(ctx, req, v, t)
}

// rescue makes a panic the error of its call alone.
func (t *talk) rescue() {
	if p := recover(); p != nil {
		t.err = fmt.Errorf("panic in a call: %v\n%s", p, debug.Stack())
	}
}

// gather is how long we wait for more questions after the first, so that several asked at once reach the client in one answer.
const gather = 50 * time.Millisecond

// wait is what becomes of the call next. A client that leaves meanwhile has canceled it.
func (s *Server) wait(ctx context.Context, req *mcp.Request, v *visitor, t *talk) (*upstream.Outcome, error) {
	select {
	case <-t.done:
		return t.result, t.err
	case <-ctx.Done():
		t.cancel()
		<-t.done
		if t.result != nil {
			t.result.Release()
		}
		return nil, ctx.Err()
	case <-t.news:
	}
	timer := time.NewTimer(gather)
	defer timer.Stop()
	select {
	case <-t.done:
		return t.result, t.err
	case <-timer.C:
	}
	return s.park(req, v, t)
}

// park answers the request with the open questions and lets the call wait for another one.
func (s *Server) park(req *mcp.Request, v *visitor, t *talk) (*upstream.Outcome, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.client = nil
	t.round++
	if t.round > maxRounds {
		t.cancel()
		return nil, rpcError(fault.New(fault.UpstreamProtocol, "the server asked for more %d times and did not answer", maxRounds))
	}
	if !s.parked.put(t) {
		t.cancel()
		return nil, rpcError(fault.New(fault.UpstreamBusy, "too many calls wait for answers of their clients").WithHint("try again later"))
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
	sealed := s.seal.close(own, v.binding(req), s.opts.Park)
	return &upstream.Outcome{Raw: inputRequired(append(requests, '}'), sealed), Era: mcp.Modern}, nil
}

// resume brings answers to a parked call. A state works only once.
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
	var open []*question
	for _, q := range t.open {
		if said := rawjson.Get(back.answers, q.key); len(said) > 0 && said[0] == '{' {
			q.answer <- append(json.RawMessage(nil), said...) // room for one, and only one comes
		} else {
			open = append(open, q)
		}
	}
	t.open = open
	t.client = req.Client
	t.caps = req.Meta.Capabilities
	t.mu.Unlock()
	if len(open) > 0 {
		return s.park(req, v, t) // what is missing is asked again
	}
	return s.wait(ctx, req, v, t)
}

// Notify passes on what the server says while a request waits; else nobody would hear it.
func (t *talk) Notify(ctx context.Context, method string, params json.RawMessage) error {
	t.mu.Lock()
	client := t.client
	t.mu.Unlock()
	if client == nil {
		return nil
	}
	return client.Notify(ctx, method, params)
}

// Ask puts a question to the client and waits for the request that brings the answer.
func (t *talk) Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	q := &question{method: method, params: append(json.RawMessage(nil), params...), answer: make(chan json.RawMessage, 1)}
	t.mu.Lock()
	if !mcp.Can(t.caps, method, params) {
		t.mu.Unlock()
		return mcp.Deaf.Ask(ctx, method, params)
	}
	t.asked++
	q.key = key(t.asked)
	t.open = append(t.open, q)
	t.mu.Unlock()
	select {
	case t.news <- struct{}{}:
	default:
	}
	select {
	case said := <-q.answer:
		return said, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
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
