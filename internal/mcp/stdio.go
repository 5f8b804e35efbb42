package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"sync"
)

// StdioOptions change the limits of ServeStdio.
type StdioOptions struct {
	MaxLine int          // most bytes of one message; 0: 4 MiB
	Logger  *slog.Logger // nil: discard
}

// ServeStdio serves one client on a pair of pipes until its input or ctx ends. Requests in flight are still answered.
func ServeStdio(ctx context.Context, in io.Reader, out io.Writer, sessions *Sessions, e Entry, opts *StdioOptions) error {
	if opts == nil {
		opts = &StdioOptions{}
	}
	p := &pipe{entry: e, sessions: sessions, requests: &Session{done: make(chan struct{})}, lineConn: newLineConn(in, out, opts.MaxLine)}
	p.life = context.WithoutCancel(ctx)
	p.log = cmp.Or(opts.Logger, slog.New(slog.DiscardHandler))
	return within(ctx, func() error { return p.serve(ctx) })
}

// pipe is the stdio client being served.
type pipe struct {
	*lineConn
	entry    Entry
	sessions *Sessions
	log      *slog.Logger
	life     context.Context // of requests: only what holds them ends them
	session  *Session        // nil before initialize; read and written by the reading goroutine only
	requests *Session        // holds the modern requests under way, so that they can be canceled
	work     sync.WaitGroup  // requests that will be answered
	stream   sync.WaitGroup  // what lasts until the end
}

// serve takes messages until the input ends, and waits for their answers.
func (p *pipe) serve(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	context.AfterFunc(ctx, func() { p.requests.close(context.Canceled) })
	defer p.close()
	defer cancel() // ends what a client listens to, which nothing else does
	err := p.read(ctx, func(m Message, _ []byte) { p.take(ctx, m) })
	if ctx.Err() == nil {
		p.work.Wait()
	}
	return err
}

func (p *pipe) take(ctx context.Context, m Message) {
	switch {
	case m.Method == "initialize" && m.ID != nil:
		p.initialize(ctx, m)
	case isModernOnPipe(m):
		p.modern(m)
	case p.session != nil:
		p.legacy(ctx, m)
	default:
		p.first(m)
	}
}

// isModernOnPipe tells whether a message is a request of the modern era, where no header says so.
func isModernOnPipe(m Message) bool {
	return m.IsRequest() && (m.Method == "server/discover" || metaVersion(m.Params) != "")
}

// legacy serves a message of the open session.
func (p *pipe) legacy(ctx context.Context, m Message) {
	switch {
	case m.IsResponse():
		p.session.answered(m)
	case m.IsNotification():
		p.entry.take(ctx, p.session, m)
	default:
		out := &pipeReply{opened: opened{id: m.ID, session: p.session}, pipe: p, held: &p.work}
		out.serve(m.request(p.session, out))
	}
}

// first serves what may come without a session and is no modern request.
func (p *pipe) first(m Message) {
	switch {
	case m.Method == "notifications/cancelled":
		p.requests.canceled(m.Params)
	case m.IsRequest():
		p.write(answerFirst(m))
	}
}

// answerFirst answers a request that comes before a session and is no modern one.
func answerFirst(m Message) []byte {
	if m.Method == "ping" {
		return AppendResult(nil, m.ID, json.RawMessage("{}"))
	}
	return AppendError(nil, m.ID, Errorf(CodeInvalidRequest, "send initialize first, or name the revision in params._meta"))
}

// otherEra refuses a modern request on a connection with a session: the client would get half of each era.
func otherEra(version string) error {
	return Errorf(CodeInvalidRequest, "this connection speaks revision %s since initialize", version)
}

var errGreeted = Errorf(CodeInvalidRequest, "initialize was sent already")

func (p *pipe) initialize(ctx context.Context, m Message) {
	if p.session != nil {
		p.write(AppendError(nil, m.ID, errGreeted))
		return
	}
	s, err := newSession(p.entry, m.Params)
	if err == nil {
		err = p.sessions.add(s, false)
	}
	if err != nil {
		p.write(AppendError(nil, m.ID, err))
		return
	}
	p.session = s
	context.AfterFunc(ctx, func() { s.close(context.Canceled) })
	p.write(AppendResult(nil, m.ID, p.entry.greet(s.speaker()).initializeResult(s.Version)))
	wake := s.news.read()
	p.stream.Go(func() { s.follow(context.Background(), wake, p) })
}

// event sends what the session hears outside of its requests.
func (p *pipe) event(message []byte) error { return p.write(message) }

func (p *pipe) close() {
	if p.session != nil {
		p.sessions.remove(p.session)
	}
	p.work.Wait()
	p.stream.Wait()
}
