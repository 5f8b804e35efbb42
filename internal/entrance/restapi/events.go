package restapi

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/repeat"
	"github.com/toolfit/toolfit/internal/base/share"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/browsertest/trial"
	"github.com/toolfit/toolfit/internal/gateway/record"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
)

// The topics of calls.
const (
	callStarted  = "call.started"
	callFinished = "call.finished"
)

// topics are all that can be subscribed to.
var topics = []string{
	callStarted, callFinished, "server.changed", "tools.changed", "rule.changed", "agent.call",
	trial.RunStarted, trial.RunCase, trial.RunFinished, "session.created", "session.updated", "session.deleted",
}

// Event is what a subscriber hears.
type Event struct {
	Type string    `json:"type"` // a topic, subscribed, gap or error
	At   time.Time `json:"at"`
	Seq  int64     `json:"seq"` // counts what this subscriber was sent, from 1
	Data any       `json:"data"`
}

// Removed is the state of a server that no longer exists.
const Removed upstream.State = "removed"

const (
	// lookEvery is how often servers are checked for changes while somebody listens.
	lookEvery = time.Second
	// maxListeners limits the open connections, each of which has buffers.
	maxListeners = 1024
	// farewell is how long clients have to disconnect when the gateway stops.
	farewell = 2 * time.Second
)

// Events tells listeners what happens. It never waits for one: a listener that falls behind misses
// events and is told how many.
type Events struct {
	sources Sources
	records *record.Log
	now     func() time.Time
	ping    time.Duration // pingEvery, but for tests

	ctx     context.Context // of all connections
	cancel  context.CancelFunc
	closing chan struct{} // closed when connections are to end

	starts atomic.Bool // somebody wants to hear of calls that start
	others *others

	room *share.Room // for connections, by principal

	mu        sync.Mutex
	listeners map[*listener]struct{}
	closed    bool
	last      map[tool.ServerID]Server // as last told; nil while nobody listens
	conns     sync.WaitGroup
}

// notice is something that happened. Show returns it as a client sees it, if it may.
type notice struct {
	topic string
	at    time.Time
	show  func(c *connection) (data any, ok bool)
}

// listener receives the notices for one connection.
type listener struct {
	who   string
	heard chan notice
	wants atomic.Pointer[map[string]bool] // topics; nil before the first subscription
	lost  atomic.Int64                    // what there was no room for, until it is told
	wake  chan struct{}                   // tells that other gateways could not tell something
}

// NewEvents makes Events. Run watches the servers; Close ends all connections.
func NewEvents(sources Sources, records *record.Log) *Events {
	e := &Events{sources: sources, records: records, now: time.Now, ping: pingEvery, closing: make(chan struct{}),
		others: newOthers(),
		room:   share.New(maxListeners), listeners: map[*listener]struct{}{}}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	return e
}

// Run checks servers for changes until ctx ends.
func (e *Events) Run(ctx context.Context) { repeat.Every(ctx.Done(), lookEvery, e.look) }

// look reports servers that have changed. It costs nothing without listeners.
func (e *Events) look() {
	e.mu.Lock()
	listening := e.last != nil
	e.mu.Unlock()
	if !listening {
		return
	}
	now := serversByID(e.sources.ListServers())
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.last == nil {
		return // the last listener has left meanwhile
	}
	for id, s := range now {
		if was, known := e.last[id]; !known || !was.like(s) {
			e.serverChanged(s)
		}
	}
	for id, was := range e.last {
		if _, stays := now[id]; !stays {
			e.serverChanged(Server{ID: id, Source: was.Source, Kind: was.Kind, State: Removed})
		}
	}
	e.last = now
}

// serverChanged tells that a server has changed. The caller holds mu.
func (e *Events) serverChanged(s Server) {
	e.tell(notice{"server.changed", e.now(), func(c *connection) (any, bool) {
		shown, ok := e.sources.shown(s, c.who)
		return shown, ok && (c.filter.Server == "" || c.filter.Server == string(s.ID))
	}})
}

func serversByID(servers []Server) map[tool.ServerID]Server {
	m := make(map[tool.ServerID]Server, len(servers))
	for _, s := range servers {
		m[s.ID] = s
	}
	return m
}

// like tells whether nothing about a server has changed.
func (s Server) like(t Server) bool {
	return s.State == t.State && s.Reason == t.Reason && s.Source == t.Source && s.Warning == t.Warning && s.Kind == t.Kind &&
		s.Tools == t.Tools && slices.Equal(s.Held, t.Held) && slices.Equal(s.KeptOut, t.KeptOut) && slices.Equal(s.Notes, t.Notes)
}

// want sets the topics of a listener.
func (e *Events) want(l *listener, topics map[string]bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	l.wants.Store(&topics)
	e.countStarts()
	e.others.changed()
}

// countStarts records whether anybody listens to started calls. The caller holds mu.
func (e *Events) countStarts() {
	starts := false
	for l := range e.listeners {
		starts = starts || l.wantsTo(callStarted)
	}
	e.starts.Store(starts)
}

func (l *listener) wantsTo(topic string) bool {
	wants := l.wants.Load()
	return wants != nil && (*wants)[topic]
}

// tell passes a notice to every listener that wants it and has room. The caller holds mu.
func (e *Events) tell(h notice) {
	for l := range e.listeners {
		if !l.wantsTo(h.topic) {
			continue
		}
		select {
		case l.heard <- h:
		default:
			l.lost.Add(1)
		}
	}
}

// join adds a listener. The caller must call leave.
func (e *Events) join(who string) (*listener, error) {
	now := serversByID(e.sources.ListServers()) // the first listener hears of changes from here on
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, fault.New(fault.UpstreamBusy, "the gateway is going down")
	}
	switch err := e.room.Take(who); {
	case errors.Is(err, share.ErrShare):
		return nil, fault.New(fault.RateLimited, "you already have %d open event connections", share.Of(maxListeners)).
			WithHint("close some of them first")
	case err != nil:
		return nil, fault.New(fault.RateLimited, "%d event connections are open already", maxListeners).WithHint("try again later")
	}
	l := &listener{who: who, heard: make(chan notice, 64), wake: make(chan struct{}, 1)}
	e.listeners[l] = struct{}{}
	if e.last == nil {
		e.last = now
	}
	e.conns.Add(1)
	return l, nil
}

func (e *Events) leave(l *listener) {
	e.mu.Lock()
	delete(e.listeners, l)
	e.countStarts()
	if len(e.listeners) == 0 {
		e.last = nil
	}
	e.mu.Unlock()
	e.room.Leave(l.who)
	e.conns.Done()
}

// Close ends all connections and waits for them; slow clients are cut off.
func (e *Events) Close() {
	e.mu.Lock()
	if !e.closed {
		e.closed = true
		close(e.closing)
	}
	e.mu.Unlock()
	late := time.AfterFunc(farewell, e.cancel)
	defer late.Stop()
	e.conns.Wait()
	e.cancel()
}
