package script

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
)

// Pass is a script that runs. It is safe for concurrent use; answers are given one at a time.
type Pass struct {
	runner *Runner
	child  *child
	who    string
	close  sync.Once

	mu     sync.Mutex
	left   time.Duration // of Options.Time
	now    time.Time
	begun  int          // calls so far
	open   map[int]bool // those without an answer
	logged int          // bytes
}

// Answer gives the script one answer, and runs it until it waits or ends. Who wants equal turns
// gives equal answers in equal order.
func (p *Pass) Answer(ctx context.Context, a Answer) (Turn, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.open[a.Seq] {
		return Turn{}, fmt.Errorf("answer a script: no call %d is open", a.Seq)
	}
	delete(p.open, a.Seq)
	if !a.Now.IsZero() {
		p.now = a.Now
	}
	m := answer{Seq: a.Seq, Value: a.Value, Err: a.Err, Now: p.now.UnixMilli()}
	n := len(a.Value)
	if a.Err != nil {
		n = len(a.Err.Content)
	}
	if most := p.runner.opts.Answer; n > most {
		m.Value, m.Err = nil, &Thrown{
			Name: "RangeError", Code: string(fault.TooLarge), Hint: "ask the tool for less",
			Message: fmt.Sprintf("the answer has %d bytes; a script reads at most %d", n, most),
		}
	}
	return p.turn(ctx, m)
}

// turn tells the child something, and reads what the script does.
func (p *Pass) turn(ctx context.Context, m any) (turn Turn, err error) {
	opts := &p.runner.opts
	defer func() {
		if err != nil || turn.Done {
			p.Close()
		}
	}()
	frame, err := rawjson.Marshal(m)
	if err != nil {
		return Turn{}, err
	}
	began := time.Now()
	stop := context.AfterFunc(ctx, func() { p.child.kill(errCanceled) })
	defer stop()
	timer := time.AfterFunc(p.left, func() { p.child.kill(tooLong(opts.Time)) })
	defer timer.Stop()
	if err = writeFrame(p.child.in, frame); err == nil {
		turn, err = readTurn(p.child.out, p.begun, opts)
	}
	p.left -= time.Since(began)
	p.begun += len(turn.Calls)
	for _, c := range turn.Calls {
		p.open[c.Seq] = true
	}
	if err == nil && !turn.Done && len(p.open) == 0 {
		err = errors.New("the script waits for nothing")
	}
	if err != nil {
		return Turn{}, p.child.why(err, opts)
	}
	turn.Log = p.cut(turn.Log)
	return turn, nil
}

// logFull ends a log that has no more room.
const logFull = "[the log is full: what follows is dropped]\n"

// cut shortens a log to what there is room for.
func (p *Pass) cut(log string) string {
	room := p.runner.opts.Log - p.logged
	p.logged += len(log)
	if room < 0 {
		return ""
	}
	if len(log) <= room {
		return log
	}
	return strings.ToValidUTF8(log[:room], "") + logFull
}

// Close ends the script if it still runs, and makes room for another.
func (p *Pass) Close() {
	p.close.Do(func() {
		p.child.kill(fault.New(fault.Canceled, "the script was ended"))
		p.runner.forget(p.child)
		p.child.close()
		p.runner.room.Leave(p.who)
	})
}

func tooLong(most time.Duration) error {
	return fault.New(fault.TooLarge, "the script ran longer than %s", most).WithHint(shorter)
}

const shorter = "the time in which it waits for tools does not count: look for a loop that does not end, or read less"
