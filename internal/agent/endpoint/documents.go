package endpoint

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// documents are the JSON documents in a body: the events of a stream, or a single document. The
// body itself tells which; headers are often wrong.
type documents struct {
	lines *bufio.Scanner
	whole []byte // the one of an endpoint that does not stream; nil: it streams
	event string // the kind of the event that is read; mostly ""
	done  bool   // the endpoint said that this is all
}

func newDocuments(body io.Reader) (*documents, error) {
	in := bufio.NewReader(body)
	first, err := firstByte(in)
	if err == io.EOF {
		return &documents{lines: bufio.NewScanner(in)}, nil
	}
	if err != nil {
		return nil, err
	}
	switch first {
	case '{', '[', '<': // a document, or a page for people
		whole, err := io.ReadAll(io.LimitReader(in, maxReply+1))
		return &documents{whole: whole}, err
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxReply)
	return &documents{lines: lines}, nil
}

// firstByte peeks at the first byte that is not blank.
func firstByte(in *bufio.Reader) (byte, error) {
	for {
		c, err := in.ReadByte()
		if err != nil {
			return 0, err
		}
		if strings.IndexByte(" \t\r\n\xef\xbb\xbf", c) < 0 { // nor the mark of byte order
			return c, in.UnreadByte()
		}
	}
}

// next returns the next document, or io.EOF. Every line that can be a document is one: some
// endpoints omit the empty line between events.
func (d *documents) next() ([]byte, error) {
	if d.lines == nil {
		whole := d.whole
		d.whole = nil
		if len(whole) == 0 {
			return nil, io.EOF
		}
		d.done = true
		return checked(whole)
	}
	var parts []byte // of a document on several lines
	d.event = ""
	for d.lines.Scan() {
		line := bytes.TrimRight(d.lines.Bytes(), "\r")
		if len(line) == 0 && len(parts) > 0 {
			return checked(parts)
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimSpace(value)
		switch string(name) {
		case "event":
			d.event = string(value)
		case "data":
			switch {
			case len(value) == 0: // it only keeps the connection alive
				continue
			case string(value) == "[DONE]":
				d.done = true
				return nil, io.EOF
			case len(parts) == 0 && rawjson.Check(value) == nil:
				return value, nil
			}
			parts = append(append(parts, value...), '\n')
			if len(parts) > maxReply {
				return nil, errTooLarge
			}
		}
	}
	switch err := d.lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, errTooLarge
	case err != nil:
		return nil, err
	case len(parts) > 0:
		return checked(parts)
	}
	return nil, io.EOF
}

// checked returns a valid document or an HTML page.
func checked(doc []byte) ([]byte, error) {
	doc = bytes.TrimSpace(doc)
	if len(doc) > maxReply {
		return nil, errTooLarge
	}
	if len(doc) > 0 && doc[0] == '<' {
		return doc, nil
	}
	if err := rawjson.Check(doc); err != nil {
		return nil, fmt.Errorf("%w: %s", err, short(string(doc)))
	}
	return doc, nil
}

var errTooLarge = fault.New(fault.TooLarge, "the model's answer is larger than %d bytes", maxReply)
