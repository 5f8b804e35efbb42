package script

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/toolfit/toolfit/internal/base/rlimit"
)

// Exit codes of the child. Anything else means that it was killed or ran out of memory.
const (
	exitDone   = 0
	exitFailed = 3
)

// Main is the child: it runs one script. It limits the whole process.
func Main(stdin io.Reader, stdout io.Writer) int {
	in, out := bufio.NewReader(stdin), bufio.NewWriter(stdout)
	if err := work(in, out); err != nil {
		var said faulty
		if !errors.As(err, &said) {
			said = faulty("the engine failed: " + err.Error())
		}
		if errors.Join(writeMessage(out, message{Kind: kindFault, Text: string(said)}), out.Flush()) != nil {
			return exitFailed
		}
	}
	return exitDone
}

// work runs the script that comes. Everything that every script needs is made before, so that a
// child can be kept warm.
func work(in *bufio.Reader, out *bufio.Writer) error {
	engine, err := newEngine()
	if err != nil {
		return err
	}
	if err := errors.Join(writeMessage(out, message{Kind: kindReady}), out.Flush()); err != nil {
		return err
	}
	m, err := readMessage(in, 1<<31-1)
	if errors.Is(err, io.EOF) {
		return nil // nobody had a script for it
	}
	if err != nil || m.Start == nil || m.Start.Code > len(m.body) {
		return fmt.Errorf("read the script: %w", err)
	}
	if err := limit(&m.Start.Options); err != nil {
		return fmt.Errorf("limit the process: %w", err)
	}
	for err = engine.start(m); err == nil; {
		done, err := engine.turn(out)
		if err = errors.Join(err, out.Flush()); err != nil || done {
			return err
		}
		m, err := readMessage(in, 1<<31-1)
		if err != nil {
			return err
		}
		if err := engine.answer(m); err != nil {
			return err
		}
	}
	return err
}

// limit holds whatever the engine does not count: copies of what goes in and out, the stack, and
// what the allocator cannot give back. Where the system has no such limits, those of the engine and
// the parent's patience are all.
func limit(opts *Options) error {
	debug.SetGCPercent(50)
	err := errors.Join(rlimit.Memory(2*opts.Memory+4*int64(opts.Answer+opts.Output)+(128<<20)), rlimit.CPU(opts.CPU), rlimit.Files())
	if errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}
