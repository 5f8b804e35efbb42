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

// sweeperName is argv[0] of a process that waits to remove a folder.
const sweeperName = "toolfit-sweeper"

func init() {
	if len(os.Args) == 2 && os.Args[0] == sweeperName {
		sweep(os.Args[1])
		os.Exit(0)
	}
}

// Scratch makes a temporary folder that only this user can use. It is removed by the returned
// function, or by a second process soon after this one has ended in any way.
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
	cmd.Args = []string{sweeperName, dir}
	cmd.Dir = filepath.Dir(dir)
	cmd.SysProcAttr = apart()
	held, err := cmd.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	return cmd, held, cmd.Start()
}

// sweep removes the folder once the process that holds our stdin has ended. What that process
// started may live on for a moment and write, so the folder itself stays until then.
func sweep(dir string) {
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	io.Copy(io.Discard, os.Stdin)
	for end := time.Now().Add(2 * killTimeout); time.Now().Before(end); time.Sleep(killTimeout / 20) {
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			os.RemoveAll(filepath.Join(dir, e.Name()))
		}
	}
	os.RemoveAll(dir)
}
