package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/toolfit/toolfit/internal/bench/proc"
	"github.com/toolfit/toolfit/internal/bench/upstream"
	"github.com/toolfit/toolfit/internal/bench/wire"
)

const (
	settle     = 3   // for so many seconds a gateway must be quiet before its memory is read
	mostSettle = 120 // for so many it is waited for that
	servers    = 10  // behind a gateway that takes many
	queries    = 20
)

// measureMemory measures start-up, memory when idle and memory per session.
func (l *lab) measureMemory(ctx context.Context, r *report) error {
	for _, p := range l.have {
		m, err := l.memory(ctx, p)
		if err != nil {
			r.trouble(p, "start-up and memory", err)
			continue
		}
		r.Memory = append(r.Memory, *m)
		fmt.Fprintf(os.Stderr, "%-24s ready in %.2f s, idle %.0f MB, %.0f KB per session, %.2f processes\n",
			p.name, m.Start, m.Idle, m.PerSession, m.Processes)
	}
	return ctx.Err()
}

func (l *lab) memory(ctx context.Context, p *peer) (*reportMemory, error) {
	m := &reportMemory{Peer: p.name, Sessions: l.opts.sessions}
	var starts, cpus []float64
	var t *target
	for range l.opts.starts {
		if t != nil {
			t.proc.end()
		}
		var err error
		if t, err = l.run(ctx, p, wire.Legacy, behind{set: upstream.SetBench, tools: benchTools, servers: 1}); err != nil {
			return nil, err
		}
		starts = append(starts, t.ready.Seconds())
		cpus = append(cpus, t.cpu.Seconds())
	}
	defer t.proc.end()
	m.Start, m.StartCPU = median(starts), median(cpus)
	idle, err := t.settled(ctx)
	if err != nil {
		return nil, err
	}
	m.Idle = float64(idle.Memory) / 1e6
	if p.front == lines { // a client has the process to itself
		m.PerSession, m.Processes, m.Sessions = float64(idle.Memory)/1e3, 1, 1
		return m, nil
	}
	// What the first sessions take is mostly what every gateway takes once.
	half := idle
	for i := range l.opts.sessions {
		if i == l.opts.sessions/2 {
			if half, err = t.settled(ctx); err != nil {
				return nil, err
			}
		}
		end, err := t.join()
		if err != nil {
			return nil, fmt.Errorf("session %d: %w", i+1, err)
		}
		defer end()
	}
	full, err := t.settled(ctx)
	m.PerSession = float64(full.Memory-half.Memory) / 1e3 / float64(l.opts.sessions/2)
	m.Processes = float64(full.Processes-half.Processes) / float64(l.opts.sessions/2)
	return m, err
}

// settled is what a gateway uses once it has been quiet for a while: some go on to index what they have listed.
func (t *target) settled(ctx context.Context) (proc.Usage, error) {
	u, err := t.usage()
	for quiet, tries := 0, 0; err == nil && quiet < settle && tries < mostSettle; tries++ {
		before := u.CPU
		if err := pause(ctx, time.Second); err != nil {
			return u, err
		}
		if u, err = t.usage(); u.CPU-before > 20*time.Millisecond {
			quiet = 0
		} else {
			quiet++
		}
	}
	return u, err
}

// join opens a session that has made a call, and its stream.
func (t *target) join() (end func(), err error) {
	c, err := t.open()
	if err != nil {
		return nil, err
	}
	answer, err := c.Call("tools/call", t.echo, fmt.Appendf(nil, `{"name":%q,"arguments":{"message":"hello"}}`, t.echo))
	if err == nil && !bytes.Contains(answer, []byte(`"hello"`)) {
		err = fmt.Errorf("wrong answer: %.200s", answer)
	}
	var stream net.Conn
	if h, is := c.(*wire.HTTP); is && err == nil {
		stream, err = h.Listen()
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return func() {
		if stream != nil {
			stream.Close()
		}
		c.Close()
	}, nil
}

// measureGrowth measures gateways that take many servers with more and more tools.
func (l *lab) measureGrowth(ctx context.Context, r *report) error {
	for _, tools := range l.opts.sizes {
		for _, p := range l.have {
			if !p.many {
				continue
			}
			g, err := l.growth(ctx, p, tools)
			if err != nil {
				r.trouble(p, fmt.Sprintf("%d tools", tools), err)
				continue
			}
			r.Growth = append(r.Growth, *g)
			fmt.Fprintf(os.Stderr, "%-24s %5d tools: ready in %.2f s with %.2f s CPU, %.0f MB, list %.1f ms, search %.2f ms, %d of %d found\n",
				p.name, tools, g.Start, g.StartCPU, g.Memory, g.List, g.Search, g.Found, queries)
		}
	}
	return ctx.Err()
}

func (l *lab) growth(ctx context.Context, p *peer, tools int) (*reportGrowth, error) {
	t, err := l.run(ctx, p, wire.Legacy, behind{set: upstream.SetGrowth, tools: tools / servers, servers: servers})
	if err != nil {
		return nil, err
	}
	defer t.proc.end()
	g := &reportGrowth{Peer: p.name, Tools: tools, Start: t.ready.Seconds(), StartCPU: t.cpu.Seconds()}
	u, err := t.settled(ctx)
	if err != nil {
		return nil, err
	}
	g.Memory, g.SettledCPU = float64(u.Memory)/1e6, u.CPU.Seconds()
	var times []float64
	for range 5 {
		from := time.Now()
		if _, err := t.list(); err != nil {
			return nil, err
		}
		times = append(times, time.Since(from).Seconds()*1000)
	}
	g.List, g.ListBytes = median(times), t.listing
	return g, t.search(ctx, p, tools/servers, g)
}

// search looks for tools by their words.
func (t *target) search(ctx context.Context, p *peer, tools int, g *reportGrowth) error {
	if p.find == nil {
		return nil
	}
	c, err := t.openAt([]string{t.finds}, 0)
	if err != nil {
		return err
	}
	defer c.Close()
	ask := func(i int) (found bool, took time.Duration, err error) {
		name, words := upstream.GrowthName(i * 7 % tools)
		tool, params := p.find(words)
		from := time.Now()
		answer, err := c.Call("tools/call", tool, []byte(params))
		took = time.Since(from)
		if err == nil && (!bytes.Contains(answer, []byte(`"result"`)) || bytes.Contains(answer, []byte(`"isError":true`))) {
			err = fmt.Errorf("search: %.300s", answer)
		}
		return bytes.Contains(answer, []byte(name)), took, err
	}
	for range mostSettle { // an index may be late
		if found, _, err := ask(0); found || err != nil {
			break
		}
		if err := pause(ctx, time.Second); err != nil {
			return err
		}
	}
	var times []float64
	for i := range queries {
		found, took, err := ask(i)
		if err != nil {
			return err
		}
		times = append(times, took.Seconds()*1000)
		if found {
			g.Found++
		}
	}
	g.Search = median(times)
	return nil
}
