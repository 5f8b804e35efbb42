package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// Lines reads messages that end at a line break, with a limit on their length.
type Lines struct {
	r     *bufio.Reader
	limit int
}

// LongLineError means that a line was over the limit and dropped. Head and Tail are its first and last bytes.
type LongLineError struct {
	Size       int64
	Limit      int
	Head, Tail []byte
}

func (e *LongLineError) Error() string {
	return fmt.Sprintf("a message of %d bytes is over the limit of %d", e.Size, e.Limit)
}

// ID is the id of the message, if it is at either end; nil otherwise. HasMethod tells that the message is not an answer.
func (e *LongLineError) ID() (id json.RawMessage, hasMethod bool) {
	w := rawjson.Object(e.Head)
	for w.Next() && w.End < len(e.Head) { // a number at the cut may be incomplete
		switch string(w.Key) {
		case "method":
			hasMethod = true
		case "id":
			id = w.Value
		}
	}
	last := bytes.LastIndexByte(e.Tail, ',')
	if id == nil && last >= 0 {
		// Whole only when the member is one of the message itself.
		end := rawjson.Object(append([]byte{'{'}, e.Tail[last+1:]...))
		for end.Next() {
			if string(end.Key) == "id" {
				id = end.Value
			}
		}
		if end.Err() != nil {
			id = nil
		}
	}
	if id != nil && !validID(id) {
		id = nil
	}
	return id, hasMethod
}

// keepEnds is how much of each end of a dropped line is kept, to find the request it answers.
const keepEnds = 256

// NewLines reads lines of at most limit bytes from r.
func NewLines(r io.Reader, limit int) *Lines {
	return &Lines{r: bufio.NewReaderSize(r, 64<<10), limit: limit}
}

// Next returns the next line that is not blank, without its end; io.EOF at the end of the input. The bytes are the caller's own.
func (l *Lines) Next() ([]byte, error) {
	for {
		line, err := l.append(nil)
		if len(line) > 0 || err != nil && !errors.Is(err, io.EOF) {
			return line, dropEOF(err)
		}
		if err != nil {
			return nil, err
		}
	}
}

// dropEOF reports the end of input only at the next call: the line before it is complete.
func dropEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// append reads one line, blank or not, and appends it to dst without its end.
func (l *Lines) append(dst []byte) ([]byte, error) {
	start := len(dst)
	for {
		chunk, err := l.r.ReadSlice('\n')
		if len(dst)-start+len(chunk) > l.limit+2 { // room for the line's end
			return dst[:start], l.drop(dst[start:], chunk, err)
		}
		dst = append(dst, chunk...)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		for len(dst) > start && (dst[len(dst)-1] == '\n' || dst[len(dst)-1] == '\r') {
			dst = dst[:len(dst)-1]
		}
		return dst, err
	}
}

// drop reads a line that is too long to its end and says how long it was.
func (l *Lines) drop(begun, chunk []byte, err error) error {
	long := &LongLineError{Size: int64(len(begun)), Limit: l.limit, Tail: make([]byte, 0, keepEnds)}
	if len(begun) == 0 {
		begun = chunk
	}
	long.Head = append(long.Head, begun[:min(len(begun), keepEnds)]...)
	for {
		long.Size += int64(len(chunk))
		long.Tail = append(long.Tail, chunk...)
		if over := len(long.Tail) - keepEnds; over > 0 {
			long.Tail = append(long.Tail[:0], long.Tail[over:]...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			break
		}
		chunk, err = l.r.ReadSlice('\n')
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return long
}
