package mcp

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"time"
)

// answerNow answers on a connection that it takes from the HTTP server, because that ends an answer only when the
// handler has returned, and ends the handler's context when the client closes its connection.
func (r *reply) answerNow(result json.RawMessage) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.finished || r.lost() || !r.takeConn() {
		return false
	}
	if r.lost() || !r.leave() { // until now the client could leave; what finish writes goes to the taken connection
		return false
	}
	r.answer(result, nil, false)
	return true
}

// lost tells whether the client has gone and cannot come back for the answer, as it can for the rest of a stored stream.
func (r *reply) lost() bool {
	return r.asked.Context().Err() != nil && r.stored == nil
}

// takeConn takes the connection from the HTTP server; false if that does not give it away.
func (r *reply) takeConn() bool {
	c := take(r.w.ResponseWriter, r.asked, r.streaming, r.streaming && !r.broken)
	if c == nil {
		return false
	}
	r.w.ResponseWriter = c
	return true
}

// take takes the connection of a request from the HTTP server; nil if that does not give it away. Began says that the header
// has been written, whole that all that was written since has been sent.
func take(w http.ResponseWriter, r *http.Request, began, whole bool) *takenConn {
	conn, buf, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return nil
	}
	c := &takenConn{conn: conn, out: buf.Writer, header: w.Header(), began: began}
	c.chunked = whole && r.ProtoAtLeast(1, 1)
	if c.chunked && !r.Close && c.header.Get("Connection") == "" && buf.Reader.Buffered() == 0 {
		c.server, _ = r.Context().Value(http.ServerContextKey).(*http.Server)
	}
	*buf.Reader = bufio.Reader{} // the server holds it until the handler returns: without its buffer
	return c
}

// takenConn is a ResponseWriter on a connection that was taken from the HTTP server. The end of the answer closes it,
// unless the answer is a stream whose client was not told so: its next request would be lost.
type takenConn struct {
	conn    net.Conn
	out     *bufio.Writer // see buffer
	header  http.Header
	began   bool         // the header is written
	chunked bool         // the server has begun the answer in chunks
	server  *http.Server // what serves the client's next request; nil: the connection is closed
}

func (c *takenConn) Header() http.Header { return c.header }

// WriteHeader writes the header. Without a length the answer ends with the connection.
func (c *takenConn) WriteHeader(status int) {
	if c.began {
		return
	}
	c.began = true
	c.header.Set("Connection", "close")
	c.header.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	out := c.buffer()
	fmt.Fprintf(out, "HTTP/1.1 %d %s\r\n", status, http.StatusText(status))
	c.header.Write(out)
	out.WriteString("\r\n")
}

func (c *takenConn) Write(b []byte) (int, error) {
	c.WriteHeader(http.StatusOK)
	out := c.buffer()
	if !c.chunked || len(b) == 0 {
		return out.Write(b)
	}
	fmt.Fprintf(out, "%x\r\n", len(b))
	n, _ := out.Write(b)
	_, err := out.WriteString("\r\n")
	return n, err
}

// buffer is for what has not been sent off.
func (c *takenConn) buffer() *bufio.Writer {
	if c.out == nil {
		c.out = bufio.NewWriter(c.conn)
	}
	return c.out
}

// SetWriteDeadline limits how long the client may take to read.
func (c *takenConn) SetWriteDeadline(at time.Time) error { return c.conn.SetWriteDeadline(at) }

// FlushError sends off what has been written. A stream mostly waits, without a buffer.
func (c *takenConn) FlushError() error {
	err := c.buffer().Flush()
	c.out = nil
	return err
}

// end sends off the end of the answer and lets go of the connection. A client that has gone needs neither.
func (c *takenConn) end(until time.Time) {
	c.SetWriteDeadline(until)
	if c.chunked {
		c.buffer().WriteString("0\r\n\r\n")
	}
	err := c.FlushError()
	back := onceListener{conn: c.conn}
	if c.server != nil && err == nil {
		c.SetWriteDeadline(time.Time{})
		c.server.Serve(&back) // takes it and returns, or is shutting down
	}
	if !back.accepted {
		c.conn.Close()
	}
	*c = takenConn{}
}

// maxUnasked is how many bytes a client may send while it listens: requests that are lost.
const maxUnasked = 1 << 20

// watch reads what a client should not send, and closes gone when it closes its connection or sends too much. Stop ends the watching.
func (c *takenConn) watch() (gone <-chan struct{}, stop func()) {
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		var unasked [64]byte
		for left := maxUnasked; left > 0; {
			n, err := c.conn.Read(unasked[:])
			if err != nil {
				return
			}
			left -= n
			c.server = nil // what it asks next is lost: it asks again on another connection
		}
	}()
	return closed, func() {
		c.conn.SetReadDeadline(time.Unix(1, 0))
		<-closed
		c.conn.SetReadDeadline(time.Time{})
	}
}

// onceListener accepts one connection, once.
type onceListener struct {
	conn     net.Conn
	accepted bool
}

// Accept returns the connection the first time.
func (l *onceListener) Accept() (net.Conn, error) {
	if l.accepted {
		return nil, net.ErrClosed
	}
	l.accepted = true
	return l.conn, nil
}

// Close does nothing: what was accepted belongs to the server.
func (l *onceListener) Close() error { return nil }

// Addr is our end of the connection.
func (l *onceListener) Addr() net.Addr { return l.conn.LocalAddr() }
