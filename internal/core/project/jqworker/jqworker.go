// Package jqworker runs jq programs that a model wrote, each in a child process with limits
// on memory and on the processor's time, an empty environment and a cap on its output: a
// deadline inside one process would not hold, because one step of a program may take
// seconds and gigabytes. It never runs more than a few at a time.
//
// The child is the gateway's own program, started with the word jq-worker, whose main
// function calls Main:
//
//	runner := jqworker.New("/usr/bin/toolfit", nil)
//	out, err := runner.Run(ctx, who.ID, ".items | length", value)
package jqworker

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rlimit"
	"github.com/toolfit/toolfit/internal/base/share"
	"github.com/toolfit/toolfit/internal/core/project"
)

// Argument is the command-line argument that starts a worker.
const Argument = "jq-worker"

// Options limit a Runner. The zero value is usable.
type Options struct {
	Memory   int64         // bytes that a child may take beyond its start; 0: 256 MiB
	Input    int           // bytes of a value; 0: 8 MiB
	Output   int           // bytes; 0: 1 MiB
	Time     time.Duration // that a child may work beyond its start, in whole seconds; 0: 2 s
	Children int           // at a time, shared fairly among callers; 0: 3
}

// patience is the ratio of wall time to CPU time that a child may take: the machine may be busy.
const patience = 5

// Runner starts children. It is safe for concurrent use.
type Runner struct {
	exe  string
	opts Options
	room *share.Room // by caller
}

// New returns a Runner that starts the program at the path exe; nil options mean the defaults.
func New(exe string, opts *Options) *Runner {
	r := &Runner{exe: exe}
	if opts != nil {
		r.opts = *opts
	}
	r.opts.Memory = cmp.Or(r.opts.Memory, 256<<20)
	r.opts.Input = cmp.Or(r.opts.Input, 8<<20)
	r.opts.Output = cmp.Or(r.opts.Output, 1<<20)
	r.opts.Time = cmp.Or(r.opts.Time, 2*time.Second)
	r.opts.Children = cmp.Or(r.opts.Children, 3)
	r.room = share.New(r.opts.Children)
	return r
}

// head is the first line of a child's input; the value follows.
type head struct {
	Program string        `json:"program"`
	Memory  int64         `json:"memory"`
	Time    time.Duration `json:"time"`
}

// Run is the output of a caller's program for a JSON value. Errors are faults that a model can read
// and act on.
func (r *Runner) Run(ctx context.Context, who, program string, value []byte) ([]byte, error) {
	if _, err := project.CompileJQ(program); err != nil {
		return nil, err // before a process is started for it
	}
	if len(value) > r.opts.Input {
		return nil, fault.New(fault.TooLarge, "the value has %d bytes; jq reads at most %d", len(value), r.opts.Input).
			WithHint("use fields, offset and limit instead")
	}
	if r.room.Wait(ctx, who) != nil {
		return nil, fault.New(fault.Canceled, "the jq program waited for its turn until the call ended")
	}
	defer r.room.Leave(who)
	ctx, cancel := context.WithTimeout(ctx, patience*r.opts.Time)
	defer cancel()
	return r.child(ctx, program, value)
}

func (r *Runner) child(ctx context.Context, program string, value []byte) ([]byte, error) {
	first, err := json.Marshal(head{Program: program, Memory: r.opts.Memory, Time: r.opts.Time})
	if err != nil {
		return nil, fmt.Errorf("start jq: %w", err)
	}
	out := &capped{room: r.opts.Output}
	cmd := exec.CommandContext(ctx, r.exe, Argument)
	cmd.Env = []string{"GOMAXPROCS=1", "GOTRACEBACK=none"} // inherits nothing
	cmd.Dir = "/"
	cmd.Stdin = io.MultiReader(bytes.NewReader(first), strings.NewReader("\n"), bytes.NewReader(value))
	cmd.Stdout = out
	cmd.WaitDelay = time.Second
	rlimit.EndWithParent(cmd)
	err = cmd.Run()
	switch exit := (*exec.ExitError)(nil); {
	case errors.Is(context.Cause(ctx), context.Canceled):
		return nil, fault.New(fault.Canceled, "jq was canceled")
	case out.full:
		return nil, fault.New(fault.TooLarge, "the jq program's output is larger than %d bytes", r.opts.Output)
	case err == nil:
		return out.taken, nil
	case ctx.Err() != nil || errors.As(err, &exit) && rlimit.Killed(exit):
		return nil, fault.New(fault.TooLarge, "the jq program ran longer than %s", r.opts.Time)
	case errors.As(err, &exit) && exit.ExitCode() == exitProgram:
		return nil, fault.New(fault.BadRequest, "%s", out.taken)
	case errors.As(err, &exit):
		return nil, fault.New(fault.TooLarge, "the jq program took more than %d MiB", r.opts.Memory>>20)
	}
	return nil, fmt.Errorf("start jq: %w", err)
}

// capped accepts a limited number of bytes.
type capped struct {
	taken []byte
	room  int
	full  bool
}

func (c *capped) Write(p []byte) (int, error) {
	if len(p) > c.room-len(c.taken) {
		c.full = true
		return 0, errors.New("the output is too large")
	}
	c.taken = append(c.taken, p...)
	return len(p), nil
}
