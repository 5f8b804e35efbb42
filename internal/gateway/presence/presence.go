// Package presence remembers which MCP clients have come to this process: what they call
// themselves, to which profile, with whose key, when, and how often they called tools. It is
// kept in memory alone, and bounded.
//
//	seen := presence.New(nil)
//	seen.Note(who, "work", mcp.Legacy, info, true)
//	for _, c := range seen.Clients() { … }
package presence

import (
	"cmp"
	"encoding/json"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/access"
)

// Client is a client that has come.
type Client struct {
	Name, Version string // as it says
	Era           mcp.Era
	Profile       string
	Caller        string // the id of whose key it came with
	CallerName    string
	First, Last   time.Time
	Calls         int64 // of tools
}

const (
	// maxClients limits what is remembered; the one that was silent longest goes first.
	maxClients = 500
	// maxOwn limits it for one caller, so that nobody pushes out others.
	maxOwn = 20
	// maxText limits a name and a version, in bytes of their JSON.
	maxText = 100
)

// Seen are the clients that have come.
type Seen struct {
	now   func() time.Time
	began time.Time

	mu  sync.RWMutex
	all map[key]*entry
}

type key struct{ caller, profile, era, name, version string }

type entry struct {
	Client
	last, calls atomic.Int64
}

// New remembers from now on. A nil clock is time.Now.
func New(now func() time.Time) *Seen {
	if now == nil {
		now = time.Now
	}
	return &Seen{now: now, began: now(), all: map[key]*entry{}}
}

// Began is when remembering began.
func (s *Seen) Began() time.Time { return s.began }

// Note remembers a request of a client with this description of itself; a call is one of a tool. Nothing is allocated for
// a client that is known.
func (s *Seen) Note(who access.Principal, profile string, era mcp.Era, info json.RawMessage, call bool) {
	name := short(rawjson.Get(info, "name"))
	version := short(rawjson.Get(info, "version"))
	s.mu.RLock()
	e := s.all[key{who.ID, profile, string(era), string(name), string(version)}]
	s.mu.RUnlock()
	if e == nil {
		e = s.add(who, key{who.ID, profile, string(era), string(name), string(version)})
	}
	e.last.Store(s.now().UnixNano())
	if call {
		e.calls.Add(1)
	}
}

func short(raw json.RawMessage) json.RawMessage {
	if len(raw) > maxText {
		return nil // nobody is called so
	}
	return raw
}

func (s *Seen) add(who access.Principal, k key) *entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.all[k]; e != nil {
		return e
	}
	s.makeRoom(k.caller)
	e := &entry{Client: Client{Era: mcp.Era(k.era), Profile: k.profile, Caller: who.ID, CallerName: who.Name, First: s.now()}}
	e.Name, _ = rawjson.String(json.RawMessage(k.name))
	e.Version, _ = rawjson.String(json.RawMessage(k.version))
	e.last.Store(e.First.UnixNano())
	s.all[k] = e
	return e
}

// makeRoom forgets a client of a caller who has too many, or of all.
func (s *Seen) makeRoom(caller string) {
	var oldest, oldestOwn key
	var last, lastOwn int64
	own := 0
	for k, e := range s.all {
		at := e.last.Load()
		if last == 0 || at < last {
			oldest, last = k, at
		}
		if k.caller != caller {
			continue
		}
		own++
		if lastOwn == 0 || at < lastOwn {
			oldestOwn, lastOwn = k, at
		}
	}
	switch {
	case own >= maxOwn:
		delete(s.all, oldestOwn)
	case len(s.all) >= maxClients:
		delete(s.all, oldest)
	}
}

// Clients are the clients that have come, the last first.
func (s *Seen) Clients() []Client {
	s.mu.RLock()
	defer s.mu.RUnlock()
	all := make([]Client, 0, len(s.all))
	for _, e := range s.all {
		c := e.Client
		c.Last = time.Unix(0, e.last.Load())
		c.Calls = e.calls.Load()
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b Client) int { return cmp.Or(b.Last.Compare(a.Last), cmp.Compare(a.Name, b.Name)) })
	return all
}
