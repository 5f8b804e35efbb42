package script

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"time"

	"modernc.org/quickjs"

	"github.com/toolfit/toolfit/internal/base/rlimit"
)

//go:embed prelude.js
var prelude string

// depth is how deep functions can call each other, about: each level takes 4 KB of the child's own
// memory, which the engine does not count.
const depth = 6000

// Main is the child: it runs one script. It limits the whole process.
func Main(stdin io.Reader, stdout io.Writer) int {
	time.Local = time.UTC // for systems whose C library does not ask TZ
	if err := work(bufio.NewReader(stdin), stdout); err != nil && !errors.Is(err, io.EOF) {
		fmt.Fprintln(os.Stderr, err) // the parent reads it
		return 1
	}
	return 0
}

// work runs the script that comes, turn by turn, until its input ends. What every script needs is
// made before it comes, so that a child can be kept warm.
func work(in io.Reader, out io.Writer) error {
	vm, functions, err := newEngine("start", "answer", "end")
	if err != nil {
		return err
	}
	if err := writeFrame(out, ready); err != nil {
		return err
	}
	frame, err := readFrame(in, 1<<31-1)
	if err != nil {
		return err
	}
	var s struct{ Options Options }
	if err := json.Unmarshal(frame, &s); err != nil {
		return err
	}
	if err := limit(&s.Options); err != nil {
		return err
	}
	for begin := functions[0]; err == nil; begin = functions[1] {
		said, failed := turn(vm, begin, functions[2], frame, &s.Options)
		if failed != nil {
			return failed
		}
		if err := writeFrame(out, said); err != nil {
			return err
		}
		frame, err = readFrame(in, 1<<31-1)
	}
	return err
}

func newEngine(names ...string) (*quickjs.VM, []quickjs.Value, error) {
	vm, err := quickjs.NewVM()
	if err != nil {
		return nil, nil, err
	}
	vm.SetMaxStackSize(depth)
	object, err := vm.EvalValue(prelude, quickjs.EvalGlobal)
	if err != nil {
		return nil, nil, err
	}
	functions := make([]quickjs.Value, len(names))
	for i, name := range names {
		atom, err := vm.NewAtom(name)
		if err != nil {
			return nil, nil, err
		}
		if functions[i], err = object.GetPropertyValue(atom); err != nil {
			return nil, nil, err
		}
	}
	return vm, functions, nil
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

// turn tells the script something, runs it until nothing is left to run, and returns what it did.
// Copies of what goes in and out are not counted as the script's memory.
func turn(vm *quickjs.VM, begin, end quickjs.Value, frame []byte, opts *Options) ([]byte, error) {
	vm.SetMemoryLimit(uintptr(opts.Memory) + 3*uintptr(len(frame)))
	_, err := begin.Call(quickjs.UndefinedValue, string(frame), hasBig(frame))
	vm.SetMemoryLimit(uintptr(opts.Memory))
	for n := 1; n > 0 && err == nil; {
		if n, err = vm.ExecutePendingJobs(); n >= 1<<20 {
			err = nil // it was interrupted to see whether we want more
		}
	}
	var said any
	if err == nil {
		vm.SetMemoryLimit(uintptr(opts.Memory) + 3*uintptr(opts.Output+opts.Log))
		said, err = end.Call(quickjs.UndefinedValue)
	}
	var thrown *quickjs.Error
	switch text, _ := said.(string); {
	case text != "":
		return []byte(text), nil
	case err == nil, errors.As(err, &thrown) && (thrown.Name == "" || thrown.Message == "out of memory"):
		return outOfMemory, nil // what has no memory to be copied comes out empty
	case thrown != nil: // the script replaced what even the engine uses, as the setter of an index
		return json.Marshal(Turn{Done: true, Err: &Thrown{Name: thrown.Name, Message: thrown.Message}})
	}
	return nil, err
}

// hasBig reports whether JSON has an integer that a JavaScript number may change: one with 16
// digits or more. To look at each number within the engine is slow.
func hasBig(value []byte) bool {
	for i := 0; i < len(value); i++ {
		switch c := value[i]; {
		case c == '"':
			for i++; i < len(value) && value[i] != '"'; i++ {
				if value[i] == '\\' {
					i++
				}
			}
		case c >= '0' && c <= '9':
			from := i
			for i+1 < len(value) && value[i+1] >= '0' && value[i+1] <= '9' {
				i++
			}
			if i-from >= 15 && (from == 0 || value[from-1] != '.') {
				return true
			}
		}
	}
	return false
}
