package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// lineConn is a client on a pair of pipes: one message a line.
type lineConn struct {
	lines *Lines

	mu  sync.Mutex // guards out
	out io.Writer
}

// newLineConn reads lines of at most maxLine bytes; 0: 4 MiB.
func newLineConn(in io.Reader, out io.Writer, maxLine int) *lineConn {
	if maxLine <= 0 {
		maxLine = 4 << 20
	}
	return &lineConn{lines: NewLines(in, maxLine), out: out}
}

// leaveWithin is how long a client may take to read the last answers at shutdown.
const leaveWithin = 2 * time.Second

// within runs serve, and only briefly once ctx has ended: a write to a client that does not read cannot be interrupted.
func within(ctx context.Context, serve func() error) error {
	ended := make(chan error, 1)
	go func() { ended <- serve() }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	timer := time.NewTimer(leaveWithin)
	defer timer.Stop()
	select {
	case err := <-ended:
		return err
	case <-timer.C:
		return errors.New("the client does not read what it is sent")
	}
}

// read takes messages until the input or ctx ends. A reader blocked on a terminal cannot be interrupted, so it runs in its own goroutine.
func (c *lineConn) read(ctx context.Context, take func(m Message, line []byte)) error {
	type next struct {
		line []byte
		err  error
	}
	incoming := make(chan next)
	go func() {
		for {
			line, err := c.lines.Next()
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
				c.refuseLong(long)
			case errors.Is(n.err, io.EOF):
				return nil
			case n.err != nil:
				return fmt.Errorf("read standard input: %w", n.err)
			default:
				c.split(n.line, take)
			}
		}
	}
}

func (c *lineConn) split(line []byte, take func(m Message, line []byte)) {
	if isBatch(line) {
		c.write(AppendError(nil, nil, Errorf(CodeInvalidRequest, "batches are not served here: send one message at a time")))
		return
	}
	m, err := Parse(line)
	if err != nil {
		c.write(AppendError(nil, nil, err))
		return
	}
	take(m, line)
}

// refuseLong answers a message that was too long to read, under its own id if that is known.
func (c *lineConn) refuseLong(long *LongLineError) {
	id, isRequest := long.ID()
	if !isRequest {
		id = nil
	}
	c.write(AppendError(nil, id, Errorf(CodeInvalidRequest, "%v", long)))
}

func (c *lineConn) write(message []byte) error {
	message = append(rawjson.OneLine(message), '\n')
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := c.out.Write(message)
	return err
}
