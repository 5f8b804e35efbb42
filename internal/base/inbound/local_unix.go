//go:build unix

package inbound

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// lockWithin is how long to wait for another process that starts.
const lockWithin = 2 * time.Second

// lockFolder locks the folder for other processes until unlock.
func lockFolder(dir string) (unlock func(), err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	for until := time.Now().Add(lockWithin); ; time.Sleep(10 * time.Millisecond) {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { f.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) || time.Now().After(until) {
			f.Close()
			return nil, fmt.Errorf("lock %s: %w", dir, err)
		}
	}
}

// isStale reports whether a connection failed because the socket has no listener.
func isStale(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }
