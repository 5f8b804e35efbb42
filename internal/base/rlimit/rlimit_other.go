//go:build !linux

package rlimit

import (
	"errors"
	"os/exec"
	"time"
)

// Memory refuses.
func Memory(int64) error { return errors.ErrUnsupported }

// CPU refuses.
func CPU(time.Duration) error { return errors.ErrUnsupported }

// Files refuses.
func Files() error { return errors.ErrUnsupported }

// Killed is always false.
func Killed(*exec.ExitError) bool { return false }

// EndWithParent does nothing: the child sees that its input ends.
func EndWithParent(*exec.Cmd) {}
