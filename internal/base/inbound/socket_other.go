//go:build !linux && !darwin

package inbound

import "net"

// CanTellSocket says whether this system can tell the user at the other end of a Unix socket.
// Where it cannot, the folder of the socket must keep others out.
const CanTellSocket = false

func socketPeer(*net.UnixConn) User { return Unknown }
