package mcp

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
)

// errForgotten means that the endpoint does not know the session. The request was not acted on.
var errForgotten = Errorf(CodeInternal, "the gateway does not know the session")

// send sends one HTTP request. No redirect is followed: its headers are for the endpoint only.
func (b *bridge) send(ctx context.Context, method string, header http.Header, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, b.url.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header = header
	return b.http.RoundTrip(req)
}

// ask sends a request and returns the answering message and its headers; nil: none will come. Other messages are passed on.
func (b *bridge) ask(ctx context.Context, header http.Header, m Message, line []byte) ([]byte, http.Header, error) {
	resp, err := b.send(ctx, http.MethodPost, header, line)
	if err != nil {
		return nil, nil, Errorf(CodeInternal, "the gateway at %s cannot be reached: %v", b.url.Redacted(), fault.Plain(err))
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusNotFound && header.Get(sessionHeader) != "":
		return nil, nil, errForgotten
	case resp.StatusCode == http.StatusAccepted:
		return nil, resp.Header, nil
	case isEventStream(resp):
		answer, err := b.follow(ctx, resp.Body, header, m)
		return answer, resp.Header, err
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, int64(b.limit)+1))
	switch {
	case err != nil:
		return nil, nil, b.broke(err)
	case len(body) > b.limit:
		return nil, nil, Errorf(CodeInternal, "the answer has more than %d bytes", b.limit)
	}
	said, err := Parse(body)
	switch {
	case err == nil && said.IsResponse() && bytes.Equal(said.ID, m.ID):
		return body, resp.Header, nil
	case err == nil && said.Error != nil: // an error without an id
		return AppendError(nil, m.ID, ParseError(said.Error)), resp.Header, nil
	}
	text := strings.Join(strings.Fields(string(body[:min(len(body), 500)])), " ")
	return nil, nil, Errorf(CodeInternal, "the gateway answered HTTP %d: %s", resp.StatusCode, strings.ToValidUTF8(text, ""))
}

// broke is the error of a connection that ended before the answer.
func (b *bridge) broke(err error) error {
	return Errorf(CodeInternal, "the gateway at %s ended before it answered: %v", b.url.Redacted(), fault.Plain(err))
}

// follow reads a stream up to the answer to m. A broken stream of a session is resumed as long as new events arrive.
func (b *bridge) follow(ctx context.Context, body io.Reader, header http.Header, m Message) ([]byte, error) {
	last := ""
	for {
		answer, err := b.events(body, &last, m)
		switch {
		case err == nil:
			return answer, nil
		case last == "" || header.Get(sessionHeader) == "" || IsTooLong(err):
			return nil, b.broke(err)
		}
		resp, err := b.hear(ctx, header, last)
		if err != nil {
			return nil, b.broke(err)
		}
		defer resp.Body.Close()
		if !isEventStream(resp) {
			return nil, Errorf(CodeInternal, "the gateway does not give the rest of its answer: HTTP %d", resp.StatusCode)
		}
		body = resp.Body
		last = ""
	}
}

func isEventStream(resp *http.Response) bool {
	return resp.StatusCode == http.StatusOK && strings.HasPrefix(resp.Header.Get("Content-Type"), streamType)
}

// events passes the events of a stream on until one answers m, if it is a request.
func (b *bridge) events(body io.Reader, last *string, m Message) ([]byte, error) {
	events := NewEvents(body, b.limit)
	defer events.Close()
	for {
		ev, err := events.Next()
		if err != nil {
			return nil, err
		}
		if ev.ID != "" {
			*last = ev.ID
		}
		if len(ev.Data) == 0 || ev.Name != "" && ev.Name != "message" {
			continue
		}
		said, err := Parse(ev.Data)
		switch {
		case err != nil: // the client could not read it
		case m.ID != nil && said.IsResponse() && bytes.Equal(said.ID, m.ID):
			return bytes.Clone(ev.Data), nil
		default:
			b.write(ev.Data)
		}
	}
}

// hear opens a session's own stream, or the rest of one whose last event is named.
func (b *bridge) hear(ctx context.Context, header http.Header, last string) (*http.Response, error) {
	h := header.Clone()
	h.Set("Accept", streamType)
	h.Del("Content-Type")
	if last != "" {
		h.Set("Last-Event-ID", last)
	}
	return b.send(ctx, http.MethodGet, h, nil)
}

// Waits before a stream that ended is reopened.
const (
	soon = 100 * time.Millisecond
	late = 10 * time.Second
)

// listen passes on the session's messages outside of requests, until the bridge ends or the session is replaced.
func (b *bridge) listen(s *bridged) {
	last := ""
	for wait := soon; ; wait = min(2*wait, late) {
		resp, err := b.hear(b.life, b.headerOf(s), last)
		if err == nil {
			stream := isEventStream(resp)
			status := resp.StatusCode
			if stream {
				wait = soon
				b.events(resp.Body, &last, Message{})
			}
			resp.Body.Close()
			switch {
			case stream:
			case status == http.StatusNotFound && last != "":
				last = "" // its events are gone, or the session is
			case status == http.StatusNotFound && s.id != "":
				b.again(b.life, s)
				return
			default:
				return // there is no such stream
			}
		}
		select {
		case <-time.After(wait):
		case <-b.life.Done():
			return
		}
	}
}
