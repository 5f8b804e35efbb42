package project

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/itchyny/gojq"

	"github.com/toolfit/toolfit/internal/base/fault"
)

// maxProgram limits the source of a jq program.
const maxProgram = 4 << 10

// Program is a compiled jq program. A deadline stops it only between its steps, and a step may take
// seconds and gigabytes: programs that an operator did not write run in package jqworker.
type Program struct {
	source string
	code   *gojq.Code
}

// CompileJQ compiles a program. The error says where it is wrong.
func CompileJQ(src string) (*Program, error) {
	if len(src) > maxProgram {
		return nil, fault.New(fault.TooLarge, "the jq program has %d bytes, more than %d", len(src), maxProgram)
	}
	query, err := gojq.Parse(src)
	if err != nil {
		var wrong *gojq.ParseError
		if errors.As(err, &wrong) {
			return nil, fault.New(fault.BadRequest, "jq program, at byte %d: %w", wrong.Offset, err)
		}
		return nil, fault.New(fault.BadRequest, "jq program: %w", err)
	}
	code, err := gojq.Compile(query)
	if err != nil {
		return nil, fault.New(fault.BadRequest, "jq program: %w", err).
			WithHint("input, import, debug and the environment are not available")
	}
	return &Program{source: src, code: code}, nil
}

// String returns the source.
func (p *Program) String() string { return p.source }

// ErrNoOutput means that a jq program produced no value.
var ErrNoOutput = errors.New("the jq program has no output")

// Run is the program's output, or an array of several. Numbers keep their digits; members are sorted
// by name.
func (p *Program) Run(ctx context.Context, input []byte) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(input))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("read the input of jq: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read the input of jq: more than one value")
	}
	var outputs []any
	for iter := p.code.RunWithContext(ctx, v); ; {
		out, ok := iter.Next()
		if !ok {
			break
		}
		if err, ok := out.(error); ok {
			return nil, fmt.Errorf("run jq: %w", err)
		}
		outputs = append(outputs, out)
	}
	var result any = outputs
	switch len(outputs) {
	case 0:
		return nil, ErrNoOutput
	case 1:
		result = outputs[0]
	}
	raw, err := gojq.Marshal(result)
	if err != nil {
		return nil, fmt.Errorf("write the output of jq: %w", err)
	}
	return raw, nil
}
