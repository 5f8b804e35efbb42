package mcp

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"
	"sync"
)

// outbox is one stream of events to a client. It stores the last ones, so that a client can resume after a broken connection.
type outbox struct {
	id    string
	asked string // the id of the request that it answers, as event ids have it; "" where it is not in them

	mu     sync.Mutex
	first  int           // number of events[0]
	events [][]byte      // stored for the next reader
	size   int           // bytes in events
	taken  int           // events before this one have been given to a reader
	sent   int           // events before this one have been written to a client
	ended  bool          // nothing will be added
	closed bool          // no reader may start
	wake   chan struct{} // signals new events to the reader; nil without one
}

// Limits of an outbox. The oldest events are dropped first.
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

// addOnce is add for idempotent notifications: one that is already waiting is not added again. What a reader has been given
// does not count: the client may know it already, and have looked before the latest change.
func (o *outbox) addOnce(message []byte) {
	o.mu.Lock()
	for _, e := range o.events[max(0, o.taken-o.first):] {
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

// drain ends the current reader and allows no new one.
func (o *outbox) drain() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	o.dismiss()
}

// hangUp ends the current reader.
func (o *outbox) hangUp() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.dismiss()
}

// dismiss ends the current reader. The caller holds mu.
func (o *outbox) dismiss() {
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
	o.taken = next
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

// unsent is the number of the first event that was not sent to a client.
func (o *outbox) unsent() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.sent
}

// after is the number of the event that follows number n. One that we have not had is of an earlier process: what
// was not sent follows then.
func (o *outbox) after(n int) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	if n >= o.first+len(o.events) {
		return o.sent
	}
	return n + 1
}

func (o *outbox) reading() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.wake != nil
}

// eventID names an event for Last-Event-ID.
func (o *outbox) eventID(n int) string { return eventID{o.id, n, o.asked}.String() }

// eventID is what a client brings back to resume a stream. It also has the id of the request, so that one whose
// stream is gone, with the process that had it, can be answered.
type eventID struct {
	stream string
	n      int
	asked  string // base64; "" on a session's own stream
}

func (e eventID) String() string {
	id := e.stream + "-" + strconv.Itoa(e.n)
	if e.asked != "" {
		id += "-" + e.asked
	}
	return id
}

// maxAsked is the length of the longest request id that event ids have.
const maxAsked = 64

// askedAs is the id of a request as event ids have it.
func askedAs(id json.RawMessage) string {
	if len(id) > maxAsked {
		return ""
	}
	return base64.RawStdEncoding.EncodeToString(id)
}

// parseEventID parses an event's id.
func parseEventID(text string) (id eventID, ok bool) {
	id.stream, text, ok = strings.Cut(text, "-")
	number, asked, _ := strings.Cut(text, "-")
	n, err := strconv.ParseUint(number, 10, 31) // so that the number after it is one too
	id.n = int(n)
	id.asked = asked
	return id, ok && err == nil
}

// request is the id of the request that the stream answers; nil if the event's id does not have it.
func (e eventID) request() json.RawMessage {
	id, err := base64.RawStdEncoding.Strict().DecodeString(e.asked)
	if err != nil || len(id) == 0 || len(id) > maxAsked || !json.Valid(id) || strings.IndexByte(`"-0123456789`, id[0]) < 0 {
		return nil
	}
	return id
}
