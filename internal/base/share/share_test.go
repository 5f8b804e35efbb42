package share

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
)

func TestOneHolderHasMostAndNeverAll(t *testing.T) {
	for total, want := range map[int]int{1: 1, 2: 1, 3: 2, 4: 3, 8: 6, 64: 48, 1024: 768} {
		r := New(total)
		n := 0
		for r.Take("greedy") == nil {
			n++
		}
		if n != want || Of(total) != want {
			t.Errorf("of %d one holder has %d, want %d", total, n, want)
		}
		if err := r.Take("greedy"); !errors.Is(err, ErrShare) {
			t.Errorf("of %d: %v", total, err)
		}
		for i := range total - n {
			if err := r.Take(fmt.Sprint("modest ", i)); err != nil {
				t.Errorf("of %d, the %dth other finds no room: %v", total, i, err)
			}
		}
		if err := r.Take("late"); !errors.Is(err, ErrFull) {
			t.Errorf("of %d, more than all are held: %v", total, err)
		}
	}
}

func TestAPlaceGoesToWhoWaitsAndMayHaveIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New(2)
		r.Take("greedy")
		var order []string
		var mu sync.Mutex
		wait := func(who string) {
			go func() {
				if r.Wait(t.Context(), who) == nil {
					mu.Lock()
					order = append(order, who)
					mu.Unlock()
				}
			}()
			synctest.Wait()
		}
		wait("greedy") // has its share, and so waits in spite of the free place
		wait("modest")
		wait("other")
		r.Leave("modest")
		synctest.Wait()
		r.Leave("greedy")
		synctest.Wait()
		if fmt.Sprint(order) != "[modest other greedy]" {
			t.Errorf("got %v", order)
		}
	})
}

func TestWhoStopsWaitingHoldsNothing(t *testing.T) {
	r := New(1)
	r.Take("a")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.Wait(ctx, "b"); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	r.Leave("a")
	if err := r.Take("c"); err != nil || len(r.waiting) != 0 {
		t.Errorf("%v, %d wait", err, len(r.waiting))
	}
}

func TestNobodyIsLostInTheCrowd(t *testing.T) {
	r := New(3)
	var all sync.WaitGroup
	for i := range 64 {
		all.Go(func() {
			who := fmt.Sprint(i % 3)
			for range 100 {
				ctx, cancel := context.WithCancel(context.Background())
				if rand.IntN(4) == 0 {
					go cancel()
				}
				if r.Wait(ctx, who) == nil {
					r.Leave(who)
				}
				cancel()
			}
		})
	}
	all.Wait()
	if r.taken != 0 || len(r.held) != 0 || len(r.waiting) != 0 {
		t.Errorf("%d taken, %v held, %d wait", r.taken, r.held, len(r.waiting))
	}
}
