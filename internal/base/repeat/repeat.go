// Package repeat calls a function again and again.
package repeat

import "time"

// Every calls f each time that the interval has passed, until done is closed.
func Every(done <-chan struct{}, interval time.Duration, f func()) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
			f()
		}
	}
}
