// Package record writes one record per call, off the call's path. A Log takes records,
// writes them to its sink in batches, keeps the last few for live views, and notifies
// subscribers.
//
// It never looks into arguments or results, never makes a call wait for the disk
// unless it is durable, and never drops a record without counting it.
//
//	log := record.New(st, nil)
//	defer log.Close(ctx)
//	err := log.Add(ctx, store.Call{ID: log.NewID(), At: start, Tool: name, Outcome: "ok"})
package record

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolfit/toolfit/internal/state/store"
)

const (
	// queueBatches is how many batches may wait in the queue before Add waits.
	queueBatches = 16
	// keepBatches is how many batches may pile up while the sink is down before the oldest records are dropped.
	keepBatches = 64
	maxBackoff  = 10 * time.Second
)

// ErrClosed is what Add returns after Close.
var ErrClosed = errors.New("the record log is closed")

// Sink is where records are written. A batch repeated after an error may have been written already and must not be stored twice.
type Sink interface {
	AppendCalls(ctx context.Context, calls []store.Call) error
}

// Options configure a Log. Nil means the zero value.
type Options struct {
	Durable bool                // Add returns only when the record is committed
	Logger  *slog.Logger        // nil: discard
	Now     func() time.Time    // nil: time.Now
	Rand    io.Reader           // makes ids unique across processes; nil: crypto/rand
	Batch   int                 // records of a full batch, which is written at once; 0: 256
	Delay   time.Duration       // longest wait of a record before its batch is written; 0: 200 ms
	Keep    int                 // how many records Last has; 0: 50
	Redact  func(string) string // removes secrets from messages; nil: there are none
}

// Log takes records. Its methods may be called concurrently.
type Log struct {
	sink   Sink
	opts   Options
	ids    ids
	live   live
	ctx    context.Context // given to the sink; ends when Close runs out of time
	cancel context.CancelFunc

	mu     sync.Mutex
	queue  *group
	room   chan struct{} // closed when the queue is taken; nil while nobody waits
	closed bool

	wake    chan struct{}      // the queue has its first record
	full    chan struct{}      // the queue has a batch
	asked   chan chan struct{} // Flush requests; each is closed after the attempt to write
	closing chan struct{}
	done    chan struct{} // the writer has ended
	lost    error         // what the writer could not write; read after done

	dropped atomic.Int64
	down    atomic.Pointer[error] // durable: why the last record could not be committed; nil when it was
}

// group is what is written in one commit.
type group struct {
	calls []store.Call
	done  chan struct{} // closed when written; nil unless durable
	err   error         // read after done
}

// New makes a Log that writes to sink, and starts its writer. Close ends it.
func New(sink Sink, opts *Options) *Log {
	l := &Log{
		sink: sink, wake: make(chan struct{}, 1), full: make(chan struct{}, 1), asked: make(chan chan struct{}),
		closing: make(chan struct{}), done: make(chan struct{}),
	}
	if opts != nil {
		l.opts = *opts
	}
	l.opts.setDefaults()
	l.ids.start(l.opts.Rand)
	l.live.last = make([]store.Call, l.opts.Keep)
	l.ctx, l.cancel = context.WithCancel(context.Background())
	l.queue = l.newGroup(nil)
	go l.write()
	return l
}

func (o *Options) setDefaults() {
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	o.Batch = cmp.Or(max(o.Batch, 0), 256)
	o.Delay = cmp.Or(max(o.Delay, 0), 200*time.Millisecond)
	o.Keep = cmp.Or(max(o.Keep, 0), 50)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Rand == nil {
		o.Rand = rand.Reader
	}
}

// newGroup makes an empty group that reuses the slice.
func (l *Log) newGroup(calls []store.Call) *group {
	g := &group{calls: calls}
	if l.opts.Durable {
		g.done = make(chan struct{})
	}
	return g
}

// Close writes what is left and ends the writer and all subscriptions. The error says how many records were lost.
func (l *Log) Close(ctx context.Context) error {
	l.mu.Lock()
	if !l.closed {
		l.closed = true
		close(l.closing)
	}
	l.mu.Unlock()
	select {
	case <-l.done:
	case <-ctx.Done():
		l.cancel() // the sink gives up
		<-l.done
	}
	l.cancel()
	l.live.close()
	return l.lost
}

// Flush returns once everything added before has been written. It does not wait while the sink is down.
func (l *Log) Flush(ctx context.Context) {
	if l.opts.Durable {
		return // Add waited already
	}
	tried := make(chan struct{})
	select {
	case l.asked <- tried:
	case <-l.done:
		return
	case <-ctx.Done():
		return
	}
	select {
	case <-tried:
	case <-ctx.Done():
	}
}

// Dropped tells how many records were dropped because the sink was down for too long.
func (l *Log) Dropped() int64 { return l.dropped.Load() }

// Refuses returns why calls that change something are refused now: the last record could not be committed. nil: they are allowed.
func (l *Log) Refuses() error {
	if err := l.down.Load(); err != nil {
		return *err
	}
	return nil
}

// ReportSink sets whether the sink works; nil: it does.
func (l *Log) ReportSink(err error) {
	if !l.opts.Durable {
		return
	}
	was := l.down.Load()
	switch {
	case err != nil:
		down := err // so that only an error is allocated
		l.down.Store(&down)
		if was == nil {
			l.opts.Logger.Error("call records cannot be committed; calls that change something are refused", "error", err)
		}
	case was != nil:
		l.down.Store(nil)
		l.opts.Logger.Warn("call records are committed again")
	}
}

// NewID makes a call's id. Ids sort as text by time, and strictly so within one Log.
func (l *Log) NewID() string { return l.ids.next(l.opts.Now()) }

// Add takes the record of one call; an empty ID or zero At is filled in. In durable mode it returns
// once the record is committed, or with the sink's error. Otherwise it waits only while the queue
// is full, and an error says that the record was not taken.
func (l *Log) Add(ctx context.Context, c store.Call) error {
	l.complete(&c)
	g, err := l.enqueue(ctx, &c)
	switch {
	case err != nil:
	case g == nil:
		l.live.publish(&c)
	default:
		select {
		case <-g.done:
			err = g.err
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	if err != nil {
		return fmt.Errorf("record call %s: %w", c.ID, err)
	}
	return nil
}

// enqueue returns the group to wait for, nil when there is nothing to wait for.
func (l *Log) enqueue(ctx context.Context, c *store.Call) (*group, error) {
	for {
		l.mu.Lock()
		if l.closed {
			l.mu.Unlock()
			return nil, ErrClosed
		}
		if len(l.queue.calls) < queueBatches*l.opts.Batch {
			g := l.push(c)
			l.mu.Unlock()
			return g, nil
		}
		if l.room == nil {
			l.room = make(chan struct{})
		}
		room := l.room
		l.mu.Unlock()
		select {
		case <-room:
		case <-l.closing:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// push is called with the lock held. It signals only the first record and a full batch, so that most calls wake no goroutine.
func (l *Log) push(c *store.Call) *group {
	l.queue.calls = append(l.queue.calls, *c)
	n := len(l.queue.calls)
	if n == 1 {
		signal(l.wake)
	}
	if n == l.opts.Batch {
		signal(l.full)
	}
	if l.opts.Durable {
		return l.queue
	}
	return nil
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default: // already signaled
	}
}

// take gives the queue to the writer and starts an empty one in the spare slice.
func (l *Log) take(spare []store.Call) *group {
	l.mu.Lock()
	defer l.mu.Unlock()
	g := l.queue
	l.queue = l.newGroup(spare[:0])
	for _, c := range []chan struct{}{l.wake, l.full} { // signals about the old queue
		select {
		case <-c:
		default:
		}
	}
	if l.room != nil {
		close(l.room)
		l.room = nil
	}
	return g
}
