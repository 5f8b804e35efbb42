//go:build unix

package regular

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// lockWithin is how long to wait for another process.
const lockWithin = 2 * time.Second

// LockFolder locks the folder for other processes until unlock, or until this process ends.
func LockFolder(dir string) (unlock func(), err error) {
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
