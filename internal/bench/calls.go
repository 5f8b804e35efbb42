package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolfit/toolfit/internal/bench/upstream"
	"github.com/toolfit/toolfit/internal/bench/wire"
)

// scenario is one kind of call.
type scenario struct {
	name    string
	workers int
	params  func(t *target, n int) (method, tool, params string)
	good    func(answer []byte, n int) bool
}

const benchTools = 200

// scenarios are all of them.
var scenarios = []*scenario{
	{"echo", 16,
		func(t *target, n int) (string, string, string) {
			return "tools/call", t.echo, fmt.Sprintf(`{"name":%q,"arguments":{"message":"m%d."}}`, t.echo, n)
		},
		func(answer []byte, n int) bool { return bytes.Contains(answer, fmt.Appendf(nil, `"m%d."`, n)) }},
	{"50 KB", 4,
		func(t *target, _ int) (string, string, string) {
			return "tools/call", t.big, fmt.Sprintf(`{"name":%q,"arguments":{}}`, t.big)
		},
		func(answer []byte, _ int) bool {
			return len(answer) > 50_000 && bytes.Contains(answer, []byte(`{\"id\":-1}]}`))
		}},
	{"list of 200", 4,
		func(*target, int) (string, string, string) { return "tools/list", "", `{}` },
		func(answer []byte, _ int) bool { return bytes.Count(answer, []byte(`"inputSchema"`)) >= benchTools }},
}

// list asks every endpoint for all its tools, page by page. It keeps the names of those that are called.
func (t *target) list() (all []listed, err error) {
	t.listing = 0
	if t.peer.front == lines && t.pipe == nil {
		if t.pipe, err = wire.OpenLines(t.proc.stdin, t.proc.stdout, func() {}, patience); err != nil {
			return nil, err
		}
	}
	ends := max(1, len(t.urls))
	for i := range ends {
		tools, err := t.listAt(i)
		if err != nil {
			return nil, err
		}
		all = append(all, tools...)
	}
	for _, tool := range all {
		if strings.HasSuffix(tool.name, "echo") {
			t.echo = tool.name
		} else if strings.HasSuffix(tool.name, "big") {
			t.big = tool.name
		}
	}
	return all, nil
}

// listed is a tool as a gateway lists it.
type listed struct {
	name string
	raw  json.RawMessage
}

func (t *target) listAt(i int) ([]listed, error) {
	c, err := t.openAt(t.urls, i)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	var all []listed
	for params := `{}`; ; {
		answer, err := c.Call("tools/list", "", []byte(params))
		if err != nil {
			return nil, err
		}
		t.listing += len(answer)
		var r struct {
			Result struct {
				Tools      []json.RawMessage
				NextCursor string
			}
			Error json.RawMessage
		}
		if err := json.Unmarshal(bytes.Clone(answer), &r); err != nil {
			return nil, err
		}
		if r.Error != nil {
			return nil, fmt.Errorf("list tools: %s", r.Error)
		}
		for _, raw := range r.Result.Tools {
			var tool struct{ Name string }
			if err := json.Unmarshal(raw, &tool); err != nil {
				return nil, err
			}
			all = append(all, listed{tool.Name, raw})
		}
		if r.Result.NextCursor == "" {
			return all, nil
		}
		params = fmt.Sprintf(`{"cursor":%q}`, r.Result.NextCursor)
	}
}

// measureCalls runs all scenarios in both eras. The gateways take turns, so that a slow moment of the machine hits all of them.
func (l *lab) measureCalls(ctx context.Context, r *report) error {
	for _, era := range []wire.Era{wire.Legacy, wire.Modern} {
		if err := l.measureEra(ctx, r, era); err != nil {
			return err
		}
	}
	return nil
}

func (l *lab) measureEra(ctx context.Context, r *report, era wire.Era) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var targets []*target
	for _, p := range l.have {
		if era == wire.Modern && !p.modern {
			continue
		}
		t, err := l.run(ctx, p, era, behind{set: upstream.SetBench, tools: benchTools, servers: 1, modern: era == wire.Modern})
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			r.trouble(p, fmt.Sprintf("%s calls", era), err)
			continue
		}
		defer t.proc.end()
		targets = append(targets, t)
	}
	for _, s := range scenarios {
		runs := make([][]sample, len(targets))
		for round := range l.opts.rounds {
			for i := range targets {
				at := (i + round) % len(targets) // nobody is always first
				one, err := l.once(ctx, targets[at], s)
				if ctx.Err() != nil {
					return ctx.Err()
				} else if err != nil {
					r.trouble(targets[at].peer, fmt.Sprintf("%s, %s", s.name, era), err)
					continue
				}
				runs[at] = append(runs[at], *one)
			}
		}
		for i, t := range targets {
			if len(runs[i]) > 0 {
				c := summary(runs[i])
				c.Peer, c.Era, c.Scenario = t.peer.name, string(era), s.name
				r.Calls = append(r.Calls, c)
				fmt.Fprintf(os.Stderr, "%-7s %-12s %-24s %7.1f µs CPU  %6.0f/s  p50 %.2f ms  %.2f upstream\n",
					era, s.name, c.Peer, c.CPU, c.PerSecond, c.P50, c.Upstream)
			}
		}
	}
	return ctx.Err()
}

// sample is the outcome of one run.
type sample struct {
	latencies []time.Duration // of good calls
	wrong     int
	first     error // of the wrong ones
	took, cpu time.Duration
	upstream  int64
}

// once is one run: all workers are connected and warm before it begins.
func (l *lab) once(ctx context.Context, t *target, s *scenario) (*sample, error) {
	callers := make([]caller, s.workers)
	for i := range callers {
		c, err := t.open()
		if err != nil {
			return nil, err
		}
		defer c.Close()
		callers[i] = c
	}
	if warm := t.drive(ctx, s, callers, l.opts.duration/4); len(warm.latencies) == 0 {
		return nil, noGood(ctx, warm)
	}
	before, err := t.usage()
	if err != nil {
		return nil, err
	}
	count := l.count.Load()
	run := t.drive(ctx, s, callers, l.opts.duration)
	after, err := t.usage()
	run.cpu, run.upstream = after.CPU-before.CPU, l.count.Load()-count
	switch {
	case err != nil:
		return nil, err
	case ctx.Err() != nil, len(run.latencies) == 0:
		return nil, noGood(ctx, run)
	case run.cpu <= 0:
		return nil, errors.New("the calls took no CPU time: the wrong process is measured")
	case run.first != nil:
		fmt.Fprintf(os.Stderr, "%s of %s: %d wrong, first: %v\n", s.name, t.peer.name, run.wrong, run.first)
	}
	return run, nil
}

// noGood is why a run has no good call: it was interrupted, nothing was right, or nothing came in time.
func noGood(ctx context.Context, run *sample) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return cmp.Or(run.first, errors.New("no call was answered in time"))
}

// drive lets the callers call for that long.
func (t *target) drive(ctx context.Context, s *scenario, callers []caller, d time.Duration) *sample {
	parts := make([]sample, len(callers))
	begin := time.Now()
	var work sync.WaitGroup
	for i, c := range callers {
		work.Go(func() {
			for n := i * 1_000_000; time.Since(begin) < d && ctx.Err() == nil && parts[i].wrong < 20; n++ {
				method, tool, params := s.params(t, n)
				from := time.Now()
				answer, err := c.Call(method, tool, []byte(params))
				took := time.Since(from)
				if err == nil && !s.good(answer, n) {
					err = fmt.Errorf("wrong answer: %.300s", answer)
				}
				if err == nil {
					parts[i].latencies = append(parts[i].latencies, took)
					continue
				}
				parts[i].wrong++
				parts[i].first = err
			}
		})
	}
	work.Wait()
	all := &sample{took: time.Since(begin)}
	for _, part := range parts {
		all.latencies = append(all.latencies, part.latencies...)
		all.wrong += part.wrong
		if all.first == nil {
			all.first = part.first
		}
	}
	return all
}

// summary is the median of runs.
func summary(runs []sample) reportCall {
	var c reportCall
	of := func(f func(*sample) float64) float64 {
		var values []float64
		for i := range runs {
			values = append(values, f(&runs[i]))
		}
		return median(values)
	}
	for i := range runs {
		slices.Sort(runs[i].latencies)
		c.Calls += len(runs[i].latencies)
		c.Wrong += runs[i].wrong
	}
	at := func(s *sample, p int) float64 {
		return s.latencies[(len(s.latencies)*p+99)/100-1].Seconds() * 1000
	}
	c.CPU = of(func(s *sample) float64 { return float64(s.cpu.Microseconds()) / float64(len(s.latencies)) })
	c.PerSecond = of(func(s *sample) float64 { return float64(len(s.latencies)) / s.took.Seconds() })
	c.P50 = of(func(s *sample) float64 { return at(s, 50) })
	c.P99 = of(func(s *sample) float64 { return at(s, 99) })
	c.Upstream = of(func(s *sample) float64 { return float64(s.upstream) / float64(len(s.latencies)) })
	return c
}

func median(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}
