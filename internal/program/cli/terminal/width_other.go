//go:build !linux && !darwin && !windows

package terminal

import "os"

// Width is unknown on this system.
func Width(*os.File) int { return 0 }

// Hide does nothing on this system: what is typed is shown.
func Hide(*os.File) (restore func()) { return func() {} }
