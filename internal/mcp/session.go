package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolfit/toolfit/internal/rawjson"
)

// Session is what a legacy client has opened with initialize. It belongs to one owner.
type Session struct {
	ID           string // "" on stdio, where the connection is the session
	Owner        string // who opened it; nobody else may use it
	Group        string // sessions of one group see the same lists
	Version      string // the revision agreed on
	ClientInfo   json.RawMessage
	Capabilities json.RawMessage // the client's

	used atomic.Int64 // last use, Unix nanoseconds

	mu      sync.Mutex
	open    map[string]context.CancelFunc // requests in flight, by raw id
	asks    map[int64]chan Message        // our questions to the client
	lastAsk int64
	queue   [][]byte      // messages for the session's own stream
	wake    chan struct{} // tells the stream that the queue has grown; nil while there is no stream
	drained bool          // no stream may begin any more
	closed  bool
	done    chan struct{}
}

// maxQueue bounds what waits for a client that does not listen. The oldest goes first:
// such messages only say that something changed.
const maxQueue = 32

func newSession(e Entry, params json.RawMessage) (*Session, error) {
	s := &Session{Owner: e.Owner, Group: e.Group, done: make(chan struct{})}
	asked := ""
	w := rawjson.Object(params)
	for w.Next() {
		switch string(w.Key) {
		case "protocolVersion":
			asked, _ = rawjson.String(w.Value)
		case "clientInfo":
			s.ClientInfo = bytes.Clone(w.Value)
		case "capabilities":
			s.Capabilities = bytes.Clone(w.Value)
		}
	}
	if err := w.Err(); err != nil || asked == "" {
		return nil, Errorf(CodeInvalidParams, "initialize needs params.protocolVersion")
	}
	s.Version = negotiate(asked)
	return s, nil
}

// begin registers a request in flight, so that the client can cancel it.
func (s *Session) begin(ctx context.Context, id json.RawMessage) (context.Context, func(), error) {
	ctx, cancel := context.WithCancel(ctx)
	key := string(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, taken := s.open[key]; taken || s.closed {
		cancel()
		return nil, nil, Errorf(CodeInvalidRequest, "request id %s is in use", id)
	}
	if s.open == nil {
		s.open = make(map[string]context.CancelFunc, 1)
	}
	s.open[key] = cancel
	return ctx, func() {
		s.mu.Lock()
		delete(s.open, key)
		s.mu.Unlock()
		cancel()
	}, nil
}

// cancelled ends the request that a notifications/cancelled names.
func (s *Session) cancelled(params json.RawMessage) {
	id := rawjson.Get(params, "requestId")
	s.mu.Lock()
	defer s.mu.Unlock()
	if cancel := s.open[string(id)]; cancel != nil {
		cancel()
	}
}

// ask sends a question by way of send and waits for the client's answer.
func (s *Session) ask(ctx context.Context, method string, params json.RawMessage, send func([]byte) error) (json.RawMessage, error) {
	answer := make(chan Message, 1)
	s.mu.Lock()
	s.lastAsk++
	id := s.lastAsk
	if s.asks == nil {
		s.asks = make(map[int64]chan Message, 1)
	}
	s.asks[id] = answer
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.asks, id)
		s.mu.Unlock()
	}()
	if err := send(AppendRequest(nil, id, method, params)); err != nil {
		return nil, err
	}
	select {
	case m := <-answer:
		if m.Error != nil {
			return nil, ParseError(m.Error)
		}
		return m.Result, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-s.done:
		return nil, Errorf(CodeInternal, "the client has left")
	}
}

// answered hands the client's answer to whoever asked. Answers to nothing are dropped.
func (s *Session) answered(m Message) {
	id, err := strconv.ParseInt(string(m.ID), 10, 64)
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.asks[id]; c != nil {
		delete(s.asks, id)
		m.Result, m.Error = bytes.Clone(m.Result), bytes.Clone(m.Error)
		c <- m // buffered, and only once
	}
}

// push queues a message for the session's own stream. The same message twice is once.
func (s *Session) push(message []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	for _, q := range s.queue {
		if bytes.Equal(q, message) {
			return
		}
	}
	if len(s.queue) == maxQueue {
		s.queue = s.queue[1:]
	}
	s.queue = append(s.queue, message)
	if s.wake != nil {
		select {
		case s.wake <- struct{}{}:
		default:
		}
	}
}

// listen makes the caller the session's stream. An earlier one ends: a client that
// reconnects must not wait until its dead connection is noticed.
func (s *Session) listen() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.wake != nil {
		close(s.wake)
		s.wake = nil
	}
	if s.drained {
		ended := make(chan struct{})
		close(ended)
		return ended
	}
	s.wake = make(chan struct{}, 1)
	if len(s.queue) > 0 {
		s.wake <- struct{}{}
	}
	return s.wake
}

// unlisten ends the stream that wake belongs to, unless another has taken over.
func (s *Session) unlisten(wake <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.wake == wake {
		s.wake = nil
	}
}

// drain ends the session's stream.
func (s *Session) drain() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drained = true
	if s.wake != nil {
		close(s.wake)
		s.wake = nil
	}
}

// take empties the queue.
func (s *Session) take() [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.queue
	s.queue = nil
	return q
}

// idle tells since when nothing has happened; false while something is open.
func (s *Session) idle() (time.Time, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Unix(0, s.used.Load()), s.wake == nil && len(s.open) == 0
}

// close ends the session: what is in flight is cancelled, its stream ends.
func (s *Session) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.closed = true
	close(s.done)
	for _, cancel := range s.open {
		cancel()
	}
}
