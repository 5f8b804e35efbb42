//go:build linux || darwin

package inbound

import (
	"net"
	"os"
)

// CanIdentifySocket says whether this system can identify the user at the other end of a Unix socket.
const CanIdentifySocket = true

// socketPeer returns which user is at the other end of a Unix socket.
func socketPeer(c *net.UnixConn) User {
	raw, err := c.SyscallConn()
	if err != nil {
		return OtherUser
	}
	user := OtherUser
	raw.Control(func(fd uintptr) { // fails for a closed socket
		if uid, err := peerUID(int(fd)); err == nil && int(uid) == os.Geteuid() {
			user = SameUser
		}
	})
	return user
}
