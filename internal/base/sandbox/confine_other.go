//go:build !linux || !(amd64 || arm64)

package sandbox

import (
	"errors"
	"os/exec"
	"runtime"
)

// Way says why rules cannot be enforced here.
func Way(bool) (string, error) {
	return "", errors.New("there is no sandbox on " + runtime.GOOS + "/" + runtime.GOARCH + ": it needs Landlock, on Linux with amd64 or arm64")
}

// Confine refuses.
func (r *Rules) Confine(*exec.Cmd, string) error {
	_, err := Way(r.Net)
	return err
}
