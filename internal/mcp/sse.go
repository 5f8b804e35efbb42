package mcp

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"
)

// Event is one server-sent event.
type Event struct {
	Name  string // "" stands for "message"
	ID    string
	Data  []byte        // nil when there is none; valid until the next event is read
	Retry time.Duration // 0: not given
}

// Events reads server-sent events.
type Events struct {
	lines Lines
	limit int
	line  []byte // the line being read
	data  []byte // the data of the event being read
	drop  bool   // the event being read was over the limit, and its other lines still come
}

// readers are Events not in use. Most streams carry one event, and buffers cost more than reading it.
var readers = sync.Pool{New: func() any { return &Events{lines: Lines{r: bufio.NewReaderSize(nil, 16<<10)}} }}

// NewEvents reads events whose data is at most limit bytes. Close it when it is no longer needed.
func NewEvents(r io.Reader, limit int) *Events {
	e := readers.Get().(*Events)
	e.lines.r.Reset(r)
	e.limit = limit
	e.lines.limit = limit + len("data: ")
	e.drop = false
	return e
}

// Close gives up the reader and the data of the last event.
func (e *Events) Close() {
	const largest = 1 << 20
	if cap(e.line)+cap(e.data) > largest {
		return
	}
	e.lines.r.Reset(nil)
	readers.Put(e)
}

// Next returns the next event with data or an id; io.EOF at the end. An event over the limit is reported once and skipped.
func (e *Events) Next() (Event, error) {
	var ev Event
	e.data = e.data[:0]
	for {
		var err error
		e.line, err = e.lines.append(e.line[:0])
		switch {
		case err == nil && len(e.line) == 0:
			if ev.Data != nil || ev.ID != "" {
				return ev, nil
			}
			ev = Event{}
			e.drop = false
		case err == nil && !e.drop:
			err = e.field(&ev)
		}
		if err == nil {
			continue
		}
		told := e.drop
		if e.drop = IsTooLong(err); !e.drop || !told {
			return Event{}, err // what was begun but not ended by a blank line does not count
		}
	}
}

// field takes the line that was read as a field of the event.
func (e *Events) field(ev *Event) error {
	name, value, _ := bytes.Cut(e.line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "data":
		if ev.Data != nil {
			e.data = append(e.data, '\n')
		}
		if len(e.data)+len(value) > e.limit {
			return fmt.Errorf("an event of more than %d bytes: %w", e.limit, errTooLong)
		}
		if e.data = append(e.data, value...); e.data == nil {
			e.data = []byte{} // data that is empty is still data
		}
		ev.Data = e.data
	case "event":
		ev.Name = string(value)
	case "id":
		ev.ID = string(value)
	case "retry":
		if ms, err := strconv.ParseUint(string(value), 10, 31); err == nil {
			ev.Retry = time.Duration(ms) * time.Millisecond
		}
	}
	return nil
}

var errTooLong = errors.New("over the limit")

// IsTooLong tells whether err says that a message was over its limit.
func IsTooLong(err error) bool {
	var long *LongLineError
	return errors.As(err, &long) || errors.Is(err, errTooLong)
}
