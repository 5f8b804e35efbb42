//go:build unix

package keeper

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Program is a running program and everything it started.
type Program struct {
	keeper *exec.Cmd
	hold   *os.File // the keeper ends everything when this is closed
	report *os.File // how the program ended
	once   sync.Once
	late   *time.Timer // ends a keeper that hangs
}

// Start starts the program of cmd, whose extra files are not used, and whose system attributes are
// the keeper's. The temporary folder, unless it is "", is removed when everything has ended.
func Start(cmd *exec.Cmd, temporary string) (*Program, error) {
	path, err := filepath.Abs(cmd.Path)
	if err != nil {
		return nil, err
	}
	held, hold, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	report, reported, err := os.Pipe()
	if err != nil {
		held.Close()
		hold.Close()
		return nil, err
	}
	cmd.Args = append([]string{keeperName, temporary, path}, cmd.Args[1:]...)
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true // keeps signals of the terminal away
	cmd.ExtraFiles = []*os.File{held, reported}
	if cmd.Path, err = executable(); err == nil {
		err = cmd.Start()
	}
	held.Close()
	reported.Close()
	if err != nil {
		hold.Close()
		report.Close()
		return nil, err
	}
	return &Program{keeper: cmd, hold: hold, report: report}, nil
}

// apart keeps signals of the terminal away from a process.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// Terminate asks the program and its process group to end.
func (p *Program) Terminate() { p.keeper.Process.Signal(syscall.SIGTERM) }

// Kill ends the program and everything it started. Wait returns soon after.
func (p *Program) Kill() {
	p.once.Do(func() {
		p.hold.Close()
		p.late = time.AfterFunc(2*killTimeout, func() { p.keeper.Process.Kill() })
	})
}

// Wait waits until the program and everything it started has ended, and returns how the program
// ended: nil, a *StartError or an error like that of exec.Cmd.
func (p *Program) Wait() error {
	err := p.keeper.Wait()
	p.Kill()
	p.late.Stop()
	said, readErr := io.ReadAll(p.report) // only the keeper had the other end
	p.report.Close()
	kind, reason, complete := strings.Cut(string(said), " ")
	switch {
	case err != nil || readErr != nil || !complete: // the keeper was killed
		return errors.Join(err, readErr)
	case kind == reportFailed:
		return &StartError{reason}
	case reason != "":
		return errors.New(reason)
	}
	return nil
}
