package inbound

import (
	"net"
	"net/http"
	"sync"
)

// maxHeld is what the HTTP server's buffer takes: of a longer answer it writes so much first, and then the rest.
const maxHeld = 4 << 10

var heldBytes = sync.Pool{New: func() any {
	b := make([]byte, 0, maxHeld)
	return &b
}}

// Hold lets the connection of a request send both writes of a long answer at once. Release must follow the last one. Nil, which
// may be released as well: the request came in another way.
func Hold(r *http.Request) *Conn {
	c := connOf(r)
	if c != nil {
		c.held = heldBytes.Get().(*[]byte)
	}
	return c
}

// Release sends what is still held. A client that has gone is noticed by the next write.
func (c *Conn) Release() {
	if c == nil {
		return
	}
	held := c.held
	c.held = nil
	if len(*held) > 0 {
		c.TCPConn.Write(*held)
	}
	*held = (*held)[:0]
	heldBytes.Put(held)
}

// Write writes to the connection, after what is held.
func (c *Conn) Write(p []byte) (int, error) {
	switch {
	case c.held == nil:
		return c.TCPConn.Write(p)
	case len(*c.held)+len(p) <= maxHeld:
		*c.held = append(*c.held, p...)
		return len(p), nil
	}
	before := len(*c.held)
	c.pieces = [2][]byte{*c.held, p}
	c.queue = c.pieces[:]
	n, err := c.queue.WriteTo(c.TCPConn)
	c.pieces = [2][]byte{}
	*c.held = (*c.held)[:0]
	return max(0, int(n)-before), err
}

// holding is of a connection that holds back what is written. It is part of it to avoid allocations.
type holding struct {
	held   *[]byte // nil: nothing is held back
	pieces [2][]byte
	queue  net.Buffers // of pieces
}
