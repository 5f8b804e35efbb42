package env

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"sync"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/mcp"
)

// NewClient talks to a server over pipes: it reads from in until it ends, and writes to out, which
// Close closes.
func NewClient(ctx context.Context, in io.Reader, out io.WriteCloser) (*Client, error) {
	p := &pipe{
		out: out, outbox: make(chan []byte, 16), waiting: map[string]chan mcp.Message{},
		gone: make(chan struct{}), closed: make(chan struct{}),
	}
	p.end = sync.OnceFunc(func() { close(p.gone) })
	go p.read(in)
	go p.write()
	g, err := greet(ctx, p)
	if err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return newClient(g), nil
}

type pipe struct {
	out    io.WriteCloser
	outbox chan []byte   // what is to be written; a server that does not read must not hold us
	closed chan struct{} // closed by Close

	mu      sync.Mutex
	last    int64
	waiting map[string]chan mcp.Message // by the request's id
	gone    chan struct{}               // closed when the server no longer reads or writes
	end     func()                      // closes gone
}

// maxAnswer limits the size of a message.
const maxAnswer = 64 << 20

var (
	errEnded      = errors.New("the server has ended")
	errUnreadable = errors.New("the answer cannot be read: it is not JSON, or nested too deep")
)

func (p *pipe) read(in io.Reader) {
	defer p.end()
	lines := mcp.NewLines(in, maxAnswer)
	for {
		line, err := lines.Next()
		var long *mcp.LongLineError
		switch {
		case errors.As(err, &long):
			id, _ := long.ID()
			p.spoiled(id, "the answer is too large")
			continue
		case err != nil:
			return
		}
		m, err := mcp.Parse(line)
		switch {
		case err != nil: // such as other output of the server
			p.spoiled(mcp.BrokenAnswer(line), errUnreadable.Error())
		case m.IsResponse():
			p.answered(m)
		case m.IsRequest():
			p.offer(answerTo(m))
		}
	}
}

func (p *pipe) answered(m mcp.Message) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c := p.waiting[string(m.ID)]; c != nil {
		delete(p.waiting, string(m.ID))
		c <- m // buffered, and only once
	}
}

// spoiled fails a request whose answer is lost.
func (p *pipe) spoiled(id json.RawMessage, why string) {
	p.answered(mcp.Message{ID: id, Error: append(rawjson.AppendString([]byte(`{"code":-32603,"message":`), why), '}')})
}

// write writes messages until the server stops reading.
func (p *pipe) write() {
	for {
		select {
		case message := <-p.outbox:
			if _, err := p.out.Write(append(rawjson.OneLine(message), '\n')); err != nil {
				p.end()
				return
			}
		case <-p.closed:
			return
		}
	}
}

func (p *pipe) post(ctx context.Context, message []byte) error {
	select {
	case p.outbox <- message:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-p.gone:
		return p.over()
	case <-p.closed:
		return errClosed
	}
}

// over is why a server that is gone answers nothing: a client that was closed ends it.
func (p *pipe) over() error {
	select {
	case <-p.closed:
		return errClosed
	default:
		return errEnded
	}
}

// offer posts a message, or drops it when the server does not read.
func (p *pipe) offer(message []byte) {
	select {
	case p.outbox <- message:
	default:
	}
}

func (p *pipe) send(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	answer := make(chan mcp.Message, 1)
	p.mu.Lock()
	p.last++
	id := p.last
	key := strconv.FormatInt(id, 10)
	p.waiting[key] = answer
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		delete(p.waiting, key)
		p.mu.Unlock()
	}()
	if err := p.post(ctx, mcp.AppendRequest(nil, id, method, params)); err != nil {
		return nil, err
	}
	select {
	case m := <-answer:
		return resultIn(m)
	case <-ctx.Done():
		p.offer(mcp.AppendNotification(nil, "notifications/cancelled", []byte(`{"requestId":`+key+`}`)))
		return nil, ctx.Err()
	case <-p.gone:
		select {
		case m := <-answer: // its last words
			return resultIn(m)
		default:
			return nil, p.over()
		}
	case <-p.closed:
		return nil, errClosed
	}
}

var errClosed = errors.New("the client was closed")

func resultIn(m mcp.Message) (json.RawMessage, error) {
	if m.Error != nil {
		return nil, mcp.ParseError(m.Error)
	}
	return m.Result, nil
}

func (p *pipe) notify(ctx context.Context, method string) error {
	return p.post(ctx, mcp.AppendNotification(nil, method, nil))
}

func (p *pipe) agree(string) {}

// Close is called once.
func (p *pipe) Close() error {
	close(p.closed)
	return p.out.Close()
}
