package script

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/rlimit"
	"github.com/toolfit/toolfit/internal/base/sandbox"
)

// startWithin is how long a child may take until it is ready: the machine may be busy.
const startWithin = 30 * time.Second

// child is a process that runs one script.
type child struct {
	cmd   *exec.Cmd
	in    *os.File
	out   *bufio.Reader
	pipe  *os.File // below out
	said  *head    // on its standard error
	ended chan struct{}
	err   error // once it has ended

	once  sync.Once
	cause error // why we killed it
}

// spawn starts a child.
func (r *Runner) spawn() (*child, error) {
	theirs, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	pipe, out, err := os.Pipe()
	if err != nil {
		in.Close()
		return nil, err
	}
	defer out.Close()
	c := &child{in: in, pipe: pipe, out: bufio.NewReaderSize(pipe, 64<<10), said: &head{}, ended: make(chan struct{})}
	c.cmd = exec.Command(r.exe, Argument)
	c.cmd.Env = []string{"GOMAXPROCS=1", "GOTRACEBACK=none", "TZ=UTC"} // inherits nothing
	c.cmd.Dir = "/"
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = theirs, out, c.said
	c.cmd.WaitDelay = time.Second
	if _, none := sandbox.Way(false); none == nil {
		err = (&sandbox.Rules{}).Confine(c.cmd, os.DevNull) // which is all that it can write
	}
	rlimit.EndWithParent(c.cmd)
	if err == nil {
		err = c.cmd.Start()
	}
	if err != nil {
		c.release()
		return nil, err
	}
	go func() {
		c.err = c.cmd.Wait()
		close(c.ended)
	}()
	return c, nil
}

// open starts a child and waits until a script can be given to it.
func (r *Runner) open(ctx context.Context) (*child, error) {
	c, err := r.spawn()
	if err != nil {
		return nil, failed(err)
	}
	r.mu.Lock()
	r.children[c] = true
	closed := r.closed
	r.mu.Unlock()
	if closed {
		c.kill(errClosed)
	}
	stop := context.AfterFunc(ctx, func() { c.kill(errCanceled) })
	defer stop()
	timer := time.AfterFunc(startWithin, func() { c.kill(failed(fmt.Errorf("not ready after %s", startWithin))) })
	defer timer.Stop()
	if said, err := readFrame(c.out, len(ready)); err != nil || !bytes.Equal(said, ready) {
		err = c.why(fmt.Errorf("it says %q and not that it is ready: %v", said, err), &r.opts)
		r.forget(c)
		c.close()
		return nil, err
	}
	return c, nil
}

func failed(err error) *fault.Error {
	return fault.New(fault.Internal, "the process of the script failed").Because(err)
}

// take returns a child that is ready.
func (r *Runner) take(ctx context.Context) (*child, error) {
	if c, err := r.takeWarm(); c != nil || err != nil {
		return c, err
	}
	return r.open(ctx)
}

// takeWarm returns a child that was started in advance, if there is one, and has others started.
func (r *Runner) takeWarm() (*child, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, errClosed
	}
	var taken *child
	for len(r.warm) > 0 && taken == nil {
		c := r.warm[0]
		r.warm = r.warm[1:]
		select {
		case <-c.ended: // somebody killed it
			delete(r.children, c)
			c.release()
		default:
			taken = c
		}
	}
	if r.cool == nil {
		r.cool = time.AfterFunc(r.idle, r.coolDown)
	}
	r.cool.Reset(r.idle)
	for ; len(r.warm)+r.starting < r.opts.Warm; r.starting++ {
		r.busy.Go(r.warmUp)
	}
	return taken, nil
}

// warmUp keeps a child in advance. One that does not start is no loss: the next script says so.
func (r *Runner) warmUp() {
	c, err := r.open(context.Background())
	r.mu.Lock()
	defer r.mu.Unlock()
	r.starting--
	if err == nil && !r.closed {
		r.warm = append(r.warm, c)
	}
}

// coolDown ends what is kept in advance.
func (r *Runner) coolDown() {
	r.mu.Lock()
	warm := r.warm
	r.warm = nil
	for _, c := range warm {
		delete(r.children, c)
	}
	r.mu.Unlock()
	for _, c := range warm {
		c.kill(errClosed)
		c.close()
	}
}

func (r *Runner) forget(c *child) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.children, c)
}

// kill ends the child. The first cause counts.
func (c *child) kill(cause error) {
	c.once.Do(func() {
		c.cause = cause
		c.cmd.Process.Kill() // an error says that it has ended
	})
}

// close waits until a killed child is gone.
func (c *child) close() {
	<-c.ended
	c.release()
}

func (c *child) release() {
	c.in.Close()
	c.pipe.Close()
}

// why explains why the conversation with the child broke off.
func (c *child) why(err error, opts *Options) error {
	switch {
	case errors.Is(err, errMemory):
		return tooMuch(opts.Memory)
	case errors.Is(err, errTooLarge):
		return fault.New(fault.TooLarge, "what the script returns, or sends to tools at one time, has more than %d bytes", opts.Output)
	case errors.Is(err, rawjson.ErrDepth):
		return fault.New(fault.TooLarge, "a value of the script is nested deeper than %d levels", rawjson.MaxDepth)
	}
	broke := failed(err)
	itself := true
	select { // one that ends by itself says more by how it does
	case <-c.ended:
	case <-time.After(time.Second):
		itself = false
	}
	c.kill(broke)
	<-c.ended
	var exit *exec.ExitError
	switch {
	case c.cause != error(broke):
		return c.cause
	case !itself || !errors.As(c.err, &exit):
		return broke
	case rlimit.Killed(exit) && exit.UserTime()+exit.SystemTime() >= opts.CPU:
		return fault.New(fault.TooLarge, "the script took more than %s of the processor's time", opts.CPU).WithHint(shorter)
	case rlimit.Killed(exit), c.said.has("out of memory", "cannot allocate memory", "stack exceeds"):
		return tooMuch(opts.Memory)
	}
	return failed(fmt.Errorf("%w: %w: %s", err, c.err, c.said.text))
}

func tooMuch(most int64) error {
	return fault.New(fault.TooLarge, "the script took more than %d MiB of memory", most>>20).
		WithHint("read less at a time, and keep only what the result needs")
}

// head keeps the first bytes that are written to it.
type head struct{ text []byte }

func (h *head) Write(p []byte) (int, error) {
	h.text = append(h.text, p[:min(len(p), 1000-len(h.text))]...)
	return len(p), nil
}

// has reports whether one of the words is in it.
func (h *head) has(words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(string(h.text), w) })
}
