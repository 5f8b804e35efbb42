package cli

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// output is where a command prints. What stands on the terminal about the waiting is gone
// before the first byte; the first error stays, as a command whose output is lost did not work.
type output struct {
	to io.Writer

	mu    sync.Mutex
	first func() // called before the next byte; nil for nothing
	err   error
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.first != nil {
		o.first()
		o.first = nil
	}
	n, err := o.to.Write(p)
	if o.err == nil {
		o.err = err
	}
	return n, err
}

// width is how many places a line has where the output goes to a terminal; 0 where it does not.
func (o *output) width() int {
	to := o.to
	if w, ok := to.(interface{ Unwrap() io.Writer }); ok {
		to = w.Unwrap()
	}
	f, ok := to.(*os.File)
	if !ok {
		return 0
	}
	return widthOf(f)
}

// before has f called before the next byte.
func (o *output) before(f func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.first = f
}

// lost is why not all could be printed; nil when it could.
func (o *output) lost() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		return nil
	}
	return fmt.Errorf("print the answer: %w", o.err)
}

// waiting says on the terminal what takes so long, after a second. The returned function ends
// it, as does the first output; it may be called twice.
func (c *command) waiting(what string) func() {
	if !c.onTerminal() {
		return func() {}
	}
	done := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case <-done:
		case <-time.After(time.Second):
			fmt.Fprintf(c.env.Err, "%s…", what)
			<-done
			c.said.Control(clearLine)
		}
	}()
	stop := sync.OnceFunc(func() { close(done); <-ended })
	c.out.before(stop)
	return stop
}
