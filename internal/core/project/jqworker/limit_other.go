//go:build !linux

package jqworker

import (
	"errors"
	"os/exec"
	"time"
)

// limitMemory refuses: without a limit that holds, a program could take all there is.
func limitMemory(int64) error {
	return errors.New("jq programs of callers run on Linux only; use fields instead")
}

func limitTime(time.Duration) error { return nil }

func workedTooLong(*exec.ExitError) bool { return false }

func isolate(*exec.Cmd) {}
