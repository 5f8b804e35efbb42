// Package share limits how many of something callers hold at once, in all and each, so that no
// caller can take everything.
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

// Of returns how many of a total one holder may have: three quarters, at least one.
func Of(total int) int { return max(1, total-max(1, total/4)) }

// The reasons for no room.
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
	taken chan struct{} // closed when it has a place
}

// New makes a room with so many places.
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

// Leave gives a place back. It goes to the first waiter that may have it.
func (r *Room) Leave(who string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.taken--
	r.held[who]--
	if r.held[who] == 0 {
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

// Wait is Take that waits for a place until ctx ends.
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
	if i < 0 { // it was given a place meanwhile
		r.Leave(who)
	}
	return ctx.Err()
}
