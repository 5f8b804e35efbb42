package jqworker

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/toolfit/toolfit/internal/core/project"
)

// What the child's exit code says. All else means that it was killed, or ran out of memory,
// of which the runtime's own code is 2.
const (
	exitDone    = 0
	exitProgram = 1 // the program is wrong or failed; the output says why
)

// Main is the child: it reads a program and a value, and writes the output. It returns the
// exit code. It limits the process it runs in, so that it is for a process that does nothing
// else.
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
	if err := errors.Join(limitMemory(h.Memory), limitTime(h.Time)); err != nil {
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

// caught runs the program. A panic is a fault of jq's own: without this it would end the
// process as a lack of memory does, and be told as one.
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
