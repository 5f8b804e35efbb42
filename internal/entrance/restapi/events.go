package restapi

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/share"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/browsertest/trial"
	"github.com/toolfit/toolfit/internal/gateway/record"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/state/store"
)

// The topics that can be subscribed to.
const (
	callStarted   = "call.started"
	callFinished  = "call.finished"
	serverChanged = "server.changed"
	toolsChanged  = "tools.changed"
	ruleChanged   = "rule.changed"
)

var topics = append([]string{callStarted, callFinished, serverChanged, toolsChanged, ruleChanged, agentCall, trial.RunStarted, trial.RunCase, trial.RunFinished}, sessionTopics...)

// Event is what a subscriber hears.
type Event struct {
	Type string    `json:"type"` // a topic, subscribed, gap or error
	At   time.Time `json:"at"`
	Seq  int64     `json:"seq"` // counts what this subscriber was sent, from 1
	Data any       `json:"data"`
}

// Removed is the state of a server that is no more.
const Removed upstream.State = "removed"

const (
	// lookEvery is how often the servers are looked at while somebody listens.
	lookEvery = time.Second
	// maxListeners bounds the open connections: each holds buffers.
	maxListeners = 1024
	// farewell is how long clients have to say goodbye when the gateway ends.
	farewell = 2 * time.Second
)

// Events tells its listeners what happens: calls that end, servers and lists that change.
// It waits for no listener: what one has no room for passes it by, and it is told so.
type Events struct {
	sources Sources
	records *record.Log
	now     func() time.Time
	ping    time.Duration // pingEvery, but for tests

	ctx     context.Context // of all connections
	cancel  context.CancelFunc
	closing chan struct{} // closed when connections are to end

	starts atomic.Bool // somebody wants to hear of calls that start

	room *share.Room // for connections, by principal

	mu        sync.Mutex
	listeners map[*listener]struct{}
	closed    bool
	last      map[tool.ServerID]Server // as last told; nil while nobody listens
	conns     sync.WaitGroup
}

// happening is what all listeners are told, before each is shown its own form of it.
type happening struct {
	topic   string
	at      time.Time
	server  Server
	profile string
	call    store.Call
	rule    Rule
	session store.Session
	run     trial.Event
	agent   agentCalled
}

// listener is where one connection hears of what happens.
type listener struct {
	who   string
	heard chan happening
	wants atomic.Pointer[map[string]bool] // topics; nil before the first subscription
	lost  atomic.Int64                    // what there was no room for, until it is told
}

// NewEvents makes Events. Run watches the servers; Close ends all connections.
func NewEvents(sources Sources, records *record.Log) *Events {
	e := &Events{sources: sources, records: records, now: time.Now, ping: pingEvery, closing: make(chan struct{}), room: share.New(maxListeners), listeners: map[*listener]struct{}{}}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	return e
}

// Run looks for changes of the servers until ctx ends.
func (e *Events) Run(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			e.look()
		}
	}
}

// look tells which servers are different from when it last looked. Without listeners it
// costs nothing.
func (e *Events) look() {
	e.mu.Lock()
	listening := e.last != nil
	e.mu.Unlock()
	if !listening {
		return
	}
	now := byID(e.sources.ListServers())
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.last == nil {
		return // the last listener has left meanwhile
	}
	for id, s := range now {
		if was, known := e.last[id]; !known || !was.like(s) {
			e.tell(happening{topic: serverChanged, at: e.now(), server: s})
		}
	}
	for id, was := range e.last {
		if _, stays := now[id]; !stays {
			e.tell(happening{topic: serverChanged, at: e.now(), server: Server{ID: id, Source: was.Source, Kind: was.Kind, State: Removed}})
		}
	}
	e.last = now
}

func byID(servers []Server) map[tool.ServerID]Server {
	m := make(map[tool.ServerID]Server, len(servers))
	for _, s := range servers {
		m[s.ID] = s
	}
	return m
}

// like tells whether there is nothing new about a server.
func (s Server) like(t Server) bool {
	return s.State == t.State && s.Reason == t.Reason && s.Source == t.Source && s.Warning == t.Warning && s.Kind == t.Kind &&
		s.Tools == t.Tools && slices.Equal(s.Held, t.Held) && slices.Equal(s.KeptOut, t.KeptOut) && slices.Equal(s.Notes, t.Notes)
}

// ToolsChanged tells that a profile has another list of tools. It does not block.
func (e *Events) ToolsChanged(profile string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.tell(happening{topic: toolsChanged, at: e.now(), profile: profile})
}

// RuleChanged tells that a rule of the store is another one now. It does not block.
func (e *Events) RuleChanged(r Rule) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.tell(happening{topic: ruleChanged, at: e.now(), rule: r})
}

// RunChanged tells what happened to a run of browser tests. It does not block.
func (e *Events) RunChanged(r trial.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.tell(happening{topic: r.Type, at: r.At, run: r})
}

// CallStarted tells that a call is on its way to its server. While nobody wants to know,
// that costs nothing; it never blocks.
func (e *Events) CallStarted(c store.Call) {
	if !e.starts.Load() {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.tell(happening{topic: callStarted, at: c.At, call: c})
}

// want sets what a listener hears of.
func (e *Events) want(l *listener, topics map[string]bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	l.wants.Store(&topics)
	e.countStarts()
}

// countStarts notes whether anybody hears of calls that start. The caller holds mu.
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

// tell hands it to every listener that wants it and has room. The caller holds mu.
func (e *Events) tell(h happening) {
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

// join adds a listener. leave must be called once.
func (e *Events) join(who string) (*listener, error) {
	now := byID(e.sources.ListServers()) // what the first listener's changes are told against
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, fault.New(fault.UpstreamBusy, "the gateway is going down")
	}
	switch err := e.room.Take(who); {
	case errors.Is(err, share.ErrShare):
		return nil, fault.New(fault.RateLimited, "%d event connections of yours are open already", share.Of(maxListeners)).WithHint("close some of them first")
	case err != nil:
		return nil, fault.New(fault.RateLimited, "%d event connections are open already", maxListeners).WithHint("try again later")
	}
	l := &listener{who: who, heard: make(chan happening, 64)}
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

// Close ends all connections and waits until they are gone. A client that does not say
// goodbye is cut off.
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
