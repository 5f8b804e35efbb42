package call

import (
	"container/list"
	"context"
	"slices"
	"sync"

	"github.com/toolfit/toolfit/internal/core/search"
)

// maxFollowed is how many sessions are followed; the least recently used is dropped.
const maxFollowed = 10_000

// followed is what is remembered of a session between its calls.
type followed struct {
	trail  search.Trail
	recent []string // the tools that were called last, by canonical name, the last first
}

// maxRecent limits followed.recent.
const maxRecent = 16

// follow notes a call of a server's tool, and credits the search that led to it.
func (c *Caller) follow(ctx context.Context, rec *recording) {
	name := rec.call.Tool
	good := rec.call.Outcome == outcomeOK
	var query string
	var before []string
	var credit bool
	c.followed.do(rec.session, func(s *followed) {
		query, before, credit = s.trail.Called(string(name), good)
		if good {
			s.recent = slices.DeleteFunc(s.recent, func(n string) bool { return n == string(name) })
			s.recent = slices.Insert(s.recent, 0, string(name))[:min(len(s.recent)+1, maxRecent)]
		}
	})
	if credit {
		c.memories.learn(ctx, rec.call.Principal, name, query, before)
	}
}

// EndSession forgets an MCP session.
func (c *Caller) EndSession(id string) {
	c.followed.drop(id)
	c.pages.drop(id)
}

// lru holds values for the most recently used keys.
type lru[V any] struct {
	mu    sync.Mutex
	most  int
	order *list.List // of *lruEntry[V], most recently used first
	byKey map[string]*list.Element
}

type lruEntry[V any] struct {
	key   string
	value V
}

func newLRU[V any](most int) *lru[V] {
	return &lru[V]{most: most, order: list.New(), byKey: map[string]*list.Element{}}
}

// do runs f with the value of a key, initially zero. Only one f runs at a time.
func (l *lru[V]) do(key string, f func(*V)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.byKey[key]
	if e == nil {
		e = l.order.PushFront(&lruEntry[V]{key: key})
		l.byKey[key] = e
	}
	l.order.MoveToFront(e)
	f(&e.Value.(*lruEntry[V]).value)
	if l.order.Len() > l.most {
		last := l.order.Back()
		delete(l.byKey, l.order.Remove(last).(*lruEntry[V]).key)
	}
}

func (l *lru[V]) drop(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.byKey[key]; e != nil {
		l.order.Remove(e)
		delete(l.byKey, key)
	}
}

func (l *lru[V]) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.order.Init()
	clear(l.byKey)
}
