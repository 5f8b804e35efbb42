//go:build !linux && !darwin

package inbound

import "net"

// CanIdentifySocket says whether this system can identify the user at the other end of a Unix socket.
// If not, the folder of the socket must keep others out.
const CanIdentifySocket = false

func socketPeer(*net.UnixConn) User { return Unknown }
