// Package picker lets a person pick an environment on a page while a tool call waits for it.
// Each wait has its own page behind an unguessable link; the page shows full rows and talks
// over a WebSocket. Page and answer may arrive at another gateway than the one that waits: it passes
// them on. It never opens a browser, never calls the cloud itself (whoever opens a
// wait says how to list), and keeps nothing once a wait and its answer are over.
//
//	p := picker.New(func() string { return "http://127.0.0.1:8420/pick" }, nil)
//	http.Handle("/pick/", http.StripPrefix("/pick", p))
//	wait, err := p.Open(picker.Question{List: list, Timeout: 10 * time.Minute})
//	defer wait.End()
//	fmt.Println("pick an environment:", wait.URL())
//	choice, err := wait.Result(ctx)
package picker

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
)

// The maximum number of open picks, in all and per caller.
const (
	maxOpen      = 1000
	maxOpenOfOne = 20
)

// linger is how long an unclaimed answer is kept.
const linger = 10 * time.Minute

// Picker serves the pages of all open waits.
type Picker struct {
	base    func() string
	opts    Options
	handler http.Handler
	ctx     context.Context // ends with Close
	stop    context.CancelFunc

	mu       sync.Mutex
	byToken  map[string]*Wait // those whose page is open
	byHandle map[string]*Wait // those that a call may come back to
	of       map[string]int   // how many waits each caller has
	work     sync.WaitGroup
}

// Options change a Picker. The zero value is usable.
type Options struct {
	// Admit tells whether the sender of a request may answer for the caller; nil: anyone with the
	// link.
	Admit    func(r *http.Request, caller string) error
	Replicas Replicas     // nil: there are no other gateways
	Logger   *slog.Logger // nil: discard
}

// New makes a picker whose pages are at base, without a trailing slash. An empty base means that
// they cannot be reached.
func New(base func() string, opts *Options) *Picker {
	p := &Picker{base: base, byToken: map[string]*Wait{}, byHandle: map[string]*Wait{}, of: map[string]int{}}
	if opts != nil {
		p.opts = *opts
	}
	if p.opts.Admit == nil {
		p.opts.Admit = func(*http.Request, string) error { return nil }
	}
	if p.opts.Replicas == nil {
		p.opts.Replicas = alone{}
	}
	if p.opts.Logger == nil {
		p.opts.Logger = slog.New(slog.DiscardHandler)
	}
	p.ctx, p.stop = context.WithCancel(context.Background())
	p.handler = p.routes()
	return p
}

// Close ends all waits and their pages.
func (p *Picker) Close() {
	p.stop()
	p.mu.Lock()
	all := slices.Collect(maps.Values(p.byHandle))
	p.mu.Unlock()
	for _, w := range all {
		w.End()
	}
	p.work.Wait()
}

func (p *Picker) ServeHTTP(w http.ResponseWriter, r *http.Request) { p.handler.ServeHTTP(w, r) }

// Question is a question to a person.
type Question struct {
	Caller  string        // on whose behalf; "" when callers are not told apart
	Message string        // what the person should know; may be empty
	Timeout time.Duration // how long the person has
	// List returns the rows to pick from, a JSON array. It is called when the page opens and on
	// refresh.
	List func(ctx context.Context) (json.RawMessage, error)
}

// Open starts a wait with a page.
func (p *Picker) Open(q Question) (*Wait, error) {
	base := p.base()
	switch {
	case p.ctx.Err() != nil:
		return nil, fault.New(fault.Canceled, "the gateway is ending")
	case base == "":
		return nil, fault.New(fault.BadConfig, "there is no page to pick on: nothing is served over HTTP")
	}
	w := &Wait{
		picker: p, question: q, token: p.secret(rand.Text()), session: rand.Text(), handle: p.secret(rand.Text()),
		until: time.Now().Add(q.Timeout), done: make(chan struct{}),
	}
	w.url = base + "/" + w.token + "/"
	w.ctx, w.cancel = context.WithCancel(p.ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.byHandle) >= maxOpen || p.of[q.Caller] >= maxOpenOfOne {
		w.cancel()
		return nil, fault.New(fault.UpstreamBusy, "too many picks are open").WithHint("answer or cancel one first")
	}
	p.byToken[w.token] = w
	p.byHandle[w.handle] = w
	p.of[q.Caller]++
	w.timer = time.AfterFunc(q.Timeout, func() { w.finish(Choice{Outcome: TimedOut}) })
	return w, nil
}

// Find returns the caller's wait with the handle, or nil.
func (p *Picker) Find(handle, caller string) *Wait {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.byHandle[handle]
	if w == nil || w.question.Caller != caller {
		return nil
	}
	return w
}

func (p *Picker) page(token string) *Wait {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.byToken[token]
}

// closePage invalidates the link.
func (p *Picker) closePage(w *Wait) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.byToken, w.token)
}

// forget drops a wait that is no longer needed.
func (p *Picker) forget(w *Wait) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.byHandle[w.handle] != w {
		return
	}
	delete(p.byHandle, w.handle)
	p.of[w.question.Caller]--
	if p.of[w.question.Caller] == 0 {
		delete(p.of, w.question.Caller)
	}
}
