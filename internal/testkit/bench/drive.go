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
	name        string
	workers     int
	limit       float64 // of CPU per call, as a multiple of the proxy's
	modernLimit float64 // the same if the client, the server or both are modern
	method      string
	tool        string // "" for none
	args        string // of the tool
	flat        bool   // the call goes through the flat proxy of action recall, not through MCP
	good        func(body, number []byte) bool
}

func echo() *scenario {
	return &scenario{name: "echo", workers: 16, limit: 1, modernLimit: 1,
		method: "tools/call", tool: "echo", args: `{"message":"m` + number + `"}`,
		good: func(body, n []byte) bool { return bytes.Contains(body, append([]byte(`"text":"m`), n...)) },
	}
}

func big() *scenario {
	want := bigResult()
	want = want[1 : len(want)-1] // a modern result has more members
	return &scenario{name: "big", workers: 4, limit: 1.05, modernLimit: 1.1,
		method: "tools/call", tool: "big", args: `{}`,
		good: func(body, _ []byte) bool { return bytes.Contains(body, want) },
	}
}

func list() *scenario {
	return &scenario{name: "list", workers: 4, limit: 0.22, modernLimit: 0.25, method: "tools/list",
		good: func(body, _ []byte) bool { return bytes.Count(body, []byte(`"inputSchema"`)) >= toolCount }, // toolfit adds fetch_result
	}
}

const (
	// flatPath is where the flat proxy of action recall takes calls of the upstream server.
	flatPath = "/api/agent-retrieval/in/v1/mcp/proxy/bench/tools/"
	// flatLimit is of CPU per call through it, as a multiple of the same call through MCP.
	flatLimit = 1.2
	// tokenLimit is of CPU per call with a token that is known, as a multiple of the same call with a key.
	tokenLimit = 1.1
)

// results are everything to measure of one scenario, each compared with an earlier one: gateways
// with the proxy for the same clients, the flat proxy with MCP, tokens with keys.
func (l *lab) results(s *scenario) []*result {
	var all []*result
	var proxy *result
	for _, t := range l.targets {
		r := &result{scenario: s, target: t, base: proxy, against: "proxy", limit: s.limit}
		if t.era == modern || t.upstream == l.servers[modern] {
			r.limit = s.modernLimit
		}
		if t.isProxy() {
			r.base = nil
			proxy = r
		}
		all = append(all, r)
	}
	if s.tool != "" {
		flat := *s
		flat.name += " flat"
		flat.flat = true
		mcp := all[1] // legacy → toolfit → legacy
		all = append(all, &result{scenario: &flat, target: mcp.target, base: mcp, against: "MCP", limit: flatLimit})
	}
	if s.name == echo().name {
		all = append(all, l.tokenResults(s)...)
	}
	if s.name == big().name {
		all = append(all, l.cutResults(s, all[0])...)
	}
	return all
}

// cutResults compare results that are cut by a rule with whole ones through the proxy.
func (l *lab) cutResults(s *scenario, proxy *result) (all []*result) {
	cut := *s
	cut.name += " cut"
	cut.good = func(body, _ []byte) bool {
		return bytes.Contains(body, []byte(`row 5`)) && !bytes.Contains(body, []byte(`ready`))
	}
	for i, limit := range []float64{1.5, 1.8} {
		all = append(all, &result{scenario: &cut, target: l.cuts[i], base: proxy, against: "proxy", limit: limit})
	}
	return all
}

// tokenResults compare calls with a token with calls with a key, at the same gateway.
func (l *lab) tokenResults(s *scenario) []*result {
	var all []*result
	withKey, withToken := *s, *s
	withKey.name += " key"
	withToken.name += " token"
	for _, one := range l.signIns {
		key := &result{scenario: &withKey, target: one.key}
		all = append(all, key, &result{scenario: &withToken, target: one.token, base: key, against: "key", limit: tokenLimit})
	}
	return all
}

// sample is the outcome of one run.
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
	s.posts += other.posts
	if s.first == nil {
		s.first = other.first
	}
}

// drive measures all scenarios. The targets take turns, so that a slow moment of the machine
// hits all of them.
func (o *options) drive(ctx context.Context, l *lab) ([]*result, error) {
	var all []*result
	for _, s := range []*scenario{echo(), big(), list()} {
		results := l.results(s)
		for round := range o.rounds {
			for i := range results {
				r := results[(i+round)%len(results)] // nobody is always first
				run, err := o.once(ctx, r.target, r.scenario)
				if err != nil {
					return nil, fmt.Errorf("%s of %s: %w", r.scenario.name, r.target.name, err)
				}
				if run.first != nil {
					fmt.Fprintln(os.Stderr, "bench: first error of a run:", run.first)
				}
				r.runs = append(r.runs, run)
			}
		}
		all = append(all, results...)
	}
	return all, nil
}

// once is one run: all workers are connected and warm before it begins.
func (o *options) once(ctx context.Context, t *target, s *scenario) (*sample, error) {
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
	cpu, posts, err := t.meters()
	if err != nil {
		return nil, err
	}
	all := work(callers, o.duration)
	all.cpu, all.posts, err = t.meters()
	if err != nil {
		return nil, err
	}
	all.cpu -= cpu
	all.posts -= posts
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

// work lets the callers call for that long.
func work[C interface{ call() error }](callers []C, d time.Duration) *sample {
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
				} else {
					parts[i].add(&sample{errors: 1, first: err})
					if !errors.Is(err, errWrong) {
						return
					}
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

// meters reads how much CPU the target has used, and how many POST requests the upstream server got.
func (t *target) meters() (cpu time.Duration, posts int64, err error) {
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
