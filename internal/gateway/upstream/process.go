package upstream

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/keeper"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/state/config"
)

// process is a server that we started, with messages over its standard input and output.
type process struct {
	*link
	program *keeper.Program
	stdin   io.WriteCloser
	tail    *tail
	exited  chan struct{} // closed when the process and its output are gone

	cfg      config.Server
	path     string      // of its program
	env      []string    // its environment
	withheld []string    // variables of ours that it did not get
	listed   func() bool // whether the server has listed its tools before
}

// grace is how long a process may take to exit after its input is closed, and again after it is asked to.
const grace = 2 * time.Second

// startProcess starts the server's command.
func startProcess(cfg config.Server, limit int, tail *tail, listed func() bool, h hooks) (_ *process, err error) {
	path, err := cfg.Program()
	if err != nil {
		return nil, fault.New(fault.UpstreamDown, "server %s cannot be started: command \"%s\" does not exist", cfg.ID, cfg.Command).
			WithHint("%s", cfg.CommandHint())
	}
	if info, err := os.Stat(cfg.Cwd); cfg.Cwd != "" && (err != nil || !info.IsDir()) {
		return nil, fault.New(fault.UpstreamDown, "server %s cannot be started: folder %s does not exist", cfg.ID, cfg.Cwd).
			WithHint("create it, or correct the cwd of %s", cfg.ID)
	}
	cmd := exec.Command(path, cfg.Args...)
	p := &process{tail: tail, exited: make(chan struct{}), cfg: cfg, path: path, listed: listed}
	cmd.Dir = cfg.Cwd
	p.env, p.withheld = environment(cfg)
	cmd.Env = p.env
	temporary, err := confine(cfg, cmd)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil { // no keeper removes it
			os.RemoveAll(temporary)
		}
	}()
	p.link = newLink(cfg.ID, h, func(line []byte) { tail.add("stdout: " + string(line[:min(len(line), 500)])) })

	stdout, childOut, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", cfg.ID, err)
	}
	stderr, childErr, err := os.Pipe()
	if err != nil {
		closeAll(stdout, childOut)
		return nil, fmt.Errorf("start %s: %w", cfg.ID, err)
	}
	cmd.Stdout = childOut
	cmd.Stderr = childErr
	if p.stdin, err = cmd.StdinPipe(); err == nil {
		p.program, err = keeper.Start(cmd, temporary)
	}
	closeAll(childOut, childErr)
	if err != nil {
		closeAll(stdout, stderr)
		return nil, cannotStart(cfg.ID, err)
	}
	go p.run(stdout, stderr, limit)
	return p, nil
}

func cannotStart(server tool.ServerID, err error) error {
	return fault.New(fault.UpstreamDown, "server %s cannot be started: %w", server, fault.Plain(err)).
		WithHint("check command and args of %s", server)
}

func closeAll(files ...io.Closer) {
	for _, f := range files {
		f.Close()
	}
}

// run moves messages until the process has ended, then cleans up.
func (p *process) run(stdout, stderr *os.File, limit int) {
	defer close(p.exited)
	readers := make(chan struct{}, 2)
	go func() {
		p.tail.copy(stderr)
		readers <- struct{}{}
	}()
	go func() {
		p.link.read(stdout, limit)
		readers <- struct{}{}
		p.mute()
	}()
	go p.link.write(p.stdin)

	err := p.program.Wait() // what the server itself started is gone too
	p.drainOutput(stdout, stderr, readers)
	p.link.end(p.why(err))
}

// mute ends the link of a server that closed its output but keeps running. One that is exiting gets time: its exit status says more.
func (p *process) mute() {
	if !p.wait(grace) {
		p.link.end(fault.New(fault.UpstreamDown, "server %s closed its output", p.server))
	}
}

// drainOutput reads what is still in the pipes. A stray child process may hold them open; then they are closed.
func (p *process) drainOutput(stdout, stderr *os.File, readers <-chan struct{}) {
	timer := time.NewTimer(grace)
	defer timer.Stop()
	for range 2 {
		select {
		case <-readers:
		case <-timer.C:
			closeAll(stdout, stderr)
			<-readers
			timer.Reset(0)
		}
	}
	closeAll(stdout, stderr)
}

// why is how the process ended, with its last output and what may have been missing.
func (p *process) why(err error) error {
	var notStarted *keeper.StartError
	if errors.As(err, &notStarted) {
		return cannotStart(p.server, err)
	}
	how := "ended"
	if err != nil {
		how = "ended with " + err.Error()
	}
	if last := p.tail.last(); last != "" {
		how += ": " + last
	}
	f := fault.New(fault.UpstreamDown, "server %s %s", p.server, how)
	if p.listed() {
		return f
	}
	return f.WithHint("%s", p.advice())
}

// advice is a hint for a server that ended before it listed its tools.
func (p *process) advice() string {
	if hint := p.cfg.WindowsHint(); hint != "" {
		return hint
	}
	if hint := p.nodeHint(); hint != "" {
		return hint
	}
	said := strings.Join(p.tail.all(), "\n")
	if p.cfg.Sandbox != nil && refusedBySandbox.MatchString(said) {
		return fmt.Sprintf("if its sandbox lacks a path that it names there, add that to read or write in sandbox of %s", p.cfg.ID)
	}
	return withheldHint(p.cfg, p.withheld, said)
}

// close ends the process and all it started: first by closing its input, then by asking, then by force.
func (p *process) close() {
	p.link.end(fault.New(fault.UpstreamDown, "server %s was closed", p.server))
	p.stdin.Close()
	if p.wait(grace) {
		return
	}
	p.program.Terminate()
	if p.wait(grace) {
		return
	}
	p.program.Kill()
	<-p.exited
}

func (p *process) wait(limit time.Duration) bool {
	select {
	case <-p.exited:
		return true
	case <-time.After(limit):
		return false
	}
}
