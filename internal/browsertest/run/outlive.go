package run

import (
	"context"
	"time"
)

// teardownLimit is how long the teardown of a case may take after the run was ended.
const teardownLimit = 10 * time.Second

// outliving is a context that lasts a limit longer than its parent. The function ends it at once.
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
