package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"

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

// messages is where a command says everything else: above the line of its progress.
type messages struct {
	to    io.Writer
	above atomic.Pointer[terminal.Progress] // nil: there was none yet
}

func (m *messages) Write(p []byte) (int, error) {
	if progress := m.above.Load(); progress != nil {
		return progress.Write(p)
	}
	return m.to.Write(p)
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

// progress tells on standard error what the command waits for. The first output ends it, so that both can be the same
// terminal. With --json there is none.
func (c *command) progress() *terminal.Progress {
	if c.json {
		return nil
	}
	p := &terminal.Progress{Out: c.said, Sprintf: c.lang.Sprintf}
	term, _ := c.env.Lookup("TERM")
	if f, ok := c.said.Unwrap().(*os.File); ok && c.onTerminal() && term != "dumb" { // which cannot clear a line
		p.Width = terminal.Width(f)
		p.Clear = func() { c.said.Control(terminal.ClearLine) }
		c.out.before(p.End)
		c.messages.above.Store(p)
	}
	return p
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
	return c.show(v, func() error { return c.say(format, args...) })
}

// say prints on standard output, in the language of the person who reads it.
func (c *command) say(format string, args ...any) error {
	_, err := io.WriteString(c.env.Out, c.lang.Sprintf(format, args...))
	return err
}

// tell is say on standard error.
func (c *command) tell(format string, args ...any) {
	io.WriteString(c.env.Err, c.lang.Sprintf(format, args...))
}

// print prints a table; heads and None are translated.
func (c *command) print(t *terminal.Table) error {
	for i, head := range t.Head {
		t.Head[i] = c.lang.CLI(head)
	}
	t.None = c.lang.CLI(t.None)
	return t.Print(c.env.Out)
}

// word is a word of ours in a cell or a sentence.
func (c *command) word(english string) string { return c.lang.CLI(english) }

// translate is a sentence that was made elsewhere, such as by the gateway.
func (c *command) translate(sentence string) string { return c.lang.Translate(sentence) }

// some lists the first few.
func (c *command) some(list []string) string { return c.translate(terminal.Some(list)) }

// count is a number with a noun.
func (c *command) count(n int, what string) string {
	if format := c.lang.CLI("%d " + what); format != "%d "+what {
		return fmt.Sprintf(format, n)
	}
	return terminal.Count(n, what)
}

// printJSON prints a value as the API would, indented for people.
func (c *command) printJSON(v any) error { return printJSON(c.env.Out, v) }

func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// line is a short name for what nearly every command uses.
var line = terminal.Line
