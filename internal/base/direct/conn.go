package direct

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"syscall"
	"time"
)

// conn is one connection. One request uses it at a time.
type conn struct {
	net.Conn
	raw   syscall.RawConn
	in    *bufio.Reader // reads from the conn itself, which counts
	left  int64         // how much may still be read
	of    *Transport
	host  *host
	since time.Time // not used since then; zero: it is new
	out   outgoing
}

func newConn(t *Transport, h *host, tcp net.Conn) (*conn, error) {
	c := &conn{Conn: tcp, of: t, host: h}
	c.in = bufio.NewReaderSize(c, max(t.ReadBufferSize, 1<<10))
	s, ok := tcp.(syscall.Conn)
	if !ok {
		tcp.Close()
		return nil, fmt.Errorf("dial %s: not a connection of the system", h.address)
	}
	var err error
	if c.raw, err = s.SyscallConn(); err != nil {
		tcp.Close()
	}
	return c, err
}

var errHead = errors.New("the head of its answer is too long")

// Read reads from the connection, up to the limit.
func (c *conn) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, errHead
	}
	n, err := c.Conn.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	return n, err
}

// longAgo is a deadline that ends what a connection does.
var longAgo = time.Unix(1, 0)

// exchange sends a message and reads the answer, whose body gives the connection back. Unsent tells that not a byte of the
// message was taken.
func (c *conn) exchange(req *http.Request, message []byte) (resp *http.Response, unsent bool, err error) {
	ctx := req.Context()
	stop := context.AfterFunc(ctx, func() { c.SetDeadline(longAgo) })
	n, err := c.send(message)
	if err == nil {
		resp, err = c.answer(req)
	}
	if err != nil {
		stop()
		c.Close()
		if ctx.Err() != nil {
			return nil, false, ctx.Err()
		}
		return nil, n == 0, err
	}
	b := &body{inner: resp.Body, conn: c, ctx: ctx, stop: stop, keep: !resp.Close && resp.ProtoAtLeast(1, 1)}
	if resp.Body == http.NoBody {
		b.end(true)
		return resp, false, nil
	}
	resp.Body = b
	return resp, false, nil
}

// answer reads the head of the answer.
func (c *conn) answer(req *http.Request) (*http.Response, error) {
	c.left = c.of.MaxResponseHeaderBytes
	if _, err := c.in.Peek(1); err != nil {
		return nil, err // io.EOF if nothing came; later it would be unexpected
	}
	for range 5 {
		resp, err := http.ReadResponse(c.in, req)
		if err != nil {
			return nil, err
		}
		if resp.StatusCode == http.StatusSwitchingProtocols {
			return nil, errors.New("it switches to another protocol")
		}
		if resp.StatusCode >= 200 {
			c.left = math.MaxInt64
			return resp, nil
		}
	}
	return nil, errors.New("it does not come to its answer")
}

// body is the body of an answer.
type body struct {
	inner io.Reader
	conn  *conn // nil once the body has ended
	ctx   context.Context
	stop  func() bool // ends waiting for ctx; false: it has ended
	keep  bool        // the connection can be used again
	err   error       // with which it ended
}

func (b *body) Read(p []byte) (int, error) {
	if b.conn == nil {
		return 0, b.err
	}
	n, err := b.inner.Read(p)
	if err != nil {
		if err != io.EOF && b.ctx.Err() != nil {
			err = b.ctx.Err()
		}
		b.err = err
		b.end(err == io.EOF)
	}
	return n, err
}

// Close closes the connection, too, unless everything was read.
func (b *body) Close() error {
	if b.conn != nil {
		b.err = http.ErrBodyReadAfterClose
		b.end(false)
	}
	return nil
}

// end gives the connection back if all is read and nothing else came, or closes it.
func (b *body) end(all bool) {
	c := b.conn
	b.conn = nil
	if !b.stop() || !all || !b.keep || c.in.Buffered() > 0 {
		c.Close()
		return
	}
	c.of.keep(c)
}
