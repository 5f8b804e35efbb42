//go:build unix

package access

import (
	"io/fs"
	"os"
	"syscall"
)

// exposed returns why a file is not safe for a secret; "" when it is.
func exposed(info fs.FileInfo) string {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && int(stat.Uid) != os.Geteuid() {
		return "belongs to another user"
	}
	if info.Mode().Perm()&0o077 != 0 {
		return "can be read by other users"
	}
	return ""
}
