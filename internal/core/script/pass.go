package script

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
)

// Pass is a script that runs. It is safe for concurrent use; answers are given one at a time.
type Pass struct {
	runner *Runner
	child  *child
	who    string
	close  sync.Once

	mu    sync.Mutex
	left  time.Duration // of Options.Time
	now   time.Time
	begun int          // calls so far
	open  map[int]bool // those without an answer
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
	m := message{Kind: kindAnswer, Seq: a.Seq, Now: p.now.UnixMilli(), Thrown: a.Err, body: a.Value}
	if a.Err != nil {
		bare := *a.Err
		bare.Content, m.Thrown, m.body = nil, &bare, a.Err.Content
	}
	if most := p.runner.opts.Answer; len(m.body) > most {
		m.Thrown = &Thrown{
			Name: "RangeError", Code: string(fault.TooLarge), Hint: "ask the tool for less",
			Message: fmt.Sprintf("the answer has %d bytes; a script reads at most %d", len(m.body), most),
		}
		m.body = nil
	}
	return p.turn(ctx, m)
}

// turn tells the child something, and reads what the script does.
func (p *Pass) turn(ctx context.Context, m message) (turn Turn, err error) {
	opts := &p.runner.opts
	defer func() {
		if err != nil || turn.Done {
			p.Close()
		}
	}()
	began := time.Now()
	stop := context.AfterFunc(ctx, func() { p.child.kill(fault.New(fault.Canceled, "the script was canceled")) })
	defer stop()
	timer := time.AfterFunc(p.left, func() { p.child.kill(tooLong(opts.Time)) })
	defer timer.Stop()
	if err = writeMessage(p.child.in, m); err == nil {
		turn, err = readTurn(p.child.out, p.begun, opts)
	}
	p.left -= time.Since(began)
	if err != nil {
		return Turn{}, p.child.why(err, opts)
	}
	p.begun += len(turn.Calls)
	for _, c := range turn.Calls {
		p.open[c.Seq] = true
	}
	if !turn.Done && len(p.open) == 0 {
		return Turn{}, p.child.why(fmt.Errorf("a script waits for nothing"), opts)
	}
	return turn, nil
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
	return fault.New(fault.TooLarge, "the script ran longer than %s", most).
		WithHint("the time in which it waits for tools does not count: look for a loop that does not end, or read less")
}
