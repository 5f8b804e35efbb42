package jqworker

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/toolfit/toolfit/internal/base/rlimit"
	"github.com/toolfit/toolfit/internal/core/project"
)

// Exit codes of the child. Anything else means that it was killed or ran out of memory.
const (
	exitDone    = 0
	exitProgram = 1 // the program is wrong or failed; the output says why
)

// Main is the child: it reads a program and a value, and writes the output. It limits the whole
// process.
func Main(stdin io.Reader, stdout io.Writer) int {
	in := bufio.NewReader(stdin)
	line, err := in.ReadBytes('\n')
	if err != nil {
		return fail(stdout, fmt.Errorf("read the program: %w", err))
	}
	var h head
	if err := json.Unmarshal(line, &h); err != nil {
		return fail(stdout, fmt.Errorf("read the program: %w", err))
	}
	debug.SetGCPercent(50) // a soft limit would only make a bomb burn slowly, collecting again and again
	switch err := errors.Join(rlimit.Memory(h.Memory), rlimit.CPU(h.Time)); {
	case errors.Is(err, errors.ErrUnsupported): // without a limit that holds, a program could take all there is
		return fail(stdout, errors.New("jq programs of callers run on Linux only; use fields instead"))
	case err != nil:
		return fail(stdout, fmt.Errorf("limit the process: %w", err))
	}
	program, err := project.CompileJQ(h.Program)
	if err != nil {
		return fail(stdout, err)
	}
	value, err := io.ReadAll(in)
	if err != nil {
		return fail(stdout, fmt.Errorf("read the value: %w", err))
	}
	out, err := caught(func() ([]byte, error) { return program.Run(context.Background(), value) })
	if err != nil {
		return fail(stdout, err)
	}
	if _, err := stdout.Write(out); err != nil {
		return exitProgram
	}
	return exitDone
}

// caught runs the program. A panic in jq must not look like running out of memory.
func caught(run func() ([]byte, error)) (out []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("jq cannot run this program: %v", p)
		}
	}()
	return run()
}

// fail says what is wrong, in no more than a model will read.
func fail(stdout io.Writer, err error) int {
	fmt.Fprintf(stdout, "%.500s", err)
	return exitProgram
}
