package script

import (
	"crypto/sha256"
	_ "embed"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"modernc.org/quickjs"

	"github.com/toolfit/toolfit/internal/base/rawjson"
)

//go:embed prelude.js
var prelude string

// logFull ends a log that has no more room.
const logFull = "[the log is full: what follows is dropped]\n"

// depth is how deep functions may call each other, about: each level takes 4 KB of the child's own
// memory, which the engine does not count.
const depth = 6000

// engine is JavaScript with the functions of the prelude.
type engine struct {
	vm                      *quickjs.VM
	begin, reply, end, take quickjs.Value
	opts                    Options
	logged                  int // bytes
	full                    bool
}

func newEngine() (*engine, error) {
	vm, err := quickjs.NewVM()
	if err != nil {
		return nil, err
	}
	vm.SetMaxStackSize(depth)
	e := &engine{vm: vm}
	functions, err := vm.EvalValue(prelude, quickjs.EvalGlobal)
	if err != nil {
		return nil, err
	}
	for name, f := range map[string]*quickjs.Value{"start": &e.begin, "answer": &e.reply, "end": &e.end, "take": &e.take} {
		atom, err := vm.NewAtom(name)
		if err != nil {
			return nil, err
		}
		if *f, err = functions.GetPropertyValue(atom); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// setting is what the prelude has to know.
type setting struct {
	Calls   int               `json:"calls"`
	Log     int               `json:"log"`
	Output  int               `json:"output"`
	Now     int64             `json:"now"`
	Seed    [4]uint32         `json:"seed"`
	Globals map[string]string `json:"globals"`
}

// start runs the script until it waits or ends.
func (e *engine) start(m message) error {
	e.opts = m.Start.Options
	s := setting{Calls: e.opts.Calls, Log: e.opts.Log, Output: e.opts.Output, Now: m.Now, Globals: m.Start.Globals}
	sum := sha256.Sum256([]byte(m.Start.Seed))
	for i := range s.Seed {
		s.Seed[i] = binary.BigEndian.Uint32(sum[4*i:])
	}
	code, input := m.body[:m.Start.Code], m.body[m.Start.Code:]
	if !m.Start.Input {
		input = nil
	}
	return e.run(e.begin, len(m.body), string(rawjson.Encode(s)), strings.ToValidUTF8(string(code), "�"), text(input), hasBig(input))
}

// answer settles a call.
func (e *engine) answer(m message) error {
	var thrown any = quickjs.Undefined{}
	if t := m.Thrown; t != nil {
		thrown = string(rawjson.Encode(map[string]string{"name": t.Name, "message": t.Message, "code": t.Code, "hint": t.Hint}))
	}
	return e.run(e.reply, len(m.body), m.Seq, text(m.body), hasBig(m.body), thrown, m.Now)
}

// run calls a function of the prelude, and then everything that waits for it. What comes in is
// not counted as the script's memory while it is read.
func (e *engine) run(f quickjs.Value, more int, args ...any) error {
	e.vm.SetMemoryLimit(uintptr(e.opts.Memory) + 3*uintptr(more))
	_, err := f.Call(quickjs.UndefinedValue, args...)
	e.vm.SetMemoryLimit(uintptr(e.opts.Memory))
	for n := 1; n > 0 && err == nil; {
		if n, err = e.vm.ExecutePendingJobs(); n >= 1<<20 {
			err = nil // it was interrupted to see whether we want more
		}
	}
	return asFault(err)
}

// turn writes what the script did, and reports whether it has ended.
func (e *engine) turn(out io.Writer) (done bool, err error) {
	e.vm.SetMemoryLimit(uintptr(e.opts.Memory) + 3*uintptr(e.opts.Output+e.opts.Log)) // for copies
	defer e.vm.SetMemoryLimit(uintptr(e.opts.Memory))
	over, err := e.end.Call(quickjs.UndefinedValue)
	if err != nil {
		return false, asFault(err)
	}
	last := message{Kind: kindWait}
	for room := e.opts.Output; ; {
		m, ok, err := e.next()
		switch {
		case err != nil:
			return false, err
		case !ok:
			return over == true, writeMessage(out, last)
		case m.Kind == kindDone || m.Kind == kindThrown:
			last = e.ending(m)
			continue
		case m.Kind == kindLog:
			m.body = e.cut(m.body)
		case len(m.body) > room:
			return false, faulty(fmt.Sprintf("the arguments of the calls that the script makes at once are larger than %d bytes", e.opts.Output))
		case m.Kind == kindCall && errors.Is(rawjson.Check(m.body), rawjson.ErrDepth):
			return false, faulty(tooDeep)
		default:
			room -= len(m.body)
		}
		if err := writeMessage(out, m); err != nil {
			return false, err
		}
	}
}

var tooDeep = fmt.Sprintf("a value of the script is nested deeper than %d levels", rawjson.MaxDepth)

// next takes the next part of a turn from the prelude.
func (e *engine) next() (m message, ok bool, err error) {
	var parts [3]any
	for i := range parts {
		if parts[i], err = e.take.Call(quickjs.UndefinedValue); err != nil {
			return m, false, asFault(err)
		}
		if i == 0 && parts[0] == (quickjs.Undefined{}) {
			return m, false, nil
		}
	}
	m.Kind, _ = parts[0].(string)
	head, _ := parts[1].(string)
	body, has := parts[2].(string)
	if m.Kind == "" || has && body == "" { // what has no memory to be copied comes out empty
		return m, false, outOfMemory
	}
	if has {
		m.body = []byte(body)
	}
	switch m.Kind {
	case kindCall:
		m.Call = &Call{}
		err = json.Unmarshal([]byte(head), m.Call)
	case kindThrown:
		m.Thrown = &Thrown{}
		if err = json.Unmarshal([]byte(head), m.Thrown); err == nil {
			err = m.Thrown.place()
		}
	}
	if err != nil {
		return m, false, outOfMemory
	}
	return m, true, nil
}

// ending is the last message of a script: what it returned or threw, if that can be told.
func (e *engine) ending(m message) message {
	switch {
	case len(m.body) > e.opts.Output && m.Kind == kindDone:
		return message{Kind: kindThrown, Thrown: &Thrown{
			Name: "RangeError", Message: fmt.Sprintf("the script returned more than %d bytes: return less", e.opts.Output),
		}}
	case errors.Is(rawjson.Check(m.body), rawjson.ErrDepth) && m.Kind == kindDone:
		return message{Kind: kindThrown, Thrown: &Thrown{Name: "RangeError", Message: tooDeep}}
	case m.Kind == kindThrown && m.body != nil && (len(m.body) > e.opts.Output || rawjson.Check(m.body) != nil):
		m.body = nil
	}
	return m
}

// cut shortens a log to what there is room for.
func (e *engine) cut(log []byte) []byte {
	if e.full {
		return nil
	}
	if room := e.opts.Log - e.logged; len(log) > room {
		e.full = true
		for room > 0 && !utf8.RuneStart(log[room]) {
			room--
		}
		return append(log[:room:room], logFull...)
	}
	e.logged += len(log)
	return log
}

var frame = regexp.MustCompile(`<input>:(\d+)`)

// place finds the line in the script, and leaves its own functions in the stack. It reports that
// the engine had no memory for the error.
func (t *Thrown) place() error {
	var own []string
	for line := range strings.Lines(t.Stack) {
		if at := frame.FindStringSubmatch(line); at != nil {
			if t.Line == 0 {
				t.Line, _ = strconv.Atoi(at[1]) // digits
			}
			own = append(own, strings.Replace(strings.TrimSpace(line), "<input>", "script", 1))
		}
	}
	t.Stack = strings.Join(own, "\n")
	if t.Name == "InternalError" && t.Message == "out of memory" {
		return outOfMemory
	}
	return nil
}

// text is an argument for the prelude.
func text(value []byte) any {
	if value == nil {
		return quickjs.Undefined{}
	}
	return string(value)
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

// asFault is an error of the prelude, which fails only for want of memory or stack.
func asFault(err error) error {
	var thrown *quickjs.Error
	if errors.As(err, &thrown) && (thrown.Name == "" || thrown.Message == "out of memory") {
		return outOfMemory
	}
	return err
}
