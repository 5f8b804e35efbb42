// Package script runs JavaScript that a model wrote, turn by turn: until the script waits for
// calls, and after each answer until it waits again or ends. Each script has a child process of
// its own with limits on memory and time, an empty environment, and where the system can, no files
// and no network: no engine stops inside its native loops, so the child is what can be killed.
// The package knows nothing of tools, catalogs or stores: who runs a script makes its calls.
// Equal jobs with equal answers in equal order give equal turns, byte by byte.
//
// The child is the gateway's own program, started with the word script-worker, whose main
// function calls Main:
//
//	runner := script.New("/usr/bin/toolfit", nil)
//	pass, turn, err := runner.Start(ctx, script.Job{Code: "return (await shop.list({})).length", Globals: map[string]string{"shop": "shop"}})
//	for err == nil && !turn.Done {
//		turn, err = pass.Answer(ctx, script.Answer{Seq: next.Seq, Value: value, Now: time.Now()}) // for one of the calls so far
//	}
//	defer pass.Close()
package script

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/share"
)

// Argument is the command-line argument that starts a child.
const Argument = "script-worker"

// Options limit a Runner. The zero value is usable.
type Options struct {
	Memory   int64         // bytes of the engine; 0: 64 MiB
	CPU      time.Duration // processor time in whole seconds, on Linux; 0: 5 s
	Time     time.Duration // that a script may run, not counting the time in which it waits for answers; 0: 60 s
	Calls    int           // 0: 100
	Source   int           // bytes; 0: 256 KiB
	Log      int           // bytes printed; more is dropped, and the log says so once; 0: 1 MiB
	Answer   int           // bytes of one answer, and of the input; 0: 32 MiB
	Output   int           // bytes of the result, and of the arguments of the calls in one turn; 0: 4 MiB
	Children int           // at a time, shared fairly among callers; 0: 8
	Warm     int           // children started in advance, from the first script until 5 minutes after the last; 0: 2, negative: none
}

// Job is a script to run.
type Job struct {
	Who     string            // for the fair share
	Code    string            // the body of an async function
	Input   json.RawMessage   // the global input; nil: undefined
	Globals map[string]string // a JavaScript identifier for each server; one that is Reserved is left out
	Seed    string            // of Math.random and crypto.randomUUID
	Now     time.Time         // what Date.now() says until the first answer
}

// Turn is what a script did until it waits or ends.
type Turn struct {
	Calls  []Call          `json:"calls,omitempty"`  // begun in this turn; a script can end without waiting for them
	Log    string          `json:"log,omitempty"`    // printed in this turn
	Done   bool            `json:"done,omitempty"`   // the script has ended: the Pass is closed
	Result json.RawMessage `json:"result,omitempty"` // nil: undefined
	Err    *Thrown         `json:"err,omitempty"`    // what the script threw
}

// Call is something that the script waits for.
type Call struct {
	Seq    int             `json:"seq"`              // 1, 2, … in the order in which they were begun
	Do     string          `json:"do"`               // call; search {query, limit?}, describe {name}, sleep {ms}
	Server string          `json:"server,omitempty"` // of Globals; "": Tool is the name of tools[…]
	Tool   string          `json:"tool,omitempty"`
	Args   json.RawMessage `json:"args,omitempty"` // an object
	Raw    bool            `json:"raw,omitempty"`  // wants the whole result
}

// Answer is what a call gave.
type Answer struct {
	Seq   int
	Value json.RawMessage // nil: undefined
	Err   *Thrown         // rejects the call's promise instead
	Now   time.Time       // what Date.now() says from here on; zero: as before
}

// Thrown is an error within a script.
type Thrown struct {
	Name    string          `json:"name,omitempty"` // as TypeError
	Message string          `json:"message"`
	Code    string          `json:"code,omitempty"`
	Hint    string          `json:"hint,omitempty"`
	Stack   string          `json:"stack,omitempty"` // of the script's own functions
	Line    int             `json:"line,omitempty"`  // of the script; 0: unknown
	Content json.RawMessage `json:"content,omitempty"`
}

// Runner runs scripts. It is safe for concurrent use.
type Runner struct {
	exe  string
	opts Options
	idle time.Duration // after which no child is kept warm
	room *share.Room   // by caller

	mu       sync.Mutex
	closed   bool
	children map[*child]bool // all that were not closed
	warm     []*child
	starting int // that will be warm
	cool     *time.Timer
	busy     sync.WaitGroup // those that start children in advance
}

// New returns a Runner that starts the program at the path exe; nil options mean the defaults.
func New(exe string, opts *Options) *Runner {
	r := &Runner{exe: exe, idle: 5 * time.Minute, children: map[*child]bool{}}
	if opts != nil {
		r.opts = *opts
	}
	o := &r.opts
	o.Memory = cmp.Or(o.Memory, 64<<20)
	o.CPU = cmp.Or(o.CPU, 5*time.Second)
	o.Time = cmp.Or(o.Time, time.Minute)
	o.Calls = cmp.Or(o.Calls, 100)
	o.Source = cmp.Or(o.Source, 256<<10)
	o.Log = cmp.Or(o.Log, 1<<20)
	o.Answer = cmp.Or(o.Answer, 32<<20)
	o.Output = cmp.Or(o.Output, 4<<20)
	o.Children = cmp.Or(o.Children, 8)
	o.Warm = cmp.Or(o.Warm, 2)
	r.room = share.New(o.Children)
	return r
}

// Close ends all children. Scripts that still run end with an error.
func (r *Runner) Close() {
	r.mu.Lock()
	r.closed = true
	all := r.children
	r.children, r.warm = map[*child]bool{}, nil
	if r.cool != nil {
		r.cool.Stop()
	}
	r.mu.Unlock()
	for c := range all {
		c.kill(errClosed)
	}
	for c := range all {
		c.close()
	}
	r.busy.Wait()
}

var (
	errCanceled = fault.New(fault.Canceled, "the script was canceled")
	errClosed   = fault.New(fault.Canceled, "the script was ended, because the gateway ends")
)

// Start runs a script until it waits or ends. The Pass holds a child until the script has ended,
// or until it is closed. Errors are faults that a model can read and act on.
func (r *Runner) Start(ctx context.Context, j Job) (*Pass, Turn, error) {
	if n, most := len(j.Code), r.opts.Source; n > most {
		return nil, Turn{}, fault.New(fault.TooLarge, "the script has %d bytes; at most %d can be run", n, most)
	}
	if n, most := len(j.Input), r.opts.Answer; n > most {
		return nil, Turn{}, fault.New(fault.TooLarge, "the input has %d bytes; a script reads at most %d", n, most)
	}
	if r.room.Wait(ctx, j.Who) != nil {
		return nil, Turn{}, fault.New(fault.Canceled, "the script waited for its turn until the call ended")
	}
	c, err := r.take(ctx)
	if err != nil {
		r.room.Leave(j.Who)
		return nil, Turn{}, err
	}
	p := &Pass{runner: r, child: c, who: j.Who, left: r.opts.Time, now: j.Now, open: map[int]bool{}}
	first := start{Options: r.opts, Code: strings.ToValidUTF8(j.Code, "�"), Input: j.Input, Globals: j.Globals, Now: j.Now.UnixMilli()}
	sum := sha256.Sum256([]byte(j.Seed))
	for i := range first.Seed {
		first.Seed[i] = binary.BigEndian.Uint32(sum[4*i:])
	}
	turn, err := p.turn(ctx, first)
	if err != nil {
		return nil, Turn{}, err
	}
	return p, turn, nil
}
