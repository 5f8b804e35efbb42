package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// Session is what a legacy client has opened with initialize. It belongs to one owner.
type Session struct {
	ID           string          // "" on stdio, where the connection is the session
	Owner        string          // who opened it; nobody else may use it
	Group        string          // sessions of one group see the same lists
	Version      string          // the revision agreed on
	Capabilities json.RawMessage // the client's
	Info         json.RawMessage // the client's own description; nil if there is none
	Opened       time.Time       // zero for the stream of a modern client, which has no session

	token   string // names it in headers; equal to ID where sessions are not sealed
	replica string // ours, in the ids of questions and events; "": there is only one

	used  atomic.Int64 // last use, Unix nanoseconds
	final atomic.Bool  // it was ended for good

	level atomic.Int32 // minimum level of log messages for the client, plus one; 0: not set
	news  outbox       // the session's own stream
	done  chan struct{}

	listening *listening // what makes it a modern client's stream; nil for a legacy session

	mu         sync.Mutex
	open       map[string]*opened     // requests in flight, by raw id
	asks       map[int64]chan Message // our questions to the client
	lastAsk    int64
	streams    []*outbox // of requests that were answered by a stream, oldest first
	lastStream int
	closed     bool
}

// maxOpen limits the open requests of one session.
const maxOpen = 1000

// maxStreams limits the streams that a client may resume.
const maxStreams = 16

// newsStream is the id of the session's own stream.
const newsStream = "0"

func newSession(e Entry, params json.RawMessage) (*Session, error) {
	s := &Session{Owner: e.Owner, Group: e.Group, done: make(chan struct{}), news: outbox{id: newsStream}}
	asked := ""
	w := rawjson.Object(params)
	for w.Next() {
		switch string(w.Key) {
		case "protocolVersion":
			asked, _ = rawjson.String(w.Value)
		case "capabilities":
			s.Capabilities = w.Value
		case "clientInfo":
			s.Info = w.Value
		}
	}
	if err := w.Err(); err != nil || asked == "" {
		return nil, Errorf(CodeInvalidParams, "initialize needs params.protocolVersion")
	}
	if err := describes(s.Info, s.Capabilities); err != nil {
		return nil, err
	}
	s.Version = negotiate(asked)
	s.Info = bytes.Clone(s.Info)
	s.Capabilities = bytes.Clone(s.Capabilities)
	return s, nil
}

// EndedForGood tells whether the session was ended by its client or with its key. One that was only idle here may go on at
// another replica.
func (s *Session) EndedForGood() bool { return s.final.Load() }

// errEnded is the cause when a request ends with its session. It was not canceled, so it is still answered.
var errEnded = Errorf(CodeInternal, "the session has ended")

// outcome is how a served request is answered. A withdrawn request gets no answer; one whose session ended does.
func outcome(ctx context.Context, err error) (withdrawn bool, told error) {
	var known *Error
	switch {
	case ctx.Err() == nil:
		return false, err
	case !errors.Is(context.Cause(ctx), errEnded):
		return true, nil
	case err != nil && !errors.As(err, &known):
		return false, errEnded
	}
	return false, err
}

// canceled ends the request that a notifications/cancelled names; false: it is not open here.
func (s *Session) canceled(params json.RawMessage) bool {
	id := rawjson.Get(params, "requestId")
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.open[string(id)]
	if o != nil {
		o.withdraw(nil)
	}
	return o != nil
}

// ask sends a question and waits for the client's answer. A client without the capability is not asked: it might never answer.
func (s *Session) ask(ctx context.Context, method string, params json.RawMessage, send func([]byte) error) (json.RawMessage, error) {
	if Ability(method) != "" && !Can(s.Capabilities, method, params) {
		return Deaf.Ask(ctx, method, params)
	}
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
	if err := send(appendRequest(nil, s.askID(id), method, params)); err != nil {
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
	replica, id, ok := askedBy(m.ID)
	if !ok || replica != s.replica {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.asks[id]; c != nil {
		delete(s.asks, id)
		m.Result = bytes.Clone(m.Result)
		m.Error = bytes.Clone(m.Error)
		c <- m // buffered, and only once
	}
}

// Notify sends a notification on the session's own stream, or stores it until there is one. Duplicates are dropped.
func (s *Session) Notify(_ context.Context, method string, params json.RawMessage) error {
	if s.listening != nil {
		params = s.listening.tag(params)
	}
	s.news.addOnce(AppendNotification(nil, method, params))
	return nil
}

// Ask sends a request to the client on the session's own stream and waits for the answer.
func (s *Session) Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	return s.ask(ctx, method, params, func(message []byte) error { s.news.add(message); return nil })
}

// stream begins the stream of a request's answer.
func (s *Session) stream(request json.RawMessage) *outbox {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastStream++
	o := &outbox{id: streamID(s.replica, strconv.Itoa(s.lastStream)), asked: askedAs(request)}
	if len(s.streams) == maxStreams {
		s.streams = append(s.streams[:0], s.streams[1:]...)
	}
	s.streams = append(s.streams, o)
	return o
}

// forget drops a stream that nobody will come back to.
func (s *Session) forget(o *outbox) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.streams = slices.DeleteFunc(s.streams, func(other *outbox) bool { return other == o })
}

// find returns the stream that an event is of; nil when there is none. An earlier process had others of the same name.
func (s *Session) find(id eventID) *outbox {
	if id.stream == s.news.id {
		return &s.news
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range s.streams {
		if o.id == id.stream && o.asked == id.asked {
			return o
		}
	}
	return nil
}

// logLevels in the order of their weight.
var logLevels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// SetLevel takes the params of logging/setLevel.
func (s *Session) SetLevel(params json.RawMessage) (string, error) {
	level, _ := rawjson.String(rawjson.Get(params, "level"))
	i := slices.Index(logLevels, level)
	if i < 0 {
		return "", Errorf(CodeInvalidParams, "unknown level %q", level)
	}
	s.level.Store(int32(i + 1))
	return level, nil
}

// Level is the least level that the client wants; "" when it has not said.
func (s *Session) Level() string {
	if i := s.level.Load(); i > 0 {
		return logLevels[i-1]
	}
	return ""
}

// Lower tells which of two levels lets more through; "" is no level.
func Lower(a, b string) string {
	i := slices.Index(logLevels, a)
	j := slices.Index(logLevels, b)
	if i < 0 || j >= 0 && j < i {
		return b
	}
	return a
}

// wants tells whether the client wants a notification: log messages have a level.
func (s *Session) wants(method string, params json.RawMessage) bool {
	least := s.level.Load()
	if method != "notifications/message" || least == 0 {
		return true
	}
	level, _ := rawjson.String(rawjson.Get(params, "level"))
	i := slices.Index(logLevels, level)
	return i < 0 || int32(i+1) >= least
}

// idle tells since when nothing has happened; false while something is open.
func (s *Session) idle() (time.Time, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Unix(0, s.used.Load()), !s.news.reading() && len(s.open) == 0
}

// close ends the session: what is in flight is canceled with the cause, its stream ends.
func (s *Session) close(cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.closed = true
	close(s.done)
	for _, o := range s.open {
		o.withdraw(cause)
	}
}
