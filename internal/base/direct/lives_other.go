//go:build !unix

package direct

// canCheck tells whether this system says if a connection still lives.
const canCheck = false

func (c *conn) lives() bool { return false }
