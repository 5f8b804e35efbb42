package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/toolfit/toolfit/internal/program/cli/terminal"
)

// output is where a command prints. It removes the waiting message first, and remembers the
// first error: a command whose output is lost has failed.
type output struct {
	to io.Writer

	mu    sync.Mutex
	first func() // called before the next byte; may be nil
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

// Width is the number of columns of the terminal; 0 if the output is not a terminal.
func (o *output) Width() int {
	to := o.to
	if w, ok := to.(interface{ Unwrap() io.Writer }); ok {
		to = w.Unwrap()
	}
	f, ok := to.(*os.File)
	if !ok {
		return 0
	}
	return terminal.Width(f)
}

func (o *output) before(f func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.first = f
}

// lost is the first error of printing.
func (o *output) lost() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		return nil
	}
	return fmt.Errorf("print: %w", o.err)
}

// waiting says on the terminal, after a second, what the command waits for. The returned
// function removes the message, as does the first output; it may be called twice.
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
			c.said.Control(terminal.ClearLine)
		}
	}()
	stop := sync.OnceFunc(func() {
		close(done)
		<-ended
	})
	c.out.before(stop)
	return stop
}

func (c *command) onTerminal() bool { return terminal.Is(c.said.Unwrap()) }

func (c *command) show(v any, text func() error) error {
	if c.json {
		return c.printJSON(v)
	}
	return text()
}

// printf prints v with --json, and the formatted text otherwise.
func (c *command) printf(v any, format string, args ...any) error {
	return c.show(v, func() error {
		_, err := fmt.Fprintf(c.env.Out, format, args...)
		return err
	})
}

// printJSON prints a value as the API would, indented for people.
func (c *command) printJSON(v any) error { return printJSON(c.env.Out, v) }

func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// Short names for what nearly every command uses.
var (
	line  = terminal.Line
	count = terminal.Count
	some  = terminal.Some
)
