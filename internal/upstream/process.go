package upstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/config"
	"github.com/toolfit/toolfit/internal/fault"
	"github.com/toolfit/toolfit/internal/procgroup"
)

// process is a server that we started, spoken to over its standard input and output.
type process struct {
	*link
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	tail   *tail
	exited chan struct{} // closed when the process and its output are gone
}

// grace is how long a process may take to end by itself: after its input was closed, and
// again after it was asked to.
const grace = 2 * time.Second

// startProcess starts the server's command in a process group of its own.
func startProcess(cfg config.Server, limit int, tail *tail, h hooks) (*process, error) {
	path, err := findCommand(cfg)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(path, cfg.Args...)
	cmd.Dir, cmd.Env = cfg.Cwd, environment(os.Environ(), cfg.Env)
	procgroup.Own(cmd)
	p := &process{cmd: cmd, tail: tail, exited: make(chan struct{})}
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
	cmd.Stdout, cmd.Stderr = childOut, childErr
	if p.stdin, err = cmd.StdinPipe(); err == nil {
		err = cmd.Start()
	}
	closeAll(childOut, childErr)
	if err != nil {
		closeAll(stdout, stderr)
		return nil, fault.New(fault.UpstreamDown, "server %s cannot be started: %w", cfg.ID, fault.Plain(err)).
			WithHint("check command and args of %s", cfg.ID)
	}
	go p.run(stdout, stderr, limit)
	return p, nil
}

func closeAll(files ...io.Closer) {
	for _, f := range files {
		f.Close()
	}
}

// findCommand looks the command up before anything is started, for a clear error.
func findCommand(cfg config.Server) (string, error) {
	name := cfg.Command
	if strings.ContainsRune(name, filepath.Separator) && !filepath.IsAbs(name) {
		name = filepath.Join(cfg.Cwd, name)
	}
	path, err := exec.LookPath(name)
	if errors.Is(err, exec.ErrDot) {
		err = nil
	}
	if err != nil {
		return "", fault.New(fault.UpstreamDown, "server %s cannot be started: command %q does not exist", cfg.ID, cfg.Command).
			WithHint("%s", cfg.CommandHint())
	}
	return path, nil
}

// environment is what the server's process gets: ours, without what is meant for us alone,
// and on top what the configuration gives it.
func environment(ours []string, own map[string]string) []string {
	env := make([]string, 0, len(ours)+len(own))
	for _, kv := range ours {
		if !strings.HasPrefix(kv, "TOOLFIT_") {
			env = append(env, kv)
		}
	}
	for k, v := range own {
		env = append(env, k+"="+v)
	}
	return env
}

// run moves messages until the process has ended, then clears up after it.
func (p *process) run(stdout, stderr *os.File, limit int) {
	defer close(p.exited)
	readers := make(chan struct{}, 2)
	go func() { p.tail.copy(stderr); readers <- struct{}{} }()
	go func() {
		p.link.read(stdout, limit)
		readers <- struct{}{}
		p.mute()
	}()
	go p.link.write(p.stdin)

	err := p.cmd.Wait()
	procgroup.Kill(p.cmd) // what the server itself started goes with it
	p.settle(stdout, stderr, readers)
	p.link.end(p.why(err))
}

// mute ends the link of a server that has closed its output and lives on: it can never
// answer again. One that is about to exit gets the time to do so, as its exit says more.
func (p *process) mute() {
	if !p.wait(grace) {
		p.link.end(fault.New(fault.UpstreamDown, "server %s closed its output", p.server))
	}
}

// settle lets the readers take what is still in the pipes. Somebody may have inherited
// the pipes and left the group; then they are closed under the readers.
func (p *process) settle(stdout, stderr *os.File, readers <-chan struct{}) {
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

// why says in one sentence how the process ended, with the last thing it said.
func (p *process) why(err error) error {
	how := "ended"
	if err != nil {
		how = "ended with " + err.Error()
	}
	if last := p.tail.last(); last != "" {
		how += ": " + last
	}
	return fault.New(fault.UpstreamDown, "server %s %s", p.server, how)
}

// close ends the process and all it started: first by closing its input, then by asking, then by force.
func (p *process) close() {
	p.link.end(fault.New(fault.UpstreamDown, "server %s was closed", p.server))
	p.stdin.Close()
	if p.wait(grace) {
		return
	}
	procgroup.Ask(p.cmd)
	if p.wait(grace) {
		return
	}
	procgroup.Kill(p.cmd)
	<-p.exited
}

func (p *process) wait(limit time.Duration) bool {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	select {
	case <-p.exited:
		return true
	case <-ctx.Done():
		return false
	}
}
