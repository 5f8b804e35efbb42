package mcp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"
)

// Event is one server-sent event.
type Event struct {
	Name  string // "" stands for "message"
	ID    string
	Data  []byte
	Retry time.Duration // 0: not given
}

// Events reads server-sent events.
type Events struct {
	lines *Lines
	limit int
}

// NewEvents reads events whose data is at most limit bytes.
func NewEvents(r io.Reader, limit int) *Events {
	return &Events{lines: NewLines(r, limit+len("data: ")), limit: limit}
}

// Next returns the next event that has data or an id. The stream's end is io.EOF.
func (e *Events) Next() (Event, error) {
	var ev Event
	for {
		line, err := e.lines.line()
		if err != nil {
			return Event{}, err // what was begun but not ended by a blank line does not count
		}
		if len(line) == 0 {
			if ev.Data != nil || ev.ID != "" {
				return ev, nil
			}
			ev = Event{}
			continue
		}
		if err := ev.field(line, e.limit); err != nil {
			return Event{}, err
		}
	}
}

func (ev *Event) field(line []byte, limit int) error {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "data":
		if ev.Data == nil {
			ev.Data = value[:len(value):len(value)]
			return nil
		}
		if len(ev.Data)+len(value) >= limit {
			return fmt.Errorf("an event of more than %d bytes: %w", limit, errTooLong)
		}
		ev.Data = append(append(ev.Data, '\n'), value...)
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
