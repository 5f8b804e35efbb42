package cli

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/toolfit/toolfit/internal/base/locale"
	"github.com/toolfit/toolfit/internal/browsertest/run"
	"github.com/toolfit/toolfit/internal/browsertest/steps"
	"github.com/toolfit/toolfit/internal/program/cli/terminal"
)

// progress prints a line for each finished case, and on a terminal a status line.
type progress struct {
	c     *command
	live  bool
	all   int
	begun time.Time
	tick  *time.Ticker
	quit  chan struct{}
	ended sync.WaitGroup

	mu          sync.Mutex
	ready       bool // the browser has started
	ran, failed int
}

func (c *command) newProgress(suites []*steps.Suite) *progress {
	p := &progress{c: c, begun: time.Now(), quit: make(chan struct{}), tick: time.NewTicker(time.Second)}
	for _, s := range suites {
		for _, one := range s.Cases {
			p.all += max(1, len(one.Data))
		}
	}
	p.live = c.onTerminal() && !c.json
	if p.live {
		p.ended.Go(p.follow)
	}
	return p
}

func (p *progress) follow() {
	for {
		select {
		case <-p.quit:
			return
		case <-p.tick.C:
			p.mu.Lock()
			p.status()
			p.mu.Unlock()
		}
	}
}

// started notes that the browser has started.
func (p *progress) started(string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ready = true
	p.status()
}

// status writes the status line. The caller holds mu.
func (p *progress) status() {
	p.clear()
	seconds := int(time.Since(p.begun).Seconds())
	switch {
	case !p.live:
	case !p.ready:
		p.c.tell("starting the browser, %d s", seconds)
	default:
		p.c.tell("%d of %d done, %d failed, %d s", p.ran, p.all, p.failed, seconds)
	}
}

// clear removes the status line.
func (p *progress) clear() {
	if p.live {
		p.c.said.Control(terminal.ClearLine)
	}
}

func (p *progress) done(file string, r run.CaseResult) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ran++
	if r.Error != nil {
		p.failed++
	}
	if p.c.json {
		return
	}
	p.clear()
	fmt.Fprintf(p.c.env.Out, "%-7s %s: %s (%.1f s)\n", r.Status, file, r.Name, r.Duration.Seconds())
	for i, e := range r.Earlier {
		fmt.Fprintf(p.c.env.Out, "        %s\n", indent(r.Language.Translate(fmt.Sprintf("attempt %d: %s", i+1, e.Message))))
	}
	for _, s := range r.Steps {
		p.tellStep(&s, r.Language)
	}
	if r.Error != nil && len(r.Steps) == 0 {
		fmt.Fprintf(p.c.env.Out, "        %s\n", indent(r.Error.Message))
	}
	if r.Reason != "" {
		fmt.Fprintf(p.c.env.Out, "        %s\n", indent(r.Reason))
	}
	p.status()
}

func (p *progress) tellStep(s *run.StepResult, lang locale.Language) {
	out := p.c.env.Out
	where := lang.Translate(fmt.Sprintf("line %d: %s", s.Line, strings.Join(strings.Fields(s.Text), " ")))
	switch s.Status {
	case run.Failed, run.Noted:
		fmt.Fprintf(out, "        %s\n        %s\n", where, indent(s.Error.Message))
		for _, c := range s.Candidates {
			fmt.Fprintf(out, "          %.2f %s (%s)\n", c.Score, line(c.Path), line(c.Why))
		}
	case run.Healed:
		fmt.Fprintf(out, "        %s: %s\n", where, strings.Join(s.Warnings, "; "))
	}
}

func (p *progress) end() {
	close(p.quit)
	p.ended.Wait()
	p.tick.Stop()
	p.clear()
}
