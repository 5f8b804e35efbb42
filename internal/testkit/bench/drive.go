package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"sync"
	"time"
)

// scenario is one kind of call.
type scenario struct {
	name    string
	workers int
	goal    float64 // most CPU per call, as a ratio to the proxy's
	modern  float64 // the same where the client, the server or both are modern
	method  string
	tool    string // "" for none
	params  string // PREFIX is the target's
	flat    string // the arguments, for a call by the flat proxy of action recall; "" for one by MCP
	good    func(body, number []byte) bool
}

func echo() *scenario {
	return &scenario{name: "echo", workers: 16, goal: 1.2, modern: 1.3,
		method: "tools/call", tool: "echo", params: `{"name":"PREFIXecho","arguments":{"message":"m` + number + `"}}`,
		good: func(body, n []byte) bool { return bytes.Contains(body, append([]byte(`"text":"m`), n...)) },
	}
}

func big() *scenario {
	want := bigResult()
	want = want[1 : len(want)-1] // a modern result says more, before or behind it
	return &scenario{name: "big", workers: 4, goal: 1.5, modern: 1.8,
		method: "tools/call", tool: "big", params: `{"name":"PREFIXbig","arguments":{}}`,
		good: func(body, _ []byte) bool { return bytes.Contains(body, want) },
	}
}

func list() *scenario {
	return &scenario{name: "list", workers: 4, goal: 0.3, modern: 0.3,
		method: "tools/list", params: `{}`,
		good: func(body, _ []byte) bool { return bytes.Count(body, []byte(`"inputSchema"`)) == toolCount },
	}
}

// sample is what one run has shown.
type sample struct {
	latencies []time.Duration // of good calls
	errors    int
	first     error // of the errors
	took, cpu time.Duration
	posts     int64 // that reached the upstream server
}

func (s *sample) add(other *sample) {
	s.latencies = append(s.latencies, other.latencies...)
	s.errors += other.errors
	if s.first == nil {
		s.first = other.first
	}
}

// drive runs every scenario against every target, in turns: a slow moment of the machine
// then hits all of them alike.
func (o *options) drive(ctx context.Context, l *lab) ([]*result, error) {
	var results []*result
	for _, s := range []*scenario{echo(), big(), list()} {
		row := make([]*result, len(l.targets))
		for i, t := range l.targets {
			row[i] = &result{scenario: s, target: t}
		}
		for round := range o.rounds {
			for i := range l.targets {
				i = (i + round) % len(l.targets) // nobody is always first
				run, err := o.once(ctx, l, l.targets[i], s)
				if err != nil {
					return nil, fmt.Errorf("%s of %s: %w", s.name, l.targets[i].name, err)
				}
				if run.first != nil {
					fmt.Fprintln(os.Stderr, "bench: first error of a run:", run.first)
				}
				row[i].runs = append(row[i].runs, run)
			}
		}
		results = append(results, row...)
	}
	return results, nil
}

// once is one run: all workers are connected and warm before it begins.
func (o *options) once(ctx context.Context, l *lab, t *target, s *scenario) (*sample, error) {
	callers := make([]*caller, s.workers)
	for i := range callers {
		c, err := open(ctx, t, o.duration+patience)
		if err != nil {
			return nil, err
		}
		defer c.close()
		callers[i] = newCaller(c, s)
		if err := callers[i].call(); err != nil {
			return nil, fmt.Errorf("first call: %w", err)
		}
	}
	cpu, posts, err := l.meters(t)
	if err != nil {
		return nil, err
	}
	all := work(callers, o.duration)
	if all.cpu, all.posts, err = l.meters(t); err != nil {
		return nil, err
	}
	all.cpu, all.posts = all.cpu-cpu, all.posts-posts
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case len(all.latencies) == 0:
		return nil, fmt.Errorf("no good call: %w", all.first)
	case all.cpu == 0:
		return nil, fmt.Errorf("%d calls took no CPU time: -d is too short", len(all.latencies))
	}
	return all, nil
}

// work lets the callers call for so long.
func work(callers []*caller, d time.Duration) *sample {
	parts := make([]sample, len(callers))
	begin := time.Now()
	var wg sync.WaitGroup
	for i, c := range callers {
		wg.Go(func() {
			for from := time.Now(); from.Sub(begin) < d; {
				err := c.call()
				now := time.Now()
				if err == nil {
					parts[i].latencies = append(parts[i].latencies, now.Sub(from))
				} else if parts[i].add(&sample{errors: 1, first: err}); !errors.Is(err, errWrong) {
					return // the connection is no longer of use
				}
				from = now
			}
		})
	}
	wg.Wait()
	all := &sample{took: time.Since(begin)}
	for i := range parts {
		all.add(&parts[i])
	}
	return all
}

// meters tells how much CPU the target has used so far, and how many POST requests have
// reached the upstream server.
func (l *lab) meters(t *target) (cpu time.Duration, posts int64, err error) {
	asking := http.Client{Timeout: patience}
	resp, err := asking.Get("http://" + t.upstream.addr + "/stats")
	if err != nil {
		return 0, 0, err
	}
	defer resp.Body.Close()
	if _, err := fmt.Fscan(resp.Body, &posts); err != nil {
		return 0, 0, fmt.Errorf("count requests: %w", err)
	}
	cpu, err = t.proc.cpu()
	return cpu, posts, err
}
