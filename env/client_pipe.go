package env

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"sync"
	"time"

	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/rawjson"
)

// Start runs a server and talks to it by its standard input and output. The command must not
// have them set. Close ends it: it has three seconds to leave by itself.
func Start(ctx context.Context, cmd *exec.Cmd) (*Client, error) {
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	c, err := NewClient(ctx, out, &process{in, cmd})
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	return c, nil
}

// process is the input of a server that was started; to close it is to end the server.
type process struct {
	io.WriteCloser
	cmd *exec.Cmd
}

const leaveWithin = 3 * time.Second

func (p *process) Close() error {
	p.WriteCloser.Close()
	kill := time.AfterFunc(leaveWithin, func() { p.cmd.Process.Kill() })
	defer kill.Stop()
	var exit *exec.ExitError
	if err := p.cmd.Wait(); err != nil && !errors.As(err, &exit) {
		return fmt.Errorf("end %s: %w", p.cmd.Path, err)
	}
	return nil
}

// NewClient talks to a server by a pair of pipes: it reads what the server writes from in,
// and writes to out. Close closes out.
func NewClient(ctx context.Context, in io.Reader, out io.WriteCloser) (*Client, error) {
	p := &pipe{out: out, waiting: map[string]chan mcp.Message{}, gone: make(chan struct{})}
	go p.read(in)
	g, err := greet(ctx, p)
	if err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return newClient(g), nil
}

// pipe is a server at the other end of two pipes.
type pipe struct {
	writing sync.Mutex // of its own: a server that waits for us to read must not keep us from it
	out     io.WriteCloser

	mu      sync.Mutex
	last    int64
	waiting map[string]chan mcp.Message // by the request's id
	gone    chan struct{}               // closed when the server writes no more
}

// maxAnswer bounds one message of a server.
const maxAnswer = 64 << 20

func (p *pipe) read(in io.Reader) {
	defer close(p.gone)
	lines := mcp.NewLines(in, maxAnswer)
	for {
		line, err := lines.Next()
		var long *mcp.LongLineError
		switch {
		case errors.As(err, &long):
			id, _ := long.ID()
			p.answered(mcp.Message{ID: id, Error: json.RawMessage(`{"code":-32603,"message":"the answer is too large"}`)})
			continue
		case err != nil:
			return
		}
		m, err := mcp.Parse(line)
		switch {
		case err != nil: // what a server prints beside the protocol
		case m.IsResponse():
			p.answered(m)
		case m.IsRequest():
			go p.write(answerTo(m))
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

func (p *pipe) write(message []byte) error {
	p.writing.Lock()
	defer p.writing.Unlock()
	_, err := p.out.Write(append(rawjson.OneLine(message), '\n'))
	return err
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
	if err := p.write(mcp.AppendRequest(nil, id, method, params)); err != nil {
		return nil, err
	}
	select {
	case m := <-answer:
		return resultIn(m)
	case <-ctx.Done():
		p.write(mcp.AppendNotification(nil, "notifications/cancelled", []byte(`{"requestId":`+key+`}`)))
		return nil, ctx.Err()
	case <-p.gone:
		return nil, errors.New("the server has ended")
	}
}

// resultIn is what an answer says.
func resultIn(m mcp.Message) (json.RawMessage, error) {
	if m.Error != nil {
		return nil, mcp.ParseError(m.Error)
	}
	return m.Result, nil
}

func (p *pipe) notify(_ context.Context, method string) error {
	return p.write(mcp.AppendNotification(nil, method, nil))
}

func (p *pipe) agree(string) {}

func (p *pipe) Close() error { return p.out.Close() }
