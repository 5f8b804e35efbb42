// Package share bounds what callers hold at once, in all and each: nobody can take
// everything from the others. It knows nothing of what is held, and takes nothing away.
//
//	room := share.New(1024)
//	if err := room.Take(who.ID); err != nil {
//		return err // ErrFull or ErrShare
//	}
//	defer room.Leave(who.ID)
package share

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// Of is how many of a total one holder may have: three quarters, at least one. A single
// user has nearly all of it, and a greedy one never has the last.
func Of(total int) int { return max(1, total-max(1, total/4)) }

// Why there is no room.
var (
	ErrFull  = errors.New("all are taken")
	ErrShare = errors.New("the caller has its share")
)

// Room counts who holds how many. It may be used concurrently.
type Room struct {
	total int

	mu      sync.Mutex
	taken   int
	held    map[string]int
	waiting []*waiter // the oldest first
}

type waiter struct {
	who   string
	taken chan struct{} // closed when it has been given its place
}

// New makes a room for so many.
func New(total int) *Room { return &Room{total: total, held: map[string]int{}} }

// Take takes one place for the holder; Leave gives it back.
func (r *Room) Take(who string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.take(who)
}

func (r *Room) take(who string) error {
	switch {
	case r.held[who] >= Of(r.total):
		return ErrShare
	case r.taken >= r.total:
		return ErrFull
	}
	r.taken++
	r.held[who]++
	return nil
}

// Leave gives a place back. Whoever has waited longest and may have it gets it.
func (r *Room) Leave(who string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.taken--
	if r.held[who]--; r.held[who] == 0 {
		delete(r.held, who)
	}
	for i, w := range r.waiting {
		if r.take(w.who) == nil {
			r.waiting = slices.Delete(r.waiting, i, i+1)
			close(w.taken)
			return
		}
	}
}

// Wait is Take for a holder that has time until ctx ends.
func (r *Room) Wait(ctx context.Context, who string) error {
	r.mu.Lock()
	if r.take(who) == nil {
		r.mu.Unlock()
		return nil
	}
	w := &waiter{who: who, taken: make(chan struct{})}
	r.waiting = append(r.waiting, w)
	r.mu.Unlock()
	select {
	case <-w.taken:
		return nil
	case <-ctx.Done():
	}
	r.mu.Lock()
	i := slices.Index(r.waiting, w)
	if i >= 0 {
		r.waiting = slices.Delete(r.waiting, i, i+1)
	}
	r.mu.Unlock()
	if i < 0 { // it was given its place in the same moment
		r.Leave(who)
	}
	return ctx.Err()
}
