package upstream

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/mcp"
)

// Call is one request on its way to a server.
type Call struct {
	Server  tool.ServerID
	Method  string          // "": tools/call
	Tool    string          // the server's own name for the tool; "" for other methods
	Params  json.RawMessage // complete, with the server's own names
	Meta    rawjson.Span    // where _meta stands in Params; zero: nowhere
	Header  http.Header     // the headers by which a modern server sees arguments; nil: none
	Peer    mcp.Peer        // who hears of progress and is asked questions; nil: nobody
	Session string          // the caller's session, for servers that keep state per session
	Caller  string          // who calls; "" for ourselves
	From    mcp.Speaker     // the client; the zero value cannot be asked

	Task        TaskUse // whether the server may make a task of it
	TaskSupport bool    // the tool's definition says that a legacy server can make one

	Slow      Slower        // told if the call takes long; nil: nobody
	SlowAfter time.Duration // how long that is, without the time in which the caller is asked; 0: Slow is not told
}

// Slower is told that a call takes long, and may detach it from its request.
type Slower interface {
	// Slow is called once, in a goroutine of its own, with what ends the call; the call may end
	// meanwhile. False says that it could not be detached: if no timeout is configured, it ends a
	// minute after its start.
	Slow(cancel context.CancelCauseFunc) (detached bool)
	// Detached tells whether the call is detached by now. The questions of a modern server then come
	// back as InputRequired, since the client no longer waits.
	Detached() bool
}

func (c Call) caller() caller {
	who := caller{owner: c.Caller, session: c.Session, asks: nothing}
	if c.From.Capabilities != nil {
		who.asks = askable(c.From.Capabilities)
		who.home = c.From.Home
	}
	if c.From.Era == mcp.Modern {
		who.modern = true
		who.home = mcp.Deaf // the caller has a session of its own, but answers only during calls
	}
	return who
}

// tasks tells whether a modern server may make a task of the call.
func (c Call) tasks(s *server) bool {
	return c.Task == MayTask || c.Task == NeedsTask || c.Task == NoTask && s.insistsOn(c.Tool)
}

// name is what the request names.
func (c Call) name(method string) string {
	if c.Tool != "" {
		return c.Tool
	}
	name, _ := rawjson.String(rawjson.Get(c.Params, mcp.NamedBy(method)))
	return name
}

// Kind says what an Outcome is.
type Kind int

const (
	Complete      Kind = iota // a finished call
	InputRequired             // a question: the client repeats the call with the answers
	TaskMade                  // a task of the server, which goes on with the call
)

// Outcome is what a server answered.
type Outcome struct {
	Kind Kind
	Era  mcp.Era         // of the server
	Raw  json.RawMessage // the result, byte for byte; read-only
	Task *Task           // as it was made, without Questions, Result and Error; nil unless Kind is TaskMade
	buf  *buffer         // the buffer of Raw

	Longest rawjson.Span // the longest string in Raw, whose end need not be looked for again; zero: not known
}

// buffer holds an answer.
type buffer struct {
	bytes.Buffer
	longest rawjson.Span // the longest string in the result; zero: not known
}

// buffers are reused: allocating room for a large result costs more than passing it on.
var buffers = sync.Pool{New: func() any { return new(buffer) }}

func newBuffer() *buffer {
	b := buffers.Get().(*buffer)
	b.longest = rawjson.Span{}
	return b
}

// Set replaces Raw.
func (o *Outcome) Set(raw json.RawMessage) {
	if len(raw) == 0 || len(raw) != len(o.Raw) || &raw[0] != &o.Raw[0] {
		o.Longest = rawjson.Span{}
	}
	o.Raw = raw
}

// Scratch tells whether Raw may be changed, and what stands behind it up to its capacity: nobody else reads its buffer.
func (o *Outcome) Scratch() bool {
	if o.buf == nil || cap(o.Raw) == 0 {
		return false
	}
	all := o.buf.Bytes()
	return cap(all) > 0 && &all[:cap(all)][cap(all)-1] == &o.Raw[:cap(o.Raw)][cap(o.Raw)-1]
}

// Release allows the buffer of Raw to be used again; Raw must not be used afterwards. Calling it is optional.
func (o *Outcome) Release() {
	const largest = 4 << 20
	if o.buf != nil && o.buf.Cap() <= largest {
		buffers.Put(o.buf)
	}
}

// Call sends one request to the server and waits for the answer, at most as long as the server's settings allow.
func (p *Pool) Call(ctx context.Context, c Call) (Outcome, error) {
	s, err := p.server(c.Server)
	if err != nil {
		return Outcome{}, err
	}
	peer := c.Peer
	if peer == nil {
		peer = mcp.Deaf
	}
	method := cmp.Or(c.Method, callMethod)
	timed, clock := startDeadline(ctx, s.timeout(c.Tool), c.Slow, c.SlowAfter)
	defer clock.stop()
	if clock.slow != nil {
		p.open.add(clock)
		defer p.open.remove(clock)
	}
	buf := newBuffer()
	out, err := s.converse(timed, c.caller(), outgoing{
		method: method, params: c.Params, meta: c.Meta, from: c.From, name: c.name(method), header: c.Header, caller: c.Caller,
		peer: peer, clock: clock, buf: buf, tasks: c.tasks(s), refuses: c.Task == RefusesTask,
		asTask: c.Task == NeedsTask || c.Task == MayTask && c.TaskSupport,
	})
	if err != nil && ctx.Err() == nil && context.Cause(timed) == context.DeadlineExceeded {
		return Outcome{}, s.late(cmp.Or(c.Tool, method), clock.allowed()).WithHint("raise timeout of %s, or timeouts for this tool", c.Server)
	}
	return out, p.failure(timed, err) // a detached call may have been canceled
}

// late is the error for a request that took too long.
func (s *server) late(what string, limit time.Duration) *fault.Error {
	return fault.New(fault.UpstreamTimeout, "server %s did not answer %s within %s", s.cfg.ID, what, limit)
}

// failure is the error that the caller of a request gets for err.
func (p *Pool) failure(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fault.New(fault.Canceled, "the call was canceled: %w", fault.Plain(context.Cause(ctx)))
	}
	return p.clean(err)
}
