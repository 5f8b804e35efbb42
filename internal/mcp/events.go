package mcp

import (
	"bytes"
	"strconv"
	"strings"
	"sync"
)

// outbox is one stream of events to a client. It stores the last ones, so that a client can resume after a broken connection.
type outbox struct {
	id string

	mu     sync.Mutex
	first  int           // number of events[0]
	events [][]byte      // kept for whoever reads next
	size   int           // bytes in events
	sent   int           // events before this one have been written to a client
	ended  bool          // nothing will be added
	closed bool          // nobody may begin to read
	wake   chan struct{} // tells the reader that there is more; nil while nobody reads
}

// What an outbox keeps. The oldest go first.
const (
	maxEvents     = 64
	maxEventBytes = 8 << 20
)

// add puts an event at the end and returns its number.
func (o *outbox) add(message []byte) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.events = append(o.events, message)
	o.size += len(message)
	for len(o.events) > 1 && (len(o.events) > maxEvents || o.size > maxEventBytes) {
		o.size -= len(o.events[0])
		o.events[0] = nil
		o.events = o.events[1:]
		o.first++
	}
	o.signal()
	return o.first + len(o.events) - 1
}

// addOnce is add for news that say the same when they come twice: what waits already is not added again.
func (o *outbox) addOnce(message []byte) {
	o.mu.Lock()
	for _, e := range o.events[max(0, o.sent-o.first):] {
		if bytes.Equal(e, message) {
			o.mu.Unlock()
			return
		}
	}
	o.mu.Unlock()
	o.add(message)
}

func (o *outbox) signal() {
	if o.wake != nil {
		select {
		case o.wake <- struct{}{}:
		default:
		}
	}
}

// end says that nothing will be added.
func (o *outbox) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended = true
	o.signal()
}

// read makes the caller the stream's only reader; the channel is closed when another takes over. A
// client that reconnects need not wait until its dead connection is noticed.
func (o *outbox) read() <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.wake != nil {
		close(o.wake)
	}
	wake := make(chan struct{}, 1)
	if o.closed {
		close(wake)
		o.wake = nil
		return wake
	}
	wake <- struct{}{}
	o.wake = wake
	return wake
}

// leave ends the reading that wake belongs to, unless another has taken over.
func (o *outbox) leave(wake <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.wake == wake {
		o.wake = nil
	}
}

// drain ends whoever reads, and lets nobody begin to.
func (o *outbox) drain() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	if o.wake != nil {
		close(o.wake)
		o.wake = nil
	}
}

// from returns the events from number n on, the number after the last, and whether that was all there will be.
func (o *outbox) from(n int) (events [][]byte, next int, ended bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	next = o.first + len(o.events)
	if n < next {
		events = append(events, o.events[max(0, n-o.first):]...)
	}
	return events, next, o.ended
}

// wrote notes that the events before next have been written to a client.
func (o *outbox) wrote(next int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sent = max(o.sent, next)
}

// unsent is the number of the first event that no client has been given.
func (o *outbox) unsent() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.sent
}

func (o *outbox) reading() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.wake != nil
}

// eventID names an event for Last-Event-ID.
func (o *outbox) eventID(n int) string { return o.id + "-" + strconv.Itoa(n) }

// parseEventID takes an event's name apart.
func parseEventID(id string) (stream string, n int, ok bool) {
	stream, number, ok := strings.Cut(id, "-")
	count, err := strconv.ParseUint(number, 10, 31) // so that the number after it is one too
	return stream, int(count), ok && err == nil
}
