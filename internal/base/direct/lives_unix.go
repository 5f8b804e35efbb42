//go:build unix

package direct

import "syscall"

// canCheck tells whether this system says if a connection still lives.
const canCheck = true

// lives tells whether the server has neither closed the connection nor sent anything that nobody asked for.
func (c *conn) lives() bool {
	live := false
	err := c.raw.Read(func(fd uintptr) bool {
		var one [1]byte
		n, err := syscall.Read(int(fd), one[:])
		live = n < 0 && err == syscall.EAGAIN
		return true
	})
	return err == nil && live
}
