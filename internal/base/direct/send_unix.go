//go:build unix

package direct

import (
	"errors"
	"syscall"
)

// canCheck tells whether this system says if a connection still lives.
const canCheck = true

var errDead = errors.New("the server has closed the connection, or sent what nobody asked for")

// outgoing is a message on its way out, and what became of it. It is part of its connection to avoid allocations.
type outgoing struct {
	turn    func(fd uintptr) bool
	message []byte
	sent    bool
	n       int
	err     error
}

// send sends a message and waits until something is answered. It is one act of reading, with the message in between: its first
// read tells whether the connection still lives, and need not be repeated in order to wait.
func (c *conn) send(message []byte) (n int, err error) {
	c.out = outgoing{turn: c.out.turn, message: message}
	if c.out.turn == nil {
		c.out.turn = c.turn
	}
	err = c.raw.Read(c.out.turn)
	c.out.message = nil
	if c.out.err != nil {
		err = c.out.err
	}
	return c.out.n, err
}

// turn sends the message and is called again when something has come. A connection that was used before must be open, and silent.
func (c *conn) turn(fd uintptr) (done bool) {
	if c.out.sent {
		return true
	}
	if !c.since.IsZero() {
		var one [1]byte
		if n, err := syscall.Read(int(fd), one[:]); n >= 0 || err != syscall.EAGAIN {
			c.out.err = errDead
			return true
		}
	}
	c.out.sent = true
	c.out.n, c.out.err = c.Write(c.out.message)
	return c.out.err != nil
}
