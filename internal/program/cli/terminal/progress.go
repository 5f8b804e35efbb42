package terminal

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"
)

// Progress tells what a command waits for. On a terminal that is one line, which is rewritten and in the end cleared;
// elsewhere they are lines, few of them. What is done at once is not told. A nil Progress tells nothing.
type Progress struct {
	Out   io.Writer
	Clear func() // clears the line of the cursor; nil: Out is not a terminal
	Width int    // columns of the terminal; 0: unknown

	Sprintf func(format string, args ...any) string // in the language of the person

	mu    sync.Mutex
	timer *time.Timer // nil: nothing is waited for
	shows bool        // the line is in use
	text  string
	told  string // what the line shows
}

const (
	patience = time.Second      // how long nothing is told on a terminal
	pause    = 10 * time.Second // before each line elsewhere
)

// Say says what is waited for now.
func (p *Progress) Say(format string, args ...any) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text = Line(p.Sprintf(format, args...))
	switch {
	case p.timer == nil && p.Clear != nil:
		p.timer = time.AfterFunc(patience, p.tell)
	case p.timer == nil:
		p.timer = time.AfterFunc(pause, p.tell)
	case p.shows:
		p.draw()
	}
}

func (p *Progress) tell() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.timer == nil { // it has just ended
		return
	}
	p.draw()
	p.shows = p.Clear != nil
	if p.Clear == nil {
		p.timer.Reset(pause)
	}
}

func (p *Progress) draw() {
	if p.text == p.told {
		return
	}
	p.told = p.text
	if p.Clear == nil {
		fmt.Fprintln(p.Out, p.text)
		return
	}
	p.Clear()
	text := p.text
	if p.Width > leastCell { // a line that wraps could not be cleared
		text = truncate(text, p.Width-1)
	}
	fmt.Fprint(p.Out, text)
}

// End clears the line. It may be called twice, and more may be said afterwards.
func (p *Progress) End() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.timer == nil {
		return
	}
	p.timer.Stop()
	p.timer = nil
	p.erase()
	p.shows = false
}

func (p *Progress) erase() {
	if p.shows && p.told != "" {
		p.Clear()
	}
	p.told = ""
}

// Write writes other text to Out, above the line.
func (p *Progress) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shows {
		p.erase()
	}
	n, err := p.Out.Write(text)
	if p.shows && bytes.HasSuffix(text, []byte("\n")) {
		p.draw()
	}
	return n, err
}

// Group is a number of things that are done one after another, or several at a time.
type Group struct {
	progress *Progress
	format   string
	all      int

	mu      sync.Mutex
	done    int
	running []string
}

// Group tells of several things by a format for the number, how many there are, and the name of one that is under way:
// "checking %d of %d: %s".
func (p *Progress) Group(format string, all int) *Group {
	return &Group{progress: p, format: format, all: all}
}

// Begin says that the thing of that name is begun; the returned function says that it is done.
func (g *Group) Begin(name string) (done func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.running = append(g.running, name)
	g.say()
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.done++
		if i := slices.Index(g.running, name); i >= 0 {
			g.running = slices.Delete(g.running, i, i+1)
		}
		g.say()
	}
}

// say tells of the one that has been under way for the longest time: that is whom one waits for.
func (g *Group) say() {
	if len(g.running) > 0 {
		g.progress.Say(g.format, min(g.done+1, g.all), g.all, g.running[0])
	}
}
