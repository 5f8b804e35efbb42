package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/toolfit/toolfit/internal/rawjson"
)

// StdioOptions change the limits of ServeStdio.
type StdioOptions struct {
	MaxLine int          // most bytes of one message; 0: 4 MiB
	Logger  *slog.Logger // nil: discard
}

// ServeStdio serves one client on a pair of pipes until its input ends or ctx does. What
// is in flight when the input ends is still answered.
func ServeStdio(ctx context.Context, in io.Reader, out io.Writer, sessions *Sessions, e Entry, opts *StdioOptions) error {
	p := &pipe{out: out, entry: e, sessions: sessions, requests: &Session{}, maxLine: 4 << 20, log: slog.New(slog.DiscardHandler)}
	if opts != nil && opts.MaxLine > 0 {
		p.maxLine = opts.MaxLine
	}
	if opts != nil && opts.Logger != nil {
		p.log = opts.Logger
	}
	ended := make(chan error, 1)
	go func() { ended <- p.serve(ctx, NewLines(in, p.maxLine)) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	// A write to a client that does not read cannot be interrupted, and must not keep us from ending.
	timer := time.NewTimer(leaveWithin)
	defer timer.Stop()
	select {
	case err := <-ended:
		return err
	case <-timer.C:
		return errors.New("the client does not read what it is sent")
	}
}

// leaveWithin is how long a client may take to read the last answers when we are to end.
const leaveWithin = 2 * time.Second

// pipe is the stdio client being served.
type pipe struct {
	entry    Entry
	sessions *Sessions
	maxLine  int
	log      *slog.Logger
	session  *Session // nil before initialize; read and written by the reading goroutine only
	requests *Session // holds the modern requests under way, so that they can be cancelled
	work     sync.WaitGroup
	stream   sync.WaitGroup

	mu  sync.Mutex // guards out
	out io.Writer
}

// serve takes messages until the input ends, and waits for their answers.
func (p *pipe) serve(ctx context.Context, lines *Lines) error {
	ctx, cancel := context.WithCancel(ctx)
	defer p.close()
	defer cancel() // ends what a client listens to, which nothing else does
	err := p.read(ctx, lines)
	if ctx.Err() == nil {
		p.work.Wait()
	}
	return err
}

// read takes messages until the input ends. A reader blocked on a terminal cannot be
// interrupted, so ctx ends the loop from outside it.
func (p *pipe) read(ctx context.Context, lines *Lines) error {
	type next struct {
		line []byte
		err  error
	}
	incoming := make(chan next)
	go func() {
		for {
			line, err := lines.Next()
			select {
			case incoming <- next{line, err}:
			case <-ctx.Done():
				return
			}
			if errors.Is(err, io.EOF) {
				return
			}
		}
	}()
	for {
		select {
		case <-ctx.Done():
			return nil
		case n := <-incoming:
			var long *LongLineError
			switch {
			case errors.As(n.err, &long):
				p.refuseLong(long)
			case errors.Is(n.err, io.EOF):
				return nil
			case n.err != nil:
				return fmt.Errorf("read standard input: %w", n.err)
			default:
				p.take(ctx, n.line)
			}
		}
	}
}

// refuseLong answers a message that was too long to read: under its own id where that can
// be told, so that its sender does not wait for ever.
func (p *pipe) refuseLong(long *LongLineError) {
	id, isRequest := long.ID()
	if !isRequest {
		id = nil
	}
	p.write(AppendError(nil, id, Errorf(CodeInvalidRequest, "%v", long)))
}

func (p *pipe) take(ctx context.Context, line []byte) {
	if isBatch(line) {
		p.write(AppendError(nil, nil, Errorf(CodeInvalidRequest, "batches are not served here: send one message at a time")))
		return
	}
	m, err := Parse(line)
	if err != nil {
		p.write(AppendError(nil, nil, err))
		return
	}
	switch {
	case m.Method == "initialize" && m.ID != nil:
		p.initialize(m)
	case m.IsRequest() && (m.Method == "server/discover" || metaVersion(m.Params) != ""):
		p.modern(ctx, m)
	case p.session != nil:
		p.legacy(ctx, m)
	default:
		p.first(m)
	}
}

// legacy serves a message of the open session.
func (p *pipe) legacy(ctx context.Context, m Message) {
	switch {
	case m.IsResponse():
		p.session.answered(m)
	case m.IsNotification():
		p.entry.take(ctx, p.session, m)
	default:
		serve := p.entry.start(ctx, p.log, p.session, m, p)
		p.work.Go(func() {
			if answer := serve(); answer != nil {
				p.write(answer)
			}
		})
	}
}

// first serves what may come without a session and is no modern request.
func (p *pipe) first(m Message) {
	switch {
	case m.Method == "notifications/cancelled":
		p.requests.cancelled(m.Params)
	case m.Method == "ping" && m.ID != nil:
		p.write(AppendResult(nil, m.ID, json.RawMessage("{}")))
	case m.ID == nil || m.Method == "":
	default:
		p.write(AppendError(nil, m.ID, Errorf(CodeInvalidRequest, "send initialize first, or name the revision in params._meta")))
	}
}

func (p *pipe) initialize(m Message) {
	if p.session != nil {
		p.write(AppendError(nil, m.ID, Errorf(CodeInvalidRequest, "initialize was sent already")))
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
	p.write(AppendResult(nil, m.ID, p.entry.Info().initializeResult(s.Version)))
	wake := s.news.read()
	p.stream.Go(func() { p.tell(s, wake) })
}

// tell writes the session's news until the session ends.
func (p *pipe) tell(s *Session, wake <-chan struct{}) {
	for next := 0; ; {
		select {
		case <-s.done:
			return
		case _, mine := <-wake:
			if !mine {
				return
			}
			var events [][]byte
			events, next, _ = s.news.from(next)
			for _, message := range events {
				p.write(message)
			}
			s.news.wrote(next)
		}
	}
}

func (p *pipe) close() {
	if p.session != nil {
		p.sessions.remove(p.session)
	}
	p.work.Wait()
	p.stream.Wait()
}

// Notify sends a notification to the client.
func (p *pipe) Notify(_ context.Context, method string, params json.RawMessage) error {
	if !p.session.wants(method, params) {
		return nil
	}
	return p.write(AppendNotification(nil, method, params))
}

// Ask sends a request to the client and waits for its answer.
func (p *pipe) Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	return p.session.ask(ctx, method, params, p.write)
}

func (p *pipe) write(message []byte) error {
	message = append(rawjson.OneLine(message), '\n')
	p.mu.Lock()
	defer p.mu.Unlock()
	_, err := p.out.Write(message)
	return err
}
