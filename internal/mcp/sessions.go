package mcp

import (
	"cmp"
	"context"
	"crypto/cipher"
	"crypto/rand"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/toolfit/toolfit/internal/base/share"
)

// Sessions are the open legacy sessions of all fronts, and the streams of modern clients that listen.
type Sessions struct {
	opts SessionsOptions
	room *share.Room // by owner

	mu       sync.RWMutex
	byToken  map[string]*Session
	all      map[*Session]struct{}
	ended    map[string]bool      // by id: sessions that must not be taken up again
	searched map[string]time.Time // when no room was found for an owner
	over     bool                 // Close was called
	streams  sync.WaitGroup       // on connections that were taken from the HTTP server
}

// SessionsOptions change the limits of a Sessions.
type SessionsOptions struct {
	Max  int              // most sessions at once, of which no owner has more than its share; 0: 10,000
	Idle time.Duration    // a session without a request or an open stream for so long ends; 0: one hour
	Now  func() time.Time // nil: time.Now
	// Cipher seals sessions into their tokens; the same for all replicas. nil: a session is known to this process only.
	Cipher cipher.AEAD
	// Replica names this process in the ids of questions and events, where several serve the same sessions; it has
	// no punctuation. "": only one does.
	Replica string
	// Ended is told of each session that has ended; nil: nobody is.
	Ended func(*Session)
	// Over tells whether a session that is to be taken up again was ended for good elsewhere; nil: none was.
	Over func(id string) bool
}

// NewSessions makes an empty set; nil options are the defaults.
func NewSessions(opts *SessionsOptions) *Sessions {
	s := &Sessions{byToken: map[string]*Session{}, all: map[*Session]struct{}{}, ended: map[string]bool{}, searched: map[string]time.Time{}}
	if opts != nil {
		s.opts = *opts
	}
	s.opts.Max = cmp.Or(s.opts.Max, 10_000)
	s.opts.Idle = cmp.Or(s.opts.Idle, time.Hour)
	s.room = share.New(s.opts.Max)
	if s.opts.Now == nil {
		s.opts.Now = time.Now
	}
	if s.opts.Ended == nil {
		s.opts.Ended = func(*Session) {}
	}
	if s.opts.Over == nil {
		s.opts.Over = func(string) bool { return false }
	}
	return s
}

// add registers a session; named ones get an unguessable id and token, unless they have them. Of two with
// the same token the first stays.
func (s *Sessions) add(sess *Session, named bool) error {
	if named && sess.token == "" {
		sess.ID = rand.Text()
		sess.token = s.tokenFor(sess)
	}
	if named {
		sess.replica = s.opts.Replica
		sess.news.id = streamID(sess.replica, newsStream)
	}
	now := s.opts.Now()
	sess.used.Store(now.UnixNano())
	if sess.listening == nil {
		sess.Opened = now
	}
	err := s.room.Take(sess.Owner)
	if err != nil {
		err = s.makeRoom(sess.Owner, err)
	}
	switch {
	case errors.Is(err, share.ErrShare):
		return Errorf(CodeInternal, "too many open sessions of one caller (%d): end some of them first", share.Of(s.opts.Max))
	case err != nil:
		return Errorf(CodeInternal, "too many open sessions (%d)", s.opts.Max)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if named && s.byToken[sess.token] != nil {
		s.room.Leave(sess.Owner)
		return nil
	}
	s.all[sess] = struct{}{}
	if named {
		s.byToken[sess.token] = sess
	}
	return nil
}

// searchAgain is how long a search for room that found none holds for an owner: refusals must be cheap.
const searchAgain = 100 * time.Millisecond

// makeRoom takes a place for an owner for whom there was none, by ending a session that is idle.
func (s *Sessions) makeRoom(owner string, full error) error {
	now := s.opts.Now()
	s.mu.RLock()
	last, searched := s.searched[owner]
	s.mu.RUnlock()
	if searched && now.Sub(last) < searchAgain {
		return full
	}
	s.Sweep()
	err := s.room.Take(owner)
	if err == nil {
		return nil
	}
	if idlest := s.idlest(owner); len(idlest) > 0 {
		for _, sess := range idlest {
			s.remove(sess)
		}
		err = s.room.Take(owner)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.searched) > 1000 {
		clear(s.searched)
	}
	delete(s.searched, owner)
	if err != nil {
		s.searched[owner] = now
	}
	return err
}

// roomAtOnce is the part of a share that is made free at once, a hundredth. To find the idlest takes a look at all sessions, and a
// client that never ends one would otherwise need that look for each new one.
const roomAtOnce = 100

// idlest are the longest idle sessions of the owner; if it has none and all places are taken, that of the one who holds the most,
// and more than the owner would, so that nobody can lock others out. Nil: there is none.
func (s *Sessions) idlest(owner string) []*Session {
	type aged struct {
		*Session
		since time.Time
	}
	var own []aged
	var other *Session
	var otherSince time.Time
	held := map[string]int{}
	s.mu.RLock()
	defer s.mu.RUnlock()
	for sess := range s.all {
		held[sess.Owner]++
	}
	most := held[owner] + 1
	for sess := range s.all {
		mine := sess.Owner == owner
		if sess.ID == "" || !mine && (held[sess.Owner] < most || held[sess.Owner] == held[owner]+1) {
			continue
		}
		at, idle := sess.idle()
		switch {
		case !idle:
		case mine:
			own = append(own, aged{sess, at})
		case !mine && (held[sess.Owner] > most || at.Before(otherSince)):
			other = sess
			otherSince = at
			most = held[sess.Owner]
		}
	}
	if len(own) == 0 && other != nil && len(s.all) >= s.opts.Max {
		return []*Session{other}
	}
	slices.SortFunc(own, func(a, b aged) int { return a.since.Compare(b.since) })
	var first []*Session
	for _, sess := range own[:min(len(own), max(1, share.Of(s.opts.Max)/roomAtOnce))] {
		first = append(first, sess.Session)
	}
	return first
}

// get finds an owner's session in a group. Another's looks like none.
func (s *Sessions) get(token, owner, group string) *Session {
	s.mu.RLock()
	sess := s.byToken[token]
	s.mu.RUnlock()
	if sess == nil {
		sess = s.reopen(token, owner, group)
	}
	if sess == nil || sess.Owner != owner || sess.Group != group {
		return nil
	}
	sess.used.Store(s.opts.Now().UnixNano())
	return sess
}

func (s *Sessions) remove(sess *Session) {
	s.mu.Lock()
	_, there := s.all[sess]
	delete(s.all, sess)
	if s.byToken[sess.token] == sess {
		delete(s.byToken, sess.token)
	}
	s.mu.Unlock()
	sess.close(errEnded)
	if there {
		s.room.Leave(sess.Owner)
		s.opts.Ended(sess)
	}
}

// Len is the number of open sessions.
func (s *Sessions) Len() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return len(s.all)
}

// Broadcast sends a notification to every session of the group.
func (s *Sessions) Broadcast(group, method string, params json.RawMessage) {
	message := slices.Clip(AppendNotification(nil, method, params)) // shared by all: nobody may append to it in place
	s.mu.RLock()
	defer s.mu.RUnlock()
	for sess := range s.all {
		switch {
		case sess.Group != group:
		case sess.listening == nil:
			sess.news.addOnce(message)
		case sess.listening.filter.hears(method):
			sess.Notify(context.Background(), method, params)
		}
	}
}

// Sweep ends the sessions that have been idle for too long.
func (s *Sessions) Sweep() {
	limit := s.opts.Now().Add(-s.opts.Idle)
	s.end(func(sess *Session) bool {
		at, idle := sess.idle()
		return idle && sess.ID != "" && at.Before(limit)
	})
}

// end ends the sessions that the function picks.
func (s *Sessions) end(which func(*Session) bool) { s.endEach(s.remove, which) }

func (s *Sessions) endEach(end func(*Session), which func(*Session) bool) {
	var over []*Session
	s.mu.RLock()
	for sess := range s.all {
		if which(sess) {
			over = append(over, sess)
		}
	}
	s.mu.RUnlock()
	for _, sess := range over {
		end(sess)
	}
}

// EndOf ends the sessions of the owners that the function names.
func (s *Sessions) EndOf(gone func(owner string) bool) {
	owners := map[string]bool{}
	s.endEach(s.endForGood, func(sess *Session) bool {
		is, known := owners[sess.Owner]
		if !known {
			is = gone(sess.Owner)
			owners[sess.Owner] = is
		}
		return is
	})
}

// Drain ends the sessions' own streams and refuses new ones, so that a server shutting down waits for calls only.
func (s *Sessions) Drain() {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for sess := range s.all {
		sess.news.drain()
	}
}

// HangUp ends the sessions' own streams. Their clients come back for them, perhaps to another replica.
func (s *Sessions) HangUp() {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for sess := range s.all {
		if sess.listening == nil {
			sess.news.hangUp()
		}
	}
}

// HangUpOf ends the streams of one owner. Who opened them must ask again, and show again who it is.
func (s *Sessions) HangUpOf(owner string) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for sess := range s.all {
		if sess.Owner == owner {
			sess.news.hangUp()
		}
	}
}

// Close ends all sessions, and waits until their streams have ended.
func (s *Sessions) Close() {
	s.mu.Lock()
	s.over = true
	s.mu.Unlock()
	s.end(func(*Session) bool { return true })
	s.streams.Wait()
}

// beginStream counts a stream for which Close waits; false if that would be too late.
func (s *Sessions) beginStream() bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if !s.over {
		s.streams.Add(1)
	}
	return !s.over
}
