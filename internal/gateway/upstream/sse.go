package upstream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/origin"
	"github.com/toolfit/toolfit/internal/mcp"
)

// eventLink is a session over the oldest HTTP transport: the server's messages come on one stream,
// whose first event names the URL for ours.
type eventLink struct {
	*link
	remote *remote // sends our messages
	stream io.Closer
	ended  chan struct{}
}

// dialSSE opens the stream and waits for the URL to send to.
func dialSSE(ctx context.Context, r *remote) (conn, error) {
	inTime := context.AfterFunc(ctx, r.end)
	body, events, err := r.openEvents()
	if err != nil {
		r.end()
		return nil, err
	}
	if !inTime() {
		body.Close()
		return nil, ctx.Err()
	}
	e := &eventLink{link: newLink(r.server, r.hooks, func([]byte) {}), remote: r, stream: body, ended: make(chan struct{})}
	go e.read(events)
	go e.write()
	return e, nil
}

// openEvents opens the stream and reads its first event.
func (r *remote) openEvents() (io.ReadCloser, *mcp.Events, error) {
	resp, err := r.get(r.ctx, "")
	if err != nil {
		return nil, nil, r.unreachable(err)
	}
	if resp.StatusCode != http.StatusOK || !isStream(resp) {
		defer resp.Body.Close()
		return nil, nil, r.statusError(resp, 0, mcp.Legacy)
	}
	events := mcp.NewEvents(resp.Body, int(r.limit))
	ev, err := events.Next()
	if err == nil && ev.Name != "endpoint" {
		err = fmt.Errorf("its first event is %q", ev.Name)
	}
	var target *url.URL
	if err == nil {
		target, err = r.url.Parse(string(ev.Data))
	}
	if err == nil && !origin.Same(target, r.url) {
		err = fmt.Errorf("it names another host") // our credentials must not go there
	}
	if err != nil {
		resp.Body.Close()
		return nil, nil, r.protocolError("does not say where to send to: %v", err)
	}
	r.url = target
	return resp.Body, events, nil
}

// read takes the server's messages until the stream ends.
func (e *eventLink) read(events *mcp.Events) {
	defer close(e.ended)
	defer events.Close()
	for {
		ev, err := events.Next()
		var long *mcp.LongLineError
		switch {
		case errors.As(err, &long): // it was read completely, so the stream can go on
			long.Head = bytes.TrimPrefix(bytes.TrimPrefix(long.Head, []byte("data:")), []byte(" "))
			e.link.tooLong(long)
		case mcp.IsTooLong(err):
			e.link.tooLong(&mcp.LongLineError{Size: e.remote.limit + 1, Limit: int(e.remote.limit)})
		case err != nil:
			e.link.end(fault.New(fault.UpstreamDown, "server %s ended its stream", e.server))
			return
		case ev.Name == "" || ev.Name == "message":
			e.link.take(bytes.Clone(ev.Data))
		}
	}
}

// write posts our messages, one after the other.
func (e *eventLink) write() {
	for {
		select {
		case q := <-e.out:
			if q.ctx.Err() != nil {
				continue
			}
			if err := e.post(q.message); err != nil {
				e.link.end(err)
				return
			}
		case <-e.done:
			return
		}
	}
}

// takeWithin is the timeout for posting a message; the answer comes on the stream.
const takeWithin = 30 * time.Second

func (e *eventLink) post(message []byte) error {
	ctx, cancel := context.WithTimeout(e.remote.ctx, takeWithin)
	defer cancel()
	resp, err := e.remote.post(ctx, outgoing{}, message)
	switch {
	case err != nil && ctx.Err() != nil:
		return fault.New(fault.UpstreamDown, "server %s did not take a message within %s", e.server, takeWithin)
	case err != nil:
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		return e.remote.statusError(resp, 0, mcp.Legacy)
	}
	return nil
}

func (e *eventLink) close() {
	e.link.end(fault.New(fault.UpstreamDown, "server %s was closed", e.server))
	e.remote.end()
	e.stream.Close()
	<-e.ended
}
