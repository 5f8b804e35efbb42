package record

import (
	"context"
	"fmt"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/store"
)

// write is the writer's goroutine.
func (l *Log) write() {
	defer close(l.done)
	if l.opts.Durable {
		l.writeDurable()
		return
	}
	l.writeBatches()
}

// writeDurable commits one group after the other. Records that arrive during a commit make up the next group.
func (l *Log) writeDurable() {
	var spare []store.Call
	for closing := false; !closing; {
		select {
		case <-l.wake:
		case <-l.closing:
			closing = true
		}
		g := l.take(spare)
		if len(g.calls) > 0 {
			g.err = l.sink.AppendCalls(l.ctx, g.calls)
			l.ReportSink(g.err)
		}
		if g.err == nil { // durable first, memory second
			for i := range g.calls {
				l.live.publish(&g.calls[i])
			}
		}
		close(g.done)
		clear(g.calls) // reuse the slice, release the strings
		spare = g.calls
	}
}

// writeBatches writes a batch when it is due. What the sink refuses stays pending.
func (l *Log) writeBatches() {
	var pending, spare []store.Call
	var out outage
	for closing := false; !closing; {
		due := l.await(&out)
		closing = due.closing
		g := l.take(spare)
		pending, spare = l.join(pending, g.calls, &out)
		if due.write && len(pending) > 0 {
			if err := l.sink.AppendCalls(l.ctx, pending); err != nil {
				l.failed(&out, err)
			} else {
				l.recovered(&out)
				clear(pending) // reuse the slice, release the strings
				pending, spare = spare, pending[:0]
			}
		}
		if due.tried != nil {
			close(due.tried)
		}
	}
	for len(pending) > 0 && fault.Is(out.err, fault.StoreDown) && out.again(l.ctx) {
		if err := l.sink.AppendCalls(l.ctx, pending); err != nil {
			l.failed(&out, err)
		} else {
			pending = nil
		}
	}
	if len(pending) > 0 {
		l.lost = fmt.Errorf("write the last %d call records: %w", len(pending), out.err)
	}
}

// due is what the writer does next.
type due struct {
	write   bool          // write what is pending, instead of only taking the queue
	closing bool          // the last write
	tried   chan struct{} // closed after the write; nil: nobody waits
}

// await waits until a batch is due: during an outage after the backoff, but a full queue is taken so that no call waits for the sink.
func (l *Log) await(out *outage) due {
	wake := l.wake
	var late <-chan time.Time
	if out.err != nil {
		wake = nil
		late = out.pause.C
	}
	for {
		select {
		case <-wake: // the first record of a batch
			timer := time.NewTimer(l.opts.Delay)
			defer timer.Stop()
			wake = nil
			late = timer.C
		case <-late:
			return due{write: true}
		case <-l.full:
			return due{write: out.err == nil}
		case tried := <-l.asked:
			return due{write: out.err == nil, tried: tried}
		case <-l.closing:
			return due{write: true, closing: true}
		}
	}
}

// join appends the taken records to the pending ones, drops the oldest over the limit, and returns the slice that is free now.
func (l *Log) join(pending, taken []store.Call, out *outage) (all, unused []store.Call) {
	if len(pending) == 0 {
		return taken, pending
	}
	pending = append(pending, taken...)
	clear(taken)
	over := len(pending) - keepBatches*l.opts.Batch
	if over <= 0 {
		return pending, taken[:0]
	}
	if out.dropped == 0 {
		l.opts.Logger.Error("drop the oldest call records: too many wait to be written", "waiting", len(pending)-over)
	}
	out.dropped += int64(over)
	l.dropped.Add(int64(over))
	n := copy(pending, pending[over:])
	clear(pending[n:])
	return pending[:n], taken[:0]
}

// outage is the time from a sink's error to its next success.
type outage struct {
	err     error // the last one; nil means that there is no outage
	backoff time.Duration
	pause   *time.Timer
	dropped int64
}

// again waits for the next try; false when there is no time left for one.
func (out *outage) again(ctx context.Context) bool {
	select {
	case <-out.pause.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func (l *Log) failed(out *outage, err error) {
	if out.err == nil {
		l.opts.Logger.Error("write call records: they wait until it works again", "error", err)
		out.backoff = l.opts.Delay
	}
	out.err = err
	out.pause = time.NewTimer(out.backoff)
	out.backoff = min(2*out.backoff, maxBackoff)
}

func (l *Log) recovered(out *outage) {
	if out.err == nil {
		return
	}
	out.pause.Stop()
	l.opts.Logger.Warn("call records are written again", "dropped", out.dropped)
	*out = outage{}
}
