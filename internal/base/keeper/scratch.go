package keeper

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

// sweeperName is the name under which the executable waits to remove a folder.
const sweeperName = "toolfit-sweeper"

func init() {
	if len(os.Args) == 2 && os.Args[0] == sweeperName {
		sweep(os.Args[1])
		os.Exit(0)
	}
}

// Scratch makes a temporary folder for this user alone. It is removed by the function that is
// returned, or soon after this process has ended, in whatever way: a second process waits for
// that.
func Scratch(pattern string) (dir string, remove func(), err error) {
	if dir, err = os.MkdirTemp("", pattern); err != nil {
		return "", nil, err
	}
	sweeper, held, err := startSweeper(dir)
	if err != nil {
		os.RemoveAll(dir)
		return "", nil, fmt.Errorf("watch over %s: %w", dir, err)
	}
	return dir, func() {
		os.RemoveAll(dir)
		sweeper.Process.Kill()
		sweeper.Wait()
		held.Close()
	}, nil
}

func startSweeper(dir string) (*exec.Cmd, io.Closer, error) {
	path, err := executable()
	if err != nil {
		return nil, nil, err
	}
	cmd := exec.Command(path)
	cmd.Args, cmd.Dir, cmd.SysProcAttr = []string{sweeperName, dir}, filepath.Dir(dir), apart()
	held, err := cmd.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	return cmd, held, cmd.Start()
}

// sweep removes the folder once the process that holds our input has ended. What that has
// started may live on for a moment and write: the folder itself, which nobody else can look
// into, stays until then.
func sweep(dir string) {
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	io.Copy(io.Discard, os.Stdin)
	for end := time.Now().Add(2 * patience); time.Now().Before(end); time.Sleep(patience / 20) {
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			os.RemoveAll(filepath.Join(dir, e.Name()))
		}
	}
	os.RemoveAll(dir)
}
