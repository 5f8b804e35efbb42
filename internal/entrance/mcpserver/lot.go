package mcpserver

import "sync"

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
