package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/toolfit/toolfit/internal/bench/proc"
)

// process is a program that runs.
type process struct {
	cmd     *exec.Cmd
	began   time.Time
	said    *tail
	stdin   io.WriteCloser
	stdout  io.Reader
	done    chan struct{}
	endOnce sync.Once
}

// tail keeps the last of what a program says.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	t.text = bytes.Clone(t.text[max(0, len(t.text)-4000):])
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(bytes.TrimSpace(t.text))
}

// start runs a program in a folder that is its home, in a process group of its own.
func (l *lab) start(ctx context.Context, dir string, env, command []string, piped bool) (*process, error) {
	p := &process{cmd: exec.Command(command[0], command[1:]...), said: &tail{}, done: make(chan struct{})}
	p.cmd.Dir = dir
	p.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "XDG_CONFIG_HOME=" + dir, "XDG_STATE_HOME=" + dir,
		"XDG_DATA_HOME=" + dir, "XDG_CACHE_HOME=" + dir, "NODE_ENV=production"}, env...)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.cmd.WaitDelay = time.Second
	p.cmd.Stderr = p.said
	var err error
	if piped {
		p.stdin, err = p.cmd.StdinPipe()
		if err == nil {
			p.stdout, err = p.cmd.StdoutPipe()
		}
	} else {
		p.cmd.Stdout = p.said
	}
	p.began = time.Now()
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", command[0], err)
	}
	go func() {
		p.cmd.Wait() // how it ended does not matter
		close(p.done)
	}()
	l.mu.Lock()
	l.running = append(l.running, p)
	l.mu.Unlock()
	context.AfterFunc(ctx, p.end)
	return p, nil
}

// end asks the program to end, and after a while makes it, with all that it has started.
func (p *process) end() {
	p.endOnce.Do(func() {
		family := proc.Descendants(p.cmd.Process.Pid)
		p.cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-p.done:
		case <-time.After(5 * time.Second):
		}
		syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // its group, which nobody else is in
		for _, pid := range family {
			if parent, err := syscall.Getpgid(pid); err == nil && parent == pid {
				syscall.Kill(-pid, syscall.SIGKILL) // a child that made a group of its own
			}
		}
		<-p.done
	})
}
