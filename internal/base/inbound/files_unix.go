//go:build unix

package inbound

import "syscall"

// openFiles returns how many files this process may have open; 0: not known.
func openFiles() int {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return 0
	}
	return int(min(uint64(limit.Cur), 1<<20))
}
