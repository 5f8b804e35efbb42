//go:build !unix

package direct

// canCheck tells whether this system says if a connection still lives.
const canCheck = false

type outgoing struct{}

func (c *conn) send(message []byte) (n int, err error) { return c.Write(message) }
