package run

import (
	"context"
	"time"
)

// teardownLimit is how long the end of a case may take once the run was ended: what the case
// made is put away, but whoever ended the run does not wait for long.
const teardownLimit = 10 * time.Second

// outliving is a context that goes on for a while after its parent has ended. The returned
// function ends it at once.
func outliving(parent context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(parent))
	stop := context.AfterFunc(parent, func() {
		t := time.NewTimer(limit)
		defer t.Stop()
		select {
		case <-t.C:
			cancel()
		case <-ctx.Done():
		}
	})
	return ctx, func() { stop(); cancel() }
}
