//go:build unix

package inbound

import (
	"errors"
	"syscall"
)

// isStale reports whether a connection failed because the socket has no listener.
func isStale(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }
