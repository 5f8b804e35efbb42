package env

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"

	"github.com/toolfit/toolfit/internal/base/procgroup"
)

// Start runs a server and talks to it over its standard input and output, which must not be set.
// Close gives it three seconds to exit, then kills it with its children, unless the command has a
// SysProcAttr of its own.
func Start(ctx context.Context, cmd *exec.Cmd) (*Client, error) {
	p, out, err := startProcess(cmd)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	c, err := NewClient(ctx, out, p)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.Path, p.why(err))
	}
	return c, nil
}

// process is the input of a started server; closing it ends the server.
type process struct {
	io.WriteCloser
	cmd *exec.Cmd
}

func startProcess(cmd *exec.Cmd) (*process, io.Reader, error) {
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if cmd.SysProcAttr == nil {
		procgroup.Own(cmd)
	}
	if cmd.WaitDelay == 0 { // another process may have inherited its standard error
		cmd.WaitDelay = leaveWithin
	}
	return &process{in, cmd}, out, cmd.Start()
}

const leaveWithin = 3 * time.Second

func (p *process) Close() error {
	p.WriteCloser.Close()
	kill := time.AfterFunc(leaveWithin, p.kill)
	defer kill.Stop()
	err := p.cmd.Wait()
	p.kill() // what it started may still be there
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		return fmt.Errorf("end %s: %w", p.cmd.Path, err)
	}
	return nil
}

func (p *process) kill() {
	procgroup.Kill(p.cmd)
	p.cmd.Process.Kill() // which the group may not have in it
}

// why adds the exit status to an error.
func (p *process) why(err error) error {
	if errors.Is(err, errEnded) && p.cmd.ProcessState != nil {
		return fmt.Errorf("%w: %v", err, p.cmd.ProcessState)
	}
	return err
}
