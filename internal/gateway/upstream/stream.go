package upstream

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/mcp"
)

// answerFromStream reads the answer to request id from a stream of events. A broken stream is resumed.
func (r *remote) answerFromStream(ctx context.Context, body io.Reader, id int64, out outgoing) (json.RawMessage, error) {
	var at position
	for {
		result, err := r.readStream(ctx, body, id, out, &at)
		if !hasMark(err, streamEnded) || at.event == "" || out.era == mcp.Modern || ctx.Err() != nil {
			return result, err
		}
		again, err := r.resume(ctx, &at)
		if err != nil {
			return nil, err
		}
		defer again.Close()
		body = again
	}
}

// position is where in a stream we are.
type position struct {
	event string        // id of the last event that had one; "" when none had
	retry time.Duration // how long the server wants us to wait before reconnecting
	tries int           // attempts in a row without a new event
}

func (r *remote) readStream(ctx context.Context, body io.Reader, id int64, out outgoing, at *position) (json.RawMessage, error) {
	events := mcp.NewEvents(body, int(r.limit))
	defer events.Close()
	for {
		ev, err := events.Next()
		if mcp.IsTooLong(err) {
			return nil, tooLarge(r.server, r.limit+1, r.limit)
		}
		if err != nil {
			return nil, marked(fault.New(fault.UpstreamDown, "server %s ended its stream before the answer", r.server), streamEnded)
		}
		at.saw(ev)
		if len(ev.Data) == 0 || ev.Name != "" && ev.Name != "message" {
			continue // a server that can resume streams opens them with an id and empty data
		}
		m, err := r.hooks.parse(ev.Data)
		switch {
		case err != nil:
			return nil, r.protocolError("sent something that is not a message: %v", err)
		case m.IsResponse() && isID(m.ID, id):
			return copyAnswer(m, out.buf)
		case m.IsResponse(), m.Method == cancelMethod:
			// An answer to nothing that we asked here, or a question that the server no longer has.
		case m.IsRequest() && out.era == mcp.Modern:
			// A modern server asks by its result and accepts no answers.
		case m.IsRequest():
			r.asked(asked{ctx, out}, m)
		case m.Method == ackMethod && out.acked != nil:
			out.acked(bytes.Clone(m.Params))
		case m.Method == progressMethod:
			if n, ok := progressID(m.Params); ok && n == id {
				out.progress(ctx, m.Params)
			}
		case !r.heard(m):
			out.passOn(ctx, m.Method, bytes.Clone(m.Params))
		}
	}
}

func (p *position) saw(ev mcp.Event) {
	if ev.ID != "" {
		p.event = ev.ID
		p.tries = 0
	}
	if ev.Retry > 0 {
		p.retry = min(ev.Retry, 10*time.Second)
	}
}

// maxResumes limits the attempts in a row to resume a stream without a new event.
const maxResumes = 5

// resume opens the rest of a stream.
func (r *remote) resume(ctx context.Context, at *position) (io.ReadCloser, error) {
	wait := max(at.retry, 100*time.Millisecond<<min(at.tries, 6))
	at.tries++
	if at.tries > maxResumes {
		return nil, fault.New(fault.UpstreamDown, "server %s ended its stream before the answer, %d times", r.server, maxResumes)
	}
	select {
	case <-time.After(wait):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	resp, err := r.get(ctx, at.event)
	if err != nil {
		return nil, fault.New(fault.UpstreamDown, "server %s cannot be reached: %w", r.server, fault.Plain(err))
	}
	if resp.StatusCode != http.StatusOK || !isStream(resp) {
		resp.Body.Close()
		return nil, fault.New(fault.UpstreamDown, "server %s ended its stream before the answer and does not resume it", r.server)
	}
	return resp.Body, nil
}

// heard handles a server's notifications about itself, on any stream, and tells whether it was one.
func (r *remote) heard(m mcp.Message) bool {
	switch {
	case saysChanged(m.Method):
		r.hooks.changed()
	case m.Method == updatedMethod:
		r.hooks.updated(bytes.Clone(m.Params))
	default:
		return false
	}
	return true
}

// whom finds who is asked a question on the session's own stream, which does not name its call. The
// session's only caller is asked through its newest call, or outside of any. In a shared session
// there must be one open call, which is never asked for roots.
func (r *remote) whom(method string) asked {
	r.asking.Lock()
	defer r.asking.Unlock()
	var newest int64
	for id := range r.calls {
		newest = max(newest, id)
	}
	call, open := r.calls[newest]
	switch {
	case open && (r.hooks.home != nil || len(r.calls) == 1 && method != "roots/list"):
		return call
	case r.hooks.home != nil:
		return asked{r.ctx, outgoing{peer: r.hooks.home}}
	}
	return asked{r.ctx, outgoing{peer: mcp.Deaf}}
}

// asked answers a server's request.
func (r *remote) asked(to asked, m mcp.Message) {
	m.ID = bytes.Clone(m.ID)
	m.Params = bytes.Clone(m.Params)
	run := func(work func()) { r.background(work) }
	r.hooks.answer(to, r.ctx, m, run, r.deliver)
}

// listen holds the session's own stream open. The channel is closed at the server's first answer.
func (r *remote) listen() (answered <-chan struct{}) {
	first := make(chan struct{})
	tell := sync.OnceFunc(func() { close(first) })
	if !r.background(func() { r.keepHearing(tell) }) {
		tell()
	}
	r.stream = first
	return first
}

// awaitStream waits a little until the session's own stream is open: a server may drop what it sends there before.
func (r *remote) awaitStream(ctx context.Context) {
	if r.stream == nil {
		return
	}
	select {
	case <-r.stream:
	case <-time.After(grace / 2):
	case <-ctx.Done():
	}
}

func (r *remote) keepHearing(answered func()) {
	defer answered()
	for wait := time.Second; ; wait = min(2*wait, time.Minute) {
		began := time.Now()
		if !r.hear(answered) {
			return
		}
		if time.Since(began) >= lasting {
			wait = time.Second // it worked: what ends such a stream is usually a proxy
		}
		select {
		case <-time.After(wait):
		case <-r.ctx.Done():
			return
		}
	}
}

// hear reads one stream to its end and tells whether another is worth trying.
func (r *remote) hear(answered func()) bool {
	resp, err := r.get(r.ctx, "")
	answered()
	if err != nil {
		return r.ctx.Err() == nil
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusNotFound && r.session() != "" { // without a session it only means that there is no stream
		r.end() // the server has forgotten the session; the next request opens another
		r.hooks.changed()
	}
	if resp.StatusCode != http.StatusOK {
		return false
	}
	events := mcp.NewEvents(resp.Body, int(r.limit))
	defer events.Close()
	for {
		ev, err := events.Next()
		if err != nil {
			return r.ctx.Err() == nil
		}
		m, err := r.hooks.parse(ev.Data)
		switch {
		case err != nil:
		case m.IsRequest():
			r.asked(r.whom(m.Method), m)
		default:
			r.heard(m)
		}
	}
}
